/** What Node.js cannot parse, behind requests whose answers are not there yet: answers come in the order of the requests (RFC 9112 section 9.3.2). */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { answerInOrder } from '../../src/admission/answer-order.ts';
import { paceStarts } from '../../src/admission/starts.ts';
import { password, useService } from '../support/service.ts';

const service = useService();

beforeAll(async () => {
  await service().createUser('ada');
});

const request = (method: string, path: string, headers: string[], body = '') =>
  [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', body].join('\r\n');
const signIn = (secret: string) => {
  const form = new URLSearchParams({ user: 'ada', password: secret }).toString();
  return request('POST', '/auth', ['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${form.length}`], form);
};

/** The statuses of all answers to what one connection sends at once, until the server closes it. */
async function statusesOf(text: string, port = Number(new URL(service().url).port)): Promise<number[]> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.setEncoding('latin1').on('data', (part: string) => (received += part));
  socket.write(text);
  await once(socket, 'close');
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

test('200 and 400 — a sign-in is answered before the bytes behind it that are no request', async () => {
  expect(await statusesOf('no request\r\n\r\n')).toEqual([400]);
  expect(await statusesOf(`${signIn(password)}no request\r\n\r\n`)).toEqual([200, 400]);
  expect(await statusesOf(`${signIn(password)}${signIn('wrong')}no request\r\n\r\n`)).toEqual([200, 401, 400]);
});

test('200 and 405 — likewise before a CONNECT behind it', async () => {
  expect(await statusesOf(request('CONNECT', 'example.com:443', []))).toEqual([405]);
  expect(await statusesOf(signIn(password) + request('CONNECT', 'example.com:443', []))).toEqual([200, 405]);
});

test('200 and 400 — likewise before a body that is not coded as it says', async () => {
  const chunked = request('POST', '/auth', ['Content-Type: application/json', 'Transfer-Encoding: chunked'], 'no chunk\r\n');
  expect(await statusesOf(chunked)).toEqual([400]);
  expect(await statusesOf(signIn(password) + chunked)).toEqual([200, 400]);
});

const connectRequest = request('CONNECT', 'example.com:443', []);

/** A server with paced starts, which answers what is no request in order, and its port. */
async function listenWith(listener: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(listener);
  paceStarts(server);
  server.on('clientError', (_error, socket) => answerInOrder(socket, () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  server.on('connect', (_request, socket) => answerInOrder(socket, () => socket.end('HTTP/1.1 405 Method Not Allowed\r\n\r\n')));
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

test('nothing follows an answer that has begun before the whole body was there', async () => {
  const { server, port } = await listenWith((_request, response) => response.writeHead(200).flushHeaders());
  const broken = once(server, 'clientError');
  expect(await statusesOf(request('POST', '/', ['Transfer-Encoding: chunked'], '1\r\nx\r\nno chunk\r\n'), port)).toEqual([200]);
  await broken;
});

test('a request has one answer, also if its body breaks off behind the answer', async () => {
  const broken = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
  expect(await statusesOf(signIn(password) + request('POST', '/nowhere', broken, 'no chunk\r\n'))).toEqual([200, 404]);
});

test('an answer that waits for another one is sent, though the body of its request breaks off', async () => {
  let slow: ServerResponse | undefined;
  const { server, port } = await listenWith(({ url }, response) => {
    if (url === '/slow') slow = response;
    else response.writeHead(404).end();
  });
  server.on('clientError', () => slow?.end());
  const both = request('GET', '/slow', []) + request('POST', '/', ['Transfer-Encoding: chunked'], 'no chunk\r\n');
  expect(await statusesOf(both, port)).toEqual([200, 404]);
});

test('a client that resets the connection while a CONNECT waits for its answer does not end the process', async () => {
  const { server, port } = await listenWith(() => undefined);
  const accepted = once(server, 'connect') as Promise<[unknown, Socket]>;
  const client = connect(port, '127.0.0.1');
  client.write(request('GET', '/', []) + connectRequest);
  const [, socket] = await accepted;
  expect(socket.listenerCount('error')).toBeGreaterThan(0);
  client.resetAndDestroy();
  await once(socket, 'close').catch(() => undefined);
});

test('a client that goes on behind bytes that are no request, while they wait for their answer, is cut off after 1 MiB (rule 80)', async () => {
  const { server, port } = await listenWith(() => undefined);
  const accepted = once(server, 'clientError') as Promise<[unknown, Socket]>;
  const client = connect(port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write(`${request('GET', '/', [])}no request\r\n\r\n`);
  const [, socket] = await accepted;
  for (let part = 0; part < 100; part++) client.write(Buffer.alloc(65_536, 'x'));
  await once(socket, 'close');
  expect(socket.bytesRead).toBeLessThan(1_048_576 + 2 * 65_536);
});

test('an answer before a CONNECT is sent to its end in several parts', async () => {
  const parts = Array.from({ length: 10 }, () => Buffer.alloc(100_000, 'x'));
  const { port } = await listenWith((_request, response) => Readable.from(parts).pipe(response));
  expect(await statusesOf(request('GET', '/', []) + connectRequest, port)).toEqual([200, 405]);
});
