/** The checks of `doctor` that concern what the database has besides rows: sequences, triggers, indexes, the cleaning of tables, and kept log. */
import { sql, type Kysely } from 'kysely';
import type { Config } from '../config/settings.ts';
import type { Store } from '../database/port.ts';
import { listKeySequences } from '../database/key-sequences.ts';
import type { Database } from '../database/tables.ts';
import { companionSchema } from '../entities/companion/catalogue.ts';
import { missingIndexes, missingReferences } from '../entities/companion/table.ts';
import { listCompanions } from '../entity-types/store.ts';
import { failedCheck, okCheck, warningCheck, type CheckFinding } from './check.ts';

/** Whether each sequence is beyond the numbers of the rows. Otherwise inserts fail, or give a key again that a deleted entity had. */
export async function checkSequences(store: Store): Promise<CheckFinding> {
  const sequences = await store.runLong((db) => listKeySequences(db));
  const behind = sequences.filter(({ next, highest }) => next <= highest);
  if (behind.length === 0) return okCheck('new rows get new numbers');
  const named = behind.map(({ table, column, next, highest }) => `${table}.${column} has ${highest}, and the next one would be ${next}`);
  return failedCheck(
    `${named.join('; ')}: run "database after-restore --taken-at TIME", or, as the owner, ${behind.map(forward).join('; ')}`,
  );
}

const forward = ({ sequence, highest }: { sequence: string; highest: bigint }) => `select setval('${sequence}', ${highest})`;

/** Whether all triggers fire, those of references too. A load of data may have disabled them. */
export async function checkTriggers(db: Kysely<Database>): Promise<CheckFinding> {
  const { rows } = await sql<{ table: string; name: string | null }>`
    select tgrelid::regclass::text as table, case when tgisinternal then null else quote_ident(tgname) end as name
    from pg_trigger join pg_class on pg_class.oid = tgrelid
    where relnamespace in (current_schema()::regnamespace, ${companionSchema}::regnamespace) and tgenabled in ('D', 'R')
    group by 1, 2 order by 1, 2`.execute(db);
  if (rows.length === 0) return okCheck('all fire');
  const tables = [...Map.groupBy(rows, ({ table }) => table)];
  const named = tables.map(([table, all]) => `${table} (${all.map(({ name }) => name ?? 'references').join(', ')})`);
  return failedCheck(
    `disabled on ${named.join(', ')}: revocations arrive late, and references and the audit trail are not protected. As a superuser: ` +
      tables.map(([table]) => `alter table ${table} enable trigger all`).join('; '),
  );
}

/** Whether each type has its indexes and references, and whether all indexes are valid. */
export async function checkIndexes({ db }: Store): Promise<CheckFinding> {
  const problems: string[] = [];
  for (const { name, companion } of await listCompanions(db)) {
    if (companion.state !== 'ready') continue;
    const missing = [...(await missingIndexes(db, companion)), ...(await missingReferences(db, companion))];
    if (missing.length > 0) problems.push(`${name} lacks ${missing.join(', ')}: export the type, delete it, and apply it again`);
  }
  const { rows } = await sql<{ name: string }>`
    select indexrelid::regclass::text as name from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = current_schema()::regnamespace and not (indisvalid and indisready) order by 1`.execute(db);
  for (const { name } of rows) problems.push(`${name} is invalid: as the owner, reindex index concurrently ${name}`);
  return problems.length > 0 ? failedCheck(problems.join('; ')) : okCheck('none is missing or invalid');
}

/** Whether the server removes dead rows and gathers statistics, and whether something holds that up. */
export async function checkVacuum(db: Kysely<Database>): Promise<CheckFinding> {
  const { rows } = await sql<{ off: string[]; tables: string[]; prepared: string[]; hours: number; age: number }>`
    select array(select name from unnest(array['autovacuum', 'track_counts']) as name where current_setting(name) = 'off') as off,
      array(select oid::regclass::text from pg_class where relnamespace in (current_schema()::regnamespace, ${companionSchema}::regnamespace)
        and exists (select from unnest(reloptions) as option where option ~ '^autovacuum_enabled=(off|false|no|0|f|n)') order by 1) as tables,
      array(select quote_literal(gid) from pg_prepared_xacts where database = current_database() and prepared < now() - interval '1 hour') as prepared,
      (select coalesce(extract(epoch from now() - min(xact_start)), 0)::int / 3600 from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend') as hours,
      (select age(datfrozenxid) from pg_database where datname = current_database()) as age`.execute(db);
  const { off = [], tables = [], prepared = [], hours = 0, age = 0 } = rows[0] ?? {};
  const problems = [
    ...off.map((name) => `${name} is off, so tables grow without end: alter system set ${name} = on; select pg_reload_conf()`),
    ...tables.map((table) => `autovacuum is off for ${table}: alter table ${table} reset (autovacuum_enabled)`),
    ...prepared.map((gid) => `a prepared transaction keeps dead rows: rollback prepared ${gid}`),
    ...(hours >= 1 ? [`a transaction has been open for ${hours} h and keeps dead rows: find it in pg_stat_activity, and end it`] : []),
    ...(age > 1_000_000_000 ? [`the oldest rows are ${age} transactions old: run vacuum freeze before 2 billion`] : []),
  ];
  return problems.length > 0 ? warningCheck(problems.join('; ')) : okCheck('the server removes dead rows');
}

/** Whether a replication slot without a reader keeps the log, until the disk is full. */
export async function checkSlots(db: Kysely<Database>, { databaseUrl, archiveDir }: Config): Promise<CheckFinding> {
  const { rows } = await sql<{ name: string; mebibytes: number | null }>`
    select slot_name::text as name, round(pg_wal_lsn_diff(case when pg_is_in_recovery() then null else pg_current_wal_lsn() end, restart_lsn) / 1048576)::int as mebibytes
    from pg_replication_slots where not active and not temporary order by 1`.execute(db);
  // The service reads its own while it runs.
  const forgotten = rows.filter(({ name }) => databaseUrl !== undefined || archiveDir === undefined || name !== 'archive');
  if (forgotten.length === 0) return okCheck('none is without a reader');
  const named = forgotten.map(({ name, mebibytes }) => `${name} (${mebibytes ?? 0} MiB)`).join(', ');
  const drops = forgotten.map(({ name }) => `select pg_drop_replication_slot('${name}')`).join('; ');
  return warningCheck(
    `slots without a reader keep the log until the disk is full: ${named}. Start the reader, or, if it is gone: ${drops}`,
  );
}
