/** The planner's statistics of tables that grow, which autovacuum brings up to date once a minute only (decision 76). */
import { sql, type Kysely } from 'kysely';
import type { Database } from './tables.ts';

/** Analyses tables that have at least doubled since they were analysed last, and returns their names. */
export async function analyzeGrownTables(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select analyze_grown_tables() as name`.execute(db);
  const companions = await grownCompanions(db);
  for (const name of companions) await sql`analyze (skip_locked) ${sql.raw(name)}`.execute(db);
  return [...rows.map(({ name }) => name), ...companions];
}

/** The companion tables that have grown so, as PostgreSQL writes their names. The service's role has made them, so it may analyse them itself. */
async function grownCompanions(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select oid::regclass::text as name from pg_class
    where relnamespace = to_regnamespace('entity_data') and relkind = 'r' and pg_has_role(relowner, 'usage')
      and pg_relation_size(oid) / current_setting('block_size')::int >= greatest(16, 2 * relpages)`.execute(db);
  return rows.map(({ name }) => name);
}
