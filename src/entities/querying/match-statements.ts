/** The statement that finds the entities at the other ends of references first. Its rows have the condition of the permit. */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import { builder } from '../../database/driver/prepared.ts';
import { limitOf } from '../../database/limit.ts';
import type { PageRows } from './list-statements.ts';

/** The keys of the rows by the expression `key`, `limit` at most. */
export function matchedKeysQuery(
  { from, where }: PageRows,
  key: RawBuilder<unknown>,
  limit: number,
): CompiledQuery<{ key: string | null }> {
  return sql<{ key: string | null }>`select ${key}::text as key from ${from} where ${where} limit ${limitOf(limit)}`.compile(builder);
}
