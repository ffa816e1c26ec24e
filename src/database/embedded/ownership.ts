/** Who owns a data directory. A copy that root made with `cp -r` belongs to root, and PostgreSQL runs only on files of its own account. */
import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from './account.ts';

/** The reason to refuse `path`, which the user `uid` owns, with what the operator can do. `dataDir` is the whole data directory. */
export function foreignOwnerError(path: string, uid: number, dataDir: string): Error {
  const self = `${process.getuid?.()}:${process.getgid?.()}`;
  return new Error(
    `${path} belongs to another user (uid ${uid}): start as that user, choose another directory or, if you have copied it, run "chown -R ${self} ${dataDir}" as root`,
  );
}

/**
 * As root: gives the server's account a cluster that belongs to root. The directory itself comes last, so that an interrupted call is repeated by
 * the next start. Links are not followed. The data directory must be closed to other users.
 */
export async function changeOwner(cluster: string, account: Account): Promise<void> {
  if (!account || (await lstat(cluster)).uid !== 0) return;
  for (const entry of await readdir(cluster, { recursive: true })) await lchown(join(cluster, entry), account.uid, account.gid);
  await lchown(cluster, account.uid, account.gid);
}
