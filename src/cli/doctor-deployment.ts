/** The checks of `doctor` that concern what serves from the database together: processes, their connections, and the standbys of commits. */
import { sql, type Kysely } from 'kysely';
import type { Config } from '../config/settings.ts';
import { listProcesses } from '../database/processes.ts';
import type { Database } from '../database/tables.ts';
import { failedCheck, okCheck, warningCheck, type CheckFinding } from './check.ts';

/** Besides the pool: the listener of a worker, and the build of an entity type. */
const connectionsBesidePool = 2;

/** Which processes run, and whether they are of one version. */
export async function checkProcesses(db: Kysely<Database>): Promise<CheckFinding> {
  const byVersion = [...Map.groupBy(await listProcesses(db), ({ version }) => version)];
  const text = byVersion.map(([version, all]) => `${all.length} of version ${version}`).join(', ');
  if (byVersion.length === 0) return okCheck('none is running');
  return byVersion.length === 1 ? okCheck(text) : warningCheck(`${text}: an upgrade is under way, or a replica was left behind`);
}

/** Whether the server and the role allow the connections that the processes may open, as many as run now or as `WORKERS` says. */
export async function checkConnections(
  db: Kysely<Database>,
  { workers, databasePoolSize, databaseDirectUrl }: Config,
): Promise<CheckFinding> {
  const { rows } = await sql<{ most: number; role: string; limit: number; standbys: string }>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0) as most,
      rolname as role, rolconnlimit as limit, current_setting('synchronous_standby_names') as standbys
    from pg_roles where rolname = current_user`.execute(db);
  const { most = 0, role = '', limit = -1, standbys = '' } = rows[0] ?? {};
  const processes = Math.max(workers, (await listProcesses(db)).length);
  const ofPool = databaseDirectUrl === undefined ? databasePoolSize : 0;
  const needed = processes * (ofPool + connectionsBesidePool);
  const opened = `${processes === 1 ? '1 process opens' : `${processes} processes open`} up to ${needed}${ofPool === 0 ? ' besides those of the pooler' : ''}`;
  if (needed > most) return warningCheck(`${opened}, and max_connections of PostgreSQL leaves ${most}`);
  if (limit >= 0 && needed > limit)
    return warningCheck(`${opened}, and the role ${role} may have ${limit}: alter role ${role} connection limit …`);
  if (limit < 0 && standbys !== '') {
    return warningCheck(
      `the role ${role} has no connection limit: commits that wait for a standby could take all ${most} (docs/scaling.md)`,
    );
  }
  return okCheck(`${opened}; allowed are ${limit < 0 ? most : Math.min(most, limit)}`);
}

/** Whether commits wait for standbys, and whether these are there. */
export async function checkSynchronousStandbys(db: Kysely<Database>): Promise<CheckFinding> {
  const { rows } = await sql<{ names: string; isVisible: boolean; present: number }>`
    select current_setting('synchronous_standby_names') as names, pg_has_role('pg_read_all_stats', 'usage') as "isVisible",
      (select count(*)::int from pg_stat_replication where state = 'streaming' and sync_state in ('sync', 'quorum', 'potential')) as present`.execute(
    db,
  );
  const { names = '', isVisible = false, present = 0 } = rows[0] ?? {};
  if (names === '') return okCheck('commits wait for none');
  if (!isVisible) return okCheck(`commits wait for ${names}; only members of pg_monitor see whether they are there`);
  const [, required = '1'] = /^(?:any |first )?\s*(\d+)\s*\(/i.exec(names) ?? [];
  const text = `commits wait for ${names}, and there are ${present}`;
  if (present < Number(required))
    return failedCheck(`${text}: writes are answered by 503 until one is back. Do not cancel a statement that waits`);
  return present === Number(required) ? warningCheck(`${text}: if one more is lost, writes stop`) : okCheck(text);
}
