/** Which requests are repeated, which never, and after which pause. */
import { useService } from '../support/service.ts';
import { createServer, request as forward, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { updateEntity } from '../../generated/client/sdk.gen.ts';
import { Batch, resultOf, type EntityServiceClient, type Fetch, type WriteOptions } from '../../src/client/index.ts';
import { pauseMs, readRetryAfter, standardRetry } from '../../src/client/retry.ts';
import { clientOf, empty, entity, json, PausingClock, problem, reset, scriptedServer, type Step } from '../support/client.ts';

const note = { key: '1', version: 1 };
const key = { apiKey: 'esk_x' };

/** A client of a server with these answers, and the requests that the server receives. */
async function facing(...steps: Step[]) {
  const clock = new PausingClock();
  const server = await scriptedServer(...steps);
  return { ...server, clock, client: clientOf(server, { clock, credential: key }) };
}

describe.each<[string, (client: EntityServiceClient, options?: WriteOptions) => Promise<unknown>, Step]>([
  ['a create', (client, options) => client.entities('note').create({ text: 'once' }, options), json(201, entity())],
  ['a bulk create', (client, options) => client.entities('note').createMany([{}], options), json(200, { items: [] })],
  ['a conditional update', (client, options) => client.entities('note').update(note, { text: 'x' }, options), json(200, entity({}, 2))],
  ['an update without a version', (client, options) => client.entities('note').update('1', {}, options), json(200, entity({}, 2))],
  ['an upsert', (client, options) => client.entities('note').upsert({}, { by: ['text'], ...options }), json(200, entity({}, 2))],
  ['a restore', (client, options) => client.entities('note').restore(note, 1, options), json(200, entity({}, 2))],
  ['a delete', (client, options) => client.entities('note').delete(note, options), empty(204)],
  ['a batch', (client, options) => client.runBatch(new Batch().get('note', '1'), options), json(200, { results: [] })],
])('%s', (_what, call, answer) => {
  test('is repeated with the same Idempotency-Key and body until it is answered', async () => {
    const { client, heard, clock } = await facing(problem(503, 'outcome-unknown'), reset, problem(409, 'idempotency-in-progress'), answer);
    await call(client);
    expect(heard).toHaveLength(4);
    expect(new Set(heard.map(({ method, path, body, headers }) => [method, path, body, headers['if-match']].join())).size).toBe(1);
    const keys = new Set(heard.map(({ headers }) => headers['idempotency-key']));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[0-9a-f]{32}$/);
    expect(clock.pauses).toHaveLength(3);
  });

  test('is not repeated after a refusal, whatever Retry-After says: 409 unique-conflict', async () => {
    const { client, heard } = await facing(problem(409, 'unique-conflict', { 'retry-after': '1' }));
    const result = await resultOf(call(client));
    expect(result).toMatchObject({ ok: false, error: { status: 409, code: 'unique-conflict' } });
    expect(heard).toHaveLength(1);
  });

  test('has another key each time, unless one is given', async () => {
    const { client, heard } = await facing(answer);
    await call(client);
    await call(client);
    await call(client, { idempotencyKey: 'import row 7' });
    const keys = heard.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('import row 7');
  });
});

describe.each<[string, (client: EntityServiceClient) => Promise<unknown>]>([
  ['get', (client) => client.entities('note').get('1')],
  ['delete', (client) => client.entities('note').delete(note)],
  ['endSession', (client) => client.endSession()],
])('%s', (_what, call) => {
  test.each<[string, Step]>([
    ['429', problem(429, 'rate-limited')],
    ['503', problem(503, 'unavailable')],
    ['503 of a proxy', empty(503)],
    ['503 with an unknown outcome', problem(503, 'outcome-unknown')],
    ['502 of a proxy', empty(502)],
    ['504 of a proxy', empty(504)],
    ['502 as a problem', problem(502, 'whatever')],
    ['a connection that breaks', reset],
  ])('is repeated after %s', async (_failure, step) => {
    const { client, heard } = await facing(step, (response, { method }) => {
      if (method === 'GET') json(200, entity())(response, response.req);
      else empty(204)(response, response.req);
    });
    await call(client);
    expect(heard).toHaveLength(2);
  });
});

/** The generated operation, which sends no Idempotency-Key by itself. */
const update = (client: EntityServiceClient, headers: { 'If-Match'?: string }) =>
  updateEntity({ client: client.http, path: { name: 'note', key: '1' }, body: {}, headers });
const guarded = { 'If-Match': '"1"' };

describe('a conditional update without an Idempotency-Key', () => {
  test.each<[string, Step]>([
    ['429', problem(429, 'rate-limited')],
    ['503', problem(503, 'unavailable')],
  ])('is repeated after %s, by which the service says that it did nothing', async (_what, step) => {
    const { client, heard } = await facing(step, json(200, entity({}, 2)));
    await update(client, guarded);
    expect(heard.map(({ headers }) => headers['if-match'])).toEqual(['"1"', '"1"']);
  });

  test.each<[string, Step]>([
    ['a connection that breaks', reset],
    ['an unknown outcome', problem(503, 'outcome-unknown')],
    ['a 502 of a proxy', empty(502)],
    ['a 503 of a proxy', empty(503)],
    ['a 504 of a proxy', empty(504)],
  ])('is not repeated after %s: the repeat would be refused if the first attempt succeeded', async (_what, step) => {
    const { client, heard } = await facing(step, json(200, entity({}, 2)));
    expect(await update(client, guarded)).toMatchObject({ ok: false });
    expect(heard).toHaveLength(1);
  });
});

describe('a refused connection', () => {
  /** A client whose first connection is refused; the second one is answered. */
  async function refusedOnce() {
    const gone = createServer();
    await once(gone.listen(0, '127.0.0.1'), 'listening');
    const nowhere = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`;
    await once(gone.close(), 'close');
    const server = await scriptedServer(json(200, entity({}, 2)));
    let attempts = 0;
    const fetch: Fetch = (url, init) => globalThis.fetch(++attempts === 1 ? url.replace(server.url, nowhere) : url, init);
    return { client: clientOf(server, { clock: new PausingClock(), credential: key, fetch }), attempts: () => attempts };
  }

  test('did nothing, so reading and a conditional update are repeated', async () => {
    const read = await refusedOnce();
    await read.client.entities('note').get('1');
    expect(read.attempts()).toBe(2);
    const updated = await refusedOnce();
    await update(updated.client, guarded);
    expect(updated.attempts()).toBe(2);
  });

  test('does not make an update without a version and a key repeatable', async () => {
    const { client, attempts } = await refusedOnce();
    expect(await update(client, {})).toMatchObject({ ok: false, error: { reason: 'network' } });
    expect(attempts()).toBe(1);
  });
});

describe.each<[string, (client: EntityServiceClient) => Promise<unknown>]>([
  ['createKey', (client) => client.createKey({ name: 'x' })],
  ['rotateKey', (client) => client.rotateKey('4fT9xKq2LmZa')],
  ['refreshSession', (client) => client.refreshSession()],
  ['selectDefaultProfile', (client) => client.selectDefaultProfile()],
])('%s', (_what, call) => {
  test.each<[string, Step]>([
    ['429', problem(429, 'rate-limited', { 'retry-after': '1' })],
    ['503', problem(503, 'unavailable', { 'retry-after': '1' })],
    ['502 of a proxy', empty(502)],
    ['a connection that breaks', reset],
  ])('is never repeated, even after %s', async (_failure, step) => {
    const { client, heard, clock } = await facing(step);
    expect(await resultOf(call(client))).toMatchObject({ ok: false });
    expect(heard).toHaveLength(1);
    expect(clock.pauses).toEqual([]);
  });
});

test.each([400, 401, 403, 404, 412, 422, 500])('%i is an answer and no reason to repeat', async (status) => {
  const { client, heard } = await facing(problem(status, 'whatever'));
  expect(await resultOf(client.entities('note').get('1'))).toMatchObject({ ok: false, error: { status, code: 'whatever' } });
  expect(heard).toHaveLength(1);
});

describe('the pause', () => {
  test.each([
    ['seconds', '7', 7_000],
    ['a date', 'Fri, 20 Nov 2026 08:00:09 GMT', 9_000],
    ['a date in the past', 'Fri, 20 Nov 2026 07:00:00 GMT', 0],
  ])('is never shorter than Retry-After in %s', async (_what, retryAfter, least) => {
    const { client, clock } = await facing(problem(503, 'busy', { 'retry-after': retryAfter }), json(200, entity()));
    await client.entities('note').get('1');
    expect(clock.pauses[0]).toBeGreaterThanOrEqual(least);
    expect(clock.pauses[0]).toBeLessThan(least + standardRetry.baseMs);
  });

  test('doubles up to its limit, and takes half of its maximum at least', () => {
    const longest = [2, 3, 4, 5, 9].map((next) => pauseMs(standardRetry, next, undefined, 1));
    expect(longest).toEqual([250, 500, 1000, 2000, 10_000]);
    expect(pauseMs(standardRetry, 5, undefined, 0)).toBe(1000);
    expect(pauseMs(standardRetry, 5, undefined, 0.5)).toBe(1500);
  });

  test.each([undefined, 0, 1, 2])('bridges a restart of ten seconds, also with a Retry-After of %j', (retryAfterSeconds) => {
    const numbers = Array.from({ length: standardRetry.attempts - 1 }, (_, index) => index + 2);
    const total = (random: number) => numbers.reduce((sum, next) => sum + pauseMs(standardRetry, next, retryAfterSeconds, random), 0);
    expect(total(0)).toBeGreaterThan(10_000);
    expect(total(1)).toBeLessThan(standardRetry.totalMs);
  });

  test.each([
    [null, undefined],
    ['soon', undefined],
    ['-1', undefined],
    ['0', 0],
    ['120', 120],
  ])('reads Retry-After %j as %j', (header, seconds) => {
    expect(readRetryAfter(header, 0)).toBe(seconds);
  });
});

describe('an end', () => {
  test('comes after eight attempts, with the last error and its Retry-After', async () => {
    const { client, heard } = await facing(problem(503, 'unavailable', { 'retry-after': '2' }));
    expect(await resultOf(client.entities('note').get('1'))).toMatchObject({
      ok: false,
      error: { code: 'unavailable', retryAfterSeconds: 2 },
    });
    expect(heard).toHaveLength(8);
  });

  test('comes at once when Retry-After exceeds the remaining time', async () => {
    const { client, heard, clock } = await facing(problem(429, 'rate-limited', { 'retry-after': '3600' }));
    expect(await resultOf(client.entities('note').get('1'))).toMatchObject({ ok: false, error: { retryAfterSeconds: 3600 } });
    expect([heard.length, clock.pauses]).toEqual([1, []]);
  });

  test.each([{ retry: false } as const, { retry: { attempts: 1 } }])('comes after the first attempt with %j', async (options) => {
    const server = await scriptedServer(problem(503, 'unavailable'));
    const client = clientOf(server, { clock: new PausingClock(), ...options });
    expect(await resultOf(client.entities('note').get('1'))).toMatchObject({ ok: false });
    expect(server.heard).toHaveLength(1);
  });

  test('comes after the first attempt if the call’s options say so', async () => {
    const { client, heard } = await facing(problem(503, 'unavailable'));
    await resultOf(client.entities('note').get('1', { retry: false }));
    expect(heard).toHaveLength(1);
  });
});

test('a delete whose first answer was lost succeeds when the repeat finds nothing', async () => {
  const lost = await facing(reset, problem(404, 'not-found'));
  await lost.client.entities('note').delete(note);
  for (const certain of [problem(503, 'busy'), problem(429, 'rate-limited')]) {
    const doubtful = await facing(reset, certain, problem(404, 'not-found'));
    await doubtful.client.entities('note').delete(note);
    expect(doubtful.heard, 'a later refusal does not tell what became of the first attempt').toHaveLength(3);
  }
  const refused = await facing(problem(503, 'unavailable'), problem(404, 'not-found'));
  expect(await resultOf(refused.client.entities('note').delete(note))).toMatchObject({ ok: false, error: { code: 'not-found' } });
});

describe('through a proxy that loses answers', () => {
  const service = useService();
  let userId: string;
  beforeAll(async () => {
    userId = (await service().createUser('ada')).id;
  });

  /** Passes requests on to the service. It drops the first `losses` answers and breaks their connections. */
  async function losing(losses: number): Promise<{ url: string; passed: () => number }> {
    let passed = 0;
    const proxy: Server = createServer((request, response) => {
      const onward = forward(service().url + request.url, { method: request.method, headers: request.headers }, (answer) => {
        passed += 1;
        answer.resume().on('end', () => undefined);
        if (passed <= losses) response.socket?.destroy();
        else {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        }
      });
      request.pipe(onward);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, passed: () => passed };
  }

  const rows = () => service().db.selectFrom('entity').where('name', '=', 'lost').select('key').execute();

  test('repeated creates make one row (rule 79)', async () => {
    const proxy = await losing(2);
    const client = clientOf(proxy, { clock: new PausingClock(), credential: { apiKey: await service().createKey(userId) } });
    const created = await client.entities('lost').create({ text: 'once' });
    expect(proxy.passed()).toBe(3);
    expect((await rows()).map(({ key }) => key)).toEqual([created.key]);
  });

  test('a delete succeeds', async () => {
    const proxy = await losing(1);
    const [row] = await rows();
    const client = clientOf(proxy, { clock: new PausingClock(), credential: { apiKey: await service().createKey(userId) } });
    await client.entities('lost').delete(row?.key ?? '');
    expect(proxy.passed()).toBe(2);
    expect(await rows()).toEqual([]);
  });
});
