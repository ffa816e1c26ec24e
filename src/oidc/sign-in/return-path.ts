/** Where a browser may be sent after a sign-in: to this service's own origin and nowhere else (security rule 54). */

/** Two slashes or a backslash could begin another host, in whatever way a browser or a proxy reads them; control characters split headers. */
const misleading = /\/\/|\\|%2f|%5c|%[01][0-9a-f]|%7f/i;

/** The path asked for, or `/` for anything but one on this origin. */
export function returnPath(asked: string | undefined): string {
  return asked !== undefined && /^\/[\x21-\x7e]*$/.test(asked) && !misleading.test(asked) ? asked : '/';
}
