/** Checks the path to which a browser returns after a sign-in: only paths on this service's own origin are allowed (security rule 54). */

/** Some browsers or proxies read two slashes or a backslash as the beginning of another host. Control characters split headers. */
const misleading = /\/\/|\\|%2f|%5c|%[01][0-9a-f]|%7f/i;

/** A URL on the origin of `publicUrl` as a path; undefined for any other text. The path is still to be checked. */
export function pathOnOrigin(address: string | undefined, { origin }: URL): string | undefined {
  const url = address === undefined ? undefined : URL.parse(address);
  return url?.origin === origin ? url.pathname + url.search + url.hash : undefined;
}

/** The requested path, or `/` if it is not a path on this origin. */
export function returnPath(asked: string | undefined): string {
  return asked !== undefined && /^\/[\x21-\x7e]*$/.test(asked) && !misleading.test(asked) ? asked : '/';
}
