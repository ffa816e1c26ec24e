/** How long something stays that has been replaced or deleted, as documents of types say it: `{"keep":"P30D"}`. */

/** A number of days, weeks, months or years (ISO 8601), less than 100 years. */
const duration = /^P(?:[1-9][0-9]{0,3}D|[1-9][0-9]{0,2}[WM]|[1-9][0-9]?Y)$/;

/** The duration in the value of a keyword; undefined for any other value. */
export function retentionOf(value: unknown): string | undefined {
  const { keep, ...others } = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as { keep?: unknown }) : {};
  return typeof keep === 'string' && duration.test(keep) && Object.keys(others).length === 0 ? keep : undefined;
}
