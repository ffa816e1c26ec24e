/**
 * The data directory and the building of the database cluster in it. Knows nothing of running servers.
 *
 * DATA_DIR/postgresql/data      the cluster (PostgreSQL's own directory)
 * DATA_DIR/postgresql/password  of the role `entity_service`
 * DATA_DIR/postgres.log         the server's log since its last start
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, open, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { inDirectory } from './account.ts';
import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { isMarkAlive, markOfThisProcess } from './process.ts';

/** The role and the database that the service works with. The role is no superuser: injected SQL reads no files and runs no programs. */
export const roleName = 'entity_service';
export const databaseName = 'entity_service';

export interface Layout {
  dataDir: string;
  home: string;
  cluster: string;
  passwordFile: string;
  logFile: string;
}

export function layoutOf(dataDir: string): Layout {
  const home = join(resolve(dataDir), 'postgresql');
  return {
    dataDir: resolve(dataDir),
    home,
    cluster: join(home, 'data'),
    passwordFile: join(home, 'password'),
    logFile: join(resolve(dataDir), 'postgres.log'),
  };
}

const scratch = /^(?:building|starting)-(\d+-[\w.]*)-/;

/** A name for something unfinished; it is swept away by a later start when this process died over it. */
export async function scratchPath(layout: Layout, purpose: 'building' | 'starting'): Promise<string> {
  return join(layout.dataDir, `${purpose}-${await markOfThisProcess()}-`);
}

/**
 * Makes the data directory, closes it to others (mode 0700) and removes what interrupted starts left behind.
 *
 * @throws Error with one line for a person when the directory cannot be ours, for example because it is open and holds other things:
 *   closing `/tmp` or a home directory to its other users would do more harm than not starting.
 */
export async function prepareDataDir(layout: Layout): Promise<void> {
  const { dataDir } = layout;
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const { uid, mode } = await stat(dataDir);
    const self = process.getuid?.();
    if (self !== 0 && uid !== self) throw new Error('it belongs to another user');
    const names = await readdir(dataDir);
    const ours = (name: string) => scratch.test(name) || ['postgresql', 'postgres.log', 'lost+found', '.gitkeep'].includes(name);
    if ((mode & 0o077) !== 0 && !names.every(ours)) {
      throw new Error('it is open to other users and holds other files; choose an empty directory');
    }
    if ((mode & 0o777) !== 0o700) await chmod(dataDir, 0o700);
    for (const name of names) {
      const mark = scratch.exec(name)?.[1];
      if (mark === undefined || (await isMarkAlive(mark))) continue;
      // The orphaned initdb of a killed process may still be writing; then the next start sweeps the rest.
      await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
    }
  } catch (cause) {
    throw new Error(`The data directory ${dataDir} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause });
  }
}

export async function hasCluster(layout: Layout): Promise<boolean> {
  return (await stat(layout.home).catch(() => undefined)) !== undefined;
}

/** The password of the role, which may be read by the owner of the data directory alone. */
export async function readPassword(layout: Layout): Promise<string> {
  return (await readFile(layout.passwordFile, 'utf8')).trim();
}

/**
 * Builds the cluster aside and renames it into place, so that it is there completely or not at all.
 * Returns false when another process was quicker: then its cluster is the one that counts, and ours is gone.
 */
export async function buildCluster(layout: Layout, binaries: Binaries, account: Account, sync: boolean): Promise<boolean> {
  const building = await mkdtemp(await scratchPath(layout, 'building'));
  try {
    const cluster = join(building, 'data');
    const { pgdata, options } = inDirectory(account, cluster);
    await mkdir(cluster, { mode: 0o700 });
    if (account) await chown(cluster, account.uid, account.gid);

    // The collation is PostgreSQL's own and the same everywhere, whatever locales the system has.
    const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
    const flags = ['--username=postgres', '--auth=reject', '--no-instructions', ...locale, ...(sync ? [] : ['--no-sync'])];
    await runToEnd(binaries.initdb, ['-D', pgdata, ...flags], options);

    const password = randomBytes(32).toString('base64url');
    const single = ['--single', '-D', pgdata, '-c', 'exit_on_error=on', '-c', 'log_min_error_statement=panic', 'postgres'];
    const createRole = `create role ${roleName} login createdb password '${password}'`;
    await runToEnd(binaries.postgres, single, options, `${createRole}\ncreate database ${databaseName} owner ${roleName}\n`);

    // One way in: the service's role, from this machine, with the password. The superuser has none and cannot sign in at all.
    await writeFile(join(cluster, 'pg_hba.conf'), `host all ${roleName} 127.0.0.1/32 scram-sha-256\n`);
    await writeSynced(join(building, 'password'), `${password}\n`);
    const owner = await stat(layout.dataDir);
    if (account) await Promise.all([building, join(building, 'password')].map((path) => chown(path, owner.uid, owner.gid)));
    await syncDirectory(building);
    if (!(await renameUnlessThere(building, layout.home))) return false;
    await syncDirectory(layout.dataDir);
    return true;
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

/** A directory is never renamed over one that holds something, which is what decides between two builders. */
async function renameUnlessThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(text);
  await file.sync();
}

async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}

async function runToEnd(
  program: string,
  args: string[],
  options: { cwd: string; env: Record<string, string>; uid?: number; gid?: number },
  input = '',
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  child.on('error', reject);
  child.on('close', (code, signal) => {
    if (code === 0) return resolve();
    const lines = complaint.split('\n').filter((line) => /error|fatal|panic|hint/i.test(line));
    reject(new Error(`The embedded database could not be created: ${lines.join(' ').trim() || `${program} ended with ${code ?? signal}`}`));
  });
  child.stdin.on('error', () => {}); // a program that ends before it has read everything says why on stderr
  child.stdin.end(input);
  return promise;
}
