/**
 * Decides whether a request may use the authority of a cookie: refuses cross-site requests and cross-site logout (security rules 22 to 30).
 * Pure functions of header values, independent of the framework.
 */
import type { OriginPolicy } from '../config/public-url.ts';

/** A header as in Node.js: undefined if absent, a list if it was repeated and not joined. */
export type HeaderValue = string | readonly string[] | undefined;

/** The headers with which a browser reports the origin of a request. */
export interface FetchMetadata {
  secFetchSite: HeaderValue;
  origin: HeaderValue;
}

export interface LogoutHeaders extends FetchMetadata {
  referer: HeaderValue;
  secPurpose: HeaderValue;
  purpose: HeaderValue;
}

/**
 * Whether a request of any method and with any body may use the authority of the cookie (rules 27, 28 and 30). Reads count too: a page of another
 * site cannot read the answer, but it can measure how long the answer takes. Without `Sec-Fetch-Site` and `Origin` the client is no browser.
 */
export function csrfAllows({ secFetchSite, origin }: FetchMetadata, policy: OriginPolicy): boolean {
  if (!isSingle(secFetchSite) || !isSingle(origin)) return false;
  switch (secFetchSite) {
    case 'same-origin':
    case 'none':
      return true;
    case 'same-site':
    case 'cross-site':
      return origin !== undefined && policy.trustedOrigins.has(serialisedOrigin(origin) ?? '');
    case undefined:
      return origin === undefined || isOurs(serialisedOrigin(origin), policy);
    default:
      return false;
  }
}

/**
 * Whether a logout by HEAD may proceed (rule 24). Browsers send HEAD cross-site without preflight and without `Origin`. So, unlike in
 * `csrfAllows`, a missing `Origin` proves nothing and `Referer` counts. A browser that sends `Sec-Fetch-Site` may log out from the own
 * origin only, not even from a trusted one.
 */
export function logoutAllowed(headers: LogoutHeaders, policy: OriginPolicy): boolean {
  if (isPrefetch(headers.secPurpose) || isPrefetch(headers.purpose)) return false;
  const { secFetchSite, origin, referer } = headers;
  if (!isSingle(secFetchSite) || !isSingle(origin)) return false;
  if (referer !== undefined && typeof referer !== 'string') return false;
  if (secFetchSite !== undefined) return secFetchSite === 'same-origin';
  return (origin === undefined || isOurs(serialisedOrigin(origin), policy)) && (referer === undefined || isOurs(originOf(referer), policy));
}

/**
 * The meaning of the query parameter `logout` of /auth (rule 22): `end` the session, `keep` it, or `malformed`. `keep` means that the
 * parameter is absent. `malformed` is a 400: another value than 1, a repetition, or another method than HEAD.
 */
export function logoutIntent(method: string, query: { logout?: HeaderValue }): 'end' | 'keep' | 'malformed' {
  if (query.logout === undefined) return 'keep';
  return method === 'HEAD' && query.logout === '1' ? 'end' : 'malformed';
}

/**
 * An origin as browsers serialise it (RFC 6454, 6.1: lower case, no default port), so that equal origins are equal strings. Undefined if
 * the text is not just the origin of an http or https URL. Configured origins are converted as well.
 */
export function serialisedOrigin(text: string): string | undefined {
  return /^https?:\/\/[^/\\?#@\s]+$/i.test(text) ? originOf(text) : undefined;
}

function isOurs(origin: string | undefined, policy: OriginPolicy): boolean {
  return origin !== undefined && (origin === policy.publicOrigin || policy.trustedOrigins.has(origin));
}

/** Node.js joins repetitions of most headers with a comma, which no legitimate Sec-Fetch-Site or Origin contains. */
function isSingle(value: HeaderValue): value is string | undefined {
  return value === undefined || (typeof value === 'string' && !value.includes(','));
}

/** The origin of an http or https URL, such as the one in `Referer`; undefined for any other text. */
function originOf(address: string): string | undefined {
  const url = URL.parse(address);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.origin : undefined;
}

/** Browsers announce speculative loading as `prefetch` or `prefetch;prerender`. Preparing a page must not sign its user out. */
function isPrefetch(value: HeaderValue): boolean {
  return value !== undefined && String(value).toLowerCase().includes('prefetch');
}
