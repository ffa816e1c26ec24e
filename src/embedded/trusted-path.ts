/**
 * Root must not read or write by a path of which another user may change a part. With a link that user could make root read or overwrite any
 * file of the machine.
 */
import { lstat, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';

const writableByOthers = 0o022;
/** In such a directory only an entry's owner may rename or remove it, as in `/tmp`. */
const sticky = 0o1000;

/** @throws Error with one line for a person when a user other than root could replace this directory. */
export async function assertOnlyRootMayReplace(directory: string): Promise<void> {
  for (let path = await realExisting(directory); ; path = dirname(path)) {
    const { uid, mode } = await lstat(path);
    if (uid !== 0) throw new Error(`${path} belongs to another user (uid ${uid}): start as that user, or choose another directory`);
    if ((mode & writableByOthers) !== 0 && (mode & sticky) === 0) throw new Error(`other users than root may write to ${path}`);
    if (path === dirname(path)) return;
  }
}

/** The path without links, of the directory itself or of the nearest one above it that exists. */
async function realExisting(directory: string): Promise<string> {
  try {
    return await realpath(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return realExisting(dirname(directory));
  }
}
