/** Reads entity keys: 64-bit integers that stay decimal text from the path to the database and never become a floating-point number. */
import { sql } from 'kysely';
import type { Statements } from '../database/port.ts';
import { Problem } from '../problems/errors.ts';
import { expectedFormat } from '../problems/expected.ts';
import { isInt64 } from '../json/int64.ts';

/** The entity key of a path, digit for digit as it came. Throws `invalid-key` when it is none (rule 68). */
export function readKey(text: string): string {
  if (!isInt64(text))
    throw new Problem('invalid-key', { faults: [{ parameter: 'key', code: 'invalid-value', expected: expectedFormat('int64') }] });
  return text;
}

/** New keys, which no other entity gets. */
export async function drawKeys({ db }: Statements, count: number): Promise<string[]> {
  const { rows } = await sql<{
    key: string;
  }>`select nextval('entity_key_seq')::text as key from generate_series(1, ${count}::integer)`.execute(db);
  return rows.map(({ key }) => key);
}
