/** The processes that serve from this database, each with a row that it renews. A migration finds those that could not live with its schema. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { sql, type Kysely } from 'kysely';
import type { Database } from './tables.ts';

const renewIntervalMs = 10_000;
/** A process whose row is older has ended without deleting it. */
export const aliveSeconds = 60;

export interface LiveProcess {
  version: string;
  host: string;
  pid: number;
}

/** Writes the row of this process and renews it until the returned function is called, which deletes it. A renewal that fails is left out. */
export async function announceProcess(db: Kysely<Database>, version: string): Promise<() => Promise<void>> {
  const id = randomUUID();
  const renew = () =>
    db
      .insertInto('process')
      .values({ id, version, host: hostname(), pid: process.pid })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: sql`now()` }))
      .execute();
  await renew();
  const timer = setInterval(() => void renew().catch(() => undefined), renewIntervalMs).unref();
  return async () => {
    clearInterval(timer);
    await db.deleteFrom('process').where('id', '=', id).execute();
  };
}

/** The processes seen within a minute, the oldest first. None in a database of an earlier version, whose processes have no rows. */
export async function listProcesses(db: Kysely<Database>): Promise<LiveProcess[]> {
  const { rows } = await sql<{ exists: boolean }>`select to_regclass('process') is not null as exists`.execute(db);
  if (!rows[0]?.exists) return [];
  return await db
    .selectFrom('process')
    .where('seen_at', '>', sql<Date>`now() - make_interval(secs => ${aliveSeconds})`)
    .select(['version', 'host', 'pid'])
    .orderBy('started_at')
    .execute();
}

/** Deletes the rows of processes that have ended without doing so; returns their number. */
export async function deleteEndedProcesses(db: Kysely<Database>): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('process')
    .where('seen_at', '<', sql<Date>`now() - make_interval(secs => ${aliveSeconds})`)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
