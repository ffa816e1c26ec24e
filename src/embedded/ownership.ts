/** Who owns a data directory. A copy that root made with `cp -r` belongs to root, and PostgreSQL runs only on files of its own account. */
import { lchown, lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { SystemAccount } from './account.ts';

/** The reason to refuse `path`, which the user `uid` owns, with what the operator can do. `dataDir` is the whole data directory. */
export function foreignOwnerError(path: string, uid: number, dataDir: string): Error {
  const self = `${process.getuid?.()}:${process.getgid?.()}`;
  return new Error(
    `${path} belongs to another user (uid ${uid}): start as that user, choose another directory or, if you have copied it, run "chown -R ${self} ${inShell(dataDir)}" as root`,
  );
}

/** The absolute path as one word of a shell's command. */
function inShell(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * As root: gives the server's account a cluster that belongs to root. The directory itself comes last, so that an interrupted call is repeated by
 * the next start. Stops as soon as another process has given the cluster away: from then on its account may put links there. The data directory
 * must be closed to other users. Throws when a link leads to the cluster.
 */
export async function changeOwner(cluster: string, account: SystemAccount): Promise<void> {
  const isOfRoot = async () => (await lstat(cluster)).uid === 0;
  if (!account || !(await isOfRoot())) return;
  if ((await realpath(cluster)) !== cluster) {
    throw new Error(`${cluster} is a link, and root does not change the owner of what is behind it: move the directory itself there`);
  }
  for (const entry of await readdir(cluster, { recursive: true })) {
    if (!(await isOfRoot())) return;
    await lchown(join(cluster, entry), account.uid, account.gid);
  }
  await lchown(cluster, account.uid, account.gid);
}
