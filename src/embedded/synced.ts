/** What a crash of the machine must not lose: a file and its name in the directory. */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The end of the name of what is not complete. */
export const unfinishedSuffix = '.unfinished';

/** Writes a new file of mode 0600. Throws when there is one already, or the disk does not take it: then there is no file. */
export async function writeSynced(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    // The caller learns why the file could not be written, not why it could not be removed.
    await rm(path, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Writes a file of mode 0600 in the place of another one: a reader gets either text, also after a crash of the machine. One writer at a time. */
export async function replaceSynced(path: string, text: string): Promise<void> {
  {
    await using file = await open(`${path}${unfinishedSuffix}`, 'w', 0o600);
    await file.writeFile(text);
    await file.sync();
  }
  await rename(`${path}${unfinishedSuffix}`, path);
  await syncDirectory(dirname(path));
}

/** Makes the names in the directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
