/** A client may send requests without waiting for answers. The server then reads only as fast as it answers (rule 80). */
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { paceStarts } from '../../src/admission/starts.ts';
import { useService } from '../support/service.ts';

const service = useService();

interface Started {
  path: string;
  response: ServerResponse;
}

/** A server with paced starts that does with each request what `onStart` does, and the requests that it has started. */
async function openServer(onStart: (start: Started) => void = () => undefined) {
  const started: Started[] = [];
  const server = createServer((request, response) => {
    const start = { path: request.url ?? '', response };
    started.push(start);
    onStart(start);
  });
  const starts = paceStarts(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => server.close().closeAllConnections());
  return { server, starts, started, open: () => openClient(port) };
}

/** A client that collects what it receives. */
async function openClient(port: number, hostname = '127.0.0.1') {
  const socket = connect(port, hostname);
  onTestFinished(() => void socket.destroy());
  const client = { socket, text: '' };
  socket.on('error', () => undefined);
  socket.setEncoding('latin1').on('data', (text: string) => (client.text += text));
  await once(socket, 'connect');
  return client;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await nextTurn();
}

const get = (path: string, ...headers: string[]) => `GET ${path} HTTP/1.1\r\n${['Host: localhost', ...headers].join('\r\n')}\r\n\r\n`;
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `/${n}`);
const answersIn = (text: string) => text.split('HTTP/1.1 200 OK\r\n').length - 1;
const pathsOf = (started: Started[]) => started.map(({ path }) => path);

test('of 500 requests that a client sends at once 16 are under way, and an answer starts the next one, in order (rule 80)', async () => {
  const { started, starts, open } = await openServer();
  const { socket } = await open();
  const paths = numbered(500);
  socket.write(paths.map((path) => get(path)).join(''));
  await until(() => starts.waiting >= 484);
  for (let answered = 0; answered < 500; answered++) {
    const { length } = started;
    expect(length).toBe(Math.min(500, answered + 16));
    started[answered]?.response.end();
    if (length < 500) await until(() => started.length > length);
  }
  expect(pathsOf(started)).toEqual(paths);
  expect(starts.waiting).toBe(0);
});

test('the server reads 64 KiB ahead of the answers at most, and reads on as it answers (rule 80)', async () => {
  const ahead: number[] = [];
  const padding = 'x'.repeat(900);
  const each = get('/0000', `Padding: ${padding}`).length;
  const { started, open } = await openServer(({ response }) => {
    ahead.push((response.req.socket.bytesRead - started.length * each) / 1024);
    setImmediate(() => response.end());
  });
  const client = await open();
  const paths = Array.from({ length: 2_000 }, (_, n) => `/${String(n).padStart(4, '0')}`);
  client.socket.write(paths.map((path) => get(path, `Padding: ${padding}`)).join(''));
  await until(() => answersIn(client.text) === 2_000);
  expect(pathsOf(started)).toEqual(paths);
  // A read of 64 KiB, and the requests that did not fill a connection before it.
  expect(Math.max(...ahead)).toBeLessThan(64 + 17);
});

test('answers that are ready early count until they are sent (rule 80)', async () => {
  const { started, starts, open } = await openServer(({ path, response }) => path !== '/0' && response.end(path));
  const client = await open();
  client.socket.write(
    numbered(100)
      .map((path) => get(path))
      .join(''),
  );
  await until(() => starts.waiting === 84);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  expect(started).toHaveLength(16);
  started[0]?.response.end('/0');
  await until(() => answersIn(client.text) === 100);
  expect(client.text.match(/^\/\d+/gm)?.map((path) => path.replace(/HTTP$/, ''))).toEqual(numbered(100));
});

test.for(['content-length: 200000', 'content-length: 200000\r\nexpect: 100-continue', 'transfer-encoding: chunked'])(
  'a body that follows 40 requests is read when they have been answered, with %s',
  async (header) => {
    const lengths: number[] = [];
    const { started, starts, open } = await openServer(({ response }) => {
      if (response.req.method === 'GET') return;
      let length = 0;
      response.req.on('data', (part: Buffer) => (length += part.length));
      response.req.on('end', () => response.end() && lengths.push(length));
    });
    const client = await open();
    const body = 'x'.repeat(200_000);
    const rest = header.includes('chunked') ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
    client.socket.write(
      `${numbered(40)
        .map((path) => get(path))
        .join('')}POST /body HTTP/1.1\r\nhost: localhost\r\n${header}\r\n\r\n${rest}${get('/last')}`,
    );
    await until(() => starts.waiting >= 24);
    for (let answered = 0; answered < 42; answered++) {
      await until(() => started.length > answered);
      if (started[answered]?.path !== '/body') started[answered]?.response.end();
    }
    await until(() => answersIn(client.text) === 42);
    expect(lengths).toEqual([200_000]);
    expect(pathsOf(started)).toEqual([...numbered(40), '/body', '/last']);
    expect(client.text.includes('100 Continue')).toBe(header.includes('expect'));
  },
);

test('a client that leaves leaves no request behind, and none of its further ones starts (rule 80)', async () => {
  const { started, starts, open } = await openServer();
  const { socket } = await open();
  socket.write(
    numbered(500)
      .map((path) => get(path))
      .join(''),
  );
  await until(() => starts.waiting >= 484);
  socket.resetAndDestroy();
  // The server learns of it when it writes.
  for (const { response } of started) response.end('x'.repeat(1_000_000));
  await until(() => starts.waiting === 0);
  expect(starts.abandoned).toBeGreaterThan(400);
  expect(started.length + starts.abandoned).toBe(500);
});

test('a request that is cut off frees its place, and those behind an answer with Connection: close do not start (rule 80)', async () => {
  const { started, starts, open } = await openServer();
  const cut = await open();
  const closed = await open();
  for (const { socket } of [cut, closed])
    socket.write(
      numbered(20)
        .map((path) => get(path))
        .join(''),
    );
  await until(() => starts.waiting === 8);
  const [first, second] = [started[0], started.find(({ response }) => response.req.socket !== started[0]?.response.req.socket)];
  first?.response.destroy();
  await until(() => starts.abandoned === 4);
  second?.response.setHeader('connection', 'close').end();
  await until(() => starts.abandoned === 8);
  expect(started).toHaveLength(32);
  expect(starts.waiting).toBe(0);
});

test('a request starts in the context of its arrival, and not in that of the answer that made room for it', async () => {
  const context = new AsyncLocalStorage<string>();
  const found: (string | undefined)[] = [];
  const { open } = await openServer(({ path, response }) => {
    found.push(context.getStore());
    context.run(path, () => setImmediate(() => response.end()));
  });
  const client = await open();
  client.socket.write(
    numbered(100)
      .map((path) => get(path))
      .join(''),
  );
  await until(() => answersIn(client.text) === 100);
  expect(new Set(found)).toEqual(new Set([undefined]));
});

test('a connection with more than 16 unanswered requests is ended while 8,192 wait; others are served (rule 80)', async () => {
  const { started, starts, open } = await openServer(({ path, response }) => path.startsWith('/held') || response.end());
  const flood = get('/held').repeat(1_000);
  const clients: Socket[] = [];
  const ended: Socket[] = [];
  while (ended.length === 0) {
    const { socket } = await open();
    socket.on('close', () => ended.push(socket));
    clients.push(socket);
    const { waiting } = starts;
    socket.write(flood);
    await until(() => starts.waiting > waiting + 500 || ended.length > 0);
  }
  expect(starts.waiting).toBeLessThanOrEqual(8_192);
  expect(clients.length).toBeGreaterThan(8);
  const modest = await open();
  modest.socket.write(get('/modest').repeat(16));
  await until(() => answersIn(modest.text) === 16);
  for (const { response } of started) response.destroy();
  await until(() => starts.waiting === 0);
});

test('of 20 clients that send 2,000 requests at once, the connections that are ended are not parsed further (rule 80)', async () => {
  const { starts, server, open } = await openServer();
  let parsed = 0;
  server.prependListener('request', () => (parsed += 1));
  let ended = 0;
  const clients = await Promise.all(Array.from({ length: 20 }, open));
  for (const { socket } of clients) socket.on('close', () => (ended += 1)).write(get('/').repeat(2_000));
  // The 64 KiB that are read at once have 1,872 requests, so four connections have room.
  await until(() => ended === 16);
  expect(starts.waiting).toBe(4 * (1_872 - 16));
  expect(parsed).toBeLessThan(25_000);
});

test('200 — the service answers each of 600 requests that a client sends at once, in order, with HEAD and bodies among them (rule 80)', async () => {
  const { id } = await service().createUser('ada');
  const cookie = await service().openSession(id);
  const { hostname, port } = new URL(service().url);
  const client = await openClient(Number(port), hostname);
  const body = JSON.stringify({ text: 'x'.repeat(500) });
  const kinds = [
    { text: get('/health/live'), status: 200 },
    { text: get('/auth', `Cookie: ${cookie}`).replace('GET', 'HEAD'), status: 200 },
    { text: get('/nowhere'), status: 404 },
    { text: get('/rest/entity/thing/1'), status: 401 },
    {
      text: `POST /rest/entity/thing HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      status: 201,
    },
    { text: get('/auth', 'Expect: 100-continue', `Cookie: ${cookie}`), status: 200 },
  ];
  client.socket.write(
    kinds
      .map(({ text }) => text)
      .join('')
      .repeat(100),
  );
  const statuses = () => [...client.text.matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g)].map(([, status]) => Number(status));
  await until(() => statuses().length === 600);
  const expected = kinds.map(({ status }) => status);
  expect(statuses()).toEqual(Array.from({ length: 100 }, () => expected).flat());
});
