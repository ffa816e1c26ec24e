/** The header `Prefer` (RFC 7240). */

/** The value of the preference `dry-run`: empty if the header gives none, undefined without the preference. */
export function dryRunOf(prefer: string): string | undefined {
  // A quote that does not end takes the rest. Otherwise each quote in the rest would be tried as the start of a text.
  const preferences = prefer.match(/(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^",])+/g) ?? [];
  const values = preferences.flatMap((preference) => {
    const [isDryRun, value = ''] = /^\s*dry-run\s*(?:=([^;]*))?(?:;|$)/i.exec(preference) ?? [];
    return isDryRun === undefined ? [] : [value.trim()];
  });
  return values.find((value) => !['', '""'].includes(value)) ?? (values.length > 0 ? '' : undefined);
}
