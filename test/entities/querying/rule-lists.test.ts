/** Lists, counts and exports under rules: by the indexes that serve the rule, and by key where none does, with the same rows (rule 64). */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listLimits } from '../../../src/entities/querying/access-path.ts';
import { matchLimits } from '../../../src/entities/querying/match.ts';
import { declareType, type Entity } from '../../support/entities.ts';
import { callerWith } from '../../support/rules.ts';
import { useService, type Answer, type Call } from '../../support/service.ts';

const service = useService();
let root: Call;
const usual = { ...listLimits };
const usualKeys = matchLimits.keys;
afterEach(() => {
  Object.assign(listLimits, usual);
  matchLimits.keys = usualKeys;
});

interface Order extends Entity {
  fields: { region: string; agent: string; total: number; day: string; customer: string };
}
const regions = ['north', 'south', 'east', 'west'];
let orders: Order[];
let customers: string[];

beforeAll(async () => {
  const text = { type: 'string' };
  const reference = { type: 'string', format: 'int64' };
  await declareType(service(), 'customer', { type: 'object', properties: { agent: text }, 'x-index': [['agent']] });
  await declareType(service(), 'badge', {
    type: 'object',
    properties: { customer: reference, user: text },
    'x-references': { customer: { to: 'customer' } },
    'x-index': [['user']],
  });
  await declareType(service(), 'order', {
    type: 'object',
    properties: { region: text, agent: text, total: { type: 'number' }, day: text, note: text, customer: reference },
    'x-references': { customer: { to: 'customer' } },
    'x-index': [['region', '-day'], ['agent'], ['total'], ['-day']],
  });
  root = { cookie: await service().openSession((await service().createUser('root')).id) };
  const create = async (name: string, items: object[]) => {
    const {
      body,
      status,
      text: said,
    } = await service().call<{ items: { key: string }[] }>('POST', `/rest/entity/${name}/bulk`, { ...root, json: items });
    expect(status, said).toBe(200);
    return body.items.map(({ key }) => key);
  };
  customers = await create(
    'customer',
    [0, 1, 2, 3].map((n) => ({ agent: n < 2 ? 'ada' : 'bob' })),
  );
  await create('badge', [
    { customer: customers[1], user: 'ada' },
    { customer: customers[3], user: 'ada' },
  ]);
  const fields = Array.from({ length: 72 }, (_, n) => ({
    region: regions[n % 4],
    agent: n % 3 === 0 ? 'ada' : 'bob',
    total: n % 7,
    day: `2026-01-${String(1 + (n % 28)).padStart(2, '0')}`,
    note: n % 5 === 0 ? 'x' : 'y',
    customer: customers[n % 4],
  }));
  await create('order', fields);
  orders = (await service().call<{ items: Order[] }>('GET', '/rest/entity/order?limit=1000', root)).body.items;
});

const isIn =
  (...names: string[]) =>
  ({ fields }: Order) =>
    names.includes(fields.region);
/** Rules with the orders that they cover. */
const rules: Readonly<Record<string, { filter: object; covers: (order: Order) => boolean }>> = {
  'one value': { filter: { region: 'north' }, covers: isIn('north') },
  'some values': {
    filter: { region: { $in: ['north', 'east'] } },
    covers: isIn('north', 'east'),
  },
  alternatives: {
    filter: { $or: [{ agent: 'ada' }, { region: 'north' }] },
    covers: (order) => order.fields.agent === 'ada' || isIn('north')(order),
  },
  'a value and another test': {
    filter: { region: 'north', note: { $ne: 'x' } },
    covers: (order) => isIn('north')(order) && (order as unknown as { fields: { note: string } }).fields.note !== 'x',
  },
  'a range': {
    filter: { total: { $gte: 5 } },
    covers: ({ fields }) => fields.total >= 5,
  },
  'a reference': {
    filter: { customer: { $match: { agent: 'ada' } } },
    covers: ({ fields }) => customers.indexOf(fields.customer) < 2,
  },
  'referring entities': {
    filter: { customer: { $match: { $some: { 'badge.customer': { user: 'ada' } } } } },
    covers: ({ fields }) => customers.indexOf(fields.customer) % 2 === 1,
  },
  'no value': { filter: { region: { $in: [] } }, covers: () => false },
};

const byKey = (one: Order, other: Order) => Number(one.key) - Number(other.key);
const orderings: Readonly<Record<string, (one: Order, other: Order) => number>> = {
  '': byKey,
  '-$key': (one, other) => -byKey(one, other),
  '-day': (one, other) => (one.fields.day === other.fields.day ? -byKey(one, other) : one.fields.day < other.fields.day ? 1 : -1),
};

/** All pages of the list, forwards. Back from the last one there are the rows of the one before. */
async function listed(who: Call, parameters: Record<string, string>): Promise<{ keys: string[]; pages: number }> {
  const keys: string[] = [];
  let pages = 0;
  let cursor: string | null = null;
  let before: string[] = [];
  do {
    const query: URLSearchParams = new URLSearchParams({ limit: '7', ...parameters, ...(cursor !== null && { cursor }) });
    type Page = { items: Entity[]; next: string | null; prev: string | null };
    const { body, status, text }: Answer<Page> = await service().call<Page>('GET', `/rest/entity/order?${query.toString()}`, who);
    expect(status, text).toBe(200);
    const page = body.items.map(({ key }) => key);
    if (body.prev !== null && before.length > 0 && page.length > 0) {
      const back = new URLSearchParams({ limit: '7', ...parameters, cursor: body.prev });
      const { body: earlier } = await service().call<Page>('GET', `/rest/entity/order?${back.toString()}`, who);
      expect(earlier.items.map(({ key }) => key)).toEqual(before);
    }
    keys.push(...page);
    pages += 1;
    before = page;
    cursor = body.next;
  } while (cursor !== null);
  return { keys, pages };
}

describe.each(Object.entries(rules))('a rule of %s', (name, { filter, covers }) => {
  let ada: Call;
  beforeAll(async () => {
    ada = await callerWith(service(), name.replaceAll(' ', '-'), [{ entity: 'order', actions: ['read'], rule: { filter } }]);
  });

  test.each(['index', 'key'])(`200 — pages, counts and exports have the covered rows, by %s (rule 64)`, async (by) => {
    const sorts = by === 'index' || name.endsWith('value') || name.endsWith('values') ? Object.keys(orderings) : ['', '-$key'];
    // A list by key would look at one row for each page.
    Object.assign(listLimits, by === 'key' ? { candidates: 3 } : { rows: 1, rowsWithFields: 1 });
    if (by === 'key') matchLimits.keys = 1;
    for (const sort of sorts) {
      for (const wanted of [{}, { agent: 'bob' }, { note: 'x' }, { $not: { region: 'north' } }]) {
        const isWanted = ({ fields }: Order) =>
          Object.entries(wanted).every(([field, value]) =>
            field === '$not' ? fields.region !== 'north' : (fields as Record<string, unknown>)[field] === value,
          );
        const expected = orders.filter((order) => covers(order) && isWanted(order)).toSorted(orderings[sort]);
        const parameters = { ...(sort !== '' && { sort }), filter: JSON.stringify(wanted) };
        const { keys, pages } = await listed(ada, parameters);
        expect(keys, `${sort} ${JSON.stringify(wanted)}`).toEqual(expected.map(({ key }) => key));
        if (by === 'index') expect(pages).toBe(Math.max(1, Math.ceil(expected.length / 7)));
        const query = new URLSearchParams({ filter: JSON.stringify(wanted), count: 'exact', limit: '1' });
        const counted = await service().call<{ count: { value: number } }>('GET', `/rest/entity/order?${query.toString()}`, ada);
        expect(counted.body.count.value).toBe(expected.length);
      }
    }
    const exported = await service().call('GET', '/rest/entity/order/export', ada);
    const lines = exported.text.trimEnd().split('\n').slice(0, -1);
    expect(lines.map((line) => (JSON.parse(line) as Entity).key)).toEqual(orders.filter(covers).map(({ key }) => key));
  });
});

test('200 — a filter through a reference finds the targets that a rule covers, by its index or by key (rule 64)', async () => {
  const eve = await callerWith(service(), 'eve', [
    { entity: 'order', actions: ['read'] },
    { entity: 'customer', actions: ['read'], rule: { filter: { agent: { $in: ['ada', 'eve'] } } } },
    { entity: 'badge', actions: ['read'], rule: { filter: { customer: { $match: { agent: 'bob' } } } } },
  ]);
  const ofAda = orders.filter(({ fields }) => customers.indexOf(fields.customer) < 2).map(({ key }) => key);
  for (const candidates of [usual.candidates, 0]) {
    Object.assign(listLimits, { candidates });
    expect((await listed(eve, { filter: '{"customer":{"$match":{}}}' })).keys).toEqual(ofAda);
    const unseen = { customer: { $match: { $some: { 'badge.customer': { user: 'ada' } } } } };
    expect((await listed(eve, { filter: JSON.stringify(unseen) })).keys).toEqual([]);
  }
});
