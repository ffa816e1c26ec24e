/** A service on several addresses, as `localhost` has them, is one server: each address has the same limits and the same stop. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listenAlso } from '../../src/http/listen.ts';
import { listeningLine } from '../../src/telemetry/logging.ts';
import { TestService } from '../support/service.ts';

/** Linux has all addresses of 127.0.0.0/8. */
const further = '127.0.0.2';

async function serveTwice() {
  const service = await TestService.start();
  await listenAlso(service.app, further, listeningLine);
  const port = Number(new URL(service.url).port);
  const open = async () => {
    const socket = connect(port, further);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  return { service, open };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

async function ask(socket: Socket, request: string): Promise<string> {
  socket.write(request);
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString().toLowerCase();
}

test.skipIf(process.platform !== 'linux')('200 — on each address, and what Node.js would not answer is answered', async () => {
  const { service, open } = await serveTwice();
  expect((await service.call('GET', '/health/live')).status).toBe(200);
  expect(await ask(await open(), get('/health/live'))).toMatch(/^http\/1\.1 200 /);
  expect(await ask(await open(), 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n')).toMatch(/^http\/1\.1 405 /);
  await service.close();
});

test.skipIf(process.platform !== 'linux')(
  'a stop answers requests on each address, closes idle connections, and waits for both (rule 92)',
  async () => {
    const { service, open } = await serveTwice();
    const [idle, busy] = [await open(), await open()];
    for (const socket of [idle, busy]) expect(await ask(socket, get('/health/live'))).toContain('connection: keep-alive');
    const body = 'POST /auth HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n';
    busy.write(body);
    const [idleEnded, busyEnded] = [once(idle.resume(), 'end'), once(busy, 'end')];
    let isClosed = false;
    const closing = service.stop().then(() => (isClosed = true));
    await idleEnded;
    expect(isClosed).toBe(false);
    expect(await ask(busy, '{}')).toMatch(/^http\/1\.1 4\d\d [^]*\r\nconnection: close/);
    await busyEnded;
    await closing;
    await service.close();
    await expect(open()).rejects.toThrow('ECONNREFUSED');
  },
);
