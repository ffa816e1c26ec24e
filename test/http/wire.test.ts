import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import { sendRequest } from '../support/raw.ts';
import { password, useService } from '../support/service.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answerForNode, nodeOptions, originForm } from '../../src/http/wire.ts';

let app: FastifyInstance;
let client: Socket;

/** Sends CONNECT, reads the answer, and returns the server's end of the connection. */
async function refusedConnect(): Promise<Duplex> {
  const accepted = once(app.server, 'connect') as Promise<[unknown, Duplex]>;
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  client = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true }, () =>
    client.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'),
  );
  const [, socket] = await accepted;
  const [answer] = (await once(client, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 405 /);
  return socket;
}

describe('CONNECT, which detaches the connection from the HTTP server', () => {
  beforeEach(() => {
    app = Fastify({ http: nodeOptions });
    answerForNode(app, {}, new URL('http://localhost:3000'));
  });
  afterEach(async () => {
    client.destroy();
    await app.close();
  });

  test('a client that resets the connection does not end the process', async () => {
    const socket = await refusedConnect();
    expect(socket.listenerCount('error')).toBeGreaterThan(0);
    socket.destroy(new Error('read ECONNRESET'));
    await once(socket, 'close').catch(() => undefined);
  });

  test('a client that leaves its side open does not hold the connection open (rule 80)', async () => {
    const socket = await refusedConnect();
    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });
});

describe('a request target in absolute form (RFC 9112 section 3.2.2)', () => {
  const service = useService();

  test.each([
    ['http://localhost:3000/auth?roles=1', '/auth?roles=1'],
    ['HTTPS://a.example', '/'],
    ['http://a.example?x=1', '/?x=1'],
    ['/auth', '/auth'],
    ['/http://a.example/', '/http://a.example/'],
    ['*', '*'],
    ['', ''],
  ])('%s is %s', (url, target) => {
    expect(originForm({ url })).toBe(target);
  });

  test('200 — signs in and authenticates as with the path only', async () => {
    await service().createUser('ada');
    const form = new URLSearchParams({ user: 'ada', password }).toString();
    const headers = ['content-type', 'application/x-www-form-urlencoded'];
    const answer = await sendRequest(service().url, 'POST', 'http://localhost:3000/auth', headers, form);
    expect(answer.status, answer.text).toBe(200);
    const [cookie = ''] = (answer.headers['set-cookie']?.[0] ?? '').split(';');
    expect((await sendRequest(service().url, 'GET', 'http://localhost:3000/auth', ['cookie', cookie])).status).toBe(200);
  });
});
