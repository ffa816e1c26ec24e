import { beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import type { Entity, EntityFilter, EntitySort, FieldPath, Fields, Projected, WithIncluded } from '../../src/client/index.ts';
import { clientOf, json, PausingClock, problem, scriptedServer } from '../support/client.ts';
import { declareType } from '../support/entities.ts';
import { seedMany } from '../support/lists.ts';
import { useService } from '../support/service.ts';

interface Customer {
  company: string;
  city?: string | null;
  credit: number;
  tags?: string[];
  address?: { zip: string };
}

interface Chain {
  next?: Chain;
  zip: string;
}

const service = useService();
let apiKey: string;
const customers = () => clientOf(service(), { credential: { apiKey } }).entities<Customer>('customer');

beforeAll(async () => {
  apiKey = await service().createKey((await service().createUser('ada')).id);
  const rows = Array.from({ length: 12 }, (_, n) => ({
    company: `C${n}`,
    city: n % 2 ? 'Paris' : 'London',
    credit: n,
    tags: [`t${n % 3}`],
  }));
  await seedMany(service(), 'customer', rows, 'ada');
});

async function allOf<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

const companies = async (entities: AsyncIterable<Entity<Customer>>) => (await allOf(entities)).map(({ fields }) => fields.company);

describe('list', () => {
  test('iterates over all entities that the filter finds, in the order of the sort', async () => {
    const list = customers().list({ filter: { city: 'London', credit: { $gte: 4 } }, sort: ['-credit'], limit: 2 });
    expect(await companies(list)).toEqual(['C10', 'C8', 'C6', 'C4']);
    expect(await companies(list), 'a list can be read again').toHaveLength(4);
    expect(await companies(customers().list())).toHaveLength(12);
  });

  test('reload returns the same page until an entity of it changes, and sends a filter that is too long for a URL again', async () => {
    const mine = clientOf(service(), { credential: { apiKey } }).entities<{ n: number; label?: string }>('reloaded');
    await mine.createMany([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const list = mine.list({ sort: ['n'], limit: 2 });
    const first = await list.page();
    const second = await list.page(first.next ?? '');
    expect([await list.reload(first), await list.reload(second)]).toEqual([first, second]);
    expect((await list.reload(first)) === first && (await list.reload(second)) === second).toBe(true);
    await mine.update(second.items[0] ?? '', { n: 4 });
    expect((await list.reload(first)) === first).toBe(true);
    expect((await list.reload(second)).items.map(({ fields }) => fields)).toEqual([{ n: 4 }]);

    const long = mine.list({ filter: { n: { $in: Array.from({ length: 300 }, (_, n) => n) } } });
    const page = await long.page();
    const again = await long.reload(page);
    expect(again === page).toBe(false);
    expect(again.items).toEqual(page.items);
    await expect(list.reload(page)).rejects.toThrow(TypeError);
  });

  test('has the chosen fields alone, also in its types', async () => {
    const chosen = customers().list({ fields: ['company', 'address.zip'], sort: ['credit'], limit: 5 });
    expect((await allOf(chosen))[0]?.fields).toEqual({ company: 'C0' });
    type Chosen = { company: string; address?: { zip: string } };
    expectTypeOf(chosen).toExtend<AsyncIterable<Entity<Chosen>>>();
    expectTypeOf(customers().list({ fields: ['tags'] })).toExtend<AsyncIterable<Entity<{ tags?: string[] }>>>();
    expectTypeOf<{ company: string }>().not.toExtend<Projected<Customer, 'city'>>();
    expectTypeOf<Projected<Customer, 'city'>>().toEqualTypeOf<{ city?: string | null }>();
    const { key } = (
      await customers()
        .list({ sort: ['credit'] })
        .page()
    ).items[0] ?? { key: '' };
    const one = await customers().get(key, { fields: ['credit'] });
    expect(one.fields).toEqual({ credit: 0 });
    expectTypeOf(one.fields).toEqualTypeOf<{ credit: number }>();
    expectTypeOf<Projected<Fields, 'city'>>().toEqualTypeOf<Fields>();
    expectTypeOf<'next.next.next.zip'>().toExtend<FieldPath<Chain>>();
    const names: readonly string[] = ['company'];
    expectTypeOf(customers().list({ fields: names })).toExtend<AsyncIterable<Entity<Customer>>>();
  });

  test('looks through references, by GET and by POST', async () => {
    const [london = '', paris = ''] = await seedMany(service(), 'shop', [{ city: 'London' }, { city: 'Paris' }], 'ada');
    await seedMany(service(), 'sale', [{ shop: london }, { shop: paris }, { shop: london }], 'ada');
    await declareType(service(), 'shop', { type: 'object', properties: { city: { type: 'string' } } });
    const shop = { type: 'string', format: 'int64' };
    await declareType(service(), 'sale', { type: 'object', properties: { shop }, 'x-references': { shop: { to: 'shop' } } });
    const sales = clientOf(service(), { credential: { apiKey } }).entities<{ shop: string }>('sale');
    const many = Array.from({ length: 201 }, (_, n) => `city ${n}`);
    for (const city of ['London', { $in: ['London', ...many] }]) {
      const found = await allOf(sales.list({ filter: { shop: { $match: { city } } } }));
      expect(found.map(({ fields }) => fields.shop)).toEqual([london, london]);
    }
    expectTypeOf<{ credit: { $match: object } }>().not.toExtend<EntityFilter<Customer>>();
  });

  test('has pages, a page by its cursor, counts and projections', async () => {
    const list = customers().list({ limit: 5, fields: ['company'], count: 'exact' });
    const pages = await allOf(list.pages());
    expect(pages.map(({ items }) => items.length)).toEqual([5, 5, 2]);
    expect(pages[0]).toMatchObject({
      count: { value: 12, kind: 'exact' },
      prev: null,
      items: [{ fields: { company: 'C0' } }, {}, {}, {}, {}],
    });
    expect(await list.page(pages[0]?.next ?? '')).toEqual(pages[1]);
    expect(await list.page(pages[2]?.prev ?? '')).toEqual(pages[1]);
  });

  test('stops asking when the loop ends', async () => {
    const empty = { items: [], next: null, prev: null };
    const server = await scriptedServer(
      json(200, { ...empty, next: 'q1.a' }),
      json(200, { ...empty, items: [{}, {}], next: 'q1.b' }),
      json(200, empty),
    );
    const seen: Entity<object>[] = [];
    for await (const entity of clientOf(server).entities('note').list()) {
      seen.push(entity);
      break;
    }
    expect([seen.length, server.heard.length]).toEqual([1, 2]);
    expect(server.heard[1]?.path).toBe('/rest/entity/note?cursor=q1.a');
  });

  test('sends a long filter, and a long list of values, as a POST', async () => {
    const server = await scriptedServer(json(200, { items: [], next: null, prev: null }));
    const notes = clientOf(server).entities('note');
    const filters: [EntityFilter, string][] = [
      [{ a: 'x'.repeat(2_000) }, 'GET'],
      [{ a: 'x'.repeat(2_050) }, 'POST'],
      [{ a: { $in: Array.from({ length: 200 }, () => 1) } }, 'GET'],
      [{ a: { $in: Array.from({ length: 201 }, () => 1) } }, 'POST'],
      [{ a: 'é'.repeat(2_000) }, 'POST'],
    ];
    for (const [filter, method] of filters) {
      await notes.list({ filter, sort: ['a', '-b'], limit: 7 }).page();
      const heard = server.heard.at(-1);
      expect(heard?.method).toBe(method);
      if (method === 'POST') {
        expect(heard?.path).toBe('/rest/entity/note/query');
        expect(JSON.parse(heard?.body ?? '')).toEqual({ filter, sort: ['a', '-b'], limit: 7 });
      } else expect(heard?.path).toMatch(/^\/rest\/entity\/note\?filter=%7B.*&sort=a%2C-b&limit=7$/);
    }
    expect(
      await companies(customers().list({ filter: { company: { $in: Array.from({ length: 500 }, (_, n) => `C${n + 10}`) } } })),
    ).toEqual(['C10', 'C11']);
  });

  test('repeats a query like a read, also as a POST, but not one that is too expensive', async () => {
    const clock = new PausingClock();
    const server = await scriptedServer(
      problem(503, 'busy'),
      json(200, { items: [], next: null, prev: null }),
      problem(422, 'query-too-expensive'),
    );
    const list = clientOf(server, { clock })
      .entities('note')
      .list({ filter: { a: 'x'.repeat(3_000) } });
    expect((await list.page()).items).toEqual([]);
    await expect(list.page()).rejects.toMatchObject({ code: 'query-too-expensive' });
    expect(server.heard.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST']);
  });

  test('throws what the service refuses; a page of a client with results is a result', async () => {
    await expect(companies(customers().list({ sort: ['$x' as '$key'] }))).rejects.toMatchObject({ status: 422, code: 'validation-failed' });
    const results = clientOf(service(), { credential: { apiKey }, errors: 'result' }).entities<Customer>('customer');
    expect(await results.list({ sort: ['$x' as '$key'] }).page()).toMatchObject({ ok: false, error: { status: 422 } });
    expect(await results.list({ limit: 1 }).page()).toMatchObject({ ok: true, value: { items: [{ key: expect.any(String) }] } });
    await expect(allOf(results.list({ sort: ['$x' as '$key'] }))).rejects.toMatchObject({ status: 422 });
  });

  // The compiler checks that the filter has the types of the fields.
  {
    type Filter = EntityFilter<Customer>;
    expectTypeOf<{ city: null; credit: { $gt: number }; address: { zip: { $prefix: string } } }>().toExtend<Filter>();
    expectTypeOf<{
      tags: { $contains: string };
      $or: [{ $key: string }, { $not: { city: { $in: (string | null)[] } } }];
    }>().toExtend<Filter>();
    expectTypeOf<{ credit: string }>().not.toExtend<Filter>();
    expectTypeOf<{ address: { zip: number } }>().not.toExtend<Filter>();
    expectTypeOf<{ tags: { $contains: number } }>().not.toExtend<Filter>();
    expectTypeOf<{ anything: { $gt: 1 }; other: 'x' }>().toExtend<EntityFilter>();
  }
});

describe('include', () => {
  interface Bill {
    payer: string;
    total: number;
  }
  interface Payers {
    payer: { name: string };
  }
  const bills = () => clientOf(service(), { credential: { apiKey } }).entities<Bill>('bill');
  let payers: string[];
  let keys: string[];

  beforeAll(async () => {
    await declareType(service(), 'payer', { type: 'object' });
    await declareType(service(), 'bill', {
      type: 'object',
      properties: { payer: { type: 'string', format: 'int64' } },
      'x-references': { payer: { to: 'payer' } },
    });
    payers = await seedMany(service(), 'payer', [{ name: 'Ann' }, { name: 'Ben' }], 'ada');
    const rows = [payers[0], payers[1], '7000000'].map((payer, total) => ({ payer, total }));
    keys = await seedMany(service(), 'bill', rows, 'ada');
  });

  test('gives each entity of a list what its page includes, with the types of its fields', async () => {
    const list = bills().list<Payers>({ include: ['payer'], limit: 2 });
    const all = await allOf(list);
    expect(all.map(({ fields, included }) => included.payer?.[fields.payer]?.fields.name)).toEqual(['Ann', 'Ben', undefined]);
    expect(all.map(({ withheld }) => withheld)).toEqual([[], [], [{ name: 'payer', key: '7000000' }]]);
    const page = await list.page();
    expect([page.items.length, Object.keys(page.included.payer ?? {})]).toEqual([2, payers]);
    expectTypeOf(page.included.payer).toEqualTypeOf<Record<string, Entity<{ name: string }>> | undefined>();
    const plain = await bills().list().page();
    expectTypeOf(plain).not.toExtend<WithIncluded>();
  });

  test('with labels has the names of entities and of what they refer to', async () => {
    const person = { type: 'string', format: 'int64' };
    await declareType(service(), 'guest', { type: 'object', 'x-label': ['name'], properties: { name: { type: 'string' } } });
    await declareType(service(), 'visit', { type: 'object', 'x-references': { guest: { to: 'guest' } }, properties: { guest: person } });
    const client = clientOf(service(), { credential: { apiKey } });
    const { key } = await client.entities<{ name: string }>('guest').create({ name: 'Ann' });
    const visits = client.entities<{ guest: string }>('visit');
    const visit = await visits.create({ guest: key });
    const labels = { guest: { [key]: 'Ann' } };
    expect((await visits.list({ labels: true }).page()).labels).toEqual(labels);
    expect((await allOf(visits.list({ labels: true })))[0]?.labels).toEqual(labels);
    expect((await visits.get(visit.key, { labels: true })).labels).toEqual(labels);
    expect((await visits.history(visit.key, { labels: true })).labels).toEqual(labels);
    expect((await allOf(client.entities('guest').list({ labels: true, filter: { $label: 'Ann' } })))[0]?.label).toBe('Ann');
  });

  test('gives a single entity what it refers to, or some of its fields', async () => {
    const bill = await bills().get<Payers>(keys[1] ?? '', { include: ['payer'] });
    expect([bill.fields.total, bill.included.payer?.[bill.fields.payer]?.fields.name, bill.withheld]).toEqual([1, 'Ben', []]);
    const changed = await bills().update(bill, { total: 5 });
    expect((await bills().get(changed.key, { fields: ['total'] })).fields).toEqual({ total: 5 });
    expect(await bills().get(changed.key)).toEqual(changed);
    expectTypeOf(bill.included.payer).toEqualTypeOf<Record<string, Entity<{ name: string }>> | undefined>();
    await expect(bills().get(changed.key, { include: ['total'] })).rejects.toMatchObject({ status: 422 });
  });

  test('of no reference includes nothing, and names that a URL cannot separate go as a POST', async () => {
    expect(await bills().get(keys[0] ?? '', { include: [] })).toMatchObject({ included: {}, withheld: [] });
    expect((await allOf(bills().list({ include: [] })))[0]).toMatchObject({ included: {}, withheld: [] });
    const server = await scriptedServer(json(200, { items: [], next: null, prev: null, included: {}, withheld: [] }));
    const notes = clientOf(server).entities('note');
    await notes.list({ include: ['a.b', 'c'] }).page();
    await notes.list({ include: ['a,b'] }).page();
    expect(server.heard.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /rest/entity/note?include=a.b%2Cc',
      'POST /rest/entity/note/query',
    ]);
  });

  // The compiler checks that the sort has the names of the fields.
  {
    type Sort = EntitySort<Customer & { free: unknown; self?: Customer }>;
    expectTypeOf<'company' | '-city' | 'address.zip' | '-$createdAt' | '$key' | 'free' | 'self.address.zip'>().toExtend<Sort>();
    expectTypeOf<'tags'>().not.toExtend<Sort>();
    expectTypeOf<'address'>().not.toExtend<Sort>();
    expectTypeOf<'unknown' | '$x'>().not.toExtend<Sort>();
    expectTypeOf<'anything'>().toExtend<EntitySort>();
  }
});
