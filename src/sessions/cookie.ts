/**
 * The session cookie: its name, its fixed attributes (security rule 9), and how it is read. Whether it is Secure is decided by the
 * configured public URL, never by the connection, which behind a proxy is plain http.
 */
import type { Cookies } from '../authn/caller.ts';
import { usesSecureCookie } from '../config/public-url.ts';
import type { Config } from '../config/settings.ts';
import { isToken } from './token.ts';

export interface SessionCookie {
  name: string;
  attributes: { path: '/'; httpOnly: true; secure: boolean; sameSite: 'lax' | 'strict' | 'none' };
}

type CookieConfig = Pick<Config, 'publicUrl' | 'sessionSameSite' | 'sessionCookieName'>;

/** The cookie that `config` asks for: SESSION_COOKIE_NAME behind `__Host-`, or alone on plain http. */
export function sessionCookie(config: CookieConfig): SessionCookie {
  const secure = usesSecureCookie(config);
  return {
    name: (secure ? '__Host-' : '') + config.sessionCookieName,
    attributes: { path: '/', httpOnly: true, secure, sameSite: config.sessionSameSite },
  };
}

/** Makes the browser delete its session cookie. */
export function clearSessionCookie(cookies: Cookies, config: CookieConfig): void {
  const { name, attributes } = sessionCookie(config);
  cookies.set(name, '', { ...attributes, maxAge: 0 });
}

/**
 * The `Max-Age` of the cookie of a session whose token has just been issued, in whole seconds: the time until its first deadline. Undefined unless
 * SESSION_COOKIE_PERSISTENT is on: then the cookie ends with the browser. The times are all of the database's clock; `lastSeenAt` is that of the issue.
 */
export function cookieMaxAge(
  { sessionCookiePersistent }: Pick<Config, 'sessionCookiePersistent'>,
  { lastSeenAt, idleExpiresAt, expiresAt }: { lastSeenAt: Date; idleExpiresAt: Date; expiresAt: Date },
): number | undefined {
  if (!sessionCookiePersistent) return undefined;
  return Math.floor((Math.min(idleExpiresAt.getTime(), expiresAt.getTime()) - lastSeenAt.getTime()) / 1_000);
}

/** More different values under one name are nothing that a browser has. */
const maxTokens = 4;

/** The token in a `Cookie` header, as {@link valueIn} finds it. */
export function tokenIn(header: string | undefined, name: string): string | undefined {
  return valueIn(header, name, isToken);
}

/**
 * The one value under this name in a `Cookie` header that `isWellFormed` accepts. Other values count for nothing: another service of the host, or a page
 * at a longer path, may have set them. Undefined without a well-formed value, and for two different ones, of which one was planted (rule 10).
 */
export function valueIn(header: string | undefined, name: string, isWellFormed: (value: string) => boolean): string | undefined {
  const [value, ...others] = valuesIn(header, name).filter(isWellFormed);
  return others.every((other) => other === value) ? value : undefined;
}

/** All different tokens in a `Cookie` header, four at most, for who wants to be rid of every one of them, planted or not. */
export function tokensIn(header: string | undefined, name: string): string[] {
  return [...new Set(valuesIn(header, name))].filter(isToken).slice(0, maxTokens);
}

function valuesIn(header: string | undefined, name: string): string[] {
  const values: string[] = [];
  if (header === undefined) return values;
  for (let start = 0; start < header.length;) {
    let end = header.indexOf(';', start);
    if (end === -1) end = header.length;
    const pair = header.slice(start, end).trim();
    if (pair.startsWith(name) && pair[name.length] === '=') values.push(pair.slice(name.length + 1));
    start = end + 1;
  }
  return values;
}
