/** Bodies that arrive in many parts: chunks of one byte. */
import Fastify, { type FastifyRequest, type RequestPayload } from 'fastify';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { joinBodies } from '../../src/http/joined-body.ts';
import { rowsOf } from '../support/entities.ts';
import { sendBytes } from '../support/raw.ts';
import { useService } from '../support/service.ts';

/** A request whose body comes in chunks of one byte. */
const inChunks = (target: string, headers: string[], body: string) =>
  [`POST ${target} HTTP/1.1`, 'Host: localhost', 'Transfer-Encoding: chunked', ...headers, '', ''].join('\r\n') +
  body.replaceAll(/./g, '1\r\n$&\r\n') +
  '0\r\n\r\n';

test('Fastify gets a body of 10,000 parts as one, and one of a stream as it arrives (rule 80)', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  joinBodies(app);
  app.addContentTypeParser('text/plain', async (_request: FastifyRequest, payload: RequestPayload) => {
    const lengths: number[] = [];
    for await (const part of payload as AsyncIterable<Buffer>) lengths.push(part.length);
    return lengths;
  });
  app.post('/', ({ body }) => body);
  app.post('/streamed', { config: { streamsBody: true } }, ({ body }) => body);
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const lengthsOf = async (target: string) =>
    JSON.parse((await sendBytes(url, inChunks(target, ['Content-Type: text/plain'], 'x'.repeat(10_000)))).text) as number[];
  expect(await lengthsOf('/')).toEqual([10_000]);
  expect((await lengthsOf('/streamed')).length).toBeGreaterThan(1);
});

describe('a body in chunks of one byte', () => {
  const service = useService({ BODY_LIMIT_BYTES: '20000' });
  let headers: string[];
  beforeAll(async () => {
    const cookie = await service().openSession((await service().createUser('ada')).id);
    headers = [`Cookie: ${cookie}`, 'Content-Type: application/json'];
  });
  const send = (name: string, text: string) =>
    sendBytes(service().url, inChunks(`/rest/entity/${name}`, headers, JSON.stringify({ text })));

  test('201 — creates an entity as one that comes at once', async () => {
    const text = 'x'.repeat(19_000);
    expect((await send('order', text)).status).toBe(201);
    const rows = await rowsOf(service(), 'order');
    expect(rows.map(({ fields }) => (JSON.parse(fields) as { text: string }).text === text)).toEqual([true]);
  });

  test('413 — may be no longer than others (rule 80)', async () => {
    const { status, text } = await send('large', 'x'.repeat(20_000));
    expect([status, (JSON.parse(text) as { code: string }).code]).toEqual([413, 'content-too-large']);
    expect(await rowsOf(service(), 'large')).toEqual([]);
  });
});
