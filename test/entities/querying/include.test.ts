/** Lists and single entities with those that they refer to. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Entity } from '../../support/entities.ts';
import { faultsIn, keysIn, keysIncluded, list, pagesOf, queryBy, seedMany, type EntityPage } from '../../support/lists.ts';
import { readDocument, section } from '../../support/markdown.ts';
import { useService, type Answer, type ProblemBody } from '../../support/service.ts';
import { createCaller, declareShop } from '../../support/shop.ts';

const service = useService();
let ada: { cookie: string };
let agents: string[];
let customers: string[];
let orders: string[];

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

/** The rows are there before the types, whose companion tables then have them. Rows of later tests are found by key or by walking. */
beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada')).id) };
  await service().createUser('bob');
  agents = await seedMany(service(), 'agent', [{ name: 'Ann' }, { name: 'Ben' }], 'ada', 'bob');
  customers = await seedMany(
    service(),
    'customer',
    numbers(20).map((n) => ({ company: `C${n}`, agent: agents[n % 2] })),
    'ada',
    'bob',
  );
  orders = await seedMany(
    service(),
    'order',
    numbers(50).map((n) => ({ number: `A-${n}`, customer: customers[n % 20], seller: agents[1], ship: { to: customers[0] } })),
    'ada',
  );
  await declareShop(service());
});

const read = <T = Entity & EntityPage>(caller: { cookie: string }, key: string | undefined, query: string, headers = {}) =>
  service().call<T>('GET', `/rest/entity/order/${key}?${query}`, { ...caller, headers });

describe('include', () => {
  test('50 orders of 20 customers: each customer once, as getEntity answers it, by GET and POST alike', async () => {
    const { body, text } = await list(service(), ada, 'order', { include: ['customer'] });
    expect(body.items.map(({ key }) => key)).toEqual(orders);
    expect(keysIncluded(body)).toEqual({ customer: customers });
    expect(body.withheld).toEqual([]);
    const one = await service().call('GET', `/rest/entity/customer/${customers[7]}`, ada);
    expect(text).toContain(`"${customers[7]}":${one.text}`);
    expect((await queryBy(service(), ada, 'order', { include: ['customer'] })).text).toBe(text);
  });

  test('without it an answer has neither included nor withheld, and an empty page has empty ones', async () => {
    expect(Object.keys((await list(service(), ada, 'order')).body)).toEqual(['items', 'next', 'prev']);
    expect(Object.keys((await queryBy(service(), ada, 'order', { include: [] })).body)).toEqual(['items', 'next', 'prev']);
    const empty = { items: [], next: null, prev: null, included: {}, withheld: [] };
    expect((await list(service(), ada, 'order', { include: ['customer'], filter: { number: 'none' } })).body).toEqual(empty);
  });

  test('follows several references, nested ones, and the next reference, along this way only', async () => {
    const [order] = await seedMany(service(), 'order', [{ customer: customers[2], seller: agents[0], ship: { to: customers[3] } }], 'ada');
    const includedBy = async (...include: string[]) =>
      keysIncluded((await list(service(), ada, 'order', { include, filter: { $key: order } })).body);
    expect(await includedBy('customer', 'ship.to')).toEqual({ customer: [customers[2], customers[3]] });
    expect(await includedBy('customer.agent')).toEqual({ customer: [customers[2]], agent: [agents[0]] });
    expect(await includedBy('customer', 'ship.to.agent')).toEqual({ customer: [customers[2], customers[3]], agent: [agents[1]] });
    expect(await includedBy('ship.to.agent', 'seller', 'customer.agent')).toEqual({
      customer: [customers[2], customers[3]],
      agent: [agents[0], agents[1]],
    });
  });

  test('as docs/filters.md shows it', async () => {
    const [, path = ''] = /"\$BASE(\/\S+)"/.exec(section(readDocument('docs/filters.md'), '## Includes')) ?? [];
    const { body } = await service().call<EntityPage>('GET', path, ada);
    expect([body.items.length > 0, Object.keys(body.included ?? {})]).toEqual([true, ['customer', 'agent']]);
  });

  test('sends one statement for each step, whatever the number of rows', async () => {
    const statements: string[] = [];
    const { store } = service();
    const query = store.queryRepeated.bind(store);
    store.queryRepeated = (compiled) => {
      statements.push(compiled.sql);
      return query(compiled);
    };
    try {
      for (const [include, count] of [
        [[], 1],
        [['customer'], 2],
        [['customer', 'seller', 'ship.to'], 2],
        [['customer.agent', 'ship.to.parent', 'seller'], 3],
      ] as const) {
        statements.length = 0;
        expect((await list(service(), ada, 'order', { include: [...include] })).body.items).toHaveLength(50);
        expect(statements).toHaveLength(count);
      }
    } finally {
      store.queryRepeated = query;
    }
  });

  test('comes with every page, in both directions and after a sort, and may change between pages', async () => {
    const pages = await pagesOf(service(), ada, 'order', { include: ['customer'], limit: 15, filter: { $key: { $in: orders } } });
    expect(pages.map((page) => keysIncluded(page)['customer']?.length)).toEqual([15, 15, 15, 5]);
    for (const { items, included } of pages)
      for (const { fields } of items) expect(included?.['customer']?.[String(fields['customer'])]?.key).toBe(fields['customer']);
    const query = { limit: 15, filter: { $key: { $in: orders } } };
    const back = (await list(service(), ada, 'order', { ...query, include: ['seller'], cursor: pages[1]?.prev ?? '' })).body;
    expect([back.items, keysIncluded(back)]).toEqual([pages[0]?.items, { agent: [agents[1]] }]);
    expect((await list(service(), ada, 'order', { ...query, cursor: pages[0]?.next ?? '' })).body.items).toEqual(pages[1]?.items);
    const sorted = (await list(service(), ada, 'order', { ...query, sort: ['-number'], limit: 1, include: ['customer'] })).body;
    expect(keysIncluded(sorted)).toEqual({ customer: [customers[9]] });
  });

  test('comes with a list by the index of the reference', async () => {
    const { body } = await list(service(), ada, 'order', {
      filter: { customer: customers[4] },
      sort: ['-number'],
      include: ['customer.agent'],
    });
    expect(body.items.map(({ fields }) => fields['number'])).toEqual(['A-44', 'A-4', 'A-24']);
    expect(keysIncluded(body)).toEqual({ customer: [customers[4]], agent: [agents[0]] });
  });

  test('the Link of the next page has it, and the ETag changes with what is included', async () => {
    const first = await list(service(), ada, 'order', { include: ['customer'], limit: 1 });
    expect(first.headers.get('link')).toContain('include=customer');
    await service().call('POST', `/rest/entity/customer/${customers[0]}`, { ...ada, json: { company: 'renamed' } });
    const second = await list(service(), ada, 'order', { include: ['customer'], limit: 1 });
    expect(second.body.items).toEqual(first.body.items);
    expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'));
  });

  test('withholds what does not exist, once, and leaves out values that are no keys', async () => {
    const rows = ['9223372036854775807', '9223372036854775807', null, 'x', 7, '9223372036854775808'].map((customer) => ({
      customer,
      number: 'w',
    }));
    await seedMany(service(), 'order', rows, 'ada');
    const { body } = await list(service(), ada, 'order', { include: ['customer'], filter: { number: 'w' } });
    expect([body.items.length, body.included, body.withheld]).toEqual([6, {}, [{ name: 'customer', key: '9223372036854775807' }]]);
  });

  test('with a projection withholds only references that the answer shows', async () => {
    const [order] = await seedMany(
      service(),
      'order',
      [{ number: 'p', customer: '5000000', seller: agents[0], ship: { to: '5000001' } }],
      'ada',
    );
    const query = { include: ['customer', 'seller', 'ship.to'], filter: { $key: order } };
    const withheldBy = async (...fields: string[]) => (await list(service(), ada, 'order', { ...query, fields })).body;
    const page = await withheldBy('number');
    expect(page.items[0]?.fields).toEqual({ number: 'p' });
    expect([keysIncluded(page), page.withheld]).toEqual([{ agent: [agents[0]] }, []]);
    expect((await withheldBy('ship')).withheld).toEqual([{ name: 'customer', key: '5000001' }]);
    expect((await withheldBy('customer', 'ship.to')).withheld?.map(({ key }) => key)).toEqual(['5000000', '5000001']);
  });
});

describe('a refusal', () => {
  test.for<[string[], string[]]>([
    [['custmer'], ['include unknown-field', '/include/0 unknown-field']],
    [['number'], ['include not-a-reference', '/include/0 not-a-reference']],
    [['ship'], ['include not-a-reference', '/include/0 not-a-reference']],
    [['customer.company'], ['include not-a-reference', '/include/0 not-a-reference']],
    [['customer.nothing'], ['include unknown-field', '/include/0 unknown-field']],
    [
      ['customer', 'customer.parent.parent'],
      ['include too-deep', '/include/1 too-deep'],
    ],
    [['$key'], ['include not-addressable', '/include/0 not-addressable']],
    [['__proto__'], ['include unknown-field', '/include/0 unknown-field']],
    [['a.b.c.d.e.f'], ['include invalid-value', '/include/0 invalid-value']],
  ])('422 — %j', async ([include, [byUrl, byBody]]) => {
    const url = await list<ProblemBody>(service(), ada, 'order', { include });
    const body = await queryBy<ProblemBody>(service(), ada, 'order', { include });
    expect([url.status, faultsIn(url), body.status, faultsIn(body)]).toEqual([422, [byUrl], 422, [byBody]]);
    expect([url.body.code, body.body.code]).toEqual(['validation-failed', 'validation-failed']);
    expect(faultsIn(await read<ProblemBody>(ada, orders[0], `include=${include.join()}`))).toEqual([byUrl]);
  });

  test('422 — lists the references of the type, and other faults beside', async () => {
    const answer = await list<ProblemBody>(service(), ada, 'order', { include: ['number', 'x'], sort: ['y'], fields: ['z'] });
    expect(faultsIn(answer)).toEqual(['sort unknown-field', 'fields unknown-field', 'include not-a-reference', 'include unknown-field']);
    expect(answer.body.errors?.[2]?.detail).toContain('customer, seller, ship.to');
    const [sort, fields, , include] = answer.body.errors?.map(({ detail }) => /no such field: (\S+)\./.exec(detail)?.[1]) ?? [];
    expect([sort, fields, include], 'each name that no field has').toEqual(['y', 'z', 'x']);
  });

  test('422 — a name without a declared type, an empty name, and six references', async () => {
    const none = await list<ProblemBody>(service(), ada, 'note', { include: ['customer'] });
    expect([none.status, faultsIn(none)]).toEqual([422, ['include not-a-reference']]);
    const empty: Answer<ProblemBody> = await service().call('GET', '/rest/entity/order?include=', ada);
    expect([empty.status, faultsIn(empty)]).toEqual([422, ['include invalid-value']]);
    const six = ['customer', 'seller', 'ship.to', 'customer.agent', 'customer.parent', 'ship.to.agent'];
    const many = await list<ProblemBody>(service(), ada, 'order', { include: six });
    expect([many.status, faultsIn(many)]).toEqual([422, ['include invalid-value']]);
    expect((await queryBy(service(), ada, 'order', { include: six })).status).toBe(422);
    expect((await list(service(), ada, 'order', { include: six.slice(1) })).status).toBe(200);
  });
});

describe('8 MiB', () => {
  test('end a page before the item that does not fit with what it leads to, and no entity is lost', async () => {
    const long = 'x'.repeat(1_000_000);
    const heavy = await seedMany(
      service(),
      'customer',
      numbers(12).map(() => ({ company: long })),
      'ada',
    );
    const rows = numbers(24).map((n) => ({ number: 'h', customer: heavy[Math.floor(n / 2)] }));
    const keys = await seedMany(service(), 'order', rows, 'ada');
    const query = { sort: ['number', '-$key'], include: ['customer'], filter: { $key: { $in: keys } } };
    const pages = await pagesOf(service(), ada, 'order', query);
    expect(pages.map(({ items }) => items.length)).toEqual([14, 10]);
    expect(keysIn(pages)).toEqual(keys.toReversed());
    for (const page of pages) expect(JSON.stringify(page).length).toBeLessThan(8 * 2 ** 20);
    const back = (await list(service(), ada, 'order', { ...query, cursor: pages[1]?.prev ?? '' })).body;
    expect(back.items).toEqual(pages[0]?.items);
  });

  test('do not part an entity from what it leads to', async () => {
    const long = 'x'.repeat(4_000_000);
    const [parent] = await seedMany(service(), 'customer', [{ company: long }], 'ada');
    const [child] = await seedMany(service(), 'customer', [{ company: long, parent }], 'ada');
    const keys = await seedMany(service(), 'order', [{ customer: child }, { customer: parent }], 'ada');
    const pages = await pagesOf(service(), ada, 'order', { include: ['customer.parent'], filter: { $key: { $in: keys } } });
    expect(pages.map((page) => [page.items.length, keysIncluded(page)])).toEqual([
      [1, { customer: [parent, child] }],
      [1, { customer: [parent] }],
    ]);
  });
});

describe('getEntity', () => {
  test('200 — with include: the entity, what it refers to, and a tag that If-Match takes', async () => {
    const plain = await read(ada, orders[3], '');
    const answer = await read(ada, orders[3], 'include=customer.agent');
    const { included, withheld, ...entity } = answer.body;
    expect([entity, keysIncluded({ included }), withheld]).toEqual([plain.body, { customer: [customers[3]], agent: [agents[1]] }, []]);
    expect(answer.text.startsWith(plain.text.slice(0, -1))).toBe(true);
    const tag = answer.headers.get('etag') ?? '';
    expect(tag).toMatch(new RegExp(`^"${plain.body.version}[0-9]{20}"$`));
    for (const proxied of [tag, `W/${tag}`, tag.replace(/"$/, '-gzip"')])
      expect((await read(ada, orders[3], 'include=customer.agent', { 'if-none-match': proxied })).status, proxied).toBe(304);
    expect((await read(ada, orders[3], 'include=customer.agent', { 'if-none-match': `"${plain.body.version}"` })).status).toBe(200);
    await service().call('POST', `/rest/entity/customer/${customers[3]}`, { ...ada, json: { company: 'other' } });
    expect((await read(ada, orders[3], 'include=customer.agent', { 'if-none-match': tag })).status).toBe(200);
    const update = () =>
      service().call('POST', `/rest/entity/order/${orders[3]}`, { ...ada, json: { number: 'new' }, headers: { 'if-match': `W/${tag}` } });
    expect([(await update()).status, (await update()).status]).toEqual([200, 412]);
  });

  test('200 — with fields: these alone, and the tag of the version', async () => {
    const answer = await read(ada, orders[4], 'fields=number,ship.to');
    expect(answer.body.fields).toEqual({ number: 'A-4', ship: { to: customers[0] } });
    const tag = `"${answer.body.version}"`;
    expect([answer.headers.get('etag'), Object.hasOwn(answer.body, 'included')]).toEqual([tag, false]);
    expect((await read(ada, orders[4], 'fields=number', { 'if-none-match': tag })).status).toBe(304);
    const both = await read(ada, orders[4], 'fields=number&include=customer');
    expect([both.body.fields, keysIncluded(both.body)]).toEqual([{ number: 'A-4' }, { customer: [customers[4]] }]);
  });

  test('404 — for the rows of others and for none, with fields or include as without (rule 64)', async () => {
    const uma = await createCaller(service(), 'uma', { order: { actions: ['read'], condition: 'own' }, customer: ['read'] });
    const [own] = await seedMany(service(), 'order', [{ number: 'u', customer: customers[0] }], 'uma');
    expect(keysIncluded((await read(uma, own, 'include=customer')).body)).toEqual({ customer: [customers[0]] });
    for (const query of ['', 'fields=number', 'include=customer']) {
      expect((await read(uma, orders[0], query)).status).toBe(404);
      expect((await read(uma, '8000000', query)).status).toBe(404);
    }
  });

  test('422 — names that are none', async () => {
    const answer = await read<ProblemBody>(ada, orders[0], 'fields=number,nmber&include=number');
    expect([answer.status, faultsIn(answer)]).toEqual([422, ['fields unknown-field', 'include not-a-reference']]);
    expect((await read(ada, orders[0], 'fields=number&include=customer')).status).toBe(200);
  });
});
