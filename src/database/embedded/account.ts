/**
 * The user account PostgreSQL runs under. It refuses to run as root, so root lends it another account; everyone else runs it as themselves.
 */
import { execFile } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const accountName = 'postgres';

/** An operating system user that root starts the server as; undefined stands for the user we are. */
export type Account = { uid: number; gid: number } | undefined;

/** The account for the server on this cluster. As root: the owner of the cluster or, before there is one, `postgres`, created when missing. */
export async function serverAccount(cluster: string): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined;
  if (process.platform !== 'linux') {
    throw new Error('The embedded PostgreSQL does not run as root on this system: start as an ordinary user or set DATABASE_URL.');
  }
  const owner = await lstat(cluster).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return (await findAccount()) ?? (await createAccount());
}

async function findAccount(): Promise<Account> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', accountName]), run('id', ['-g', accountName])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

async function createAccount(): Promise<Account> {
  try {
    await run('groupadd', ['--system', '--force', accountName]);
    const nowhere = ['--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin'];
    await run('useradd', ['--system', '--gid', accountName, ...nowhere, accountName]);
  } catch (cause) {
    const created = await findAccount();
    if (created) return created; // another process was creating it at the same time
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
 * The lent account often cannot enter the directories above (root's own home is closed), and an absolute path would fail there.
 * The working directory however is entered by root before the account changes, and PostgreSQL reaches everything through it:
 * `/proc/self/cwd` names it without walking the path. So nothing above the cluster has to be opened or handed over to the account.
 */
export function inDirectory(account: Account, directory: string) {
  return {
    pgdata: account ? '/proc/self/cwd' : directory,
    // Nothing of our environment: PGDATA, PGPORT and the like would change what the programs do, and secrets stay with us.
    options: { cwd: directory, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' }, ...account },
  };
}
