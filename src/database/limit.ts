/** Limits of statements whose plans do not depend on their values. */
import { sql, type RawBuilder } from 'kysely';

/**
 * SQL: the number as a part of the text. PostgreSQL expects a tenth of all rows for a limit that is a value, and would plan a list that comes again for its values
 * each time. Throws a TypeError for anything but a whole number, so that nothing else can come into the text (rule 90).
 */
export function limitOf(count: number): RawBuilder<unknown> {
  if (!Number.isSafeInteger(count) || count < 0) throw new TypeError('a limit must be a whole number');
  return sql.lit(count);
}
