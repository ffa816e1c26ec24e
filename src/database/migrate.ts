/**
 * Brings a database to the schema of `migrations/*.sql`: each file once, in the order of their names, each in a transaction of its own. A lock lets any
 * number of replicas start together.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator, type MigrationProvider } from 'kysely/migration';
import { DatabaseError, Pool } from 'pg';

import { readVersion } from '../config/version.ts';
import { DirectAddressError } from './failure.ts';
import { encodingAdvice } from './encoding.ts';
import { isOlder, readMigrations, type MigrationFile } from './migration-files.ts';
import { pendingMigrations } from './migration-state.ts';
import { aliveSeconds, listProcesses } from './processes.ts';
import type { Database } from './tables.ts';
import { firstStatement } from './driver/session-settings.ts';
import { SettlingClient } from './driver/settling-client.ts';

/** The lock of Kysely's migrator, which versions took that did not take it here. */
const lockId = '3853314791062309107';
/** How long a statement waits for its lock. Statements of the service that need the table wait meanwhile. */
const lockTimeout = '2s';
const attempts = 10;
const retryPauseMs = 1_000;
/** Longer than the row of a process that was killed counts. */
const olderProcessesMs = (aliveSeconds + 10) * 1_000;
/** The migration that makes the table of notes. */
const firstNoted = '0024-upgrade';

export interface MigrateOptions {
  /** The last migration to apply; by default the last one of this version. */
  upTo?: string | undefined;
  /** Applies also what processes that run cannot live with. */
  force?: boolean | undefined;
  /** Called with one line for the operator each time that it begins to wait. */
  onWait?: ((line: string) => void) | undefined;
  /** How long to wait for processes of older versions to end. */
  olderProcessesMs?: number | undefined;
  /** The directory of the files. */
  from?: URL | undefined;
}

/**
 * Applies what is missing, analyses all filled tables if anything was, and returns the names of what it applied. `directUrl` must not pool
 * by transaction. Throws {@link DirectAddressError}. Nothing is changed if the state of the database is refused (`migrationState`), or
 * while processes run that could not live with the next file. Nothing of a failed file is left, unless it is one without a transaction.
 */
export async function migrateDatabase(directUrl: string, options: MigrateOptions = {}): Promise<string[]> {
  const { upTo, force = false, onWait = () => undefined } = options;
  try {
    const files = await readMigrations(options.from);
    return await withConnection(directUrl, async (db) => {
      await lockMigrations(db);
      const names = files.map(({ name }) => name);
      const pending = await pendingMigrations(db, names);
      if (pending.length === names.length) await assertEncoding(db);
      const wanted = upTo === undefined ? pending.length : pending.indexOf(upTo) + 1;
      for (const name of pending.slice(0, wanted)) {
        const file = files.find((each) => each.name === name);
        if (!file) continue;
        if (!force) await waitForOlderProcesses(db, file, onWait, options.olderProcessesMs ?? olderProcessesMs);
        await applyNext(db, files, file, onWait);
      }
      if (wanted > 0) await analyzeTables.execute(db);
      return pending.slice(0, wanted);
    });
  } catch (error) {
    throw new DirectAddressError(error);
  }
}

async function withConnection<T>(databaseUrl: string, work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  // One connection of its own, which holds the lock, without the pool's timeouts: waiting for another replica's migration may take long.
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 1,
    idleTimeoutMillis: 0,
    application_name: 'entity-service migrate',
    connectionTimeoutMillis: 10_000,
    // The pool makes its clients with its own options, which its types leave out.
    Client: SettlingClient as unknown as new () => SettlingClient,
  });
  pool.on('error', () => undefined);
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  try {
    await sql.raw(firstStatement).execute(db);
    // The role may have a limit for its sessions.
    await sql`set statement_timeout = 0`.execute(db);
    return await work(db);
  } finally {
    await db.destroy();
  }
}

/** An empty database can still be replaced. */
async function assertEncoding(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ name: string; encoding: string }>`
    select current_database() as name, current_setting('server_encoding') as encoding`.execute(db);
  for (const { name, encoding } of rows) {
    const advice = encodingAdvice(encoding);
    if (advice !== undefined) throw new Error(`the database ${name} ${advice}`);
  }
}

/** Tries again and again: a statement that waits for the lock would hold up an index that another replica builds beside writers. */
async function lockMigrations(db: Kysely<Database>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${sql.lit(lockId)}) as locked`.execute(db);
    if (rows[0]?.locked) return;
    await delay(100);
  }
}

/** Throws an error for the operator when processes of a version that may not run beside the file still run at the end. */
async function waitForOlderProcesses(
  db: Kysely<Database>,
  { name, runsBeside = readVersion() }: MigrationFile,
  onWait: (line: string) => void,
  timeoutMs: number,
): Promise<void> {
  const until = performance.now() + timeoutMs;
  for (let isFirst = true; ; isFirst = false) {
    const older = (await listProcesses(db)).filter(({ version }) => isOlder(version, runsBeside));
    if (older.length === 0) return;
    const names = older.map(({ host, pid, version }) => `${host} process ${pid} (version ${version})`).join(', ');
    if (performance.now() >= until) {
      throw new Error(
        `${name} changes what versions before ${runsBeside} need, and these still run: ${names}. Stop them, or upgrade them to ${runsBeside} first`,
      );
    }
    if (isFirst) onWait(`${name} waits until these have stopped: ${names}`);
    await delay(Math.min(retryPauseMs, timeoutMs));
  }
}

/** Applies `file`, the first of `files` that the database lacks, and tries again when it does not get its locks. */
async function applyNext(db: Kysely<Database>, files: MigrationFile[], file: MigrationFile, onWait: (line: string) => void): Promise<void> {
  const migrator = new Migrator({ db, provider: providerOf(files), disableTransactions: !file.inTransaction });
  for (let attempt = 1; ; attempt++) {
    await sql`set lock_timeout = ${sql.lit(lockTimeout)}`.execute(db);
    const { error } = await migrator.migrateUp();
    await sql`reset lock_timeout`.execute(db);
    if (!error) return;
    const isLocked = error instanceof DatabaseError && (error.code === '55P03' || error.code === '40P01');
    if (!isLocked || attempt === attempts) throw error;
    onWait(`${file.name} did not get its locks within ${lockTimeout} and is tried again (${attempt} of ${attempts})`);
    await delay(retryPauseMs);
  }
}

/** The files as Kysely migrations. There is no way down: a released schema is changed by a further file. */
function providerOf(files: MigrationFile[]): MigrationProvider {
  const migrations = files.map((file) => {
    const up = async (db: Kysely<unknown>) => {
      // PostgreSQL makes a transaction of several statements that come in one message.
      for (const text of file.inTransaction ? [file.text] : file.text.split(/(?<=;)\n+(?=.)/)) await sql.raw(text).execute(db);
      if (file.name >= firstNoted) await noteMigrations(db, files, file.name);
    };
    return [file.name, { up }] as const;
  });
  return { getMigrations: async () => Object.fromEntries(migrations) };
}

/** Stores what the files as far as `last` say, so that an earlier version, which lacks them, can read it. */
async function noteMigrations(db: Kysely<unknown>, files: readonly MigrationFile[], last: string): Promise<void> {
  for (const { name, runsBeside = readVersion() } of files.filter((file) => file.name <= last)) {
    await sql`insert into migration_note values (${name}, ${runsBeside}) on conflict do nothing`.execute(db);
  }
}

/**
 * Autovacuum does not count a change of the schema as a change of the table. An empty table is left out. The planner assumes ten pages for
 * a table that was never analysed, and plans for an index. For a table that is known to be empty it plans to read the whole.
 */
const analyzeTables = sql`
  do $$ declare filled regclass; begin
    for filled in
      select oid from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and pg_relation_size(oid) > 0
    loop
      execute format('analyze %s', filled);
    end loop;
  end $$`;
