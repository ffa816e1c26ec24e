/** Writes the companion rows of all entities of a name, while others write entities. It is no caller's request, so it needs no permit. */
import { setTimeout as delay } from 'node:timers/promises';
import { sql, type Kysely, type QueryResult, type RawBuilder } from 'kysely';
import type { Companion } from './layout.ts';
import { envelopeColumns, inputColumns, upsertRows } from './rows.ts';
import { companionValues } from './values.ts';
import { exceededStatementTime, inTransaction } from '../../database/failure.ts';
import type { Database } from '../../database/tables.ts';
import { Problem } from '../../problems/errors.ts';
import { scanEntities, scanKeys, type StoredFields } from './scan.ts';
import { parseJson } from '../../json/parse-json.ts';

/** Between attempts at entities that other transactions have locked. */
const lockRetryPauseMs = 20;
/** For a statement of a batch. A batch of 1,000 entities takes some 100 ms, so a longer one waits for a lock. */
const statementMs = 60_000;
const attempts = 3;

export interface FillOptions {
  /** Whether the transaction has locked all entities. */
  isAlone?: boolean;
  /** For the statement of each batch, in milliseconds; without effect with `isAlone`. */
  limitMs?: number;
}

/**
 * Writes the row of every entity called `name`, in the order of the keys. The revision in force must have the companion table with the state `building` or
 * `ready`, so that whatever changes an entity meanwhile writes its row too. Calls `onRows` with the number of entities after each batch, and returns the keys of
 * those with a text that no index can hold. Throws 503 `busy` if a batch takes longer than `limitMs` three times.
 */
export async function fillCompanion(
  db: Kysely<Database>,
  name: string,
  companion: Companion,
  onRows: (rows: number) => void,
  options: FillOptions = {},
): Promise<string[]> {
  const tooLong: string[] = [];
  let waiting: StoredFields[] = [];
  for await (const batch of scanEntities(db, name)) {
    waiting.push(...(await fillBatch(db, name, companion, batch, tooLong, options)));
    onRows(batch.length);
  }
  while (waiting.length > 0) {
    await delay(lockRetryPauseMs);
    const seen = new Map(waiting.map(({ key, version }) => [key, version]));
    waiting = [];
    for await (const batch of scanKeys(db, name, [...seen.keys()])) {
      // Whatever changed the entity has written its row.
      const unchanged = batch.filter(({ key, version }) => seen.get(key) === version);
      waiting.push(...(await fillBatch(db, name, companion, unchanged, tooLong, options)));
    }
  }
  return tooLong;
}

/** Returns the entities that another transaction has locked or changed. */
async function fillBatch(
  db: Kysely<Database>,
  name: string,
  companion: Companion,
  batch: readonly StoredFields[],
  tooLong: string[],
  { isAlone = false, limitMs = statementMs }: FillOptions,
): Promise<StoredFields[]> {
  const rows = batch.flatMap(({ key, version, fields }) => {
    try {
      return [{ key, version, ...companionValues(companion, parseJson(fields)) }];
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      tooLong.push(key);
      return [];
    }
  });
  const columns = sql.join([sql`key bigint`, sql`version bigint`, ...inputColumns(companion)]);
  // The lock ends with the transaction. Until then no other one changes the entity, so its row is that of this version.
  const statement = sql<{ key: string }>`
      with input as materialized (select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as input (${columns})),
      locked as materialized (
        select ${sql.join([sql`entity.key`, ...envelopeColumns(companion, 'entity')])} from entity join input on entity.key = input.key and entity.version = input.version
        where entity.name = ${name} ${isAlone ? sql`` : sql`for share of entity skip locked`}
      ),
      written as (${upsertRows(companion, sql`input join locked using (key)`)})
      select key from locked`;
  const { rows: written } = isAlone ? await statement.execute(db) : await withinTime(db, name, rows, statement, limitMs);
  const done = new Set([...written.map(({ key }) => key), ...tooLong]);
  return batch.filter(({ key }) => !done.has(key));
}

/** Runs the statement of a batch, and again after a conflict, and after the limit of time has ended it: three times at most. */
async function withinTime<T>(
  db: Kysely<Database>,
  name: string,
  rows: readonly { key: string }[],
  statement: RawBuilder<T>,
  limitMs: number,
): Promise<QueryResult<T>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(db, async (trx) => {
        await sql`set local statement_timeout = ${sql.lit(limitMs)}`.execute(trx);
        return await statement.execute(trx);
      });
    } catch (error) {
      if (!exceededStatementTime(error)) throw error;
      if (attempt === attempts) throw tooSlow(name, rows, error);
    }
  }
}

function tooSlow(name: string, rows: readonly { key: string }[], error: unknown): Problem {
  const range = `${rows[0]?.key} to ${rows.at(-1)?.key}`;
  const message = `PostgreSQL did not index the entities "${name}" with the keys ${range} in time: does a transaction hold a lock?`;
  return new Problem('busy', { headers: { 'Retry-After': '1' }, values: { seconds: 1 }, cause: new Error(message, { cause: error }) });
}
