/** Directories and files that a file system does not let the service write: the message names the setting or the file, and the reason. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/settings.ts';
import { Archive, readArchive } from '../../src/embedded/archive/archive.ts';
import { openEmbedded } from '../../src/embedded/embedded.ts';
import { prepareDatabase } from '../../src/start/prepare-database.ts';
import { runAdmin } from '../support/admin.ts';
import { createDatabaseUntilDone } from '../support/database.ts';
import { newDataDir } from '../support/embedded.ts';
import { production } from '../support/first-password.ts';
import { TestService, useService } from '../support/service.ts';
import { SmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';

const service = useService();
const reason = whyNoSmallDisk();

/** A disk that is not empty, which it must not be to be filled. */
async function mountDisk(): Promise<{ disk: SmallDisk; directory: string }> {
  const directory = await newDataDir();
  const disk = await SmallDisk.mount(directory, 1_048_576);
  onTestFinished(() => disk.unmount());
  await writeFile(join(directory, 'present'), 'x');
  return { disk, directory };
}

describe.skipIf(reason)(`a file system${reason ? ` (skipped: ${reason})` : ''}`, () => {
  test('that is read-only is named with the setting, at the start', async () => {
    const { directory } = await mountDisk();
    await mkdir(join(directory, 'archive'));
    expect(await readArchive({ archiveDir: join(directory, 'archive'), archiveDays: 7 })).toBeDefined();
    await promisify(execFile)('mount', ['-o', 'remount,ro', directory]);

    const text = 'cannot be written: its file system is read-only (EROFS). Name a directory of the user of the service';
    await expect(TestService.start({ BACKUP_DIR: directory })).rejects.toThrow(`BACKUP_DIR: ${directory} ${text}`);
    const archiveDir = join(directory, 'archive');
    await expect(readArchive({ archiveDir, archiveDays: 7 })).rejects.toThrow(`ARCHIVE_DIR: ${archiveDir} ${text}`);
    const dataDir = join(directory, 'data');
    await expect(openEmbedded(dataDir)).rejects.toThrow(
      `The data directory ${dataDir} cannot be used: its file system is read-only (EROFS). Set DATA_DIR to a directory of this user.`,
    );
  });

  test('that is full is named with the file of a backup and of an export, and nothing is left', async () => {
    const { disk, directory } = await mountDisk();
    await disk.fill();
    const file = join(directory, 'file');
    for (const words of [
      ['database', 'backup', '--to', file],
      ['entities', 'export', 'note', file],
    ]) {
      const { code, stderr } = await runAdmin(words, { environment: { DATABASE_URL: service().databaseUrl } });
      expect(stderr.split('\n').at(-2)).toBe(`error: ${file} cannot be written: the disk is full (ENOSPC)`);
      expect(code).toBe(1);
    }
    expect(await readdir(directory)).toEqual(['present']);
  });

  test('that is full leaves no file of the first password, so that the next start writes it under its usual name', async () => {
    const { disk, directory } = await mountDisk();
    await rename(join(directory, 'present'), join(directory, 'postgres.log'));
    await disk.fill();
    const config = readConfig({ ...production, DATABASE_URL: await createDatabaseUntilDone(), DATA_DIR: directory });
    await expect(prepareDatabase(config)).rejects.toThrow('the first password cannot be stored in DATA_DIR (ENOSPC: ');
    expect(await readdir(directory)).toEqual(['postgres.log']);
    await disk.free();
    const prepared = await prepareDatabase(config);
    onTestFinished(() => prepared.close());
    expect(prepared.administrator?.file).toBe(join(directory, 'first-password'));
  });

  test('that is full is named with ARCHIVE_DIR in the log', async () => {
    const { disk, directory } = await mountDisk();
    const database = await openEmbedded(await newDataDir());
    onTestFinished(() => database.stop());
    await disk.fill();
    const { promise: line, resolve } = Promise.withResolvers<unknown[]>();
    const log = { info: () => undefined, error: (...told: unknown[]) => resolve(told) };
    const archive = new Archive(database.archiveUrl, { directory, days: 7 }, log);
    onTestFinished(() => archive.close());
    expect(await line).toEqual([
      expect.objectContaining({ event: 'archive', outcome: 'failed' }),
      `ARCHIVE_DIR: ${directory} cannot be written: the disk is full (ENOSPC); until it can be, PostgreSQL retains up to 4 GiB of its log, for a day`,
    ]);
  });
});
