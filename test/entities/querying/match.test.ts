/** Filters that look through references: `$match`. */
import { beforeAll, describe, expect, test } from 'vitest';
import { matchLimits } from '../../../src/entities/querying/match.ts';
import { faultsIn, keysIn, list, pagesOf, queryBy, seedMany, type ListQuery } from '../../support/lists.ts';
import { readDocument, section } from '../../support/markdown.ts';
import { useService, type ProblemBody } from '../../support/service.ts';
import { createCaller, declareShop } from '../../support/shop.ts';

const service = useService();
let ada: { cookie: string };
let agents: string[];
let customers: string[];
let orders: string[];

beforeAll(async () => {
  ada = await createCaller(service(), 'ada');
  await service().createUser('bob');
  agents = await seedMany(service(), 'agent', [{ name: 'Ann' }, { name: 'Ben' }], 'ada', 'bob');
  const rows = Array.from({ length: 60 }, (_, n) => ({ company: `C${n % 20}`, agent: agents[n % 2] }));
  customers = await seedMany(service(), 'customer', rows, 'ada', 'bob');
  const sold = [0, 1, 2, 20, 21, 40].map((n, index) => ({ number: `A-${index}`, customer: customers[n], seller: agents[1] }));
  orders = await seedMany(service(), 'order', sold, 'ada');
  await declareShop(service());
  const others = [
    { number: 'B-0' },
    { number: 'B-1', customer: null },
    { number: 'B-2', customer: '7000000' },
    { number: 'B-3', customer: 7 },
  ];
  await seedMany(service(), 'order', others, 'ada');
});

const numbersBy = async (filter: unknown, query: ListQuery = {}, caller = ada) => {
  const answer = await list(service(), caller, 'order', { ...query, filter });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.items.map(({ fields }) => fields['number']);
};

/** Runs `check` as customers are few, whose keys are found first, and as they are too many. */
async function bothWays(check: () => Promise<void>): Promise<void> {
  await check();
  const usual = matchLimits.keys;
  matchLimits.keys = 0;
  await check().finally(() => (matchLimits.keys = usual));
}

describe('$match', () => {
  test.each([
    { of: { company: 'C0' }, numbers: ['A-0', 'A-3', 'A-5'] },
    { of: { company: { $in: ['C1', 'C2'] } }, numbers: ['A-1', 'A-2', 'A-4'] },
    { of: { company: 'nobody' }, numbers: [] },
    { of: {}, numbers: ['A-0', 'A-1', 'A-2', 'A-3', 'A-4', 'A-5'] },
    { of: { agent: { $match: { name: 'Ben' } } }, numbers: ['A-1', 'A-4'] },
    { of: { agent: { $match: { name: { $prefix: 'A' } } }, company: { $ne: 'C0' } }, numbers: ['A-2'] },
    { of: { $createdBy: 'bob' }, numbers: ['A-0', 'A-2', 'A-3', 'A-5'] },
    { of: { $not: { company: 'C0' } }, numbers: ['A-1', 'A-2', 'A-4'] },
  ])('200 — finds orders by their customer: $of', async ({ of, numbers }) => {
    await bothWays(async () => expect(await numbersBy({ customer: { $match: of } })).toEqual(numbers));
  });

  test('200 — an order without a customer, or with one that does not exist, fulfils none, and so each $not', async () => {
    for (const of of [{ company: 'C0' }, {}]) {
      const found = await numbersBy({ customer: { $match: of } });
      const others = await numbersBy({ $not: { customer: { $match: of } } });
      expect(new Set([...found, ...others])).toEqual(new Set(await numbersBy({})));
      expect(found.filter((number) => others.includes(number))).toEqual([]);
      expect(others).toEqual(expect.arrayContaining(['B-0', 'B-1', 'B-2', 'B-3']));
    }
  });

  test('200 — beside a test that the index of another reference serves, also where no customer fulfils the filter', async () => {
    await bothWays(async () => {
      const seller = agents[1];
      expect(await numbersBy({ seller, customer: { $match: { company: 'C1' } } })).toEqual(['A-1', 'A-4']);
      expect(await numbersBy({ seller, customer: { $match: { company: 'nobody' } } })).toEqual([]);
      expect(await numbersBy({ customer: { $match: { company: 'C1' }, $exists: false } })).toEqual([]);
    });
  });

  test('200 — beside other operators and tests, sorted, counted and by pages, by GET and POST alike', async () => {
    const of = { company: { $in: ['C0', 'C1'] } };
    await bothWays(async () => {
      const query = { filter: { customer: { $match: of, $ne: customers[20] }, seller: agents[1] }, sort: ['-number'], limit: 2 };
      const pages = await pagesOf(service(), ada, 'order', { ...query, count: 'exact' });
      expect(pages.map(({ items }) => items.map(({ fields }) => fields['number']))).toEqual([
        ['A-5', 'A-4'],
        ['A-1', 'A-0'],
      ]);
      expect(pages.map(({ count }) => count?.value)).toEqual([4, 4]);
      expect(keysIn(await pagesOf(service(), ada, 'order', query, queryBy))).toEqual(keysIn(pages));
    });
  });

  test('200 — for aggregates and exports as for lists', async () => {
    const filter = { customer: { $match: { company: 'C0' } } };
    await bothWays(async () => {
      const json = { filter, measures: { orders: { $count: true } }, groupBy: ['seller'] };
      const { body } = await service().call('POST', '/rest/entity/order/aggregate', { ...ada, json });
      expect(body).toMatchObject({ groups: [{ key: { seller: agents[1] }, orders: 3 }], complete: true });
      const query = new URLSearchParams({ filter: JSON.stringify(filter) });
      const { text } = await service().call('GET', `/rest/entity/order/export?${query.toString()}`, ada);
      const lines = text.trim().split('\n');
      expect(lines.slice(0, -1).map((line) => (JSON.parse(line) as { key: string }).key)).toEqual([orders[0], orders[3], orders[5]]);
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ $complete: true, entities: 3 });
    });
  });

  test('200 — as docs/filters.md shows it', async () => {
    const agreed = { company: 'Babbage', agent: agents[0] };
    const [ofAnn, ofBen] = await seedMany(service(), 'customer', [agreed, { ...agreed, agent: agents[1] }], 'ada');
    const sold = [ofAnn, ofBen].map((customer, n) => ({ number: `D-${n}`, customer }));
    const [found] = await seedMany(service(), 'order', sold, 'ada');
    const [, example = ''] = /```json\n(.*?)```/s.exec(section(readDocument('docs/filters.md'), '## Filters through references')) ?? [];
    const { body } = await queryBy(service(), ada, 'order', JSON.parse(example) as ListQuery);
    expect(body.items.map(({ key }) => key)).toEqual([found]);
  });

  test('200 — finds a customer by its parent, which is one of the same name', async () => {
    const children = await seedMany(service(), 'customer', [{ company: 'child', parent: customers[4] }], 'ada');
    const { body } = await list(service(), ada, 'customer', { filter: { parent: { $match: { company: 'C4' } } } });
    expect(body.items.map(({ key }) => key)).toEqual(children);
  });

  test('422 — each fault at its place: no reference, a field that the customer lacks, three references in a row', async () => {
    const filter = {
      number: { $match: {} },
      customer: { $match: { nothing: 1, company: 5, parent: { $match: { parent: { $match: { company: 'C0' } } } } } },
      seller: { $match: 'Ann' },
    };
    expect(faultsIn(await list<ProblemBody>(service(), ada, 'order', { filter }))).toEqual([
      'filter /number/$match not-a-reference',
      'filter /customer/$match/nothing unknown-field',
      'filter /customer/$match/company invalid-type',
      'filter /customer/$match/parent/$match/parent/$match too-deep',
      'filter /seller/$match invalid-type',
    ]);
    const undeclared = await list<ProblemBody>(service(), ada, 'note', { filter: { customer: { $match: {} } } });
    expect(faultsIn(undeclared)).toEqual(['filter /customer/$match not-a-reference']);
  });
});

describe('the rights of the caller in $match', () => {
  test('own rows alone are found: an order of another one’s customer is not told by it (rule 64)', async () => {
    const rob = await createCaller(service(), 'rob', { order: ['read'], customer: { actions: ['read'], condition: 'own' } });
    const [own] = await seedMany(service(), 'customer', [{ company: 'C0' }], 'rob');
    await seedMany(service(), 'order', [{ number: 'R-0', customer: own }], 'ada');
    const filter = { customer: { $match: { company: 'C0' } } };
    await bothWays(async () => {
      expect(await numbersBy(filter)).toEqual(['A-0', 'A-3', 'A-5', 'R-0']);
      expect(await numbersBy(filter, {}, rob)).toEqual(['R-0']);
    });
  });

  test('without read on the name nothing is found, and nothing is told about its type (rule 64)', async () => {
    const sam = await createCaller(service(), 'sam', { order: ['read'], customer: ['create', 'update'], agent: ['read'] });
    expect(await numbersBy({ seller: { $match: { name: 'Ben' } } }, {}, sam)).toEqual(expect.arrayContaining(['A-0']));
    for (const of of [{}, { company: 'C0' }, { company: 5 }, { nothing: 1 }, { agent: { $match: { name: 'Ann' } } }])
      expect(await numbersBy({ customer: { $match: of } }, {}, sam)).toEqual([]);
    expect((await list<ProblemBody>(service(), sam, 'customer')).status).toBe(403);
  });

  test('a way through what the caller may not read finds nothing (rule 64)', async () => {
    const kim = await createCaller(service(), 'kim', { order: ['read'], customer: ['read'] });
    expect(await numbersBy({ customer: { $match: { company: 'C2' } } }, {}, kim)).toEqual(['A-2']);
    expect(await numbersBy({ customer: { $match: { agent: { $match: { name: 'Ann' } } } } }, {}, kim)).toEqual([]);
    expect(await numbersBy({ customer: { $match: { $not: { agent: { $match: { name: 'Ann' } } } } } }, {}, kim)).toContain('A-0');
  });
});
