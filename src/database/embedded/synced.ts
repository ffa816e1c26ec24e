/** What a crash of the machine must not lose: a new file and its name in the directory. */
import { open } from 'node:fs/promises';

/** Writes a new file of mode 0600. Throws when there is one already. */
export async function writeSynced(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(text);
  await file.sync();
}

/** Makes the names in the directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
