/** The way to a session through an OpenID provider's pages, which only a browser can go. */

export interface SignInUrlOptions {
  /** Where the browser comes back to: a path of the service's origin, such as `/app?tab=1`. `/` without it. */
  returnTo?: string;
  /** Has the provider ask its user to sign in anew, for operations that need a recent sign-in. */
  fresh?: boolean;
}

/**
 * Where to send a browser so that it signs in at a provider that `listIssuers` gave: a link, or `location.assign`. It comes back with a
 * session. Throws a TypeError for a `returnTo` that is no path, which the service would take for `/`.
 */
export function signInUrl({ startUrl }: { startUrl: string }, { returnTo, fresh }: SignInUrlOptions = {}): string {
  const url = new URL(startUrl);
  if (returnTo !== undefined) url.searchParams.set('return_to', requireReturnPath(returnTo));
  if (fresh) url.searchParams.set('fresh', '1');
  return url.href;
}

/** The path itself. Throws a TypeError for what is no path of the service's origin. */
export function requireReturnPath(path: string): string {
  if (!/^\/(?![/\\])[!-~]*$/.test(path)) throw new TypeError(`"${path}" is not a path of the service's origin`);
  return path;
}
