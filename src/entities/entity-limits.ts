/** The limits of one entity where a request has several: those of a body that has one (rule 70). */
import type { Config } from '../config/settings.ts';
import { Problem } from '../problems/errors.ts';
import { findFault, jsonLimits } from '../json/json.ts';
import { requireStoredSize } from './stored-size.ts';

/**
 * The most bytes of an entity's fields as PostgreSQL writes them, with a space after each comma and colon: twice the limit of a body (decision 13). Only
 * numbers such as `1e308` can make a body longer than that, so creates check it too (`stored-size.ts`).
 */
export function entityLimitOf({ bodyLimitBytes }: Pick<Config, 'bodyLimitBytes'>): number {
  return 2 * bodyLimitBytes;
}

/** Throws 413 or 422 unless the JSON text of an object is within the limits. `readJson` must have accepted the text with wider ones. */
export function requireEntityLimits(text: string, limitBytes: number): void {
  if (Buffer.byteLength(text) > limitBytes) throw new Problem('content-too-large', { values: { limit: limitBytes } });
  requireStoredSize(text, 2 * limitBytes);
  // A value takes two characters at least.
  const fault = text.length > 2 * jsonLimits.values ? findFault(text, jsonLimits) : undefined;
  if (fault) throw new Problem('validation-failed', { faults: [fault] });
}
