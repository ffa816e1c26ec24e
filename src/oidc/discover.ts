/** Where an issuer keeps its endpoints: OpenID discovery through openid-client, checked more strictly than the library does. */
import type { JSONWebKeySet } from 'jose';
import { allowInsecureRequests, customFetch, discovery, type Configuration } from 'openid-client';
import { fetchBounded, timeoutMilliseconds } from './fetch.ts';
import { isLoopback, type Issuer } from './issuers.ts';

/**
 * Asks the issuer for its metadata. Throws when it does not answer, calls itself otherwise than configured, or names a `jwks_uri` that is
 * neither https nor, where that is allowed, on the loopback address.
 */
export async function discover(issuer: Issuer, timeout = timeoutMilliseconds): Promise<{ client: Configuration; jwksUri: URL }> {
  const client = await discovery(new URL(issuer.issuer), issuer.clientId ?? issuer.id, issuer.clientSecret, undefined, {
    timeout: timeout / 1_000,
    execute: issuer.allowInsecureHttp ? [allowInsecureRequests] : [],
    [customFetch]: (url, { headers, method }) => fetchBounded(url, { headers, method }, timeout),
  });
  const metadata = client.serverMetadata();
  // The library takes an issuer with and without a final slash for the same one, and tenants of some providers for each other.
  if (metadata.issuer !== issuer.issuer) throw new Error(`it calls itself ${metadata.issuer}`);
  const jwksUri = URL.parse(metadata.jwks_uri ?? '');
  if (!jwksUri || !(jwksUri.protocol === 'https:' || (issuer.allowInsecureHttp && isLoopback(jwksUri)))) {
    throw new Error('it names no usable jwks_uri');
  }
  return { client, jwksUri };
}

/** The keys that the issuer publishes at its `jwks_uri`, not looked into. Throws when it does not give them. */
export async function fetchKeys(jwksUri: URL, timeout?: number): Promise<JSONWebKeySet> {
  const response = await fetchBounded(jwksUri.href, { headers: { accept: 'application/json' } }, timeout);
  return (await response.json()) as JSONWebKeySet;
}

/** What lies beneath: openid-client and fetch say no more than that something failed. */
export function innermost(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return innermost(error.cause);
  return error.message || error.name;
}
