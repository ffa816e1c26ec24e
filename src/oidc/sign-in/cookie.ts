/** The cookie that binds a sign-in at a provider to the browser in which it was begun (security rule 52). It authenticates no user. */
import { usesSecureCookie } from '../../config/public-url.ts';
import type { Config } from '../../config/settings.ts';
import { valueIn } from '../../sessions/cookie.ts';

const maxAgeSeconds = 600;

/** `__Host-oidc`, or `oidc` on plain http. Always Lax: the provider's redirect comes from another site. */
export function browserCookie(config: Pick<Config, 'publicUrl'>) {
  const secure = usesSecureCookie(config);
  return {
    name: secure ? '__Host-oidc' : 'oidc',
    attributes: { path: '/', httpOnly: true, secure, sameSite: 'lax', maxAge: maxAgeSeconds } as const,
  };
}

/** The value of the cookie, 256 bits in base64url; undefined if no value has this form, or two different ones have. */
export function browserIn(header: string | undefined, name: string): string | undefined {
  return valueIn(header, name, (value) => /^[A-Za-z0-9_-]{43}$/.test(value));
}
