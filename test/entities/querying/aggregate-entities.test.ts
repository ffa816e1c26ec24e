import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Caller } from '../../../src/authn/caller.ts';
import { aggregateLimits } from '../../../src/entities/querying/aggregate.ts';
import { declareIndexed } from '../../support/companion.ts';
import { faultsIn, seedMany, writeTypes } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const service = useService();
const text = { type: ['string', 'null'] };
const order = {
  type: 'object',
  properties: {
    state: { enum: ['open', 'paid', null] },
    total: { type: 'string', format: 'decimal' },
    number: { type: 'number' },
    account: { type: 'string', format: 'int64' },
    placedAt: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    city: text,
    note: text,
    gift: { type: 'boolean' },
    lines: { type: 'array', items: text },
    address: { type: 'object', properties: { zip: text } },
  },
};
const fields = ['state', 'total', 'number', 'account', 'placedAt', 'day', 'city', 'gift', 'address.zip'];
const orders = [
  {
    state: 'open',
    total: '0.1',
    number: 1.5,
    account: '9007199254740993',
    placedAt: '2025-12-31T23:30:00Z',
    day: '2026-01-01',
    city: 'London',
  },
  { state: 'open', total: '0.2', number: 1.5, account: '2', placedAt: '2026-01-01T00:30:00+01:00', day: '2025-12-31', note: 'x' },
  { state: 'paid', total: '10000000000000000000000000', number: -2, placedAt: '2026-03-29T01:30:00.5Z', day: '2026-02-30', city: 'Paris' },
  { state: 'paid', total: '0.30', gift: true, placedAt: '2026-11-20T10:00:00Z', day: '2026-11-20', city: null, address: { zip: 'W1' } },
  { state: null, total: '1.50', gift: false },
];
let ada: { cookie: string };
let bob: { cookie: string };

interface Answer {
  groups: Record<string, unknown>[];
  complete: boolean;
}

beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada')).id) };
  const own = { order: { actions: ['read' as const], condition: 'own' as const } };
  bob = { cookie: await service().openSession((await service().createUser('bob', own)).id) };
  await seedMany(service(), 'order', orders, 'ada', 'bob');
  const rules = { 'x-index': [...fields.map((field) => [field]), ['$createdBy', '$createdAt']], 'x-search': { fields: ['city'] } };
  await declareIndexed(service(), 'order', { ...order, ...rules });
  await seedMany(service(), 'plain', orders, 'ada');
});

const aggregate = <T = Answer>(body: object, caller: { cookie: string } = ada, name = 'order') =>
  service().call<T>('POST', `/rest/entity/${name}/aggregate`, { ...caller, json: body });
const groups = async (body: object, caller = ada, name = 'order') => {
  const answer = await aggregate(body, caller, name);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.groups;
};
const refused = async (body: object, name = 'order') => {
  const answer = await aggregate<ProblemBody>(body, ada, name);
  return [answer.status, answer.body.code, ...faultsIn(answer)];
};
const n = { $count: true };
/** The number of orders in each period. */
const byTime = async (grouping: object) =>
  Object.fromEntries(
    (await groups({ groupBy: [grouping], measures: { n } })).map(({ key, n: count }) => [Object.values(key as object)[0], count]),
  );

describe('aggregateEntities', () => {
  test('200 — one group without groupBy, also of nothing', async () => {
    expect(await groups({ measures: { n } })).toEqual([{ key: {}, n: 5 }]);
    expect(await groups({ filter: { city: 'Rome' }, measures: { n, sum: { $sum: 'total' } } })).toEqual([{ key: {}, n: 0, sum: null }]);
  });

  test('200 — sums of decimals are exact texts', async () => {
    const measures = { n, sum: { $sum: 'total' }, avg: { $avg: 'total' } };
    expect(await groups({ groupBy: ['state'], measures })).toEqual([
      { key: { state: 'open' }, n: 2, sum: '0.3', avg: '0.15' },
      { key: { state: 'paid' }, n: 2, sum: '10000000000000000000000000.30', avg: '5000000000000000000000000.15' },
      { key: { state: null }, n: 1, sum: '1.50', avg: '1.5' },
    ]);
    expect(await groups({ measures: { n: { $sum: 'number' }, a: { $sum: 'account' } } })).toEqual([
      { key: {}, n: '1', a: '9007199254740995' },
    ]);
  });

  test('200 — a sum has the digits of the decimals as they are, however they were changed', async () => {
    const properties = { number: { type: 'string' }, total: { type: 'string', format: 'decimal' } };
    await declareIndexed(service(), 'invoice', {
      type: 'object',
      properties,
      'x-unique': [{ fields: ['number'] }],
      'x-index': [['total']],
      'x-history': { keep: 'P1D' },
    });
    const created = await service().call<{ key: string }>('POST', '/rest/entity/invoice', { ...ada, json: { number: '1', total: '1.5' } });
    const change = async (path: string, raw = '', type = 'application/json') => {
      const answer = await service().call('POST', `/rest/entity/invoice/${path}`, { ...ada, raw, headers: { 'content-type': type } });
      expect(answer.status, answer.text).toBe(200);
      return (await groups({ measures: { sum: { $sum: 'total' } } }, ada, 'invoice'))[0]?.['sum'];
    };
    expect(await change(created.body.key, '{"total":"1.50"}')).toBe('1.50');
    expect(await change('upsert?by=number', '{"number":"1","total":"1.500"}')).toBe('1.500');
    expect(await change('import?by=number', '{"number":"1","total":"1.5000"}', 'application/x-ndjson')).toBe('1.5000');
    expect(await change(`${created.body.key}/restore?version=2`)).toBe('1.50');
  });

  test('200 — extremes and keys are written as the fields are', async () => {
    const measures = Object.fromEntries(
      ['total', 'number', 'account', 'placedAt'].flatMap((field) => [
        [`min_${field}`, { $min: field }],
        [`max_${field}`, { $max: field }],
      ]),
    );
    expect(await groups({ measures })).toEqual([
      {
        key: {},
        min_total: '0.1',
        max_total: '10000000000000000000000000',
        min_number: -2,
        max_number: 1.5,
        min_account: '2',
        max_account: '9007199254740993',
        min_placedAt: '2025-12-31T23:30:00Z',
        max_placedAt: '2026-11-20T10:00:00Z',
      },
    ]);
    expect(
      await groups({ groupBy: ['placedAt', 'number', 'gift'], filter: { state: 'paid' }, measures: { city: { $max: 'city' } } }),
    ).toEqual([
      { key: { placedAt: '2026-03-29T01:30:00.5Z', number: -2, gift: null }, city: 'Paris' },
      { key: { placedAt: '2026-11-20T10:00:00Z', number: null, gift: true }, city: null },
    ]);
    expect((await aggregate({ groupBy: ['address.zip'], measures: { n } })).body.groups[0]).toEqual({ key: { 'address.zip': 'W1' }, n: 1 });
  });

  test('200 — by periods of instants in a time zone, and of days', async () => {
    const placed = (by: string, zone?: string) => byTime({ path: 'placedAt', by, ...(zone && { zone }) });
    expect(await placed('year')).toEqual({ 2025: 2, 2026: 2, null: 1 });
    expect(await placed('year', 'Europe/Berlin')).toEqual({ 2026: 4, null: 1 });
    expect(await placed('quarter')).toEqual({ '2025-Q4': 2, '2026-Q1': 1, '2026-Q4': 1, null: 1 });
    expect(await placed('month')).toEqual({ '2025-12': 2, '2026-03': 1, '2026-11': 1, null: 1 });
    expect(await placed('week', 'Europe/Berlin')).toEqual({ '2026-W01': 2, '2026-W13': 1, '2026-W47': 1, null: 1 });
    expect(await placed('day', 'Asia/Tokyo')).toEqual({ '2026-01-01': 2, '2026-03-29': 1, '2026-11-20': 1, null: 1 });
    expect(await placed('hour', 'Europe/Berlin')).toEqual({ '2026-01-01T00': 2, '2026-03-29T03': 1, '2026-11-20T11': 1, null: 1 });
    const days = (by: string) => byTime({ path: 'day', by });
    expect(await days('year')).toEqual({ 2025: 1, 2026: 3, null: 1 });
    expect(await days('quarter')).toEqual({ '2025-Q4': 1, '2026-Q1': 2, '2026-Q4': 1, null: 1 });
    expect(await days('month')).toEqual({ '2025-12': 1, '2026-01': 1, '2026-02': 1, '2026-11': 1, null: 1 });
    expect(await days('week')).toEqual({ '2026-W01': 2, '2026-W47': 1, null: 2 });
    expect(await days('day')).toMatchObject({ '2026-01-01': 1, '2025-12-31': 1 });
  });

  test('200 — instants of the years 0 and 10000 in UTC or in the zone have these years', async () => {
    await declareIndexed(service(), 'epoch', { ...order, 'x-index': [['placedAt']] });
    for (const placedAt of ['0001-01-01T00:00:00+15:59', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.5Z', '9999-12-31T23:59:59-05:00']) {
      const { status } = await service().call('POST', '/rest/entity/epoch', { ...ada, json: { placedAt } });
      expect(status).toBe(201);
    }
    const keys = async (grouping: unknown) =>
      (await groups({ groupBy: [grouping], measures: { n } }, ada, 'epoch')).map(({ key, n: count }) => [
        Object.values(key as object)[0],
        count,
      ]);
    const by = (unit: string, zone: string) => keys({ path: 'placedAt', by: unit, zone });
    expect(await keys('placedAt')).toEqual([
      ['0000-12-31T08:01:00Z', 1],
      ['0001-01-01T00:00:00Z', 1],
      ['9999-12-31T23:59:59.5Z', 1],
      ['+010000-01-01T04:59:59Z', 1],
    ]);
    expect(await by('year', 'UTC')).toEqual([
      ['0000', 1],
      ['0001', 1],
      ['9999', 1],
      ['+010000', 1],
    ]);
    expect(await by('quarter', 'America/New_York')).toEqual([
      ['0000-Q4', 2],
      ['9999-Q4', 2],
    ]);
    expect(await by('month', 'Asia/Tokyo')).toEqual([
      ['0000-12', 1],
      ['0001-01', 1],
      ['+010000-01', 2],
    ]);
    expect(await by('week', 'UTC')).toEqual([
      ['0000-W52', 1],
      ['0001-W01', 1],
      ['9999-W52', 2],
    ]);
    expect(await by('day', 'UTC')).toEqual([
      ['0000-12-31', 1],
      ['0001-01-01', 1],
      ['9999-12-31', 1],
      ['+010000-01-01', 1],
    ]);
    expect(await by('hour', 'Asia/Tokyo')).toEqual([
      ['0000-12-31T17', 1],
      ['0001-01-01T09', 1],
      ['+010000-01-01T08', 1],
      ['+010000-01-01T13', 1],
    ]);
    expect(await groups({ measures: { a: { $min: 'placedAt' }, b: { $max: 'placedAt' } } }, ada, 'epoch')).toEqual([
      { key: {}, a: '0000-12-31T08:01:00Z', b: '+010000-01-01T04:59:59Z' },
    ]);
  });

  test('200 — by the creator and the time of creation, which an index has', async () => {
    const body = {
      groupBy: ['$createdBy', { path: '$createdAt', by: 'month' }],
      measures: { n, last: { $max: '$createdAt' } },
      sort: ['-$createdBy'],
    };
    const last = expect.stringMatching(/^2026-01-01T00:00:00.00\d/) as string;
    const january = { $createdAt: '2026-01' };
    expect(await groups(body)).toEqual([
      { key: { $createdBy: 'bob', ...january }, n: 3, last },
      { key: { $createdBy: 'ada', ...january }, n: orders.length - 3, last },
    ]);
    expect(await groups(body, bob)).toEqual([{ key: { $createdBy: 'bob', ...january }, n: 3, last }]);
    expect(await refused({ groupBy: ['$updatedAt'], measures: { n } })).toEqual([422, 'query-too-expensive', '/groupBy/0 needs-index']);
  });

  test('200 — filter, search, having, sort and limit', async () => {
    const body = { groupBy: ['city'], measures: { n, sum: { $sum: 'total' } } };
    expect((await groups({ ...body, filter: { note: { $exists: false } } })).map(({ n: count }) => count)).toEqual([1, 1, 2]);
    expect(await groups({ ...body, search: 'london' })).toEqual([{ key: { city: 'London' }, n: 1, sum: '0.1' }]);
    expect((await groups({ ...body, sort: ['-n', '-city'] })).map(({ key }) => key)).toEqual([
      { city: null },
      { city: 'Paris' },
      { city: 'London' },
    ]);
    expect((await groups({ ...body, sort: ['sum'] })).map(({ sum }) => sum)).toEqual(['0.1', '2.00', '10000000000000000000000000']);
    expect((await groups({ ...body, having: { n: { $gt: 1 }, sum: { $lte: '2' } } })).map(({ key }) => key)).toEqual([{ city: null }]);
    expect((await groups({ ...body, having: { $not: { n: { $gt: 1 } } } })).map(({ key }) => key)).toEqual([
      { city: 'London' },
      { city: 'Paris' },
    ]);
    expect((await aggregate({ ...body, limit: 2 })).body).toMatchObject({ groups: [{}, {}], complete: false });
    expect((await aggregate({ ...body, limit: 3 })).body.complete).toBe(true);
  });

  test('200 — groups that are equal in the sort come in the order of their keys, so that a limit leaves out the last ones', async () => {
    const tens = Array.from({ length: 60 }, (_, at) => at).toSorted((a, b) => ((a * 37) % 61) - ((b * 37) % 61));
    await seedMany(
      service(),
      'tied',
      tens.map((number) => ({ number, gift: number % 2 === 0, total: '1.0' })),
      'ada',
    );
    await declareIndexed(service(), 'tied', { ...order, 'x-index': [['number'], ['gift'], ['total']] });
    const first = async (sort: string[], groupBy: string[], limit = 10) =>
      (await groups({ groupBy, measures: { n, sum: { $sum: 'total' } }, sort, limit }, ada, 'tied')).map(({ key }) =>
        Object.values(key as object),
      );
    const least = (count: number) => Array.from({ length: count }, (_, number) => [number]);
    for (const sort of [['n'], ['-n'], ['sum'], ['-sum', 'n']]) expect(await first(sort, ['number']), sort.join()).toEqual(least(10));
    // The first of two keys is sorted, and the second one decides.
    const odd = Array.from({ length: 30 }, (_, at) => [false, 2 * at + 1]);
    expect(await first(['gift'], ['gift', 'number'], 35)).toEqual([...odd, ...[0, 2, 4, 6, 8].map((number) => [true, number])]);
    expect(await first(['-n'], ['gift', 'number'], 3)).toEqual(odd.slice(0, 3));
  });

  test('200 — own entities alone (rule 64)', async () => {
    expect(await groups({ groupBy: ['state'], measures: { n } }, bob)).toEqual([
      { key: { state: 'open' }, n: 1 },
      { key: { state: 'paid' }, n: 1 },
      { key: { state: null }, n: 1 },
    ]);
    for (const filter of [
      {},
      { city: { $empty: false } },
      { $createdBy: 'ada' },
      { $or: [{ $createdBy: 'ada' }, { total: { $gt: '1' } }] },
    ]) {
      const all = { filter: { $and: [filter, { $createdBy: 'bob' }] }, measures: { n, max: { $max: 'total' } } };
      expect(await groups({ ...all, filter }, bob)).toEqual(await groups(all));
    }
    expect(await groups({ search: 'london or paris', measures: { n } }, bob)).toEqual([{ key: {}, n: 2 }]);
  });

  test('200 — a name without indexes can be counted', async () => {
    expect((await aggregate({ filter: { city: 'Paris' }, measures: { n } }, ada, 'plain')).body).toEqual({
      groups: [{ key: {}, n: 1 }],
      complete: true,
    });
  });

  test.for<[object, ...string[]]>([
    [{ groupBy: ['note'], measures: { n } }, 'query-too-expensive', '/groupBy/0 needs-index'],
    [{ measures: { a: { $max: 'note' } } }, 'query-too-expensive', '/measures/a/$max needs-index'],
    [{ groupBy: ['nothing.x'], measures: { n } }, 'validation-failed', '/groupBy/0 not-filterable'],
    [{ groupBy: ['lines'], measures: { n } }, 'validation-failed', '/groupBy/0 not-filterable'],
    [{ groupBy: ['city', 'city'], measures: { n } }, 'validation-failed', '/groupBy/1 repeated'],
    [{ groupBy: ['city', 'day', 'gift', 'state'], measures: { n } }, 'validation-failed', '/groupBy invalid-value'],
    [{ groupBy: [{ path: 'city', by: 'year' }], measures: { n } }, 'validation-failed', '/groupBy/0/path not-filterable'],
    [{ groupBy: [{ path: 'day', by: 'hour' }], measures: { n } }, 'validation-failed', '/groupBy/0/by invalid-value'],
    [{ groupBy: [{ path: 'placedAt', by: 'day', zone: '+02:00' }], measures: { n } }, 'validation-failed', '/groupBy/0/zone invalid-value'],
    [
      { groupBy: [{ path: 'placedAt', by: 'day', zone: 'Mars/Base' }], measures: { n } },
      'validation-failed',
      '/groupBy/0/zone invalid-value',
    ],
    [{ measures: { a: { $sum: 'city' } } }, 'validation-failed', '/measures/a/$sum not-filterable'],
    [{ measures: { a: { $min: 'gift' } } }, 'validation-failed', '/measures/a/$min not-filterable'],
    [{ measures: { key: n } }, 'validation-failed', '/measures invalid-value'],
    [{ measures: { 'a b': n } }, 'validation-failed', '/measures invalid-value'],
    [{ measures: { n }, having: { m: 1 } }, 'validation-failed', '/having/m unknown-field'],
    [{ measures: { n }, having: { n: 'x' } }, 'validation-failed', '/having/n invalid-type'],
    [{ measures: { n }, sort: ['m'] }, 'validation-failed', '/sort/0 unknown-field'],
    [{ measures: { n }, sort: ['n', '-$createdAt'] }, 'validation-failed', '/sort/1 unknown-field'],
    [{ groupBy: ['$version'], measures: { n } }, 'validation-failed', '/groupBy/0 not-addressable'],
    [{ measures: { n }, filter: { city: 5 } }, 'validation-failed', '/filter/city invalid-type'],
    [{ measures: { n }, limit: 1_001 }, 'validation-failed', '/limit invalid-value'],
  ])('422 — %j', async ([body, ...faults]) => {
    expect(await refused(body)).toEqual([422, ...faults]);
  });

  test('422 — no measures, nine of them, or two in one', async () => {
    for (const measures of [
      {},
      Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`m${index}`, n])),
      { m: { $min: 'day', $max: 'day' } },
      { m: {} },
    ])
      expect(await refused({ measures })).toMatchObject([
        422,
        'validation-failed',
        expect.stringMatching(/^\/measures(\/m)? invalid-value$/),
      ]);
    expect(await refused({})).toEqual([422, 'validation-failed', '/measures required']);
  });

  test('422 — a search or a group of a name without a declared type', async () => {
    expect(await refused({ measures: { n }, search: 'x' }, 'plain')).toEqual([422, 'validation-failed', '/search not-filterable']);
    expect(await refused({ measures: { n }, groupBy: ['city'] }, 'plain')).toEqual([422, 'validation-failed', '/groupBy/0 not-filterable']);
  });

  test('403 — without read, and 401 without a credential', async () => {
    expect((await aggregate<ProblemBody>({ measures: { n } }, bob, 'plain')).body.code).toBe('forbidden');
    expect((await service().call('POST', '/rest/entity/order/aggregate', { json: { measures: { n } } })).status).toBe(401);
  });

  test('503 — what takes too long, and the service goes on', async () => {
    await sql`create or replace function entity_instant(value text) returns timestamptz language plpgsql stable as
      $$ begin perform pg_sleep(9); end $$`.execute(service().db);
    const { timeMs } = aggregateLimits;
    onTestFinished(() => void (aggregateLimits.timeMs = timeMs));
    aggregateLimits.timeMs = 300;
    expect(await refused({ groupBy: [{ path: 'day', by: 'week' }], measures: { n } })).toEqual([503, 'busy', 'time-limit']);
    expect(await groups({ measures: { n } })).toEqual([{ key: {}, n: 5 }]);
  });
});

test('404 — a name without a type, where only declared names exist', async () => {
  const strict = await service().replica({ ENTITY_TYPES: 'declared', ENTITY_TYPES_DIR: await writeTypes({ listed: { type: 'object' } }) });
  try {
    const json = { measures: { n: { $count: true } } };
    expect((await strict.call('POST', '/rest/entity/listed/aggregate', { ...ada, json })).status).not.toBe(404);
    expect((await strict.call('POST', '/rest/entity/unlisted/aggregate', { ...ada, json })).status).toBe(404);
  } finally {
    await strict.close();
  }
});

test('200 — a list of another user, while aggregations of two users have their places among those of lists (rule 70)', async () => {
  const { admission } = service().context;
  const caller = { hasLeft: false } as Caller;
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const long = ['eve', 'eve', 'dan'].map((flow) => admission.run('aggregation', { flow, caller }, () => over));
  await expect.poll(() => admission.figures.find(({ name }) => name === 'aggregation')?.running).toBe(3);
  expect(admission.figures.find(({ name }) => name === 'list')?.running).toBe(3);
  const waiting = admission.run('aggregation', { flow: 'ada', caller }, () => over);
  // It waits for a second, so on a slow machine it is refused before the list is there.
  waiting.catch(() => undefined);
  await expect.poll(() => admission.figures.find(({ name }) => name === 'aggregation')?.waiting).toBe(1);
  expect((await service().call('GET', '/rest/entity/order?limit=1', bob)).status).toBe(200);
  end();
  await Promise.all(long);
});

test('200 — a list of another user, while one user has as many lists and aggregations as it may (rule 70)', async () => {
  const { admission } = service().context;
  const caller = { hasLeft: false } as Caller;
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const long = [
    ...[1, 2].map(() => admission.run('list', { flow: 'eve', caller }, () => over)),
    ...[1, 2].map(() => admission.run('aggregation', { flow: 'eve', caller }, () => over)),
  ];
  const lists = () => admission.figures.find(({ name }) => name === 'list');
  await expect.poll(() => [lists()?.running, lists()?.waiting]).toEqual([3, 1]);
  expect((await service().call('GET', '/rest/entity/order?limit=1', bob)).status).toBe(200);
  end();
  await Promise.all(long);
});
