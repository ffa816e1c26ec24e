/** When fields are the same. */
import { sql, type RawBuilder } from 'kysely';

/**
 * SQL: whether two values of the type `jsonb` are the same, with the digits of their numbers: for the type 1.5 equals 1.50. The text has the digits and
 * costs more, so it is compared only where the values are equal.
 */
export const areSameFields = (one: RawBuilder<unknown>, other: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`(${one} = ${other} and ${one}::text = ${other}::text)`;

/**
 * SQL: whether merging `patch` into `fields`, a column, changes nothing. What is the same after the merge contains the patch without its nulls, which
 * PostgreSQL tests in less time than it takes to merge.
 */
export const isSameMerged = (fields: RawBuilder<unknown>, patch: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`case when ${fields} @> jsonb_strip_nulls(${patch}) then ${areSameFields(fields, sql`json_merge_patch(${fields}, ${patch})`)} else false end`;
