/** Limits as parts of the texts of statements. */
import { sql, type RawBuilder } from 'kysely';

/**
 * SQL: the number. For a limit that is a value PostgreSQL expects a tenth of all rows. So it would plan a list that comes again for its values each time
 * (decision 77). Throws a TypeError unless the number is whole and not negative, so that nothing else comes into the text (rule 90).
 */
export function limitOf(count: number): RawBuilder<unknown> {
  if (!Number.isSafeInteger(count) || count < 0) throw new TypeError('a limit must be a whole number');
  return sql.lit(count);
}
