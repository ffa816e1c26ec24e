import { beforeAll, expect, expectTypeOf, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import { declareIndexed } from '../support/companion.ts';
import { seedMany } from '../support/lists.ts';
import { useService } from '../support/service.ts';

interface Order {
  state: 'open' | 'paid';
  total: string;
  placedAt?: string;
}

const service = useService();
let apiKey: string;

beforeAll(async () => {
  apiKey = await service().createKey((await service().createUser('ada')).id);
  const properties = {
    state: { enum: ['open', 'paid'] },
    total: { type: 'string', format: 'decimal' },
    placedAt: { type: 'string', format: 'date-time' },
  };
  const rules = { 'x-index': [['state'], ['total'], ['placedAt']], 'x-search': { fields: ['state'] } };
  await declareIndexed(service(), 'order', { type: 'object', properties, ...rules });
  const totals = ['1.10', '2', '3'];
  await seedMany(
    service(),
    'order',
    totals.map((total, n) => ({ total, state: n === 0 ? 'paid' : 'open', placedAt: `2026-1${n % 2}-01T00:00:00Z` })),
    'ada',
  );
});

test('an aggregation has groups with the types of its measures', async () => {
  const orders = clientOf(service(), { credential: { apiKey } }).entities<Order>('order');
  const { groups, complete } = await orders.aggregate({
    filter: { total: { $gt: '0' } },
    groupBy: ['state', { path: 'placedAt', by: 'year', zone: 'Europe/Berlin' }],
    measures: { count: { $count: true }, sum: { $sum: 'total' }, last: { $max: 'placedAt' } },
    having: { count: { $gte: 1 } },
    sort: ['-count'],
  });
  expect(groups).toEqual([
    { key: { state: 'open', placedAt: '2026' }, count: 2, sum: '5', last: '2026-11-01T00:00:00Z' },
    { key: { state: 'paid', placedAt: '2026' }, count: 1, sum: '1.10', last: '2026-10-01T00:00:00Z' },
  ]);
  expect(complete).toBe(true);
  expectTypeOf(groups[0]?.count).toEqualTypeOf<number | undefined>();
  expectTypeOf(groups[0]?.sum).toEqualTypeOf<string | null | undefined>();
  await expect(orders.aggregate({ measures: { n: { $count: true } }, filter: { total: 'x' } })).rejects.toMatchObject({
    code: 'validation-failed',
  });
});

test('a list searches', async () => {
  const orders = clientOf(service(), { credential: { apiKey } }).entities<Order>('order');
  const totals: string[] = [];
  for await (const { fields } of orders.list({ search: 'open', sort: ['-total'] })) totals.push(fields.total);
  expect(totals).toEqual(['3', '2']);
});
