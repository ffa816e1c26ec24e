/** Ticks: moments in which the whole history can be read as it was (decision 150). Every process tries to make them; PostgreSQL lets one at a time. */
import { sql, type Kysely } from 'kysely';
import { builder, prepare } from '../../database/driver/prepared.ts';
import type { Statements } from '../../database/port.ts';
import type { Database } from '../../database/tables.ts';

const findNewest = prepare<object, { position: string }>('tick.newest', () =>
  builder.selectFrom('feed_tick').orderBy('n', 'desc').limit(1).select('n as position').compile(),
);

/** The position of the newest tick: later statements on the same server see all changes that it shows. Undefined before the first tick. */
export async function newestPosition(store: Pick<Statements, 'run'>): Promise<string | undefined> {
  return (await store.run(findNewest, {}))[0]?.position;
}

/** Makes a tick if changes have been committed since the last one; returns whether it did. */
export async function makeTick(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ made: boolean }>`select make_feed_tick() as made`.execute(db);
  return rows[0]?.made ?? false;
}

/** Deletes up to `limit` ticks that are older than all versions that are kept; returns how many. */
export async function deleteOldTicks(db: Kysely<Database>, limit: number): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`select delete_old_feed_ticks(${limit}::integer) as deleted`.execute(db);
  return rows[0]?.deleted ?? 0;
}
