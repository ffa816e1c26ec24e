/** How a server that stops treats connections on which a request may be on its way. `faults/replicas.test.ts` shows it behind nginx. */
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { prepareDrain } from '../../src/http/drain.ts';

const limits = { silenceMs: 50, timeoutMs: 5_000 };

async function start() {
  const app = Fastify();
  prepareDrain(app);
  app.get('/', async () => 'answered');
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  expect(await ask(socket)).toContain('connection: keep-alive');
  return { app, socket };
}

const send = (socket: Socket) => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');

async function ask(socket: Socket): Promise<string> {
  send(socket);
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString().toLowerCase();
}

/** Holds up this process, in which the server is too. */
function spin(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test('an idle connection is closed after a silence (rule 92)', async () => {
  const { app, socket } = await start();
  const ended = once(socket.resume(), 'end');
  app.drain(limits);
  await ended;
});

test('a request that arrived while the process was held up is answered, and its connection is closed after that (rule 92)', async () => {
  const { app, socket } = await start();
  app.drain(limits);
  send(socket);
  spin(2 * limits.silenceMs);
  const [data] = (await once(socket, 'data')) as [Buffer];
  expect(data.toString().toLowerCase()).toMatch(/^http\/1\.1 200 ok\r\n[^]*connection: close/);
});

test('so is a request that a proxy passes on when the process goes on: held up it could receive none (rule 92)', async () => {
  const { app, socket } = await start();
  app.drain(limits);
  spin(2 * limits.silenceMs);
  // The proxy waits for answers of other requests, and runs beside this process.
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect(await ask(socket)).toMatch(/^http\/1\.1 200 ok\r\n[^]*connection: close/);
});
