/**
 * Creates the data directory and the database cluster in it. It does not know running servers.
 *
 * DATA_DIR/postgresql/data      the cluster (PostgreSQL's own directory)
 * DATA_DIR/postgresql/password  of the role `entity_service`
 * DATA_DIR/postgres.log         the server's log since its last start
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, chown, lstat, mkdir, mkdtemp, readFile, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { diskFailure } from '../config/disk-failure.ts';
import { databaseName, passwordStatements, roleName, runAlone, writeAccess } from './access.ts';
import { inDirectory } from './account.ts';
import type { SystemAccount } from './account.ts';
import type { Binaries } from './binaries.ts';
import { foreignOwnerError } from './ownership.ts';
import { isMarkAlive, markOfThisProcess } from './process.ts';
import { runToEnd } from './run.ts';
import { syncDirectory, writeSynced } from './synced.ts';
import { assertOnlyRootMayReplace } from './trusted-path.ts';

export interface DataLayout {
  dataDir: string;
  home: string;
  cluster: string;
  passwordFile: string;
  logFile: string;
}

export function layoutOf(dataDir: string): DataLayout {
  const home = join(resolve(dataDir), 'postgresql');
  return {
    dataDir: resolve(dataDir),
    home,
    cluster: join(home, 'data'),
    passwordFile: join(home, 'password'),
    logFile: join(resolve(dataDir), 'postgres.log'),
  };
}

/** Whether a file in DATA_DIR has the password of a first administrator. */
export const isPasswordFile = (name: string): boolean => /^first-password(?:-|$)/.test(name);

const scratch = /^(?:building|starting)-(\d+-[\w.]*)-/;

/** A name for an unfinished file or directory. If this process dies, a later start deletes it. */
export async function scratchPath(layout: DataLayout, purpose: 'building' | 'starting'): Promise<string> {
  return join(layout.dataDir, `${purpose}-${await markOfThisProcess()}-`);
}

/**
 * Makes the data directory, closes it to other users (mode 0700) and deletes the remains of interrupted starts.
 *
 * Throws Error with one line for a person if
 * - it is open to other users and has other content: closing `/tmp` or a home directory would do more harm than not starting;
 * - another user owns it;
 * - this process is root, and another user could replace it.
 */
export async function prepareDataDir(dataDir: string): Promise<DataLayout> {
  try {
    const self = process.getuid?.();
    if (self === 0) await assertOnlyRootMayReplace(dirname(resolve(dataDir)));
    await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch(async (error: unknown) => {
      // The error of a read-only file system is ENOENT in Node.js.
      await access(dirname(resolve(dataDir)), constants.W_OK);
      throw error;
    });
    const layout = layoutOf(await realpath(dataDir));
    if (self === 0) await assertOnlyRootMayReplace(dirname(layout.dataDir));
    await closeToOthers(layout.dataDir, self);
    const names = await readdir(layout.dataDir);
    await assertOwn(layout.dataDir, names, self);
    await deleteRemains(layout.dataDir, names);
    return layout;
  } catch (cause) {
    const reason = diskFailure(cause);
    const text = reason ? `${reason}. Set DATA_DIR to a directory of this user` : cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The data directory ${dataDir} cannot be used: ${text}.`, { cause });
  }
}

async function closeToOthers(dataDir: string, self: number | undefined): Promise<void> {
  const { uid, mode } = await stat(dataDir);
  if (self !== undefined && uid !== self) {
    throw foreignOwnerError(dataDir, uid, dataDir);
  }
  const ours = (name: string) =>
    scratch.test(name) || isPasswordFile(name) || ['postgresql', 'postgres.log', 'lost+found', '.gitkeep'].includes(name);
  if ((mode & 0o077) !== 0 && !(await readdir(dataDir)).every(ours)) {
    throw new Error('it is open to other users and holds other files; choose an empty directory');
  }
  if ((mode & 0o777) !== 0o700) await chmod(dataDir, 0o700);
}

/** While the directory was open, another user may have put in a cluster, or a link to a directory that root would then delete. */
async function assertOwn(dataDir: string, names: string[], self: number | undefined): Promise<void> {
  for (const name of names) {
    const entry = await lstat(join(dataDir, name)).catch(() => undefined);
    if (self === undefined || entry === undefined || entry.uid === self) continue;
    if (name === 'postgresql' || (self === 0 && entry.isDirectory())) throw foreignOwnerError(join(dataDir, name), entry.uid, dataDir);
  }
  if (self === 0) return;
  // Root runs the server on another account's cluster; an ordinary user needs all of it.
  const { cluster, passwordFile } = layoutOf(dataDir);
  for (const path of [cluster, passwordFile]) {
    const uid = (await lstat(path).catch(() => undefined))?.uid;
    if (self !== undefined && uid !== undefined && uid !== self) throw foreignOwnerError(path, uid, dataDir);
  }
}

async function deleteRemains(dataDir: string, names: string[]): Promise<void> {
  for (const name of names) {
    const mark = scratch.exec(name)?.[1];
    if (mark === undefined || (await isMarkAlive(mark))) continue;
    // The orphaned initdb of a killed process may still write; the next start deletes the rest.
    await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

/** Whether a cluster has been built there. Throws when the directory cannot be read, as on a disk that does not answer. */
export async function hasCluster(layout: DataLayout): Promise<boolean> {
  try {
    await stat(layout.home);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** The password of the role. Only the owner of the data directory may read it. */
export async function readPassword(layout: DataLayout): Promise<string> {
  return (await readFile(layout.passwordFile, 'utf8')).trim();
}

/**
 * Builds the cluster in a temporary directory and renames it, so that a cluster is always complete. Returns false when another process finished
 * first: then its cluster stays and this one is deleted. When `signal` fires, the programs end, and nothing is left of this cluster.
 */
export async function buildCluster(
  layout: DataLayout,
  binaries: Binaries,
  account: SystemAccount,
  { sync, signal }: { sync: boolean; signal?: AbortSignal | undefined },
): Promise<boolean> {
  const building = await mkdtemp(await scratchPath(layout, 'building'));
  try {
    const cluster = join(building, 'data');
    const { pgdata, options } = inDirectory(account, cluster);
    await mkdir(cluster, { mode: 0o700 });
    if (account) await chown(cluster, account.uid, account.gid);

    // PostgreSQL's built-in collation is the same everywhere and does not depend on the system's locales.
    const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
    const flags = ['--username=postgres', '--auth=reject', '--no-instructions', ...locale, ...(sync ? [] : ['--no-sync'])];
    await runToEnd(binaries.initdb, ['-D', pgdata, ...flags], options, { signal });

    const password = randomBytes(32).toString('base64url');
    const makeRole = `create role ${roleName} login createdb`;
    const makeDatabase = `create database ${databaseName} owner ${roleName}`;
    await runAlone(cluster, account, binaries.postgres, [makeRole, makeDatabase, ...passwordStatements(password)], { signal });

    await writeAccess(cluster, account);
    await writeSynced(join(building, 'password'), `${password}\n`);
    await syncDirectory(building);
    if (!(await renameUnlessThere(building, layout.home))) return false;
    await syncDirectory(layout.dataDir);
    return true;
  } catch (cause) {
    signal?.throwIfAborted();
    throw new Error(`The embedded database could not be created: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

/** A rename fails if the target directory is not empty. That decides between two processes that build a cluster. */
export async function renameUnlessThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}
