/** The URL of a sign-in at an OpenID provider, which needs a browser. */

export interface SignInUrlOptions {
  /** The path of the service's origin to which the browser returns, such as `/app?tab=1`; `/` by default. */
  returnTo?: string;
  /** Asks the provider for a new sign-in, for operations that require a recent one. */
  fresh?: boolean;
  /** Lets the user choose the account at the provider, as after a logout. */
  choose?: boolean;
  /** Text about the user for the provider, such as a login name. */
  loginHint?: string;
}

/**
 * The URL that begins a sign-in at a provider of `listIssuers`, for a link or `location.assign`. The browser returns with a session. Throws a
 * TypeError for a `returnTo` that is no path; the service would replace it by `/`.
 */
export function signInUrl({ startUrl }: { startUrl: string }, { returnTo, fresh, choose, loginHint }: SignInUrlOptions = {}): string {
  const url = new URL(startUrl);
  if (returnTo !== undefined) url.searchParams.set('return_to', requireReturnPath(returnTo));
  if (fresh) url.searchParams.set('fresh', '1');
  if (choose) url.searchParams.set('choose', '1');
  if (loginHint !== undefined) url.searchParams.set('login_hint', loginHint);
  return url.href;
}

/** Returns the path. Throws a TypeError if it is no path of the service's origin. */
export function requireReturnPath(path: string): string {
  if (!/^\/(?![/\\])[!-~]*$/.test(path)) throw new TypeError(`"${path}" is not a path of the service's origin`);
  return path;
}
