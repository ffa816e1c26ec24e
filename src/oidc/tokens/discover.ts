/** Finds an issuer's endpoints: OpenID discovery through openid-client, checked more strictly than by the library. */
import type { JSONWebKeySet } from 'jose';
import type { Current } from '../../config/secret-file.ts';
import type { Secret } from '../../config/secrets.ts';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  Configuration,
  customFetch,
  None,
  type ClientAuth,
  type ServerMetadata,
} from 'openid-client';
import { fetchBounded, issuerTimeoutMs } from './issuer-http.ts';
import { isUsableEndpoint } from '../issuers-file/address.ts';
import type { Issuer } from '../issuers-file/read.ts';

/** The largest accepted difference between the issuer's clock and this server's clock, in seconds. */
export const leewaySeconds = 60;

/** The metadata that an issuer publishes about itself. */
export interface DiscoveredIssuer {
  client: Configuration;
  jwksUri: URL;
  /** How far the issuer's clock is ahead of this server's, in milliseconds, to about a second; undefined without a header `Date`. */
  clockAheadMs: number | undefined;
}

/**
 * Fetches the issuer's metadata. Throws if the issuer does not answer or the metadata names another issuer than configured. Also throws if
 * `jwks_uri` is neither https nor, where that is allowed, on a near host.
 */
export async function discoverIssuer(issuer: Issuer, timeout = issuerTimeoutMs): Promise<DiscoveredIssuer> {
  const response = await fetchBounded(discoveryUrlOf(issuer), { headers: { accept: 'application/json' } }, timeout);
  const metadata = await readMetadata(response, issuer);
  const jwksUri = URL.parse(typeof metadata.jwks_uri === 'string' ? metadata.jwks_uri : '');
  if (!jwksUri || !isUsableEndpoint(jwksUri, issuer)) throw new Error('it names no usable jwks_uri');
  const client = new Configuration(
    metadata,
    issuer.clientId ?? issuer.id,
    { [clockTolerance]: leewaySeconds },
    authenticateClient(issuer.clientSecret),
  );
  client.timeout = timeout / 1_000;
  client[customFetch] = (url, { headers, method, body }) => fetchBounded(url, { headers, method, ...(body != null && { body }) }, timeout);
  if (issuer.allowInsecureHttp) allowInsecureRequests(client);
  return { client, jwksUri, clockAheadMs: clockAheadOf(response) };
}

/** The address of the discovery document: that of the file, or the one of OpenID Connect Discovery, section 4. */
function discoveryUrlOf({ issuer, discoveryUrl }: Issuer): string {
  return discoveryUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/** Throws for an answer that is no object or that names another issuer, which the message then names. */
async function readMetadata(response: Response, { issuer }: Issuer): Promise<ServerMetadata> {
  const metadata = (await response.json()) as Partial<ServerMetadata> | null;
  if (typeof metadata !== 'object' || metadata === null || typeof metadata.issuer !== 'string') {
    throw new Error('its discovery document names no issuer');
  }
  if (metadata.issuer !== issuer) throw new Error(`it calls itself ${metadata.issuer.slice(0, 256)}`);
  return { ...metadata, issuer };
}

/** A cache in between may answer with an old `Date`; its header `Age` has the seconds since then (RFC 9111, section 5.1). */
function clockAheadOf({ headers }: Response): number | undefined {
  const date = Date.parse(headers.get('date') ?? '');
  const age = Number(headers.get('age') ?? 0);
  return Number.isNaN(date) || Number.isNaN(age) ? undefined : date + age * 1_000 - Date.now();
}

/**
 * HTTP Basic, which every issuer must support (RFC 6749, section 2.3.1), unless this issuer's metadata lists only the secret in the body.
 * Each request has the secret of its moment.
 */
function authenticateClient(secret: Current<Secret> | undefined): ClientAuth {
  if (secret === undefined) return None();
  return (metadata, ...rest) => {
    const published: unknown = metadata.token_endpoint_auth_methods_supported;
    const methods = Array.isArray(published) ? (published as unknown[]) : ['client_secret_basic'];
    const authenticate = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
    authenticate(secret.current.reveal())(metadata, ...rest);
  };
}

/**
 * The issuer as a provider at which users sign in. Throws as {@link discoverIssuer} does, and if the metadata names no endpoint for sign-ins, as
 * with a plain authorization server.
 */
export async function discoverProvider(issuer: Issuer): Promise<Configuration> {
  const { client } = await discoverIssuer(issuer);
  const { authorization_endpoint: authorization, token_endpoint: token } = client.serverMetadata();
  if (!authorization || !token) throw new Error('it names no authorization_endpoint and token_endpoint to sign in at');
  return client;
}

/** The keys that the issuer publishes at its `jwks_uri`, unchecked. Throws if they cannot be fetched. */
export async function fetchKeys(jwksUri: URL, timeout?: number): Promise<JSONWebKeySet> {
  const response = await fetchBounded(jwksUri.href, { headers: { accept: 'application/json' } }, timeout);
  return (await response.json()) as JSONWebKeySet;
}

/** The message of the innermost cause. The messages of openid-client and fetch say only that something failed. */
export function innermostMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return innermostMessage(error.cause);
  return error.message || error.name;
}
