/**
 * The statements of tests of entities that references lead to. Each has the condition of the permit for the name that it reads,
 * `rowsOfPermit` (rule 64).
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import { builder } from '../../database/driver/prepared.ts';
import { limitOf } from '../../database/limit.ts';
import type { CoveredRows } from '../../rights/coverage.ts';
import { entityOf, type PageRows } from './list-statements.ts';

/** The keys of the rows, `limit` at most. */
export function matchedKeysQuery({ from, where }: PageRows, limit: number): CompiledQuery<{ key: string }> {
  return sql<{ key: string }>`select entity.key::text as key from ${from} where ${where} limit ${limitOf(limit)}`.compile(builder);
}

/**
 * SQL: whether `key`, an expression over the row around, is that of an entity that the permit covers and that fulfils the condition. A look at the primary
 * key for each row, whatever the planner expects.
 */
export function isMatchedKey(permit: CoveredRows, key: RawBuilder<unknown>, condition: RawBuilder<boolean>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from (select ${key} as key) as reference cross join ${entityOf(permit, sql.ref('reference.key'))} where ${condition})`;
}
