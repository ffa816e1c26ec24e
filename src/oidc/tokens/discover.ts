/** Finds an issuer's endpoints: OpenID discovery through openid-client, checked more strictly than by the library. */
import type { JSONWebKeySet } from 'jose';
import type { Current } from '../../config/secret-file.ts';
import type { Secret } from '../../config/secrets.ts';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  customFetch,
  discovery,
  None,
  type ClientAuth,
  type Configuration,
} from 'openid-client';
import { fetchBounded, issuerTimeoutMs } from './issuer-http.ts';
import { isLoopback } from '../../config/near-hosts.ts';
import type { Issuer } from '../issuers-file/read.ts';

/** The largest accepted difference between the issuer's clock and this server's clock, in seconds. */
export const leewaySeconds = 60;

/**
 * Fetches the issuer's metadata. Throws if the issuer does not answer or the metadata names another issuer than configured. Also throws if
 * `jwks_uri` is neither https nor, where that is allowed, on the loopback address.
 */
export async function discoverIssuer(issuer: Issuer, timeout = issuerTimeoutMs): Promise<{ client: Configuration; jwksUri: URL }> {
  const metadataOfClient = { [clockTolerance]: leewaySeconds };
  const client = await discovery(
    new URL(issuer.issuer),
    issuer.clientId ?? issuer.id,
    metadataOfClient,
    authenticateClient(issuer.clientSecret),
    {
      timeout: timeout / 1_000,
      execute: issuer.allowInsecureHttp ? [allowInsecureRequests] : [],
      [customFetch]: (url, { headers, method, body }) => fetchBounded(url, { headers, method, ...(body != null && { body }) }, timeout),
    },
  );
  const metadata = client.serverMetadata();
  // The library treats an issuer with and without a final slash as the same, and also different tenants of some providers.
  if (metadata.issuer !== issuer.issuer) throw new Error(`it calls itself ${metadata.issuer}`);
  const jwksUri = URL.parse(metadata.jwks_uri ?? '');
  if (!jwksUri || !(jwksUri.protocol === 'https:' || (issuer.allowInsecureHttp && isLoopback(jwksUri)))) {
    throw new Error('it names no usable jwks_uri');
  }
  return { client, jwksUri };
}

/**
 * HTTP Basic, which every issuer must support (RFC 6749, section 2.3.1), unless this issuer's metadata lists only the secret in the body.
 * Each request has the secret of its moment.
 */
function authenticateClient(secret: Current<Secret> | undefined): ClientAuth {
  if (secret === undefined) return None();
  return (metadata, ...rest) => {
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
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
