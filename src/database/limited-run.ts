/** Statements of a read-only transaction, whose time is bounded all together. */
import { sql, type CompiledQuery } from 'kysely';
import { builder } from './driver/prepared.ts';

/**
 * How PostgreSQL may read tables: `by-index` never reads a table or the matching part of an index as a whole, where there is another way. It is for
 * statements that need the first rows of an index only; the planner may be wrong about how many rows there are. `by-bitmap` may read the matching part of
 * an index, which an index of texts needs.
 */
export type Scans = 'by-index' | 'by-bitmap' | 'any';

/** Runs a statement of a read-only transaction; `by-index` unless it says otherwise. */
export type Run = <R>(query: CompiledQuery<R>, scans?: Scans) => Promise<R[]>;

/** To compile a statement takes longer than the statements of a list, whose cost the planner overestimates. */
const settingsOf = (limitMs: number, scans: Scans) =>
  sql`
  select set_config(name, value, true) from (values
    ('statement_timeout', ${String(limitMs)}), ('jit', 'off'), ('enable_seqscan', ${onOff(scans === 'any')}), ('enable_bitmapscan', ${onOff(scans !== 'by-index')})
  ) as setting (name, value)`.compile(builder);
const onOff = (isOn: boolean) => (isOn ? 'on' : 'off');

/** Runs statements with `execute`, in a transaction that has begun. PostgreSQL ends the one that runs when `limitMs` milliseconds are over. */
export function limitedRun(limitMs: number, execute: Run): Run {
  const end = performance.now() + limitMs;
  return async (query, scans = 'by-index') => {
    // PostgreSQL knows whole milliseconds, and takes 0 for no limit.
    const left = Math.max(1, Math.ceil(end - performance.now()));
    await execute(settingsOf(left, scans));
    return await execute(query);
  };
}
