/** The file of the first password beside a database of the operator. */
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { newDataDir } from '../support/embedded.ts';
import { fileIn, production, signIn } from '../support/first-password.ts';
import { expectStopped, npmStart } from '../support/start.ts';

vi.setConfig({ testTimeout: 90_000 });

test('with a PostgreSQL of its own the service makes DATA_DIR for the file; if it cannot, there is no administrator whose password is lost', async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const dataDir = await newDataDir();
  await writeFile(dataDir, 'a file, where no directory can be made');
  const settings = { ...production, DATABASE_URL: database.url, DATA_DIR: dataDir };
  const failed = await npmStart(settings);
  expect((await failed.ended).code).toBe(1);
  expect(failed.told()).toMatch(
    /^entity-service: the first password cannot be stored in DATA_DIR \(.*\): set DATA_DIR to .*, or set ADMIN_PASSWORD$/m,
  );

  await rm(dataDir);
  const service = await npmStart(settings);
  await service.ready;
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  expect(await signIn(service, (await readFile(fileIn(service.told()) ?? '', 'utf8')).trim())).toBe(200);
  service.signal('SIGTERM');
  await expectStopped(service);
});
