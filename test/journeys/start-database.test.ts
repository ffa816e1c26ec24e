import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { EntityServiceClient } from '../../src/client/index.ts';
import { cookieHeader } from '../support/client.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { isAlive } from '../support/embedded.ts';
import { expectStopped, npmStart, primaryOf, signIn, workersOf, type Started } from '../support/start.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const adminPassword = 'seven quiet lanterns drift north';

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

  test('makes the first administrator with the given password, and does not print it (rule 86)', async () => {
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

  test('a request in progress at SIGTERM gets its answer, and a client that never finishes does not prevent the stop (rule 92)', async () => {
    const service = await started();
    const client = await signIn(service, 'grace', adminPassword);
    const { socket, answer } = await beginRequest(service, client);
    const unfinished = await beginRequest(service, client);
    service.signal('SIGTERM');
    await expect.poll(async () => (await ready(service)) === 200).toBe(false);
    socket.write('"late"}');
    expect(await answer).toMatch(/^HTTP\/1\.1 201 [^]*"text": "late"/i);
    await expectStopped(service);
    expect(await unfinished.answer).toBe('');
  });

  test('WORKERS serve on one port, a dead one is replaced, and all stop together', async () => {
    const service = await started({ WORKERS: '2' });
    const notes = (await signIn(service, 'grace', adminPassword)).entities('note');
    const pids = await workersOf(service);
    expect(pids).toHaveLength(2);
    const listening = () => service.log().filter(({ event }) => event === 'listening').length;
    // Each worker writes its log in batches, and loses the unwritten part when it is killed.
    await expect.poll(listening).toBe(2);

    process.kill(Number(pids[0]), 'SIGKILL');
    const changes = () => service.log().filter(({ event }) => String(event).startsWith('worker.'));
    await expect.poll(() => changes().length).toBe(2);
    const { worker: replacement } = changes()[1] ?? {};
    expect(changes()).toEqual([
      expect.objectContaining({ event: 'worker.lost', worker: pids[0], reason: `worker ${pids[0]} ended with SIGKILL` }),
      expect.objectContaining({ event: 'worker.replaced', worker: expect.any(Number) }),
    ]);
    expect(await workersOf(service)).toEqual([pids[1], replacement]);
    await expect.poll(listening).toBe(3);
    const note = await notes.create({ by: 'workers' });
    for (let index = 0; index < 4; index += 1) expect(await notes.get(note.key)).toEqual(note);

    const living = await workersOf(service);
    service.signal('SIGINT');
    await expectStopped(service);
    for (const pid of living) expect(await isAlive(pid)).toBe(false);
    expect(changes(), 'a worker that stops with the service is not lost').toHaveLength(2);
  });

  test('workers ignore Ctrl-C, because their primary stops them one after the other, and end when it is killed (rule 92)', async () => {
    const service = await started({ WORKERS: '2' });
    const pids = await workersOf(service);
    for (const pid of pids) process.kill(pid, 'SIGINT');
    for (let index = 0; index < 20; index += 1) expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect(await workersOf(service)).toEqual(pids);
    process.kill(await primaryOf(service), 'SIGKILL');
    for (const pid of pids) await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test('in production, behind a proxy, cookies are secure and client addresses come from the proxy (rules 9, 82, 83)', async () => {
    const service = await started({ NODE_ENV: 'production', PUBLIC_URL: 'https://api.example.com', TRUST_PROXY: '127.0.0.1' });
    expect(service.told()).toContain('https://api.example.com/docs\n');
    const answer = await fetch(`${service.url}/auth`, {
      method: 'POST',
      headers: { 'x-forwarded-for': '198.51.100.1, 203.0.113.9', 'x-forwarded-host': 'evil.example' },
      body: new URLSearchParams({ user: 'grace', password: adminPassword }),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-sid=[\w-]{32}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    service.signal('SIGTERM');
    await expectStopped(service);
    const line = service.log().find(({ operation }) => operation === 'createSession');
    expect(line).toMatchObject({ address: '203.0.113.9', status: 200 });
  });
});

async function ready({ url }: Started): Promise<number> {
  try {
    return (await fetch(`${url}/health/ready`)).status;
  } catch {
    return 0;
  }
}

/** Sends a POST without the end of its body. `answer` is all that arrives until the connection is closed. */
async function beginRequest(service: Started, client: EntityServiceClient): Promise<{ socket: Socket; answer: Promise<string> }> {
  const { port } = service;
  const cookie = cookieHeader(client, service);
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
  // The service has answered a later request on another connection, so it has received this one.
  await fetch(`http://localhost:${port}/health/live`);
  return { socket, answer };
}
