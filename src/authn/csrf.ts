/**
 * Decides whether a request may act on the strength of a cookie: the refusal of cross-site requests and of cross-site logout (security
 * rules 22 to 30). Pure functions over header values; they know neither the framework nor where the policy comes from.
 */

/** A header as Node hands it over: undefined when absent, a list when it was repeated and not joined. */
export type HeaderValue = string | readonly string[] | undefined;

/**
 * The origins that may act, each as `serialisedOrigin` writes it. They come from the configuration, never from `Host` or
 * `X-Forwarded-Host`, which the sender chooses (rule 29).
 */
export interface OriginPolicy {
  publicOrigin: string;
  trustedOrigins: ReadonlySet<string>;
}

export interface CsrfRequest {
  method: string;
  /** What authenticates the request. A header beats the cookie, and a form or link of another site cannot set one. */
  credential: 'cookie' | 'header' | 'none';
  /** True for `POST /auth` alone: it must not come from another site even where no credential counts (login CSRF). */
  refusesCrossSite: boolean;
  secFetchSite: HeaderValue;
  origin: HeaderValue;
}

export interface LogoutHeaders {
  secFetchSite: HeaderValue;
  origin: HeaderValue;
  referer: HeaderValue;
  secPurpose: HeaderValue;
  purpose: HeaderValue;
}

/**
 * Whether the request may go on (rules 27 to 30). Only cookie-authenticated writes and POST /auth can be refused; there is no exception
 * for an empty body, because the session operations without one are open to a form of any site.
 */
export function csrfAllows(request: CsrfRequest, policy: OriginPolicy): boolean {
  if (request.credential === 'header' || isSafe(request.method)) return true;
  if (request.credential === 'none' && !request.refusesCrossSite) return true;
  const { secFetchSite, origin } = request;
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
 * Whether a logout by HEAD may go on (rule 24). HEAD travels cross-site without preflight and without `Origin`, so unlike in `csrfAllows`
 * a missing `Origin` proves nothing and `Referer` counts. A browser that sends `Sec-Fetch-Site` may log out from the own origin only, not
 * even from a trusted one.
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
 * What the query parameter `logout` asks of /auth (rule 22): `end` the session, `keep` it (the parameter is absent), or `malformed`,
 * which is a 400: another value than 1, a repetition, or another method than HEAD.
 */
export function logoutIntent(method: string, query: { logout?: HeaderValue }): 'end' | 'keep' | 'malformed' {
  if (query.logout === undefined) return 'keep';
  return method === 'HEAD' && query.logout === '1' ? 'end' : 'malformed';
}

/**
 * An origin as browsers serialise it (RFC 6454, 6.1: lower case, no default port), so that equal origins are equal strings; undefined
 * when the text is not the origin of an http or https address alone. Configured origins go through it as well.
 */
export function serialisedOrigin(text: string): string | undefined {
  return /^https?:\/\/[^/\\?#@\s]+$/i.test(text) ? originOf(text) : undefined;
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

function isOurs(origin: string | undefined, policy: OriginPolicy): boolean {
  return origin !== undefined && (origin === policy.publicOrigin || policy.trustedOrigins.has(origin));
}

/** Node joins repetitions of most headers with a comma, which no legitimate Sec-Fetch-Site or Origin contains. */
function isSingle(value: HeaderValue): value is string | undefined {
  return value === undefined || (typeof value === 'string' && !value.includes(','));
}

/** The origin of a web address, such as the one in `Referer`; undefined when it is none. */
function originOf(address: string): string | undefined {
  const url = URL.parse(address);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.origin : undefined;
}

/** Browsers announce speculative loading as `prefetch` or `prefetch;prerender`; a page must not be signed out by being prepared. */
function isPrefetch(value: HeaderValue): boolean {
  return value !== undefined && String(value).toLowerCase().includes('prefetch');
}
