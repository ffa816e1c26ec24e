/** The check of `doctor` that concerns the standby of DATABASE_READ_URL. */
import { setTimeout as delay } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';
import { openStore, type Store } from '../database/port.ts';
import { hasReached, positionIn } from '../database/standby/log-position.ts';
import { standbyState } from '../database/standby/standby.ts';
import type { Database } from '../database/tables.ts';
import { failedCheck, okCheck, warningCheck, type CheckFinding } from './check.ts';

/** Whether the server at `url` is a standby of the database in `primary`, whose role may read what lists need, and how far it is behind. */
export async function checkStandby(primary: Store, url: string, lagSeconds: number): Promise<CheckFinding> {
  await using standby = openStore(url, 1, () => undefined);
  const [state] = await standby.run(standbyState, { name: '' });
  if (!state?.isStandby) return failedCheck('DATABASE_READ_URL leads to a server that is no standby: all lists are read from the primary');
  if (!positionIn(state)) return failedCheck('the server of DATABASE_READ_URL does not replay the log of a primary, so it cannot be used');
  const [one, other] = [await identityOf(primary.db), await identityOf(standby.db)];
  if (one.system !== other.system)
    return failedCheck('DATABASE_READ_URL leads to a standby of another PostgreSQL than that of DATABASE_URL');
  if (one.database !== other.database)
    return failedCheck(`DATABASE_READ_URL leads to the database ${other.name}, and DATABASE_URL to ${one.name}`);
  const unreadable = await unreadableTables(standby.db);
  if (unreadable.length > 0) return failedCheck(`the role of DATABASE_READ_URL may not read ${unreadable.join(', ')}`);
  const finding = await checkLag(primary, standby, lagSeconds);
  if (finding.status !== 'ok' || (await mayReadStatistics(standby.db))) return finding;
  return okCheck(`${finding.message}; grant pg_read_all_stats to its role, so that it is used at once after a failover`);
}

async function checkLag(primary: Store, standby: Store, lagSeconds: number): Promise<CheckFinding> {
  const wanted = await primary.log?.atPresent();
  if (!wanted) throw new Error('the primary does not say where its log is');
  const begin = performance.now();
  for (;;) {
    const [state] = await standby.run(standbyState, { name: '' });
    const reached = state && positionIn(state);
    const seconds = (performance.now() - begin) / 1_000;
    if (reached && hasReached(reached, wanted)) return okCheck(`it had what the primary has within ${seconds.toFixed(1)} s`);
    if (reached && reached.timeline !== wanted.timeline)
      return warningCheck(`it names timeline ${reached.timeline} and not ${wanted.timeline}: it is used from its next restart point on`);
    if (seconds > lagSeconds)
      return warningCheck(`it is more than ${lagSeconds} s behind (READ_LAG_SECONDS): lists are read from the primary`);
    await delay(20);
  }
}

async function mayReadStatistics(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`select pg_has_role('pg_read_all_stats', 'usage') as may`.execute(db);
  return rows[0]?.may === true;
}

async function identityOf(db: Kysely<Database>): Promise<{ system: string; database: string; name: string }> {
  const { rows } = await sql<{ system: string; database: string; name: string }>`
    select system_identifier::text as system, oid::text as database, datname as name
    from pg_control_system(), pg_database where datname = current_database()`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('the server does not say which it is');
  return row;
}

/** The tables of lists, exports and histories that the role may not read. */
async function unreadableTables(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select pg_class.oid::regclass::text as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'p') and not (has_schema_privilege(relnamespace, 'usage') and has_table_privilege(pg_class.oid, 'select'))
      and (nspname = 'entity_data' or (nspname = 'public' and relname in ('entity', 'entity_change', 'entity_trash', 'entity_type')))
    order by 1`.execute(db);
  return rows.map(({ name }) => name);
}
