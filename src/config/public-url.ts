/** What follows from PUBLIC_URL: the URLs under which clients reach this service, its origin, and whether its cookies are Secure. */
import type { OriginPolicy } from '../authn/csrf.ts';
import type { Config } from './settings.ts';

/** Whether the session cookie is `Secure` and called `__Host-sid` (rule 9): everywhere but on plain http on the loopback address. */
export function usesSecureCookie(config: Pick<Config, 'publicUrl'>): boolean {
  return config.publicUrl.protocol === 'https:';
}

/** The origins that may act with a user's cookie. */
export function originPolicy({ publicUrl, trustedOrigins }: Pick<Config, 'publicUrl' | 'trustedOrigins'>): OriginPolicy {
  return { publicOrigin: publicUrl.origin, trustedOrigins };
}
