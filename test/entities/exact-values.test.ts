/** Equality and order of values: validation, unique rules, filters and sorts agree on them (decision 210). */
import { beforeAll, describe, expect, test } from 'vitest';
import { declareWithRules } from '../support/companions.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { faultsIn, keysIn, list, pagesOf } from '../support/lists.ts';
import { useService, type Answer, type ProblemBody } from '../support/service.ts';

const service = useService();
let cookie: string;
const decimal = { type: 'string', format: 'decimal' };
const nothing = { type: 'null' };

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

type Body = Entity & ProblemBody;
const create = (name: string, fields: object | string): Promise<Answer<Body>> =>
  service().call<Body>('POST', `/rest/entity/${name}`, {
    cookie,
    headers: { 'content-type': 'application/json' },
    raw: typeof fields === 'string' ? fields : JSON.stringify(fields),
  });

/** Creates the entities; returns a function for the positions of those that a query finds. */
async function stored(name: string, all: readonly (object | string)[]) {
  const keys: string[] = [];
  for (const fields of all) {
    const { status, body, text } = await create(name, fields);
    expect(status, text).toBe(201);
    keys.push(body.key);
  }
  return async (query: { filter?: unknown; sort?: string[] }) =>
    keysIn(await pagesOf(service(), { cookie }, name, { ...query, limit: 2 })).map((key) => keys.indexOf(key));
}

describe('a format is in force wherever the schema says it', () => {
  const schemas: [string, object][] = [
    ['anyof', { anyOf: [decimal, nothing] }],
    ['oneof', { oneOf: [nothing, { $ref: '#/$defs/amount' }] }],
    ['allof', { allOf: [{ type: ['string', 'null'] }, { format: 'decimal' }] }],
    ['nullable', { ...decimal, nullable: true }],
    ['types', { ...decimal, type: ['string', 'null'] }],
    [
      'branches',
      Object.fromEntries([['if', { maxLength: 2 }], ...['then', 'else'].map((branch) => [branch, { $ref: '#/$defs/money' }])]) as object,
    ],
  ];
  test.for(schemas)(
    '200 — a decimal behind %s is sorted, filtered and unique by its value, with an index and without one',
    async ([kind, v]) => {
      for (const rules of [{}, { 'x-index': [['v']], 'x-unique': [{ fields: ['v'] }] }]) {
        const name = `${kind}${Object.keys(rules).length}`;
        const type = {
          $defs: { amount: decimal, money: { ...decimal, type: ['string', 'null'] } },
          type: 'object',
          properties: { v },
          ...rules,
        };
        await declareType(service(), name, type);
        const found = await stored(name, [{ v: '10' }, { v: '9' }, { v: '-1.50' }, { v: null }]);
        expect(await found({ sort: ['v'] })).toEqual([2, 1, 0, 3]);
        expect(await found({ filter: { v: { $gt: '9.5' } } })).toEqual([0]);
        expect(await found({ filter: { v: { $in: ['10.0', '-1.5'] } } })).toEqual([0, 2]);
        expect((await create(name, { v: '9.0' })).status).toBe('x-unique' in rules ? 409 : 201);
      }
    },
  );

  test('200 — values with different formats are compared as texts', async () => {
    await declareType(service(), 'mixed', {
      properties: { v: { anyOf: [decimal, { type: 'string', format: 'date' }] } },
      'x-index': [['v']],
    });
    const found = await stored('mixed', [{ v: '10' }, { v: '9' }, { v: '2026-01-01' }]);
    expect(await found({ sort: ['v'] })).toEqual([0, 2, 1]);
    expect(await found({ filter: { v: { $gt: '10' } } })).toEqual([1, 2]);
    expect(await found({ filter: { v: '10.0' } })).toEqual([]);
  });
});

describe('negative zero', () => {
  test('201 — is 0: it is read back, found and unique as 0, and fits where 0 does (rule 70)', async () => {
    await declareType(service(), 'zero', {
      properties: { n: { type: 'number' }, e: { enum: [0, 1] }, c: { const: 0 } },
      'x-unique': [{ fields: ['n'] }],
    });
    for (const zero of ['-0', '-0.0', '-0e5', '-0E-2']) {
      const { status, body, text } = await create('zeros', `{"n":${zero},"list":[${zero}]}`);
      expect(status, text).toBe(201);
      expect(text).not.toContain('-0');
      expect(body.fields).toEqual({ n: 0, list: [0] });
      const read = await service().call<Entity>('GET', `/rest/entity/zeros/${body.key}`, { cookie });
      expect([read.body.fields, read.headers.get('etag')]).toEqual([{ n: 0, list: [0] }, '"1"']);
    }
    expect((await create('zero', '{"n":-0.0,"e":-0,"c":-0}')).status).toBe(201);
    expect((await create('zero', '{"n":0}')).status).toBe(409);
    const query = (filter: string) =>
      service().call<{ items: Entity[] }>('POST', '/rest/entity/zero/query', {
        cookie,
        headers: { 'content-type': 'application/json' },
        raw: `{"filter":${filter}}`,
      });
    for (const filter of ['{"n":-0}', '{"n":{"$in":[-0.0]}}', '{"n":{"$gte":-0e5,"$lte":0}}', '{"n":0}'])
      expect((await query(filter)).body.items, filter).toHaveLength(1);
  });
});

describe('an empty list in a filter', () => {
  test.for<[unknown, number[]]>([
    [{ s: { $in: [] } }, []],
    [{ s: { $nin: [] } }, [0, 1]],
    [{ $or: [] }, []],
    [{ $and: [] }, [0, 1]],
    [{ $not: { $or: [] } }, [0, 1]],
    [{ $or: [{ s: { $in: [] } }, { s: 'a' }] }, [0]],
    [{ s: { $in: [] }, n: { $gt: 0 } }, []],
    [{ customer: { $match: { s: { $in: [] } } } }, []],
    [{ customer: { $match: { $and: [] } } }, [1]],
  ])('200 — %j finds the same everywhere', async ([filter, expected]) => {
    if (!keys) {
      await declareType(service(), 'buyer', { properties: { s: { type: 'string' } } });
      await declareWithRules(service(), 'sale', {
        properties: { s: { enum: ['a', 'b'] }, n: { type: 'number' }, customer: { type: 'string', format: 'int64' } },
        'x-index': [['s'], ['n']],
        'x-references': { customer: { to: 'buyer' } },
      });
      const buyer = (await create('buyer', { s: 'x' })).body.key;
      keys = [(await create('sale', { s: 'a', n: 1 })).body.key, (await create('sale', { s: 'b', n: 2, customer: buyer })).body.key];
    }
    const wanted = expected.map((index) => keys?.[index]);
    for (const sort of [[], ['n'], ['-s'], ['customer', 'n']])
      expect(keysIn(await pagesOf(service(), { cookie }, 'sale', { filter, sort })).toSorted(), sort.join()).toEqual(wanted);
    const counted = await list(service(), { cookie }, 'sale', { filter, count: 'exact' });
    expect(counted.body.count).toEqual({ value: expected.length, kind: 'exact' });
    const aggregated = await service().call<{ groups: { c: number }[] }>('POST', '/rest/entity/sale/aggregate', {
      cookie,
      json: { filter, measures: { c: { $count: true } } },
    });
    expect(aggregated.status, aggregated.text).toBe(200);
    expect(aggregated.body.groups).toMatchObject([{ c: expected.length }]);
    const exported = await service().call('GET', `/rest/entity/sale/export?filter=${encodeURIComponent(JSON.stringify(filter))}`, {
      cookie,
      headers: { accept: 'application/x-ndjson' },
    });
    expect(exported.status, exported.text).toBe(200);
    expect(exported.text.match(/"key":/g) ?? []).toHaveLength(expected.length);
  });
  let keys: string[] | undefined;
});

describe('the hint of a refused filter', () => {
  test.for<[unknown, string, string]>([
    [{ 'o.c': 'z' }, 'filter /o.c unknown-field', '{"o":{"c":…}}'],
    [{ $or: [{ 'o.p.d': 1 }] }, 'filter /$or/0/o.p.d unknown-field', '{"o":{"p":{"d":…}}}'],
  ])('422 — %j: %s, and what to write instead', async ([filter, fault, instead]) => {
    await declareType(service(), 'open', {
      properties: { o: { properties: { c: { type: 'string' }, p: { properties: { d: {} } } } }, 'x.y': { type: 'string' } },
    });
    const answer = await list<ProblemBody>(service(), { cookie }, 'open', { filter });
    expect([answer.status, ...faultsIn(answer)]).toEqual([422, fault]);
    expect(answer.body.errors?.[0]?.detail).toContain(instead);
    for (const accepted of [{ 'x.y': 'z' }, { 'q.r': 'z' }, { o: { c: 'z' } }])
      expect((await list(service(), { cookie }, 'open', { filter: accepted })).status).toBe(200);
  });
});

describe('set-null', () => {
  test.for<[string, object]>([
    ['nullable', { type: 'string', format: 'int64', nullable: true }],
    ['anyOf', { anyOf: [{ type: 'string', format: 'int64' }, nothing] }],
  ])('204 — puts null where %s accepts it', async ([kind, boss]) => {
    const name = `member-${kind}`;
    await declareWithRules(service(), name, { properties: { boss }, 'x-references': { boss: { to: name, onDelete: 'set-null' } } });
    const first = await create(name, {});
    const second = await create(name, { boss: first.body.key });
    expect((await service().call('DELETE', `/rest/entity/${name}/${first.body.key}`, { cookie })).status).toBe(204);
    expect((await service().call<Entity>('GET', `/rest/entity/${name}/${second.body.key}`, { cookie })).body.fields).toEqual({
      boss: null,
    });
  });
});

describe('instants', () => {
  const at = { type: 'string', format: 'date-time' };
  const times = [
    '2016-12-31T23:59:59.999999999Z',
    '2016-12-31T23:59:60Z',
    '2016-12-31T23:59:60.5Z',
    '2017-01-01T14:00:00+14:00',
    '2017-01-01T00:00:00.000000001Z',
    '2017-01-01T00:00:00.1234561Z',
    '2017-01-01T00:00:00.1234562Z',
  ];

  test('200 — are compared with all digits without a rule, a leap second between its neighbours', async () => {
    await declareType(service(), 'moment', { properties: { at } });
    const found = await stored(
      'moment',
      times.toReversed().map((time) => ({ at: time })),
    );
    const last = times.length - 1;
    expect(await found({ sort: ['at'] })).toEqual(times.map((_, index) => last - index));
    for (const [index, time] of times.entries()) {
      expect(await found({ filter: { at: time } })).toEqual([last - index]);
      expect((await found({ filter: { at: { $gt: time } } })).length, time).toBe(last - index);
      expect((await found({ filter: { at: { $lte: time } } })).length, time).toBe(index + 1);
      expect(await found({ filter: { at: { $in: [time] } } })).toEqual([last - index]);
    }
    expect(await found({ filter: { at: '2016-12-31T23:00:00.000000001-01:00' } })).toEqual([last - 4]);
  });

  test('422 — that a rule names have six digits at most, so that an upsert changes no other entity', async () => {
    await declareType(service(), 'reading', {
      properties: { s: { type: 'string' }, at, note: {} },
      'x-unique': [{ fields: ['s', 'at'] }],
      'x-index': [['at']],
    });
    const found = await stored('reading', [
      { s: 'a', at: '2017-01-01T00:00:00.123456Z' },
      { s: 'a', at: '2017-01-01T00:00:00.123457000Z' },
    ]);
    const upsert = (time: string) =>
      service().call<Body>('POST', '/rest/entity/reading/upsert?by=s,at', { cookie, json: { s: 'a', at: time, note: 1 } });
    for (const time of [...times.slice(0, 3), ...times.slice(4)]) {
      for (const answer of [await upsert(time), await create('reading', { s: 'b', at: time })])
        expect([answer.status, ...faultsIn(answer)], time).toEqual([422, '/at invalid-value']);
    }
    expect((await upsert('2017-01-01T01:00:00.1234560+01:00')).status).toBe(200);
    expect(await found({ filter: { note: 1 } })).toEqual([0]);
    expect(await found({ filter: { at: { $gt: '2017-01-01T00:00:00.1234561Z' } } })).toEqual([1]);
    expect(await found({ filter: { at: { $gte: '2017-01-01T00:00:00.1234569Z' } } })).toEqual([1]);
    expect(await found({ filter: { at: { $lt: '2017-01-01T00:00:00.1234569Z' } } })).toEqual([0]);
    expect(await found({ filter: { at: { $in: ['2017-01-01T00:00:00.1234569Z'] } } })).toEqual([]);
  });
});

describe('a field of a rule takes one spelling of a value', () => {
  test.for<[string, string, string[]]>([
    [
      'uuid',
      '9f1c2a34-58d0-4b6e-9a71-0c5d8e3f2b17',
      ['9F1C2A34-58d0-4b6e-9a71-0c5d8e3f2b17', 'urn:uuid:9f1c2a34-58d0-4b6e-9a71-0c5d8e3f2b17'],
    ],
    ['ipv6', '2001:db8::7', ['2001:DB8::7', '2001:db8:0:0:0:0:0:7', '2001:0db8::7']],
    ['time', '14:30:00.5Z', ['14:30:00.50Z', '14:30:00.5z', '15:30:00.5+01:00', '14:30:00.5+00:00']],
    ['decimal', '1', ['+1', '01', '1e0']],
    ['int64', '1', ['+1', '01', '-0']],
    ['byte', 'YQ==', ['YR==', 'YQ']],
  ])('422 — of %s', async ([format, canonical, others]) => {
    const v = { type: 'string', format };
    await declareType(service(), `spelt-${format}`, { properties: { v: { anyOf: [v, nothing] } }, 'x-unique': [{ fields: ['v'] }] });
    const { status, body } = await create(`spelt-${format}`, { v: canonical });
    expect(status).toBe(201);
    for (const other of others) {
      expect((await create(`spelt-${format}`, { v: other })).status, other).toBe(422);
      const update = await service().call('POST', `/rest/entity/spelt-${format}/${body.key}`, { cookie, json: { v: other } });
      expect(update.status, other).toBe(422);
    }
    expect((await create(`spelt-${format}`, { v: canonical })).status).toBe(409);
  });
});
