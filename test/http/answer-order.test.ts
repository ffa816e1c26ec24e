/** What Node.js cannot parse, behind requests whose answers are not there yet: answers come in the order of the requests (RFC 9112 section 9.3.2). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { answerInOrder, paceStarts } from '../../src/http/paced-starts.ts';
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

test('nothing follows an answer that has begun before the whole body was there', async () => {
  const server = createServer((_request, response) => response.writeHead(200).flushHeaders());
  paceStarts(server);
  const broken = once(server, 'clientError');
  server.on('clientError', (_error, socket) => answerInOrder(socket, () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await statusesOf(request('POST', '/', ['Transfer-Encoding: chunked'], '1\r\nx\r\nno chunk\r\n'), port)).toEqual([200]);
  await broken;
});
