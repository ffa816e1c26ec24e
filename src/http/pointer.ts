/** Writes RFC 6901 JSON pointers for the faults of a body. */

/** The pointer of a place inside a JSON document: member names and array indices from the root down. An empty path gives `''`, the root. */
export function pointerTo(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
