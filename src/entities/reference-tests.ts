/**
 * The tests of entities at the other ends of references. Each has the condition of the permit for the name that it reads,
 * `rowsOfPermit` (rule 64).
 */
import { sql, type RawBuilder } from 'kysely';
import { columnRef } from './companion/fields.ts';
import type { Companion, CompanionColumn } from './companion/layout.ts';
import { inSchema } from './companion/table.ts';
import { entityOf, type ListPermit } from './shown-rows.ts';

/**
 * SQL: whether `key`, an expression over the row around, is that of an entity that the permit covers and that fulfils the condition. A look at the primary
 * key for each row, whatever the planner expects.
 */
export function isMatchedKey(permit: ListPermit, key: RawBuilder<unknown>, condition: RawBuilder<boolean>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from (select ${key} as key) as reference cross join ${entityOf(permit, sql.ref('reference.key'))} where ${condition})`;
}

/**
 * SQL: whether an entity that the permit covers and that fulfils the condition has `key` in its column. The condition is over the rows `x` of the companion table
 * and those of `entity`. An index of the column, or of a column that the condition compares, finds them (decision 317).
 */
export function hasReferrer(
  permit: ListPermit,
  { companion, column }: { companion: Companion; column: CompanionColumn },
  key: RawBuilder<unknown>,
  condition: RawBuilder<boolean>,
): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from (select ${key} as key) as reference cross join ${inSchema(companion.table)} as x cross join ${entityOf(permit, sql.ref('x.key'))}
    where ${columnRef(column)} = reference.key and ${condition})`;
}
