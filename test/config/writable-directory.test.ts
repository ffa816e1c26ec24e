/** What an operator reads about a BACKUP_DIR or an ARCHIVE_DIR that the service cannot use. */
import { constants } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { assertWritableDirectory } from '../../src/config/writable-directory.ts';
import { newDataDir } from '../support/embedded.ts';

const assert = (directory: string) => assertWritableDirectory('BACKUP_DIR', directory, constants.W_OK);

/** Root may enter every directory, so its process becomes that of another user. */
async function asOrdinaryUser(work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return await work();
  process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}

test('a directory below one that this user may not enter is not called missing', async () => {
  const above = await newDataDir();
  const directory = join(above, 'backups');
  await mkdir(directory, { recursive: true });
  await expect(assert(directory)).resolves.toBeUndefined();
  await expect(assert(`${directory}-2`)).rejects.toThrow(`BACKUP_DIR: there is no directory ${directory}-2: create it`);
  await chmod(above, 0);
  onTestFinished(() => chmod(above, 0o700));
  await asOrdinaryUser(() =>
    expect(assert(directory)).rejects.toThrow(`BACKUP_DIR: ${directory} cannot be written: this user may not write there (EACCES). Name`),
  );
});
