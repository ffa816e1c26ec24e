/**
 * The user account under which PostgreSQL runs. PostgreSQL refuses to run as root, so a service run by root starts it under another account.
 * Any other user starts it under the same account.
 */
import { execFile } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const accountName = 'postgres';

/** The operating system user under which root starts the server; undefined stands for the current user. */
export type SystemAccount = { uid: number; gid: number } | undefined;

/** The account for the server on this cluster. As root: the owner of the cluster or, before there is one, `postgres`, created when missing. */
export async function serverAccount(cluster: string): Promise<SystemAccount> {
  if (process.getuid?.() !== 0) return undefined;
  if (process.platform !== 'linux') {
    throw new Error('The embedded PostgreSQL does not run as root on this system: start as an ordinary user or set DATABASE_URL.');
  }
  const owner = await lstat(cluster).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return (await findAccount()) ?? (await createAccount());
}

async function findAccount(): Promise<SystemAccount> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', accountName]), run('id', ['-g', accountName])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

async function createAccount(): Promise<SystemAccount> {
  try {
    await run('groupadd', ['--system', '--force', accountName]);
    const nowhere = ['--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin'];
    await run('useradd', ['--system', '--gid', accountName, ...nowhere, accountName]);
  } catch (cause) {
    const created = await findAccount();
    if (created) return created; // Another process created it at the same time.
    throw new Error(
      `PostgreSQL does not run as root, and the user "${accountName}" could not be created: create it, start as an ordinary user or set DATABASE_URL.`,
      { cause },
    );
  }
  return findAccount();
}

/**
 * How to spawn a PostgreSQL program for a data directory, and what to call the directory in its arguments.
 *
 * That account often cannot enter the parent directories, such as root's home, so an absolute path would fail. Root enters the working directory
 * before the account changes, and `/proc/self/cwd` names it without walking the path. So the permissions of parent directories stay unchanged.
 */
export function inDirectory(account: SystemAccount, directory: string) {
  return {
    pgdata: account ? '/proc/self/cwd' : directory,
    // The service's environment is not passed on: it may hold secrets, and PGDATA or PGPORT would change what the programs do.
    options: { cwd: directory, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' }, ...account },
  };
}
