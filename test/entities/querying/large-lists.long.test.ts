/** Lists over a million entities: what one page costs does not depend on their number, nor on its place in the list. */
import { sql, type RawBuilder } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { gatherStatistics } from '../../../src/entities/companion/table.ts';
import { accessPathOf } from '../../../src/entities/querying/access-path.ts';
import { bindQuery } from '../../../src/entities/querying/bind.ts';
import { fillCompanion } from '../../../src/entities/companion/fill.ts';
import { readPage } from '../../../src/entities/querying/page.ts';
import type { RowPosition } from '../../../src/filter/order.ts';
import { everyEntity } from '../../../src/filter/syntax.ts';
import { declareIndexed } from '../../support/companion.ts';
import { keysIn, list } from '../../support/lists.ts';
import { useService } from '../../support/service.ts';
import { rowsCoveredFor } from '../../support/coverage.ts';

const service = useService();
const count = 1_000_000;
/** A statement inserts so many in less than its time limit. */
const batch = 10_000;
let ada: { cookie: string };

beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada')).id) };
});

async function insert(name: string, fields: RawBuilder<unknown>): Promise<void> {
  for (let from = 1; from <= count; from += batch)
    await sql`
      insert into entity (name, fields, created_by, updated_by)
      select ${name}, ${fields}, 'ada', 'ada' from generate_series(${from}::bigint, ${from + batch - 1}) as n`.execute(service().db);
}

test(
  '200 — a filter on a field that one of a million has: each page within two seconds, and the entity once',
  { timeout: 900_000 },
  async () => {
    await insert('note', sql`jsonb_build_object('n', n)`);
    await sql`analyze entity`.execute(service().db);
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null; pages++) {
      const { status, body } = await list(service(), ada, 'note', { filter: { n: 987_654 }, ...(cursor && { cursor }) });
      // A page that takes longer is 422.
      expect(status).toBe(200);
      found.push(...keysIn([body]));
      cursor = body.next;
    }
    expect(found).toHaveLength(1);
    expect(pages).toBeGreaterThanOrEqual(count / 5_000);
  },
);

test('page 1 and page 10,000 by an index read as many buffers', { timeout: 900_000 }, async () => {
  const companion = await declareIndexed(service(), 'customer', {
    type: 'object',
    properties: { credit: { type: 'string', format: 'decimal' } },
    'x-index': [['credit']],
  });
  await insert('customer', sql`jsonb_build_object('credit', (n * 7919 % 1000000)::text)`);
  await fillCompanion(service().db, 'customer', companion, () => undefined);
  await gatherStatistics(service().db, companion);
  const sort = [{ field: ['credit'], type: 'decimal' as const, descending: false }];
  const wanted = { filter: everyEntity, sort, limit: 50, bytes: 1e6 };
  const path = accessPathOf(bindQuery(wanted, rowsCoveredFor('customer', null), companion));
  expect(path.kind).toBe('index-only scan');
  const buffersOf = async (after: RowPosition | undefined) =>
    await service().store.readOnly(60_000, async (run) => {
      type Plan = { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number; 'Actual Rows': number } };
      const plans: (Plan['Plan'] | undefined)[] = [];
      const explained: typeof run = async (query, scans) => {
        const [row] = await run<{ 'QUERY PLAN': [Plan] }>({ ...query, sql: `explain (analyze, buffers, format json) ${query.sql}` });
        plans.push(row?.['QUERY PLAN'][0].Plan);
        return await run(query, scans);
      };
      await readPage(explained, path, after && { ...after, direction: 'next' });
      const [plan] = plans;
      expect(plans).toHaveLength(1);
      expect(plan?.['Actual Rows']).toBe(51);
      return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
    });
  const first = await buffersOf(undefined);
  const deep = await buffersOf({ values: ['500000'], key: '0' });
  expect(deep).toBeLessThan(first * 1.05 + 10);
});
