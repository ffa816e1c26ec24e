import { once } from 'node:events';
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { projectDirectory } from '../support/document-runner.ts';
import { createDatabase } from '../support/database.ts';
import { newDataDir } from '../support/embedded.ts';
import { execute } from '../support/sql.ts';
import { credentialsIn, expectStopped, loginEnvironment, npmStart, signIn } from '../support/start.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const adminPassword = 'seven quiet lanterns drift north';

/** A port that another program uses. */
async function takenPort(): Promise<number> {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  return (other.address() as AddressInfo).port;
}

async function newDatabase(): Promise<string> {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  return database.url;
}

test.each(['1', '2'])('a port in use is reported in one line, with WORKERS=%s', async (workers) => {
  const port = await takenPort();
  const service = await npmStart({ DATABASE_URL: await newDatabase(), ADMIN_PASSWORD: adminPassword, WORKERS: workers }, { port });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([
    `port ${port} of 127.0.0.1 is in use: stop the program that has it, or set PORT to another one`,
  ]);
});

test('a database of a later version is reported in one line and is not changed (rule 86)', async () => {
  const later = await newDatabase();
  await execute(later, `insert into kysely_migration values ('9999-later', now()::text)`);
  const service = await npmStart({ DATABASE_URL: later });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([
    'the database has migrations of a later version (9999-later): use that version, or a later one',
  ]);
});

test('an unreachable database is reported in one line, without the password', async () => {
  const service = await npmStart({ DATABASE_URL: 'postgres://ada:secret@127.0.0.1:1/entities' });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([
    'PostgreSQL at 127.0.0.1:1/entities (DATABASE_URL) refuses connections: start it, or correct host and port',
  ]);
});

test.each([
  ['0.0.0.0.0', /^- HOST must be an address such as .* not "0\.0\.0\.0\.0"$/],
  ['192.0.2.1', /^HOST 192\.0\.2\.1 is not an address of this machine: set it to one, or to 0\.0\.0\.0 for all$/],
  ['name.invalid', /^HOST name\.invalid is a name for which no address is found: /],
])('HOST=%s is blamed on HOST, not on the database', async (host, reason) => {
  const service = await npmStart({ DATABASE_URL: await newDatabase(), ADMIN_PASSWORD: adminPassword, HOST: host });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([expect.stringMatching(reason)]);
});

test('a database without TLS is reported with its setting and the way out', async () => {
  const url = `${await newDatabase()}?sslmode=verify-full`;
  const service = await npmStart({ DATABASE_URL: url });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([
    expect.stringMatching(
      /^PostgreSQL at \S+ \(DATABASE_URL\) offers no TLS: enable it there, or end DATABASE_URL with \?sslmode=disable /,
    ),
  ]);
});

test('faults of .env are reported with their lines, and nothing is started; doctor reports them too', async () => {
  const cwd = await projectDirectory();
  const dataDir = await newDataDir();
  await writeFile(join(cwd, '.env'), `DATA_DIR=${dataDir}\nDATABASE_ULR=postgres://ada:hush@localhost/entities\nWORKERS 2\n`);
  const problems = [
    'line 3 of .env is no setting: write NAME=value, with both quotation marks or none',
    'DATABASE_ULR in line 2 of .env is no setting: did you mean DATABASE_URL?',
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

test('production without DATABASE_URL starts no embedded database, unless DATABASE says so (rule 86)', async () => {
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

  const service = await npmStart({ ...settings, DATABASE: 'embedded' });
  await service.ready;
  service.signal('SIGTERM');
  await expectStopped(service);
});

test('a generated password is printed even if the start then fails, since it is printed only once', async () => {
  const database = await newDatabase();
  const failed = await npmStart({ DATABASE_URL: database }, { port: await takenPort() });
  expect((await failed.ended).code).toBe(1);
  const { user, password } = credentialsIn(failed.told()) ?? { user: '', password: '' };

  const service = await npmStart({ DATABASE_URL: database });
  await service.ready;
  await signIn(service, user, password);
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

test('an ADMIN_PASSWORD that the policy refuses stops the start before a database is made', async () => {
  const dataDir = await newDataDir();
  const service = await npmStart({ DATA_DIR: dataDir, ADMIN_PASSWORD: 'short' });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([expect.stringMatching(/^- ADMIN_PASSWORD is refused, .*Minimum length: 15\.$/)]);
  await expect(readFile(join(dataDir, 'postgres.log'))).rejects.toThrow('ENOENT');
});

/** The lines after the one that says that the service cannot start. */
function reasonsIn(told: string): string[] {
  const lines = told.split('\n').filter((line) => line.startsWith('entity-service: '));
  expect(lines.shift()).toBe('entity-service: the service cannot start:');
  return lines.map((line) => line.slice('entity-service: '.length));
}
