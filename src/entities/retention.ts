/** How long something stays that has been replaced or deleted, as documents of types say it: `{"keep":"P30D"}`. */

/** A number of days, weeks, months or years (ISO 8601), less than 100 years. */
const duration = /^P(?:[1-9][0-9]{0,3}D|[1-9][0-9]{0,2}[WM]|[1-9][0-9]?Y)$/;
/** Where the document says no time. */
const defaults = { history: 'P7D', trash: 'P30D' };

/** The duration in the value of a keyword; undefined for any other value. */
export function retentionOf(value: unknown): string | undefined {
  const { keep, ...others } = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as { keep?: unknown }) : {};
  return typeof keep === 'string' && duration.test(keep) && Object.keys(others).length === 0 ? keep : undefined;
}

/** How long versions are stored under a document, as an ISO 8601 duration. */
export function historyRetention(document: Readonly<Record<string, unknown>> | undefined): string {
  return retentionOf(document?.['x-history']) ?? defaults.history;
}

/** How long deleted entities stay in the trash under `x-soft-delete`, as an ISO 8601 duration; null if they do not, without the keyword. */
export function trashRetention(softDelete: unknown): string | null {
  return softDelete === undefined || softDelete === null ? null : (retentionOf(softDelete) ?? defaults.trash);
}
