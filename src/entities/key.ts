/** Reads entity keys: 64-bit integers that stay decimal text from the path to the database and never become a floating-point number. */

import { Problem } from '../errors.ts';
import { expectedFormat } from '../http/expected.ts';
import { isInt64 } from '../http/int64.ts';

/** The entity key of a path, digit for digit as it came. Throws `invalid-key` when it is none (rule 68). */
export function readKey(text: string): string {
  if (!isInt64(text))
    throw new Problem('invalid-key', { faults: [{ parameter: 'key', code: 'invalid-value', expected: expectedFormat('int64') }] });
  return text;
}
