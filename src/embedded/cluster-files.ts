/**
 * Reads and writes single files of the cluster. The cluster belongs to the server's account. So a process of root follows no links in it, and
 * writes under that account.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inDirectory } from './account.ts';
import type { SystemAccount } from './account.ts';
import { runToEnd } from './run.ts';

/** Flags for opening a file: follow no link, and do not wait for the writer of a pipe. */
const readItself = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The text of a file; undefined when there is none. Throws when it cannot be read. */
export async function readClusterFile(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, readItself);
    return await file.readFile('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a temporary file and renames it, so that a reader gets either the old text or the new one. */
export async function replaceClusterFile(cluster: string, name: string, text: string, account: SystemAccount): Promise<void> {
  const aside = `${name}.${randomUUID()}`;
  if (account) {
    const script = 'umask 077 && cat > "$1" && mv "$1" "$2"';
    await runToEnd('/bin/sh', ['-c', script, 'sh', aside, name], inDirectory(account, cluster).options, { input: text });
  } else {
    await writeFile(join(cluster, aside), text, { mode: 0o600 });
    await rename(join(cluster, aside), join(cluster, name));
  }
}
