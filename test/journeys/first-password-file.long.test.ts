import { chown, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startAdmin } from '../support/admin.ts';
import { createDatabase } from '../support/database.ts';
import { newDataDir } from '../support/embedded.ts';
import { fileIn, production, signIn } from '../support/first-password.ts';
import { credentialsIn, expectStopped, npmStart } from '../support/start.ts';

vi.setConfig({ testTimeout: 90_000 });

test('in production without a terminal the first password is in a file for the operator, and in no output (rules 84 and 86)', async () => {
  const dataDir = await newDataDir();
  const settings = { ...production, DATABASE: 'embedded', DATA_DIR: dataDir };
  const service = await npmStart(settings);
  await service.ready;
  const file = join(dataDir, 'first-password');
  expect(fileIn(service.told())).toBe(file);
  expect(credentialsIn(service.told())).toBeUndefined();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const password = (await readFile(file, 'utf8')).trim();
  expect(await signIn(service, password)).toBe(200);
  expect(await signIn(service, `${password}x`)).toBe(401);

  const findings = async () =>
    (JSON.parse((await startAdmin(['doctor', '--json'], { environment: settings })).stdout) as { checks: object[] }).checks;
  const warning = `${file} still has the first password: sign in, change the password, and delete the file`;
  expect(await findings()).toContainEqual({ name: 'first password', status: 'warn', message: warning });
  service.signal('SIGTERM');
  await expectStopped(service);
  expect(service.told() + JSON.stringify(service.log())).not.toContain(password);
  expect(service.log()).toContainEqual(expect.objectContaining({ level: 'warn', event: 'configuration.risky', msg: warning }));

  await rm(file);
  expect(JSON.stringify(await findings())).not.toContain('first password');
});

test.skipIf(process.getuid?.() !== 0)('root writes no password where another user could replace it (rule 91)', async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const home = await newDataDir();
  const victim = join(home, '../victim');
  for (const path of [home, victim]) await mkdir(path);
  await writeFile(join(victim, 'first-password'), 'of root');
  await symlink(victim, join(home, 'data'));
  await chown(home, 65_534, 65_534);

  const failed = await npmStart({ ...production, DATABASE_URL: database.url, DATA_DIR: join(home, 'data') });
  expect((await failed.ended).code).toBe(1);
  expect(failed.told()).toMatch(/the first password cannot be stored in DATA_DIR \(.* belongs to another user \(uid 65534\)/);
  expect(await readdir(victim)).toEqual(['first-password']);
  expect(await readFile(join(victim, 'first-password'), 'utf8')).toBe('of root');
});
