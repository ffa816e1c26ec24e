import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { exceededStatementTime } from '../../../src/database/failure.ts';
import type { Entity } from '../../support/entities.ts';
import { faultsIn, keysIn, list, pagesOf, seedMany, seedNumbers, writeTypes, type EntityPage } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const service = useService();
let ada: { cookie: string };
const refused = async (query: Parameters<typeof list>[3], name = 'customer') => {
  const answer = await list<ProblemBody>(service(), ada, name, query);
  return { status: answer.status, code: answer.body.code, faults: faultsIn(answer), text: answer.text };
};

beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada')).id) };
  await seedNumbers(service(), 'customer', 120, 'ada');
});

describe('listEntities', () => {
  test('200 — pages of 50 in the order of the keys, each entity once, next null at the end', async () => {
    const pages = await pagesOf(service(), ada, 'customer', {});
    expect(pages.map(({ items }) => items.length)).toEqual([50, 50, 20]);
    const keys = keysIn(pages);
    expect(new Set(keys).size).toBe(120);
    expect(keys).toEqual(keys.toSorted((a, b) => Number(a) - Number(b)));
    expect(pages[0]?.prev).toBeNull();
    expect(pages[2]?.next).toBeNull();
  });

  test('200 — an item is the entity as getEntity answers it, byte for byte', async () => {
    const created = await service().call<Entity>('POST', '/rest/entity/exact', { ...ada, json: { a: 1.5, b: ['x', null], c: 'é"\\' } });
    const one = await service().call('GET', `/rest/entity/exact/${created.body.key}`, ada);
    const answer = await list(service(), ada, 'exact');
    expect(answer.text).toBe(`{"items":[${one.text}],"next":null,"prev":null}`);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('200 — times are compared as answers show them, in milliseconds', async () => {
    const created = await service().call<Entity>('POST', '/rest/entity/timed', { ...ada, json: {} });
    await sql`update entity set created_at = '2026-01-01T00:00:00.123456Z' where name = 'timed'`.execute(service().db);
    const { body } = await list(service(), ada, 'timed', { filter: { $createdAt: '2026-01-01T00:00:00.123Z' } });
    expect(body.items).toEqual([{ ...created.body, createdAt: '2026-01-01T00:00:00.123Z' }]);
  });

  test('200 — a name without entities has an empty page', async () => {
    expect((await list(service(), ada, 'nothing', { count: 'exact' })).body).toEqual({
      items: [],
      next: null,
      prev: null,
      count: { value: 0, kind: 'exact' },
    });
  });

  test('200 — by prev back to the first page, whose prev is null', async () => {
    const [first, second, third] = await pagesOf(service(), ada, 'customer', {});
    const back = (await list(service(), ada, 'customer', { cursor: third?.prev ?? '' })).body;
    expect(keysIn([back])).toEqual(keysIn(second ? [second] : []));
    const start = (await list(service(), ada, 'customer', { cursor: back.prev ?? '' })).body;
    expect(keysIn([start])).toEqual(keysIn(first ? [first] : []));
    expect(start.prev).toBeNull();
    expect((await list(service(), ada, 'customer', { cursor: start.next ?? '' })).body.items).toEqual(second?.items);
  });

  test('200 — limit may change between pages, from 1 to 1000', async () => {
    const first = (await list(service(), ada, 'customer', { limit: 1 })).body;
    const rest = (await list(service(), ada, 'customer', { limit: 1000, cursor: first.next ?? '' })).body;
    expect([first.items.length, rest.items.length, rest.next]).toEqual([1, 119, null]);
  });

  test('200 — an entity that was changed or deleted since does not move the place of a cursor', async () => {
    const keys = await seedMany(
      service(),
      'moved',
      Array.from({ length: 6 }, (_, n) => ({ n })),
      'ada',
    );
    const first = (await list(service(), ada, 'moved', { limit: 3, sort: ['n'] })).body;
    await sql`update entity set fields = '{"n": 9}' where name = 'moved' and key = ${keys[2]}`.execute(service().db);
    await sql`delete from entity where name = 'moved' and key = ${keys[1]}`.execute(service().db);
    const second = (await list(service(), ada, 'moved', { limit: 3, sort: ['n'], cursor: first.next ?? '' })).body;
    expect(keysIn([second])).toEqual(keys.slice(3));
  });

  test('200 — Link has the pages after and before, which a client can follow', async () => {
    const answer = await list(service(), ada, 'customer', { limit: 50, filter: { n: { $gt: 0 } } });
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? [];
    const second = await service().call<EntityPage>('GET', next, ada);
    expect(second.body.items).toHaveLength(50);
    expect(second.headers.get('link')).toMatch(/^<[^>]+>; rel="next", <[^>]+>; rel="prev"$/);
    expect((await list(service(), ada, 'nothing')).headers.get('link')).toBeNull();
  });

  test('304 — a page that has not changed; 200 after a change', async () => {
    await seedMany(service(), 'tagged', [{ a: 1 }], 'ada');
    const etag = (await list(service(), ada, 'tagged')).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    const again = await service().call('GET', '/rest/entity/tagged', { ...ada, headers: { 'if-none-match': etag } });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    await sql`update entity set version = 9 where name = 'tagged'`.execute(service().db);
    expect((await service().call('GET', '/rest/entity/tagged', { ...ada, headers: { 'if-none-match': etag } })).status).toBe(200);
  });

  test('200 — fields projects, also into objects; the envelope always comes', async () => {
    await seedMany(service(), 'wide', [{ a: 1, b: { c: 2, d: 3 }, e: 4 }, { b: 5 }, { b: {} }], 'ada');
    const { body } = await list(service(), ada, 'wide', { fields: ['a', 'b.c', 'missing'] });
    expect(body.items.map(({ fields }) => fields)).toEqual([{ a: 1, b: { c: 2 } }, {}, { b: {} }]);
    expect(Object.keys(body.items[0] ?? {})).toEqual([
      'name',
      'key',
      'version',
      'createdAt',
      'createdBy',
      'updatedAt',
      'updatedBy',
      'fields',
    ]);
    const whole = await list(service(), ada, 'wide', { fields: ['b.c', 'b', 'b.d', 'toString'] });
    expect(whole.body.items[0]?.fields).toEqual({ b: { c: 2, d: 3 } });
  });

  test('200 — a page has at most 8 MiB, and one entity at least', async () => {
    const mebibytes = (count: number) => ({ text: 'x'.repeat(count * 2 ** 20) });
    await seedMany(service(), 'heavy', [mebibytes(3), mebibytes(3), mebibytes(3), mebibytes(9), { n: 1 }], 'ada');
    const pages = await pagesOf(service(), ada, 'heavy', { limit: 1000 });
    expect(pages.map(({ items }) => items.length)).toEqual([2, 1, 1, 1]);
    const back = (await list(service(), ada, 'heavy', { limit: 1000, cursor: pages[2]?.prev ?? '' })).body;
    expect(keysIn([back])).toEqual(keysIn(pages).slice(1, 3));
  });

  test('200 — sorted: no value comes last ascending and first descending, the key decides between equal ones', async () => {
    const keys = await seedMany(service(), 'credits', [{ c: 9 }, { c: 10 }, { c: 10.0 }, {}, { c: null }, { c: '5' }, { c: true }], 'ada');
    const order = async (...sort: string[]) =>
      keysIn(await pagesOf(service(), ada, 'credits', { sort, limit: 2 })).map((key) => keys.indexOf(key));
    expect(await order('c')).toEqual([0, 1, 2, 5, 6, 3, 4]);
    expect(await order('-c')).toEqual([4, 3, 6, 5, 2, 1, 0]);
    expect(await order('-$key')).toEqual([6, 5, 4, 3, 2, 1, 0]);
    expect(await order('c', '-$key')).toEqual([0, 2, 1, 5, 6, 4, 3]);
  });

  test('200 — count: none, capped, exact', async () => {
    const count = async (kind: string, filter = {}) =>
      (await list(service(), ada, 'customer', { count: kind, filter, limit: 1 })).body.count;
    expect(await count('none')).toBeUndefined();
    expect(await count('exact')).toEqual({ value: 120, kind: 'exact' });
    expect(await count('capped', { n: { $lte: 7 } })).toEqual({ value: 7, kind: 'exact' });
    expect(await count('estimated')).toEqual({ value: 120, kind: 'exact' });
  });

  test.for<[string, Parameters<typeof list>[3], string]>([
    ['an unknown operator', { filter: { a: { $x: 1 } } }, 'filter /a/$x unknown-operator'],
    ['a name that begins with $', { filter: { $x: 1 } }, 'filter /$x not-addressable'],
    ['an $or of no list', { filter: { $or: {} } }, 'filter /$or invalid-type'],
    ['a sort by $x', { sort: ['$x'] }, 'sort not-addressable'],
    ['five sort fields', { sort: ['a', 'b', 'c', 'd', 'e'] }, 'sort invalid-value'],
    ['a sort field twice', { sort: ['a', '-a'] }, 'sort repeated'],
    ['an empty sort field', { sort: ['a', ''] }, 'sort invalid-value'],
    ['a projection of $key', { fields: ['$key'] }, 'fields not-addressable'],
    ['six steps', { sort: ['a.b.c.d.e.f'] }, 'sort invalid-value'],
    ['51 names', { fields: Array.from({ length: 51 }, (_, n) => `a${n}`) }, 'fields invalid-value'],
  ])('422 — %s', async ([, query, fault]) => {
    expect(await refused(query)).toMatchObject({ status: 422, code: 'validation-failed', faults: [fault] });
  });

  test('422 — all faults of filter, sort and fields at once', async () => {
    const faults = ['filter /a/$lt invalid-type', 'sort not-addressable', 'fields not-addressable'];
    expect(await refused({ filter: { a: { $lt: null } }, sort: ['$x'], fields: ['$y'] })).toMatchObject({ status: 422, faults });
  });

  test.for<[string, string]>([
    ['{"account":9007199254740993}', 'filter /account number-not-exact'],
    ['{"a":1,"a":2}', 'filter /a duplicate-member'],
    ['{"__proto__":1}', 'filter /__proto__ member-name-reserved'],
    ['{"constructor":{"$exists":true}}', 'filter /constructor member-name-reserved'],
    ['{"a":', 'filter invalid-json'],
    ['', 'filter invalid-json'],
    ['{"a":"\\u0000"}', 'filter /a nul-character'],
  ])('400 — a filter that is not exact JSON: %s', async ([filter, fault]) => {
    const path = `/rest/entity/customer?filter=${encodeURIComponent(filter)}`;
    const answer = await service().call('GET', path, ada);
    expect(answer.status).toBe(400);
    expect(faultsIn(answer)).toEqual([fault]);
  });

  test.for(['limit=0', 'limit=1001', 'limit=-1', 'limit=1e2', 'limit=', 'count=all', 'page=2', `filter=${'x'.repeat(4_097)}`])(
    '400 — %s',
    async (query) => {
      expect((await service().call('GET', `/rest/entity/customer?${query}`, ada)).status).toBe(400);
    },
  );

  test('404 — a name that does not exist, where only declared names do', async () => {
    const strict = await service().replica({ ENTITY_TYPES: 'declared', ENTITY_TYPES_DIR: await writeTypes({ order: { type: 'object' } }) });
    try {
      expect((await strict.call('GET', '/rest/entity/order', ada)).status).toBe(200);
      expect((await strict.call('GET', '/rest/entity/customer', ada)).status).toBe(404);
      expect((await strict.call('POST', '/rest/entity/customer/query', { ...ada, json: {} })).status).toBe(404);
    } finally {
      await strict.close();
    }
  });

  test('405 — other methods on the path of queries', async () => {
    const answer = await service().call('GET', '/rest/entity/customer/query', ada);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('cost', () => {
  beforeAll(async () => {
    await service().createUser('eve', { crowd: { actions: ['read'], condition: 'own' } });
    await seedNumbers(service(), 'crowd', 25_000, 'ada');
    await sql`analyze entity`.execute(service().db);
  });

  test('200 — a filter on a field looks at 5,000 entities a request and answers short pages, until the one comes, once', async () => {
    const pages = await pagesOf(service(), ada, 'crowd', { filter: { n: 12_345 } });
    expect(pages.map(({ items }) => items.length)).toEqual([0, 0, 1, 0, 0, 0]);
    expect(pages[2]?.items[0]?.fields).toEqual({ n: 12_345 });
    expect(pages.slice(0, 2).map(({ prev }) => prev)).toEqual([null, null]);
  });

  test('200 — a filter with 20 tests of fields looks at 1,000 entities a request', async () => {
    const filter = { $or: Array.from({ length: 20 }, (_, index) => ({ n: index === 0 ? 1_001 : -index })) };
    const first = (await list(service(), ada, 'crowd', { filter })).body;
    const second = (await list(service(), ada, 'crowd', { filter, cursor: first.next ?? '' })).body;
    expect([first.items.length, second.items.length]).toEqual([0, 1]);
    expect(second.next).not.toBeNull();
  });

  test('200 — the same backwards', async () => {
    const { body } = await list(service(), ada, 'crowd', { sort: ['-$key'], filter: { n: 24_000 } });
    expect(body.items).toHaveLength(1);
    expect(body.next).not.toBeNull();
  });

  test('200 — the statements of a list see the same rows, whatever is deleted between them', async () => {
    await seedNumbers(service(), 'short', 3, 'ada');
    const count = sql<{ n: number }>`select count(*)::int as n from entity where name = 'short'`.compile(service().db);
    const counts = await service().store.readOnly(2_000, async (run) => {
      const before = await run(count);
      await sql`delete from entity where name = 'short'`.execute(service().db);
      return [...before, ...(await run(count))];
    });
    expect(counts).toEqual([{ n: 3 }, { n: 3 }]);
  });

  test('422 — the statements of a list have one time limit together', async () => {
    const sleep = sql`select pg_sleep(0.7)`.compile(service().db);
    const sleeps = (times: number) =>
      service().store.readOnly(1_000, async (run) => {
        for (let time = 0; time < times; time++) await run(sleep);
      });
    await sleeps(1);
    await expect(sleeps(2)).rejects.toSatisfy(exceededStatementTime);
  });

  test('200 — own entities of a user without any: 20,000 entities a request, newest first', async () => {
    const { id } = await service().db.selectFrom('user_account').where('name', '=', 'eve').select('id').executeTakeFirstOrThrow();
    const eve = { cookie: await service().openSession(id) };
    const pages = await pagesOf(service(), eve, 'crowd', { sort: ['-$key'] });
    expect(pages.map(({ items }) => items.length)).toEqual([0, 0]);
    expect((await list(service(), eve, 'crowd', { count: 'exact' })).body.count).toEqual({ value: 0, kind: 'exact' });
  });

  test('200 — tests of the key narrow what is looked at', async () => {
    const all = await service().db.selectFrom('entity').where('name', '=', 'crowd').orderBy('key').select('key').limit(3).execute();
    const keys = all.map(({ key }) => key);
    const answer = await list(service(), ada, 'crowd', { filter: { $key: { $in: keys }, n: { $ne: 2 } }, sort: ['-n'] });
    expect(keysIn([answer.body])).toEqual([keys[2], keys[0]]);
    expect(answer.body.next).toBeNull();
  });

  test('422 — a sort of more than 10,000 entities without an index, with the fields', async () => {
    const answer = await list<ProblemBody>(service(), ada, 'crowd', { sort: ['-n', 'a.b'] });
    expect([answer.status, answer.body.code, faultsIn(answer)]).toEqual([422, 'query-too-expensive', ['sort needs-index']]);
    expect(answer.body.errors?.[0]?.detail).toContain('n, a.b');
    expect(answer.headers.get('retry-after')).toBeNull();
  });

  test('422 — the same, without the fields if one has no name that may be repeated (rule 75)', async () => {
    const answer = await list<ProblemBody>(service(), ada, 'crowd', { sort: ['n', 'a secret'] });
    expect([answer.status, faultsIn(answer)]).toEqual([422, ['sort needs-index']]);
    expect(answer.text).not.toContain('secret');
  });

  test('200 — capped and estimated counts beyond 10,000', async () => {
    const count = async (kind: string) => (await list(service(), ada, 'crowd', { count: kind, limit: 1 })).body.count;
    expect(await count('capped')).toEqual({ value: 10_000, kind: 'capped' });
    expect(await count('exact')).toEqual({ value: 25_000, kind: 'exact' });
    const estimated = await count('estimated');
    expect(estimated?.kind).toBe('estimated');
    expect(estimated?.value).toBeGreaterThan(12_500);
    expect(estimated?.value).toBeLessThan(50_000);
  });

  test('503 — a statement that takes more than two seconds, and the service goes on', async () => {
    await sql`create or replace function json_project(target jsonb, tree jsonb) returns jsonb language plpgsql as
      $$ begin perform pg_sleep(9); return '{}'; end $$`.execute(service().db);
    const answer = await list<ProblemBody>(service(), ada, 'crowd', { fields: ['n'], filter: { n: 1 } });
    expect([answer.status, answer.body.code, faultsIn(answer)]).toEqual([503, 'busy', ['filter time-limit']]);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(answer.body.detail).toContain('try again');
    expect((await list(service(), ada, 'crowd')).status).toBe(200);
  });

  test('503 — a statement that an operator cancels', async () => {
    await sql`create or replace function json_project(target jsonb, tree jsonb) returns jsonb language plpgsql as
      $$ begin perform pg_cancel_backend(pg_backend_pid()), pg_sleep(9); return '{}'; end $$`.execute(service().db);
    const answer = await list<ProblemBody>(service(), ada, 'crowd', { fields: ['n'], filter: { n: 1 } });
    expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
  });
});
