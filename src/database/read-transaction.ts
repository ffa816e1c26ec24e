/** Read-only transactions, whose statements see the same rows and whose time is bounded all together. */
import { sql, type CompiledQuery } from 'kysely';
import { builder, prepare, runBuilt, runRepeated } from './driver/prepared.ts';
import type { PooledClient } from './driver/timeout-pool.ts';
import type { Store } from './port.ts';

/**
 * How PostgreSQL may read tables.
 *
 * - `by-index`: neither a table nor the matching part of an index as a whole, where there is another way. It is for statements that need the first rows of an
 *   index; the planner may be wrong about how many there are. The statement leaves one way to read it, whatever its values are. So it gets a name when it
 *   comes again.
 * - `by-any-index`: likewise, but the values decide which way is best.
 * - `by-bitmap`: also the matching part of an index, which an index of texts needs.
 * - `any`: the planner decides.
 */
export type Scans = 'by-index' | 'by-any-index' | 'by-bitmap' | 'any';

/** Runs a statement; `by-any-index` unless it says otherwise. */
export type Run = <R>(query: CompiledQuery<R>, scans?: Scans) => Promise<R[]>;

/** Runs each statement by itself. It must be one that is quick however PostgreSQL reads it; `scans` only decides whether it may get a name. */
export function withoutTransaction(reads: Pick<Store, 'query' | 'queryRepeated'>): Run {
  return (query, scans) => (scans === 'by-index' ? reads.queryRepeated(query) : reads.query(query));
}

/** Milliseconds, and whether PostgreSQL may read whole tables and matching parts of indexes: `on` or `off`. */
interface ReadSettings {
  limit: string;
  tables: string;
  bitmaps: string;
}

/** Without jit: to compile a statement takes longer than the statements of a list, whose cost the planner overestimates. */
const changeSettings = prepare<ReadSettings, unknown>('read.settings', (value) =>
  sql`
  select set_config('statement_timeout', ${value('limit')}, true), set_config('jit', 'off', true),
    set_config('enable_seqscan', ${value('tables')}, true), set_config('enable_bitmapscan', ${value('bitmaps')}, true)`.compile(builder),
);
const onOff = (isOn: boolean) => (isOn ? 'on' : 'off');

/**
 * Runs `work` in a read-only transaction of `client`. PostgreSQL ends the statement that runs when `limitMs` milliseconds are over: then it fails as
 * `exceededStatementTime` of failure.ts says. What comes before a statement goes with it in one write: a page of two statements waits three times for the server
 * instead of six times.
 */
export async function readTransaction<T>(client: PooledClient, limitMs: number, work: (run: Run) => Promise<T>): Promise<T> {
  const end = performance.now() + limitMs;
  const send = (text: string) => client.send({ name: undefined, text, values: [] });
  let begin: string | undefined = 'begin isolation level repeatable read read only';
  const run: Run = async <R>(query: CompiledQuery<R>, scans: Scans = 'by-any-index') => {
    // PostgreSQL knows whole milliseconds, and takes 0 for no limit.
    const limit = String(Math.max(1, Math.ceil(end - performance.now())));
    const settings = { limit, tables: onOff(scans === 'any'), bitmaps: onOff(scans === 'by-bitmap' || scans === 'any') };
    const first = begin;
    begin = undefined;
    const [, , rows] = await client.sendTogether<[unknown, unknown, R[]]>(() => [
      first === undefined ? Promise.resolve() : send(first),
      changeSettings(client, settings),
      scans === 'by-index' ? runRepeated(client, query) : runBuilt(client, query),
    ]);
    return rows;
  };
  try {
    const result = await work(run);
    if (begin === undefined) await send('commit');
    return result;
  } catch (error) {
    // A connection that broke has no transaction any more.
    if (begin === undefined) await send('rollback').catch(() => undefined);
    throw error;
  }
}
