/** The planner's statistics of tables that grow, which autovacuum brings up to date once a minute only (decision 76). */
import { sql, type Kysely } from 'kysely';
import { repeatEvery } from './repeat.ts';
import type { Database } from './tables.ts';

const intervalMs = 2_000;

/** Analyses tables that have at least doubled since they were analysed last, and returns their names. */
export async function analyzeGrownTables(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select analyze_grown_tables() as name`.execute(db);
  return rows.map(({ name }) => name);
}

/** Does so every two seconds until the returned function is called. `onError` receives failures; the next attempt follows all the same. */
export function scheduleStatistics(db: Kysely<Database>, onError: (error: unknown) => void): () => void {
  return repeatEvery(intervalMs, () => analyzeGrownTables(db), onError);
}
