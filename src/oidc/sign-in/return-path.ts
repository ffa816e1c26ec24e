/** Checks the path to which a browser returns after a sign-in: only paths on this service's own origin are allowed (security rule 54). */

/** Some browsers or proxies read two slashes or a backslash as the beginning of another host. Control characters split headers. */
const misleading = /\/\/|\\|%2f|%5c|%[01][0-9a-f]|%7f/i;

/** The requested path, or `/` if it is not a path on this origin. */
export function returnPath(asked: string | undefined): string {
  return asked !== undefined && /^\/[\x21-\x7e]*$/.test(asked) && !misleading.test(asked) ? asked : '/';
}
