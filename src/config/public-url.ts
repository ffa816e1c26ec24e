/** What follows from PUBLIC_URL: the URLs under which clients reach this service, its origin, and whether its cookies are Secure. */
import type { Config } from './settings.ts';

/** The URL under which clients reach the service, without a slash at the end: `https://example.com` or, with a base path, `https://example.com/api`. */
export function baseUrlOf({ href }: URL): string {
  return href.slice(0, -1);
}

/** The absolute URL of one of this service's own paths, such as `/docs`, as clients reach it. */
export function publicAddress(publicUrl: URL, path: `/${string}`): string {
  return baseUrlOf(publicUrl) + path;
}

/** The path of PUBLIC_URL, which the proxy removes, without a slash at the end: empty, or such as `/api`. */
export function basePathOf({ pathname }: URL): string {
  return pathname.slice(0, -1);
}

/** One of this service's own paths, such as `/docs`, as clients see it: behind the base path. */
export function publicPath(publicUrl: URL, path: `/${string}`): string {
  return basePathOf(publicUrl) + path;
}

/** Whether cookies are `Secure` and have names with `__Host-` (rule 9): everywhere but on plain http. */
export function usesSecureCookie(config: Pick<Config, 'publicUrl'>): boolean {
  return config.publicUrl.protocol === 'https:';
}

/**
 * The origins that may act, each in the form of `serialisedOrigin`. They come from the configuration, never from `Host` or
 * `X-Forwarded-Host`, which the sender chooses (rule 29).
 */
export interface OriginPolicy {
  publicOrigin: string;
  trustedOrigins: ReadonlySet<string>;
}

/** The origins that may act with a user's cookie. */
export function originPolicy({ publicUrl, trustedOrigins }: Pick<Config, 'publicUrl' | 'trustedOrigins'>): OriginPolicy {
  return { publicOrigin: publicUrl.origin, trustedOrigins };
}
