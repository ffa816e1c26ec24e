/** Ticks: moments in which the whole history can be read as it was (decision 150). Every process tries to make them; PostgreSQL lets one at a time. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { repeatEvery } from '../../database/repeat.ts';

/** The function of the database makes at most one tick a second, however many processes there are. */
const intervalMs = 1_000;

/** Makes a tick if changes have been committed since the last one; returns whether it did. */
export async function makeTick(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ made: boolean }>`select make_feed_tick() as made`.execute(db);
  return rows[0]?.made ?? false;
}

/** Does so every second until the returned function is called. `onError` receives failures. */
export function scheduleTicks(db: Kysely<Database>, onError: (error: unknown) => void): () => void {
  return repeatEvery(intervalMs, () => makeTick(db), onError);
}

/** Deletes up to `limit` ticks that are older than all versions that are kept; returns how many. */
export async function deleteOldTicks(db: Kysely<Database>, limit: number): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`select delete_old_feed_ticks(${limit}::integer) as deleted`.execute(db);
  return rows[0]?.deleted ?? 0;
}
