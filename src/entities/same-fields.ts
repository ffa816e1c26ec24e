/** When fields are the same. */
import { sql, type RawBuilder } from 'kysely';

/**
 * SQL: whether two values of the type `jsonb` are the same, with the digits of their numbers: for the type 1.5 equals 1.50. The text has the digits and
 * costs more, so it is compared only where the values are equal.
 */
export const areSameFields = (one: RawBuilder<unknown>, other: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`(${one} = ${other} and ${one}::text = ${other}::text)`;
