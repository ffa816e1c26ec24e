/** The bytes that the process holds for unread answers and unfinished bodies have a limit for each caller (rule 80). */
import Fastify from 'fastify';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Principal } from '../../src/rights/principal.ts';
import { boundHeldBytes, HeldBytes, type HeldBytesLimits } from '../../src/admission/held-bytes.ts';
import type { Entity } from '../support/entities.ts';
import { useService } from '../support/service.ts';

/** Answers of 14 MB take seconds on a busy machine. */
const timeout = 60_000;

const service = useService({ BODY_LIMIT_BYTES: '16000000' });
let ada: string;
let bob: string;

beforeAll(async () => {
  ada = await service().openSession((await service().createUser('ada')).id);
  bob = await service().openSession((await service().createUser('bob')).id);
});

/** Opens a connection that sends `text`. With `isAnswered` it waits for the first bytes of an answer; it never reads more. */
async function openWithoutReading(text: string, isAnswered: boolean, url = service().url): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, isAnswered ? 'readable' : 'connect');
  return socket;
}

const own = (cookie: string) => service().call('GET', '/auth', { cookie });
const statusOf = async (cookie: string) => (await own(cookie)).status;

test(
  '429 — a user with 64 MiB of unread answers is refused, another is served, until the connections end (rule 80)',
  { timeout },
  async () => {
    const text = 'x'.repeat(14_000_000);
    const { body } = await service().call<Entity>('POST', '/rest/entity/large', { cookie: ada, json: { text } });
    const path = `/rest/entity/large/${body.key}`;
    // Together more than the operating system buffers for a client that does not read, which is 36 MiB with the settings of some Linux systems.
    const requests = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nCookie: ${ada}\r\n\r\n`.repeat(4);
    const sockets: Socket[] = [];
    for (let count = 0; count < 5; count++) sockets.push(await openWithoutReading(requests, true));
    await expect.poll(() => statusOf(ada), { timeout }).toBe(429);
    const refused = await own(ada);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate-limited']);
    expect([refused.headers.get('retry-after'), refused.headers.get('ratelimit')]).toEqual(['1', '"held-bytes";r=0;t=1']);
    expect(await statusOf(bob)).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => statusOf(ada)).toBe(200);
    expect((await service().call<Entity>('GET', path, { cookie: ada })).body.fields).toEqual({ text });
  },
);

test('429 — a user with 64 MiB of unfinished bodies is refused, another user is not, until the connections end (rule 80)', async () => {
  const head = `POST /rest/entity/large HTTP/1.1\r\nHost: localhost\r\nCookie: ${ada}\r\nContent-Type: application/json\r\n`;
  const sockets = await Promise.all([1, 2, 3, 4, 5].map(() => openWithoutReading(`${head}Content-Length: 15999999\r\n\r\n{`, false)));
  const [answer] = (await Promise.race(sockets.map((socket) => once(socket, 'data')))) as [Buffer];
  expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 429 /);
  const create = async (cookie: string) =>
    (await service().call('POST', '/rest/entity/body', { cookie, json: { text: 'x'.repeat(4_000_000) } })).status;
  expect(await create(ada)).toBe(429);
  expect(await statusOf(ada)).toBe(200);
  expect(await create(bob)).toBe(201);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => create(ada)).toBe(201);
});

describe('with smaller limits', () => {
  /** A server whose `GET /late` answers 100,000 characters when the test says so, and the status of a request that needs no memory. */
  async function startServer(limits: HeldBytesLimits) {
    const app = Fastify({ bodyLimit: 50_000 });
    onTestFinished(() => app.close());
    app.addHook('onRequest', async (request) => {
      const { user } = request.headers;
      if (typeof user === 'string') request.principal = { user: { name: user } } as Principal;
    });
    boundHeldBytes(app, new HeldBytes(limits));
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = { arrived: 0, left: 0, answered: 0, answer: () => resolve() };
    const bodies = { begun: 0 };
    const onSend = async () => void (late.answered += 1);
    app.get('/late', { onSend }, (request, reply) => {
      late.arrived += 1;
      request.raw.socket.once('close', () => (late.left += 1));
      void promise.then(() => reply.send('x'.repeat(100_000)));
    });
    app.get('/', (_request, reply) => reply.send('small'));
    const preParsing = async () => void (bodies.begun += 1);
    app.post('/', { preParsing }, (_request, reply) => reply.send('read'));
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const status = async (body?: string, user?: string) =>
      (await fetch(url, { headers: user === undefined ? {} : { user }, ...(body !== undefined && { method: 'POST', body }) })).status;
    return { url, late, bodies, status };
  }

  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

  test('200 — answers that are ready after their clients have disconnected are not counted (rule 80)', async () => {
    const { url, late, status } = await startServer({ caller: 150_000, strangers: 1_000_000, process: 1_000_000 });
    const sockets = await Promise.all([1, 2].map(() => openWithoutReading(get('/late'), false, url)));
    await expect.poll(() => late.arrived).toBe(2);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => late.left).toBe(2);
    late.answer();
    await expect.poll(() => late.answered).toBe(2);
    expect(await status()).toBe(200);
  });

  test('200 — a body counts with the bytes that the server reads, not with the announced length (rule 80)', async () => {
    const { url, late, bodies, status } = await startServer({ caller: 150_000, strangers: 150_000, process: 150_000 });
    const post = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 999999999999999\r\n\r\nx';
    // The refusal of the body waits for the answer before it.
    const socket = await openWithoutReading(get('/late') + post, false, url);
    await expect.poll(() => bodies.begun).toBe(1);
    expect(await status('body')).toBe(200);
    late.answer();
    const [answers] = (await once(socket, 'data')) as [Buffer];
    expect(answers.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('429 — a body whose answer waits for another one is counted until the connection ends (rule 80)', async () => {
    const { url, bodies, status } = await startServer({ caller: 20_000, strangers: 1_000_000, process: 1_000_000 });
    const post = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 19000\r\n\r\n${'x'.repeat(19_000)}`;
    const socket = await openWithoutReading(get('/late') + post, false, url);
    await expect.poll(() => bodies.begun).toBe(1);
    expect(await status('x'.repeat(2_000))).toBe(429);
    socket.destroy();
    await expect.poll(() => status('x'.repeat(2_000))).toBe(200);
  });

  test('503 — above the limit of the process long bodies of all callers are refused, until memory is free again (rule 80)', async () => {
    const { url, bodies, status } = await startServer({ caller: 1_000_000, strangers: 1_000_000, process: 100_000 });
    const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nUser: ada\r\nContent-Type: text/plain\r\nContent-Length: 49999\r\n\r\nx';
    const sockets = await Promise.all([1, 2].map(() => openWithoutReading(head, false, url)));
    await expect.poll(() => bodies.begun).toBe(2);
    expect(await status('x'.repeat(20_000), 'bob')).toBe(503);
    expect(await status(undefined, 'bob')).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => status('x'.repeat(20_000), 'bob')).toBe(200);
  });

  test('503 — strangers have a limit of their own, at which those with unread answers are refused; users are served (rule 80)', async () => {
    const { url, late, bodies, status } = await startServer({ caller: 1_000_000, strangers: 100_000, process: 100_000 });
    const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 50000\r\n\r\nx';
    const sockets = await Promise.all([1, 2].map(() => openWithoutReading(head, false, url)));
    await expect.poll(() => bodies.begun).toBe(2);
    const unread = await openWithoutReading(get('/late') + get('/'), false, url);
    await expect.poll(() => late.arrived).toBe(1);
    expect(await status('x'.repeat(20_000))).toBe(503);
    expect(await status()).toBe(200);
    expect(await status('x'.repeat(20_000), 'ada')).toBe(200);
    late.answer();
    let answers = '';
    unread.setEncoding('latin1').on('data', (text: string) => (answers += text));
    await expect.poll(() => answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 503']);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => status('x'.repeat(20_000))).toBe(200);
  });
});
