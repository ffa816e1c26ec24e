/**
 * The statements of tests of entities that references lead to. Each has the condition of the permit for the name that it reads,
 * `rowsOfPermit` (rule 64).
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import { builder } from '../../database/driver/prepared.ts';
import { limitOf } from '../../database/limit.ts';
import { columnRef } from '../companion/fields.ts';
import type { Companion, CompanionColumn } from '../companion/layout.ts';
import { inSchema } from '../companion/table.ts';
import type { PageRows } from './list-statements.ts';
import { entityOf, type ListPermit } from '../shown-rows.ts';

/** The keys of the rows by the expression `key`, `limit` at most. */
export function matchedKeysQuery(
  { from, where }: PageRows,
  key: RawBuilder<unknown>,
  limit: number,
): CompiledQuery<{ key: string | null }> {
  return sql<{ key: string | null }>`select ${key}::text as key from ${from} where ${where} limit ${limitOf(limit)}`.compile(builder);
}

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
