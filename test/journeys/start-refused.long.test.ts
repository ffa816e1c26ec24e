/** More reasons for which a start is refused than in `start-refused.test.ts`: ports, addresses, databases and passwords. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createDatabaseUntilDone } from '../support/database.ts';
import { newDataDir } from '../support/embedded.ts';
import { credentialsIn, npmStart, reasonsIn, signIn } from '../support/start.ts';

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

test.each(['1', '2'])('a port in use is reported in one line, with WORKERS=%s', async (workers) => {
  const port = await takenPort();
  const service = await npmStart(
    { DATABASE_URL: await createDatabaseUntilDone(), ADMIN_PASSWORD: adminPassword, WORKERS: workers },
    { port },
  );
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([
    `port ${port} of 127.0.0.1 is in use: stop the program that has it, or set PORT to another one`,
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
  const service = await npmStart({ DATABASE_URL: await createDatabaseUntilDone(), ADMIN_PASSWORD: adminPassword, HOST: host });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([expect.stringMatching(reason)]);
});

test('a database without TLS is reported with its setting and the way out', async () => {
  const url = `${await createDatabaseUntilDone()}?sslmode=verify-full`;
  const service = await npmStart({ DATABASE_URL: url });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([
    expect.stringMatching(
      /^PostgreSQL at \S+ \(DATABASE_URL\) offers no TLS: enable it there, or end DATABASE_URL with \?sslmode=disable /,
    ),
  ]);
});

test('a generated password is printed even if the start then fails, since it is printed only once', async () => {
  const database = await createDatabaseUntilDone();
  const failed = await npmStart({ DATABASE_URL: database }, { port: await takenPort() });
  expect((await failed.ended).code).toBe(1);
  const { user, password } = credentialsIn(failed.told()) ?? { user: '', password: '' };

  const service = await npmStart({ DATABASE_URL: database });
  await service.ready;
  await signIn(service, user, password);
});

test('an ADMIN_PASSWORD that the policy refuses stops the start before a database is made', async () => {
  const dataDir = await newDataDir();
  const service = await npmStart({ DATA_DIR: dataDir, ADMIN_PASSWORD: 'short' });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([expect.stringMatching(/^- ADMIN_PASSWORD is refused, .*Minimum length: 15\.$/)]);
  await expect(readFile(join(dataDir, 'postgres.log'))).rejects.toThrow('ENOENT');
});
