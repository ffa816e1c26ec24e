/** A backup of all data for each day (UTC) in BACKUP_DIR: written, read to its end, and deleted when there are enough newer ones (docs/backup.md). */
import { constants } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { sql, type Kysely } from 'kysely';
import { schedule } from '../audit/actor.ts';
import { backUpDatabase, type From } from './transfer.ts';
import { ConfigError, type Config } from '../config/settings.ts';
import { assertOnlyRootMayReplace } from '../embedded/trusted-path.ts';
import type { Database } from '../database/tables.ts';
import { verifyBackup } from '../database/transfer/backup-file.ts';
import { inLongTransaction } from '../database/transfer/snapshot.ts';
import { assertWritableDirectory } from '../config/writable-directory.ts';

const fileName = /^entity-service-\d{4}-\d\d-\d\d\.backup$/;
/** The files that a process leaves behind if it is killed. */
const partialName = /^entity-service-\d{4}-\d\d-\d\d\.backup\.[0-9a-f]+\.partial$/;

/** One process at a time writes the backups of a database. The numbers of an advisory lock of our own. */
const backupLock = '1936941420, 3';

/** A backup that was written and found whole. */
export interface DailyBackup {
  file: string;
  bytes: number;
  rows: number;
  /** The names of the files that were deleted. */
  deleted: string[];
}

export class DailyBackups {
  readonly #from: From;
  readonly #directory: string;
  readonly #keep: number;
  readonly #version: string;
  readonly #now: () => Date;
  #newest: Date | undefined;
  /** The last file that {@link #assertOwn} has found to be of this database. */
  #own: string | undefined;

  /** `keep` is the number of files to keep, and `version` that of the service. */
  constructor(from: From, settings: { directory: string; keep: number; version: string }, now = () => new Date()) {
    this.#from = from;
    this.#directory = settings.directory;
    this.#keep = settings.keep;
    this.#version = settings.version;
    this.#now = now;
  }

  /** The time at which the newest file was written, as the last {@link run} saw it; undefined: there was none. */
  get newest(): Date | undefined {
    return this.#newest;
  }

  /**
   * Writes the backup of today. Undefined if it is there, or while another process writes one. Throws if it cannot be written or read, and leaves no file of today
   * then; and if the file of today is of another database. `signal` cancels it.
   */
  async run(signal: AbortSignal): Promise<DailyBackup | undefined> {
    const file = join(this.#directory, `entity-service-${this.#now().toISOString().slice(0, 10)}.backup`);
    this.#newest = await newestBackup(this.#directory);
    if (await exists(file)) {
      await this.#assertOwn(file);
      return undefined;
    }
    const { directUrl } = this.#from;
    return await inLongTransaction(directUrl, 'begin', signal, async (client) => {
      const { rows } = await client.query<{ locked: boolean }>(`select pg_try_advisory_xact_lock(${backupLock}) as locked`);
      if (rows[0]?.locked !== true || (await exists(file))) return undefined;
      for (const name of await namesIn(this.#directory, partialName)) await rm(join(this.#directory, name), { force: true });
      const written = await this.#write(file, signal);
      const deleted = await this.#deleteOld();
      this.#newest = await newestBackup(this.#directory);
      return { file, ...written, deleted };
    });
  }

  /** Throws if the audit trail of this database does not have the file: two databases in one directory would take each other's files for theirs. */
  async #assertOwn(file: string): Promise<void> {
    if (file === this.#own) return;
    const { rows } = await sql`
      select from audit_event
      where event = 'database.backed_up' and user_name is null and at > now() - interval '2 days' and detail ->> 'file' like ${`%${basename(file)}`}
      limit 1`.execute(this.#from.store.db);
    if (rows.length === 0)
      throw new Error(`${file} is a backup of another database, or of before a restore: give each database its own BACKUP_DIR`);
    this.#own = file;
  }

  async #write(file: string, signal: AbortSignal): Promise<{ bytes: number; rows: number }> {
    const watch = { signal, onRows: () => undefined, onContents: () => undefined };
    const { bytes, tables } = await backUpDatabase(this.#from, schedule, file, this.#version, watch);
    try {
      await verifyBackup(file);
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
    return { bytes, rows: tables.reduce((sum, { rows }) => sum + rows, 0) };
  }

  async #deleteOld(): Promise<string[]> {
    const names = (await namesIn(this.#directory, fileName)).slice(0, -this.#keep);
    for (const name of names) await rm(join(this.#directory, name), { force: true });
    return names;
  }
}

/** The time at which the newest of the daily backups in `directory` was written; undefined if there is none. Throws if the directory cannot be read. */
export async function newestBackup(directory: string): Promise<Date | undefined> {
  const newest = (await namesIn(directory, fileName)).at(-1);
  return newest === undefined ? undefined : (await stat(join(directory, newest))).mtime;
}

async function namesIn(directory: string, pattern: RegExp): Promise<string[]> {
  return (await readdir(directory)).filter((name) => pattern.test(name)).toSorted();
}

const exists = async (file: string): Promise<boolean> => (await stat(file).catch(() => undefined)) !== undefined;

/**
 * The backups of the database `from`; undefined without BACKUP_DIR. Throws ConfigError for a directory that is missing, cannot be written
 * to, or, under root, may be replaced by another user. Also throws it for a database role that may not read all tables.
 */
export async function openDailyBackups(
  { backupDir, backupKeep }: Pick<Config, 'backupDir' | 'backupKeep'>,
  from: From,
  version: string,
): Promise<DailyBackups | undefined> {
  if (backupDir === undefined) return undefined;
  await assertBackupDirectory(backupDir);
  if (!(await mayReadTrail(from.store.db))) throw new ConfigError([ownerAdvice]);
  if (process.getuid?.() === 0)
    await assertOnlyRootMayReplace(backupDir).catch((error: Error) => {
      throw new ConfigError([`BACKUP_DIR: ${error.message}`]);
    });
  return new DailyBackups(from, { directory: backupDir, keep: backupKeep, version });
}

/** Throws ConfigError if BACKUP_DIR is missing, or this process may not write there. */
export async function assertBackupDirectory(backupDir: string): Promise<void> {
  await assertWritableDirectory('BACKUP_DIR', backupDir, constants.W_OK | constants.X_OK);
}

/** The advice about BACKUP_DIR if the role of the service has no {@link mayReadTrail}. */
export const ownerAdvice =
  'BACKUP_DIR: the database role may not read the audit trail: leave the setting out, and run "database backup" each day as the owner of the tables (docs/backup.md)';

/** Whether the role may read the audit trail, which a role of its own for the service may not (rule 88). */
export async function mayReadTrail(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`select has_table_privilege('audit_event', 'select') as may`.execute(db);
  return rows[0]?.may === true;
}
