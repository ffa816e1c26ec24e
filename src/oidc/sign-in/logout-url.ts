/** The page at a provider where a browser logs out there (OpenID Connect RP-Initiated Logout 1.0). */
import type { Configuration } from 'openid-client';
import { publicAddress } from '../../config/public-url.ts';
import { isUsableEndpoint } from '../issuers-file/address.ts';
import type { Provider } from '../tokens/issuer-registry.ts';

/** The longest ID token that goes into the URL, in bytes: proxies and browsers limit URLs and headers to about 8 KiB. */
const maximumHintBytes = 4_096;

/**
 * The URL of the provider's page, which sends browsers back to the place that the issuer's entry names. Undefined if neither the entry nor
 * the metadata names a page. A longer ID token than 4,096 bytes is left out: then most providers ask the user whether to log out.
 */
export function logoutUrl(client: Configuration, { logoutPage, ...issuer }: Provider, publicUrl: URL, idToken: string): string | undefined {
  const { endpoint, returnTo, returnParameter, idTokenHint } = logoutPage;
  const published: unknown = client.serverMetadata().end_session_endpoint;
  const url = URL.parse(endpoint ?? (typeof published === 'string' ? published : ''));
  if (!url || (endpoint === undefined && !isUsableEndpoint(url, issuer))) return undefined;
  const target = returnTo === undefined ? publicAddress(publicUrl, '/') : new URL(returnTo, publicUrl.origin).href;
  url.searchParams.set(returnParameter, target);
  url.searchParams.set('client_id', issuer.clientId);
  if (idTokenHint && Buffer.byteLength(idToken) <= maximumHintBytes) url.searchParams.set('id_token_hint', idToken);
  return url.href;
}
