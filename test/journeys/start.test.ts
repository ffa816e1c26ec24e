import { spawnSync } from 'node:child_process';
import { chown, readFile } from 'node:fs/promises';
import { createServer, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { isAlive, newDataDir, serverPid } from '../support/embedded.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { execute } from '../support/sql.ts';
import { npmStart, type Started } from '../support/start.ts';

// Each start makes or opens a database and ends again, next to whatever else the machine does.
vi.setConfig({ testTimeout: 60_000 });

const project = join(import.meta.dirname, '../..');
const stopped = { code: 0, signal: null };
const stopLimitMilliseconds = 10_000;
const adminPassword = 'seven quiet lanterns drift north';

async function signIn({ url }: Started, user: string, password: string): Promise<string> {
  const answer = await fetch(`${url}/auth`, { method: 'POST', body: new URLSearchParams({ user, password }) });
  expect(answer.status, await answer.text()).toBe(200);
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

async function create({ url }: Started, cookie: string, fields: object): Promise<string> {
  const answer = await fetch(`${url}/rest/entity/note`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { key: string }).key;
}

async function read({ url }: Started, cookie: string, key: string): Promise<unknown> {
  const answer = await fetch(`${url}/rest/entity/note/${key}`, { headers: { cookie } });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { fields: unknown }).fields;
}

/** The generated credentials, as a person reads them. */
function credentialsIn(told: string): { user: string; password: string } | undefined {
  const [, user, password] = /^\s+user\s+(\S+)\n\s+password\s+(\S+)$/m.exec(told) ?? [];
  return user && password ? { user, password } : undefined;
}

async function expectStopped(service: Started): Promise<void> {
  const { milliseconds, ...how } = await service.ended;
  expect(how, service.told()).toEqual(stopped);
  expect(milliseconds).toBeLessThan(stopLimitMilliseconds);
}

describe('npm start without any settings but the directory and the port', () => {
  let dataDir = '';
  let credentials = { user: '', password: '' };
  let key = '';
  beforeAll(async () => {
    dataDir = await newDataDir(afterAll);
  });

  test('brings up the service with its own database and tells a person where it is and how to sign in', async () => {
    const service = await npmStart({ DATA_DIR: dataDir });
    await service.ready;

    expect(service.told()).toContain(`  API         ${service.url}\n`);
    expect(service.told()).toContain(`  Swagger UI  ${service.url}/docs\n`);
    credentials = credentialsIn(service.told()) ?? credentials;
    expect(credentials).toEqual({ user: 'admin', password: expect.stringMatching(/^([a-z2-9]{6}-){3}[a-z2-9]{6}$/) });
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect((await fetch(`${service.url}/docs`)).status).toBe(200);

    const cookie = await signIn(service, credentials.user, credentials.password);
    key = await create(service, cookie, { text: 'kept' });

    service.signal('SIGINT');
    await expectStopped(service);
    expect(await serverPid(dataDir)).toBeUndefined();

    const log = JSON.stringify(service.log());
    expect(log, 'the generated password is for the terminal alone (rule 86)').not.toContain(credentials.password);
    expect(service.log().filter(({ event }) => event === 'configuration.loaded')).toHaveLength(1);
  });

  test('starts again on the same data without a word about passwords, and SIGTERM to npm stops it too', async () => {
    const service = await npmStart({ DATA_DIR: dataDir });
    await service.ready;
    expect(credentialsIn(service.told())).toBeUndefined();
    const cookie = await signIn(service, credentials.user, credentials.password);
    expect(await read(service, cookie, key)).toEqual({ text: 'kept' });

    service.signalParent('SIGTERM');
    await service.ended;
    await expect.poll(async () => isAlive(await serverPid(dataDir))).toBe(false);
  });

  test('killed in the middle of writing, it starts again and has lost nothing that it acknowledged', async () => {
    const killed = await npmStart({ DATA_DIR: dataDir });
    await killed.ready;
    const cookie = await signIn(killed, credentials.user, credentials.password);
    const acknowledged = new Map<string, number>();
    const writing = (async () => {
      for (let number = 1; ; number += 1) acknowledged.set(await create(killed, cookie, { number }), number);
    })();
    await expect.poll(() => acknowledged.size).toBeGreaterThan(20);
    killed.signal('SIGKILL');
    await expect(writing).rejects.toThrow();
    await killed.ended;

    const again = await npmStart({ DATA_DIR: dataDir });
    await again.ready;
    for (const [written, number] of acknowledged) expect(await read(again, cookie, written)).toEqual({ number });
    again.signal('SIGINT');
    await expectStopped(again);
    expect(await serverPid(dataDir)).toBeUndefined();
  });

  test('Ctrl-C while it is still starting leaves no database server behind', async () => {
    const service = await npmStart({ DATA_DIR: dataDir });
    await expect.poll(() => serverPid(dataDir), { interval: 5 }).toBeDefined();
    service.signal('SIGINT');
    await expectStopped(service);
    expect(await isAlive(await serverPid(dataDir))).toBe(false);
  });
});

const nobody = { uid: 65534, gid: 65534 };
/** Other users can only be tried by root, and only where they can read the project. */
const canBeNobody = process.getuid?.() === 0 && spawnSync(process.execPath, ['--version'], { ...nobody, cwd: project }).status === 0;

test.skipIf(!canBeNobody)('an ordinary user can start it as well', async () => {
  const dataDir = await newDataDir();
  const home = join(dataDir, '..');
  await chown(home, nobody.uid, nobody.gid);
  const service = await npmStart({ DATA_DIR: dataDir, HOME: home }, nobody);
  await service.ready;
  const { user, password } = credentialsIn(service.told()) ?? { user: '', password: '' };
  await signIn(service, user, password);
  service.signal('SIGINT');
  await expectStopped(service);
  expect(await serverPid(dataDir)).toBeUndefined();
});

describe('npm start on DATABASE_URL', () => {
  let database: TestDatabase;
  let settings: Record<string, string>;
  beforeAll(async () => {
    database = await createDatabase();
    settings = { DATABASE_URL: database.url, ADMIN_USER: 'Grace', ADMIN_PASSWORD: adminPassword, RATE_LIMIT: 'off' };
  });
  afterAll(() => database.drop());

  async function started(more: Record<string, string> = {}): Promise<Started> {
    const service = await npmStart({ ...settings, ...more });
    await service.ready;
    return service;
  }

  test('makes the first administrator with the password it was given, which it tells nobody (rule 86)', async () => {
    const service = await started();
    expect(service.told()).toMatch(/Database {4}PostgreSQL at \S+/);
    await signIn(service, 'grace', adminPassword);
    service.signal('SIGTERM');
    await expectStopped(service);

    const databasePassword = decodeURIComponent(new URL(database.url).password);
    for (const secret of [adminPassword, databasePassword]) {
      expect(service.told()).not.toContain(secret);
      expect(JSON.stringify(service.log())).not.toContain(secret);
    }
    const loaded = service.log().find(({ event }) => event === 'configuration.loaded');
    expect(loaded?.['settings']).toMatchObject({ port: service.port, adminUser: 'grace', adminPassword: '(set)' });
  });

  test('once there is a user, ADMIN_USER and ADMIN_PASSWORD make nobody', async () => {
    const service = await started({ ADMIN_USER: 'mallory', ADMIN_PASSWORD: 'another quite unguessable phrase' });
    await signIn(service, 'grace', adminPassword);
    const refused = await fetch(`${service.url}/auth`, {
      method: 'POST',
      body: new URLSearchParams({ user: 'mallory', password: 'another quite unguessable phrase' }),
    });
    expect(refused.status).toBe(401);
    service.signal('SIGTERM');
    await expectStopped(service);
  });

  test('a request that is under way when it is told to stop gets its answer (rule 92)', async () => {
    const service = await started();
    const cookie = await signIn(service, 'grace', adminPassword);
    const { socket, answer } = await beginRequest(service, cookie);
    service.signal('SIGTERM');
    await expect.poll(async () => (await ready(service)) === 200).toBe(false);
    socket.write('"late"}');
    expect(await answer).toMatch(/^HTTP\/1\.1 201 [^]*connection: close[^]*"text": "late"/i);
    await expectStopped(service);
  });

  test('a client that never finishes its request does not keep it from stopping (rule 92)', async () => {
    const service = await started();
    const cookie = await signIn(service, 'grace', adminPassword);
    const { answer } = await beginRequest(service, cookie);
    service.signal('SIGTERM');
    await expectStopped(service);
    expect(await answer).toBe('');
  });

  test('with WORKERS they serve on one port, one that dies is replaced, and all stop together', async () => {
    const service = await started({ WORKERS: '2' });
    const cookie = await signIn(service, 'grace', adminPassword);
    const pids = await workersOf(service);
    expect(pids).toHaveLength(2);

    process.kill(Number(pids[0]), 'SIGKILL');
    await expect.poll(() => service.told()).toContain(`worker ${pids[0]} ended with SIGKILL; starting another`);
    const listening = () => service.log().filter(({ event }) => event === 'listening').length;
    await expect.poll(listening).toBe(3);
    const key = await create(service, cookie, { by: 'workers' });
    for (let index = 0; index < 4; index += 1) expect(await read(service, cookie, key)).toEqual({ by: 'workers' });

    const living = await workersOf(service);
    service.signal('SIGINT');
    await expectStopped(service);
    for (const pid of living) expect(await isAlive(pid)).toBe(false);
    expect(service.told()).not.toContain('code 0');
  });

  test('workers do not outlive a primary that was killed', async () => {
    const service = await started({ WORKERS: '2' });
    const pids = await workersOf(service);
    process.kill(await primaryOf(pids[0] ?? 0), 'SIGKILL');
    for (const pid of pids) await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test.each(['1', '2'])('a port in use is one clear line, with WORKERS=%s', async (workers) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const other = createServer().listen(0, '127.0.0.1', resolve);
    onTestFinished(() => void other.close());
    await promise;
    const { port } = other.address() as { port: number };
    const service = await npmStart({ ...settings, WORKERS: workers }, { port });
    expect((await service.ended).code).toBe(1);
    expect(reasonsIn(service.told())).toEqual([
      `port ${port} of 127.0.0.1 is in use: stop the program that has it, or set PORT to another one`,
    ]);
  });

  test('a database of a later version is one clear line and stays as it is', async () => {
    const later = await createDatabase();
    onTestFinished(() => later.drop());
    await execute(later.url, `insert into kysely_migration values ('9999-later', now()::text)`);
    const service = await npmStart({ DATABASE_URL: later.url });
    expect((await service.ended).code).toBe(1);
    expect(reasonsIn(service.told())).toEqual([
      'the database has migrations of a later version (9999-later): start that version, or a later one',
    ]);
  });

  test('a database out of reach is one clear line, without the password', async () => {
    const url = new URL(database.url);
    url.port = '1';
    const service = await npmStart({ ...settings, DATABASE_URL: url.href });
    expect((await service.ended).code).toBe(1);
    expect(reasonsIn(service.told())).toEqual([
      `PostgreSQL at ${url.host}${url.pathname} (DATABASE_URL) refuses connections: start it, or correct host and port`,
    ]);
  });
});

test('a generated password is told even when the start fails right after, since nobody will be told again', async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const failed = await npmStart({ DATABASE_URL: database.url }, { port });
  expect((await failed.ended).code).toBe(1);
  const { user, password } = credentialsIn(failed.told()) ?? { user: '', password: '' };

  const service = await npmStart({ DATABASE_URL: database.url });
  await service.ready;
  await signIn(service, user, password);
});

test('bad settings are all told at once, a line each, and nothing is started', async () => {
  const dataDir = await newDataDir();
  const service = await npmStart({ DATA_DIR: dataDir, WORKERS: 'many', TRUST_PROXY: 'true', PUBLIC_URL: 'http://api.example.com' });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([
    expect.stringMatching(/^- PUBLIC_URL must be https/),
    expect.stringMatching(/^- TRUST_PROXY must list addresses or CIDR ranges/),
    '- WORKERS must be a whole number from 1 to 256, not "many"',
  ]);
  expect(service.log()).toEqual([]);
  await expect(readFile(join(dataDir, 'postgres.log'))).rejects.toThrow('ENOENT');
});

test('an ADMIN_PASSWORD that nobody could set stops the start before a database is made', async () => {
  const dataDir = await newDataDir();
  const service = await npmStart({ DATA_DIR: dataDir, ADMIN_PASSWORD: 'short' });
  expect((await service.ended).code).toBe(1);
  expect(reasonsIn(service.told())).toEqual([expect.stringMatching(/^- ADMIN_PASSWORD is refused, .*Minimum length: 15\.$/)]);
  await expect(readFile(join(dataDir, 'postgres.log'))).rejects.toThrow('ENOENT');
});

test('an old Node.js is one line', () => {
  const script = `Object.defineProperty(process.versions, 'node', { value: '22.9.0' }); require('./scripts/require-node.cjs')`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { cwd: project, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^entity-service: this is Node\.js 22\.9\.0, and 24\.18 or later is needed: .*\n$/);
  expect(packageJson.engines.node).toBe('>=24.18');
});

/** What was told after the sentence that it cannot start. */
function reasonsIn(told: string): string[] {
  const lines = told.split('\n').filter((line) => line.startsWith('entity-service: '));
  expect(lines.shift()).toBe('entity-service: the service cannot start:');
  return lines.map((line) => line.slice('entity-service: '.length));
}

async function ready({ url }: Started): Promise<number> {
  try {
    return (await fetch(`${url}/health/ready`)).status;
  } catch {
    return 0;
  }
}

/** Sends all of a POST but the end of its body; `answer` is all that comes back until the connection is closed. */
async function beginRequest({ port }: Started, cookie: string): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (data) => (text += data.toString()));
  const answer = new Promise<string>((resolve) => {
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
  await once(socket, 'connect');
  const head = ['POST /rest/entity/note HTTP/1.1', `Host: localhost:${port}`, `Cookie: ${cookie}`, 'Content-Type: application/json'];
  socket.write(`${head.join('\r\n')}\r\nContent-Length: 15\r\n\r\n{"text":`);
  // Another request on another connection is answered, so ours has been taken up.
  await fetch(`http://localhost:${port}/health/live`);
  return { socket, answer };
}

async function children(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

async function workersOf({ pid }: Started): Promise<number[]> {
  const [primary = 0] = await children(pid);
  return await children(primary);
}

async function primaryOf(worker: number): Promise<number> {
  const status = await readFile(`/proc/${worker}/status`, 'utf8');
  return Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]);
}
