/** The file of the first password, where services of two databases have one DATA_DIR. */
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/settings.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { leftPasswordFile } from '../../src/start/first-password.ts';
import { prepareDatabase } from '../../src/start/prepare-database.ts';
import { createDatabaseUntilDone } from '../support/database.ts';
import { newDataDir } from '../support/embedded.ts';
import { production } from '../support/first-password.ts';
import { execute } from '../support/sql.ts';

test('each database has its password in a file of its own, and one that begins anew replaces its own alone', async () => {
  const dataDir = await newDataDir();
  const [first, second] = [await createDatabaseUntilDone(), await createDatabaseUntilDone()];
  const prepare = async (url: string) => {
    const prepared = await prepareDatabase(readConfig({ ...production, DATABASE_URL: url, DATA_DIR: dataDir }));
    await prepared.close();
    return prepared.administrator;
  };
  const assertInFile = async (administrator: Awaited<ReturnType<typeof prepare>>, name: string) => {
    expect(administrator?.file).toBe(join(dataDir, name));
    expect(await readFile(join(dataDir, name), 'utf8')).toBe(`${administrator?.password}\n`);
    expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
  };

  const ofFirst = await prepare(first);
  await assertInFile(ofFirst, 'first-password');
  const { host, pathname } = new URL(second);
  const digest = createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 8);
  const named = `first-password-${host.replace(':', '-')}-${pathname.slice(1)}-${digest}`;
  await assertInFile(await prepare(second), named);
  await assertInFile(ofFirst, 'first-password');
  expect(await prepare(second)).toBeUndefined();

  await execute(second, 'delete from profile_role; delete from user_profile; delete from user_account');
  await assertInFile(await prepare(second), named);
  await assertInFile(ofFirst, 'first-password');
  expect((await readdir(dataDir)).toSorted()).toEqual(['first-password', named].toSorted());

  await rm(join(dataDir, 'first-password'));
  expect(await leftPasswordFile(readConfig({ DATA_DIR: dataDir }))).toBe(join(dataDir, named));
});

test('a commit that fails leaves no file of a password that opens nothing', async () => {
  const dataDir = await newDataDir();
  const url = await createDatabaseUntilDone();
  await migrateDatabase(url);
  await execute(
    url,
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
     create constraint trigger refusal after insert on user_account deferrable initially deferred for each row execute function refuse()`,
  );
  const config = readConfig({ ...production, DATABASE_URL: url, DATA_DIR: dataDir });
  await expect(prepareDatabase(config)).rejects.toThrow();
  expect(await readdir(dataDir)).toEqual([]);
  await execute(url, 'drop trigger refusal on user_account');
  const prepared = await prepareDatabase(config);
  onTestFinished(() => prepared.close());
  expect(prepared.administrator?.file).toBe(join(dataDir, 'first-password'));
});
