/** Reads from a standby: the token of a write finds the write, rights and types are those of the primary, and a lost standby is no error (decisions 170 to 172). */
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { checkSynchronousStandbys } from '../../src/cli/doctor-deployment.ts';
import type { Fetch } from '../../src/client/index.ts';
import { connectPool } from '../../src/database/driver/pool.ts';
import { builder, prepare } from '../../src/database/driver/prepared.ts';
import type { PooledClient } from '../../src/database/driver/timeout-pool.ts';
import { Standby } from '../../src/database/standby/standby.ts';
import { positionOf, tokenOf } from '../../src/database/standby/log-position.ts';
import { runAdmin } from '../support/admin.ts';
import { clientOf } from '../support/client.ts';
import { declareWithRules } from '../support/companions.ts';
import { found } from '../support/contract.ts';
import { readDocument, section } from '../support/markdown.ts';
import { TestService, type Answer, type ProblemBody } from '../support/service.ts';
import { execute } from '../support/sql.ts';
import { startPair, type Pair } from '../support/standby.ts';

let pair: Pair;
/** The standby for the role of docs/scaling.md, which may only read. */
let readUrl: string;
let service: TestService;
let cookie: string;
let adaId: string;

beforeAll(async () => {
  pair = await startPair();
  const [, sql = ''] = /^```sql\n(.*?)^```/ms.exec(section(readDocument('docs/scaling.md'), '## Read replicas')) ?? [];
  await execute(pair.primary.url, sql);
  await pair.caughtUp();
  readUrl = pair.standby.url.replace('entity_service@', 'entity_lists@');
  const database = { url: pair.primary.url, drop: async () => undefined };
  service = await TestService.start({ DATABASE_URL: pair.primary.url, DATABASE_READ_URL: readUrl, READ_LAG_SECONDS: '60' }, database);
  ({ id: adaId } = await service.createUser('ada', { '*': ['create', 'read', 'update', 'delete', 'purge'] }));
  cookie = await service.openSession(adaId);
  await declareWithRules(service, 'order', {
    properties: { number: { type: 'integer' }, state: { type: 'string' } },
    'x-index': [['state']],
    'x-unique': [{ fields: ['number'] }],
    'x-soft-delete': { keep: 'P7D' },
  });
});
beforeEach(async () => {
  await pair.caughtUp();
  await expect.poll(async () => (await list()).headers.get('consistency')).toMatch(/^bounded; lag=/);
});
afterEach(() => {
  expect(found.splice(0), 'answers that are not what openapi.yaml says').toEqual([]);
});
afterAll(async () => {
  await service.close();
  await pair.close();
});

interface Page {
  items: { key: string; version: number; fields: { number?: number } }[];
  next: string | null;
}
type Write = Answer<ProblemBody & { key: string }>;

const path = '/rest/entity/order';
const withToken = (token: string | null): Record<string, string> => (token === null ? {} : { 'consistency-token': token });
const list = (query = '', token: string | null = null) =>
  service.call<Page>('GET', `${path}${query}`, { cookie, headers: withToken(token) });
const create = (fields: object) => service.call<Write['body']>('POST', path, { cookie, json: fields });
const tokenIn = ({ headers }: Answer): string => {
  expect(headers.get('consistency-token')).toMatch(/^[\w-]{16}$/);
  return headers.get('consistency-token') ?? '';
};
const keysOf = ({ body }: Answer<Page>) => body.items.map(({ key }) => key);
/** Where the answer comes from. */
const source = ({ headers }: Answer) => headers.get('consistency')?.split(';')[0];
let number = 0;

async function allOf<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all = [];
  for await (const value of values) all.push(value);
  return all;
}

describe('with a standby that replays nothing', () => {
  beforeEach(() => pair.pause());
  afterEach(() => pair.resume());

  test('200 — a list shows the state of the standby without a token, and the write with its token', async () => {
    const created = await create({ number: ++number, state: 'paused' });
    const token = tokenIn(created);
    const without = await list('?limit=1000');
    expect(source(without)).toBe('bounded');
    expect(keysOf(without)).not.toContain(created.body.key);
    const filter = `?filter=${encodeURIComponent('{"state":"paused"}')}`;
    const queries = ['?limit=1000', filter, `${filter}&sort=-state&count=exact`];
    for (const answer of await Promise.all(queries.map((query) => list(query, token)))) {
      expect(keysOf(answer)).toContain(created.body.key);
      expect(source(answer)).toBe('primary');
    }
  });

  test('200 — so do a query, an aggregation, a history and an export', async () => {
    const { body, ...created } = await create({ number: ++number, state: 'elsewhere' });
    const call = { cookie, headers: withToken(tokenIn({ ...created, body })) };
    const count = { filter: { state: 'elsewhere' }, measures: { orders: { $count: true } } };
    const [query, groups, history, file] = await Promise.all([
      service.call<Page>('POST', `${path}/query`, { ...call, json: { filter: { state: 'elsewhere' } } }),
      service.call('POST', `${path}/aggregate`, { ...call, json: count }),
      service.call<Page>('GET', `${path}/${body.key}/history`, call),
      service.call('GET', `${path}/export`, call),
    ]);
    expect([source(query), keysOf(query)]).toEqual(['primary', [body.key]]);
    expect([source(groups), groups.body]).toEqual(['primary', { groups: [{ key: {}, orders: 1 }], complete: true }]);
    expect([source(history), history.body.items]).toMatchObject(['primary', [{ key: body.key, version: 1 }]]);
    expect(file.text).toContain(`"key":"${body.key}"`);
    // Without the token the standby answers, which has none of it.
    expect((await service.call('GET', `${path}/export`, { cookie })).text).not.toContain(`"key":"${body.key}"`);
    expect((await service.call('GET', `${path}/${body.key}/history`, { cookie })).status).toBe(404);
  });

  test('200 — every kind of write has a token, with which a list shows it', async () => {
    const send = (method: string, to: string, json?: object, headers = {}) =>
      service.call<Write['body']>(method, to, { cookie, headers, ...(json && { json }) });
    const removed = `${path}/${(await create({ number: ++number })).body.key}`;
    const [changed, restored] = [await create({ number: ++number }), await create({ number: ++number })].map(
      ({ body }) => `${path}/${body.key}`,
    );
    const csv = { raw: `number\n${number + 7}\n`, headers: { 'content-type': 'text/csv' } };
    const batch = { operations: [{ op: 'create', name: 'order', fields: { number: number + 6 } }] };
    const writes = {
      update: () => send('POST', `${changed}`, { number: number + 1 }),
      delete: () => send('DELETE', `${restored}`),
      restore: () => send('POST', `${restored}/restore`),
      purge: () => send('DELETE', `${removed}?purge=1`),
      bulk: () => send('POST', `${path}/bulk`, [{ number: number + 2 }]),
      large: () => send('POST', path, { number: number + 3, text: 'x'.repeat(20_000) }),
      keyed: () => send('POST', path, { number: number + 4 }, { 'idempotency-key': 'one' }),
      upsert: () => send('POST', `${path}/upsert?by=number`, { number: number + 5 }),
      batch: () => send('POST', '/rest/batch', batch),
      import: () => service.call('POST', `${path}/import`, { cookie, ...csv }),
    };
    const tokens = [];
    for (const write of Object.values(writes)) {
      const written = await write();
      tokens.push(/"consistencyToken":"([\w-]+)"}\s*$/.exec(written.text)?.[1] ?? tokenIn(written));
    }
    const places = tokens.map((token) => positionOf(token).lsn);
    expect(places).toEqual([...new Set(places)].toSorted((one, other) => Number(one - other)));
    for (const page of await Promise.all(tokens.map((token) => list('?limit=1000', token)))) {
      expect(source(page)).toBe('primary');
      const numbers = page.body.items.map(({ fields }) => fields.number);
      expect(numbers).toEqual(expect.arrayContaining([number, ...[1, 2, 3, 4, 5, 6, 7].map((added) => number + added)]));
      expect(page.body.items.map(({ key }) => `${path}/${key}`)).not.toContain(removed);
    }
    number += 7;
  });

  test('200 — the client of the package sees its own writes, also those of an import', async () => {
    const sent: (string | null)[] = [];
    const fetch: Fetch = (url, init) => {
      sent.push(new Headers(init.headers).get('consistency-token'));
      return globalThis.fetch(url, init);
    };
    const credential = { apiKey: await service.createKey(adaId) };
    const orders = clientOf(service, { credential, fetch }).entities<{ number: number }>('order');
    const numbers = async () => (await allOf(orders.list())).map(({ fields }) => fields.number);
    const created = await orders.create({ number: ++number });
    expect(await numbers()).toContain(number);
    await orders.get(created.key);
    await allOf(orders.importFrom([{ number: ++number }]));
    expect(await numbers()).toContain(number);
    expect(await allOf(orders.export())).toContainEqual(expect.objectContaining({ fields: { number } }));
    const [first, second, third, fourth, ...others] = sent;
    expect([first, fourth]).toEqual([null, null]);
    expect([second, third]).toEqual([expect.stringMatching(/^[\w-]{16}$/), second]);
    expect(others.every((token) => token !== null && token !== second)).toBe(true);
  });

  test('200 — the pages after one of the primary come from the primary, and none is older', async () => {
    const { headers } = await create({ number: ++number });
    await create({ number: ++number });
    const first = await list('?limit=1&sort=-$key', headers.get('consistency-token'));
    expect(source(first)).toBe('primary');
    const next = await list(`?limit=1&sort=-$key&cursor=${first.body.next}`);
    expect([source(next), next.body.items[0]?.fields]).toEqual(['primary', { number: number - 1 }]);
  });

  test('200 — a token of another timeline, or far beyond the log, leads to the primary', async () => {
    const { timeline } = positionOf(tokenIn(await create({ number: ++number })));
    const positions = [
      { timeline: timeline + 1, lsn: 0n },
      { timeline: 0, lsn: 0n },
      { timeline, lsn: 2n ** 64n - 1n },
    ];
    for (const answer of await Promise.all(positions.map((position) => list('', tokenOf(position)))))
      expect(source(answer)).toBe('primary');
  });

  test('403 — a revoked grant counts for the next list, and so does a new one', async () => {
    const { id } = await service.createUser('grace', { order: { actions: ['read'], condition: 'own' } });
    const grace = { cookie: await service.openSession(id) };
    const answer = await service.call<Page>('GET', path, grace);
    expect([answer.status, source(answer), answer.body.items]).toEqual([200, 'bounded', []]);
    await service.db.updateTable('role_grant').set({ condition: 'any' }).where('entity', '=', 'order').execute();
    await service.settle();
    expect((await service.call<Page>('GET', path, grace)).body.items).not.toEqual([]);
    await service.db.deleteFrom('role_grant').where('entity', '=', 'order').execute();
    await service.settle();
    expect((await service.call('GET', path, grace)).status).toBe(403);
  });

  test('200 — a list of a type that the standby does not know yet comes from the primary', async () => {
    const before = await service.call('GET', '/rest/entity/parcel', { cookie });
    expect(source(before)).toBe('bounded');
    await declareWithRules(service, 'parcel', { properties: { weight: { type: 'integer' } }, 'x-index': [['weight']] });
    const sorted = await service.call('GET', '/rest/entity/parcel?sort=weight', { cookie });
    expect([sorted.status, source(sorted)]).toEqual([200, 'primary']);
    expect(source(await list())).toBe('bounded');
  });
});

test('200 — a list with the token of a write comes from the standby as soon as it has the write', async () => {
  const created = await create({ number: ++number });
  await pair.caughtUp();
  const answer = await list('?limit=1000', tokenIn(created));
  expect([source(answer), keysOf(answer)]).toEqual(['bounded', expect.arrayContaining([created.body.key])]);
});

test('doctor and the audit trail use the standby; doctor names an address that leads elsewhere', async () => {
  const environment = { DATABASE_URL: pair.primary.url, DATABASE_READ_URL: readUrl };
  expect((await runAdmin(['doctor'], { environment })).stdout).toMatch(
    /^ok +standby +it had what the primary has within \d\.\d s; grant pg_read_all_stats/m,
  );
  const wrong = { ...environment, DATABASE_READ_URL: pair.primary.url };
  expect((await runAdmin(['doctor'], { environment: wrong })).stdout).toMatch(/^fail +standby +.* no standby/m);
  const { stdout } = await runAdmin(['audit', 'list', '--event', 'entity.created', '--limit', '1', '--json'], { environment });
  expect(JSON.parse(stdout)).toMatchObject([{ event: 'entity.created' }]);
});

test('doctor names a replication slot without a reader, and how to drop it', async () => {
  const slots = async () => {
    const { stdout } = await runAdmin(['doctor', '--json'], { environment: { DATABASE_URL: pair.primary.url } });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; message: string }[] };
    const { status, message } = checks.find(({ name }) => name === 'replication slots') ?? {};
    return [status, message];
  };
  expect(await slots()).toEqual(['ok', 'none is without a reader']);
  await execute(pair.primary.url, `select pg_create_physical_replication_slot('forgotten', true)`);
  const [status, message = ''] = await slots();
  expect(status).toBe('warn');
  const [, advice = ''] =
    /^slots without a reader keep the log .*: forgotten \(\d+ MiB\)\. .*: (select pg_drop_replication_slot\('forgotten'\))$/.exec(
      message,
    ) ?? [];
  expect(advice, message).not.toBe('');
  await execute(pair.primary.url, advice);
  expect(await slots()).toEqual(['ok', 'none is without a reader']);
});

test('doctor says whether commits wait for standbys, whether these are there, and that the role should have a limit then', async () => {
  const setNames = async (names: string) => {
    await execute(pair.primary.url, `alter system set synchronous_standby_names = '${names}'`);
    await execute(pair.primary.url, 'select pg_reload_conf()');
    await expect
      .poll(async () => (await sql`show synchronous_standby_names`.execute(service.db)).rows)
      .toEqual([{ synchronous_standby_names: names }]);
  };
  const doctor = async () => (await runAdmin(['doctor'], { environment: { DATABASE_URL: pair.primary.url } })).stdout;
  expect(await doctor()).toMatch(/^ok +replication +commits wait for none$/m);
  try {
    await setNames('1 (*)');
    const text = await doctor();
    expect(text).toMatch(/^warn +replication +commits wait for 1 \(\*\), and there are 1: if one more is lost, writes stop$/m);
    expect(text).toMatch(/^warn +connections +the role entity_service has no connection limit: commits/m);
    await setNames('2 (*)');
    expect(await checkSynchronousStandbys(service.db)).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('writes are answered by 503'),
    });
  } finally {
    await setNames('');
  }
});

test('304 — a page is the same, although its cursors say that it is newer', async () => {
  await create({ number: ++number });
  const first = await list('?limit=1');
  expect(first.headers.get('etag')).toMatch(/^W\/"/);
  const { body } = await service.call<{ key: string }>('POST', '/rest/entity/other', { cookie, json: {} });
  const newer = await list('?limit=1', tokenIn(await service.call('POST', `/rest/entity/other/${body.key}`, { cookie, json: { a: 1 } })));
  expect(newer.body.next).not.toBe(first.body.next);
  expect(newer.headers.get('etag')).toBe(first.headers.get('etag'));
  const same = await service.call('GET', `${path}?limit=1`, { cookie, headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
  expect([same.status, source(same)]).toEqual([304, 'bounded']);
});

test('a connection to the standby is closed after use when its prepared statements have more than 300,000 characters together', async () => {
  const standby = new Standby(
    connectPool(readUrl, 2, () => undefined),
    { onDown: () => undefined, onUp: () => undefined },
  );
  onTestFinished(() => standby.close());
  await standby.probe();
  const pids = [];
  for (let number = 0; number < 12; number++) {
    const build = () => sql<{ pid: number }>`select pg_backend_pid() as pid ${sql.raw(`-- ${'x'.repeat(29_950)}`)}`.compile(builder);
    const long = prepare<object, { pid: number }>('test.worn-standby', build, String(number));
    const attempt = await standby.read(
      '',
      () => undefined,
      async (on) => (await on.run(long, {}))[0]?.pid,
    );
    pids.push('value' in attempt ? attempt.value : attempt.refusal);
  }
  expect(pids).not.toContain('down');
  expect(new Set(pids).size).toBe(2);
});

test.each(['comes', 'fails'])('a connection to the standby that %s too late leaves its place to others', async (how) => {
  const connection = connectPool(readUrl, 1, () => undefined);
  const standby = new Standby(connection, { onDown: () => undefined, onUp: () => undefined });
  onTestFinished(() => standby.close());
  const late = Promise.withResolvers<PooledClient>();
  const acquire = vi.spyOn(connection.pool, 'acquire').mockReturnValueOnce(late.promise);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] });
  onTestFinished(() => void vi.useRealTimers());
  const probing = standby.probe();
  await vi.advanceTimersByTimeAsync(600);
  expect(await probing).toBeUndefined();
  vi.useRealTimers();
  expect(await standby.probe(), 'its place is taken').toBeUndefined();
  expect(acquire).toHaveBeenCalledTimes(1);
  if (how === 'comes') late.resolve(await connection.pool.acquire());
  else late.reject(new Error('refused'));
  await late.promise.catch(() => undefined);
  await new Promise(setImmediate);
  expect(connection.pool.idleCount).toBe(connection.pool.totalCount);
  const before = acquire.mock.calls.length;
  await standby.probe();
  expect(acquire).toHaveBeenCalledTimes(before + 1);
});

test('400 — a malformed token is told by the name of its header, also at an export', async () => {
  expect((await list('', 'AAAAAQAAAAAB2Bdw')).status).toBe(200);
  for (const token of ['', 'x', 'AAAAAQAAAAAB2Bd=', 'AAAAAQAAAAAB2BdwAAAA'])
    for (const to of [path, `${path}/export`]) {
      const { status, body } = await service.call('GET', to, { cookie, headers: { 'consistency-token': token } });
      expect([status, body.errors], token).toMatchObject([400, [{ parameter: 'Consistency-Token' }]]);
    }
});

test('200 — a killed standby costs no request', async () => {
  const { outcomes } = service.context.readers;
  const before = outcomes.standby;
  const callers = Array.from({ length: 4 }, async () => {
    const seen: (string | undefined)[] = [];
    while (seen.at(-1) !== 'primary') {
      const answer = await list();
      expect(answer.status).toBe(200);
      seen.push(source(answer));
    }
    return seen;
  });
  await expect.poll(() => outcomes.standby - before).toBeGreaterThan(20);
  await pair.standby.kill();
  for (const seen of await Promise.all(callers)) expect(seen).toContain('bounded');
  expect(source(await list())).toBe('primary');
});
