/** `npm start` on a given database. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { EntityServiceClient } from '../../src/client/index.ts';
import { cookieHeader } from '../support/client.ts';
import { createDatabaseUntilDone } from '../support/database.ts';
import { isAlive } from '../support/embedded.ts';
import { Proxy } from '../support/proxy.ts';
import { expectStopped, npmStart, primaryOf, signIn, workersOf, type Started } from '../support/start.ts';

// Each start creates or opens a database and stops again, on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const adminPassword = 'seven quiet lanterns drift north';

test('ADMIN_USER and ADMIN_PASSWORD are ignored once there is a user', async () => {
  const settings = { DATABASE_URL: await createDatabaseUntilDone(), RATE_LIMIT: 'off' };
  const first = await npmStart({ ...settings, ADMIN_USER: 'Grace', ADMIN_PASSWORD: adminPassword });
  await first.ready;
  first.signal('SIGTERM');
  await expectStopped(first);
  const service = await npmStart({ ...settings, ADMIN_USER: 'mallory', ADMIN_PASSWORD: 'another quite unguessable phrase' });
  await service.ready;
  await signIn(service, 'grace', adminPassword);
  await expect(signIn(service, 'mallory', 'another quite unguessable phrase')).rejects.toMatchObject({ code: 'invalid-credentials' });
  service.signal('SIGTERM');
  await expectStopped(service);
});

test('the log names the setting of a lost notification connection', async () => {
  const url = await createDatabaseUntilDone();
  const cable = await Proxy.open(url);
  const service = await npmStart({ DATABASE_URL: url, ADMIN_PASSWORD: adminPassword, DATABASE_DIRECT_URL: cable.urlOf(url) });
  await service.ready;
  await cable.cut();
  const { port } = new URL(cable.urlOf(url));
  const lost = `notifications do not arrive: PostgreSQL at 127.0.0.1:${port}/`;
  const isNamed = ({ event, msg }: Record<string, unknown>) =>
    event === 'outage' && String(msg).startsWith(lost) && String(msg).includes(' (DATABASE_DIRECT_URL) refuses connections: start it');
  await expect.poll(() => service.log().some(isNamed)).toBe(true);
  service.signal('SIGTERM');
  await expectStopped(service);
});

test('a request in progress at SIGTERM gets its answer, and a client that never finishes does not prevent the stop (rule 92)', async () => {
  const service = await npmStart({ DATABASE_URL: await createDatabaseUntilDone(), ADMIN_USER: 'grace', ADMIN_PASSWORD: adminPassword });
  await service.ready;
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

test('workers ignore Ctrl-C, because their primary stops them one after the other, and end when it is killed (rule 92)', async () => {
  const service = await npmStart({
    DATABASE_URL: await createDatabaseUntilDone(),
    ADMIN_PASSWORD: adminPassword,
    WORKERS: '2',
    RATE_LIMIT: 'off',
  });
  await service.ready;
  const pids = await workersOf(service);
  for (const pid of pids) process.kill(pid, 'SIGINT');
  for (let index = 0; index < 20; index += 1) expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
  expect(await workersOf(service)).toEqual(pids);
  process.kill(await primaryOf(service), 'SIGKILL');
  for (const pid of pids) await expect.poll(() => isAlive(pid)).toBe(false);
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
