/** Where an issuer keeps its endpoints: OpenID discovery through openid-client, checked more strictly than the library does. */
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
