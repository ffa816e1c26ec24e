/** The limits of one entity where a request has several: those of a body that has one (rule 70). */
import { Problem } from '../errors.ts';
import { findFault, jsonLimits } from '../http/json.ts';

/** Throws 413 or 422 unless the JSON text of an object is within the limits. `readJson` must have accepted the text with wider ones. */
export function requireEntityLimits(text: string, limitBytes: number): void {
  if (Buffer.byteLength(text) > limitBytes) throw new Problem('content-too-large', { values: { limit: limitBytes } });
  // A value takes two characters at least.
  const fault = text.length > 2 * jsonLimits.values ? findFault(text, jsonLimits) : undefined;
  if (fault) throw new Problem('validation-failed', { faults: [fault] });
}
