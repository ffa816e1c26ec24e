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

/** The cookie that `config` asks for: `__Host-sid`, or `sid` on plain http. */
export function sessionCookie(config: Pick<Config, 'publicUrl' | 'sessionSameSite'>): SessionCookie {
  const secure = usesSecureCookie(config);
  return {
    name: secure ? '__Host-sid' : 'sid',
    attributes: { path: '/', httpOnly: true, secure, sameSite: config.sessionSameSite },
  };
}

/** Makes the browser delete its session cookie. */
export function clearSessionCookie(cookies: Cookies, config: Pick<Config, 'publicUrl' | 'sessionSameSite'>): void {
  const { name, attributes } = sessionCookie(config);
  cookies.set(name, '', { ...attributes, maxAge: 0 });
}

/** More different values under one name are nothing that a browser has. */
const maxTokens = 4;

/**
 * The token in a `Cookie` header, or undefined when there is none of the right shape. Two different values under the name count as none:
 * one of them was planted (rule 10).
 */
export function tokenIn(header: string | undefined, name: string): string | undefined {
  const token = valueIn(header, name);
  return token !== undefined && isToken(token) ? token : undefined;
}

/** The one value under this name in a `Cookie` header; undefined when there is none, or there are two different ones. */
export function valueIn(header: string | undefined, name: string): string | undefined {
  const [value, ...others] = valuesIn(header, name);
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
