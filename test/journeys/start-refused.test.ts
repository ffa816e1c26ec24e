/** Starts that are refused because of the settings or the database. `start-refused.long.test.ts` has other reasons. */
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { projectDirectory } from '../support/document-runner.ts';
import { createDatabaseUntilDone } from '../support/database.ts';
import { newDataDir } from '../support/embedded.ts';
import { execute } from '../support/sql.ts';
import { loginEnvironment, npmStart, reasonsIn } from '../support/start.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const adminPassword = 'seven quiet lanterns drift north';

test('a database of a later version is reported in one line and is not changed (rule 86)', async () => {
  const later = await createDatabaseUntilDone();
  await execute(later, `insert into kysely_migration values ('9999-later', now()::text)`);
  const service = await npmStart({ DATABASE_URL: later });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([
    'the database has migrations of a later version (9999-later): use that version, or a later one',
  ]);
});

test('faults of .env are reported with their lines, beside all wrong values, and nothing is started; doctor reports them too', async () => {
  const cwd = await projectDirectory();
  const dataDir = await newDataDir();
  await writeFile(
    join(cwd, '.env'),
    `DATA_DIR=${dataDir}\nDATABASE_ULR=postgres://ada:hush@localhost/entities\nWORKERS 2\nLOG_LEVL=warn\nRATE_LIMIT=often\n`,
  );
  const problems = [
    'line 3 of .env is no setting: write NAME=value, with both quotation marks or none',
    'DATABASE_ULR in line 2 of .env is no setting: did you mean DATABASE_URL?',
    'LOG_LEVL in line 4 of .env is no setting: did you mean LOG_LEVEL?',
    'RATE_LIMIT must be one of on, off, not "often"',
  ];
  const service = await npmStart({}, { cwd });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual(problems.map((problem) => `- ${problem}`));
  await expect(readFile(join(dataDir, 'postgres.log'))).rejects.toThrow('ENOENT');

  const { stdout, status } = spawnSync('npm', ['run', '-s', 'admin', '--', 'doctor', '--json'], {
    cwd,
    env: loginEnvironment(),
    encoding: 'utf8',
  });
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; message: string }[] };
  expect(status).toBe(1);
  expect(checks.filter(({ name }) => name === 'settings')).toEqual(
    problems.map((message) => ({ name: 'settings', status: 'fail', message })),
  );
});

// `first-password-file.long.test.ts` starts the embedded database in production, with DATABASE=embedded.
test('production without DATABASE_URL starts no embedded database (rule 86)', async () => {
  const settings = {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://api.example.com',
    DATA_DIR: await newDataDir(),
    ADMIN_PASSWORD: adminPassword,
  };
  const refused = await npmStart(settings);
  expect((await refused.ended).code).toBe(1);
  expect(reasonsIn(refused.told())).toEqual([expect.stringMatching(/^- DATABASE_URL is missing in production /)]);
  await expect(readFile(join(settings.DATA_DIR, 'postgres.log'))).rejects.toThrow('ENOENT');
});

test('all bad settings are reported at once, one a line, and nothing is started', async () => {
  const dataDir = await newDataDir();
  const service = await npmStart({ DATA_DIR: dataDir, WORKERS: 'many', TRUST_PROXY: 'true', PUBLIC_URL: 'http://api.example.com' });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([
    expect.stringMatching(/^- PUBLIC_URL must be https/),
    expect.stringMatching(/^- TRUST_PROXY must list addresses or CIDR ranges/),
    '- WORKERS must be a whole number from 1 to 256, not "many"',
  ]);
  expect(service.log().map(({ event }) => event)).toEqual(['service.stop', 'service.stopped']);
  await expect(readFile(join(dataDir, 'postgres.log'))).rejects.toThrow('ENOENT');
});
