/** What PostgreSQL reads for the pages of a name with 30,000 entities: a number of buffers that does not depend on the page. */
import { sql } from 'kysely';
import { escapeLiteral } from 'pg';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Companion } from '../../../src/entities/companion/layout.ts';
import { inSchema } from '../../../src/entities/companion/table.ts';
import { builder } from '../../../src/database/driver/prepared.ts';
import { accessPathOf } from '../../../src/entities/querying/access-path.ts';
import { bindQuery, bindToRows } from '../../../src/entities/querying/bind.ts';
import { includedQuery } from '../../../src/entities/querying/include-statements.ts';
import { pageQuery } from '../../../src/entities/querying/list-statements.ts';
import { affordablePath, readPage, rowsOf } from '../../../src/entities/querying/page.ts';
import { fieldTypesOf } from '../../../src/entity-types/field-types.ts';
import { bodyLimits } from '../../../src/filter/limits.ts';
import { parseFilter } from '../../../src/filter/parse.ts';
import type { RowPosition } from '../../../src/filter/order.ts';
import { parseSort } from '../../../src/filter/sort.ts';
import type { Filter } from '../../../src/filter/syntax.ts';
import type { Permit } from '../../../src/rights/permit.ts';
import { declareIndexed } from '../../support/companion.ts';
import { useService } from '../../support/service.ts';
import { rowsCoveredFor } from '../../support/coverage.ts';

const order = {
  type: 'object',
  properties: {
    state: { type: 'string' },
    placedAt: { type: 'string', format: 'date-time' },
    total: { type: 'number' },
    customer: { type: 'string', format: 'int64' },
    note: { type: 'string' },
    label: { type: 'string' },
  },
};
const types = fieldTypesOf(order);
const service = useService();
let companion: Companion;

beforeAll(async () => {
  await Promise.all(['ada', 'bob'].map((name) => service().createUser(name)));
  const { db } = service();
  const indexes = [
    ['state', 'placedAt'],
    ['placedAt'],
    ['total'],
    ['customer'],
    ['note', '-total'],
    ['$createdBy', '-placedAt'],
    { field: 'label', substring: true },
  ];
  companion = await declareIndexed(service(), 'order', { ...order, 'x-index': indexes });
  const columns = companion.columns.map(({ name, field, type }) => ({
    name: sql.ref(name),
    value:
      field[0] === '$createdBy'
        ? sql`created_by`
        : sql`(fields ->> ${sql.lit(field[0])})::${sql.raw({ int64: 'bigint', number: 'numeric', 'date-time': 'timestamptz' }[type as string] ?? 'text')}`,
  }));
  // A quarter of the orders are open, and all of these are among the newer half. By the time alone the oldest of them come after 15,000 others.
  for (let from = 1; from < 30_000; from += 5_000)
    await sql`
      with entities as (
        insert into entity (name, fields, created_by, updated_by)
        select 'order', jsonb_build_object(
          'state', case when n > 15000 and n % 2 = 0 then 'open' when n % 3 = 0 then 'new' else 'done' end, 'total', n * 7919 % 30011,
          'placedAt', to_char(timestamptz '2020-01-01' + n * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
          'customer', (n % 1500)::text, 'note', 'n' || n % 7, 'label', 'label ' || n * 7919 || ' of the order'
        ), case when n % 2500 = 0 then 'bob' else 'ada' end, 'ada'
        from generate_series(${from}::int, ${from}::int + 4999) as n
        returning key, fields, created_by)
      insert into ${inSchema(companion.table)} (key, ${sql.join(columns.map(({ name }) => name))})
      select key, ${sql.join(columns.map(({ value }) => value))} from entities`.execute(db);
  await sql`vacuum analyze entity`.execute(db);
  await sql`analyze ${inSchema(companion.table)}`.execute(db);
});

/** Puts rows of so many other names beside, all over the table, for one test. So PostgreSQL expects few rows of a name whose value it does not know. */
async function putBeside(names: number, rows: number): Promise<void> {
  const { db } = service();
  onTestFinished(async () => {
    await sql`delete from entity where name <> 'order'`.execute(db);
    await sql`vacuum analyze entity`.execute(db);
  });
  await sql`
    insert into entity (name, fields, created_by, updated_by)
    select 'name' || n % ${names}::int, '{}', 'ada', 'ada' from generate_series(1, ${rows}::int) as n`.execute(db);
  await sql`vacuum analyze entity`.execute(db);
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Loops': number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** How PostgreSQL plans: for the values of the statement, or for any, as it may when a statement with a name comes again. Those of texts never have names. */
let plans: 'force_custom_plan' | 'force_generic_plan' = 'force_custom_plan';

const statement = (text: string) => sql.raw(text).compile(builder);

/** A value in the text of a statement: `explain` of a statement with parameters always plans for their values. */
function literal(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return escapeLiteral(`{${value.map((one) => JSON.stringify(one)).join()}}`);
  return escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value));
}

function filterOf(filter: object): Filter {
  const parsed = parseFilter(filter, types, bodyLimits);
  if ('faults' in parsed) throw new Error('refused');
  return parsed.filter;
}

/** The path of a list by key without a companion table. */
const pathByKey = (filter: object, owner: string | null = null) =>
  accessPathOf(bindToRows({ filter: filterOf(filter), sort: [], limit: 50, bytes: 1e6 }, rowsCoveredFor('order', owner), undefined));

/** The buffers of all statements of a page, the tables that they read as a whole, and the rows of the page. */
async function costOf(filter: object, sort: string[], { after }: { after?: RowPosition } = {}, owner: string | null = null) {
  const terms = parseSort(sort, types);
  if ('faults' in terms) throw new Error('refused');
  const query = bindQuery({ filter: filterOf(filter), sort: terms.sort, limit: 50, bytes: 1e6 }, rowsCoveredFor('order', owner), companion);
  if (query.over !== 'columns') throw new Error('the companion table is of no use');
  const cursor = after && { ...after, direction: 'next' as const };
  const nodes: Plan[] = [];
  let buffers = 0;
  const rows = await service().store.readOnly(10_000, async (run) => {
    const explained: typeof run = async (query, scans) => {
      const given = query.parameters.length > 0 ? `(${query.parameters.map(literal).join()})` : '';
      const mode = scans === 'by-bitmap' ? 'force_custom_plan' : plans;
      await run(sql`select set_config('plan_cache_mode', ${mode}, true)`.compile(builder));
      await run(statement(`prepare explained as ${query.sql}`));
      const [row] = await run<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        statement(`explain (analyze, buffers, format json) execute explained ${given}`),
        scans,
      );
      await run(statement('deallocate explained'));
      const plan = row?.['QUERY PLAN'][0].Plan;
      if (plan) nodes.push(...nodesOf(plan));
      buffers += (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
      return await run(query, scans);
    };
    const path = await affordablePath(explained, accessPathOf(query), cursor);
    return path && (await readPage(explained, path, cursor)).rows;
  });
  const whole = new Set(nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']));
  return { rows, buffers, whole: [...whole] };
}

describe.each(['force_custom_plan', 'force_generic_plan'] as const)('a page with %s', (mode) => {
  beforeAll(() => {
    plans = mode;
  });

  test.for<[string, object, string[], string[]]>([
    ['sorted', {}, ['total'], ['29000']],
    ['sorted, descending', {}, ['-total'], ['1000']],
    ['with an equality before the sort', { state: 'done' }, ['placedAt'], ['2020-01-15T00:00:00Z']],
    ['with several values before the sort', { state: { $in: ['done', 'open'] } }, ['-placedAt'], ['2020-01-02T00:00:00Z']],
    ['within limits', { total: { $gte: 500, $lt: 29_500 } }, ['total'], ['29000']],
    ['in mixed directions', {}, ['note', '-total'], ['n5', '50']],
    ['by key with an equality', { customer: '7' }, [], []],
  ])('costs the same at the beginning and deep inside: %s', async ([, filter, sort, values]) => {
    const [first, deep] = [
      await costOf(filter, sort),
      await costOf(filter, sort, { after: { values, key: sort.length === 0 ? '10' : '0' } }),
    ];
    for (const { rows, buffers, whole } of [first, deep]) {
      expect(rows?.length).toBeGreaterThan(15);
      expect(buffers).toBeLessThan(450);
      expect(whole).toEqual([]);
    }
    expect(deep.buffers).toBeLessThan(first.buffers * 1.2 + 10);
  });

  test('goes by the index with the equality, where the planner would find the order of another index cheaper', async () => {
    const { rows, buffers } = await costOf({ state: 'open' }, ['placedAt']);
    expect(rows).toHaveLength(50);
    expect(buffers).toBeLessThan(350);
  });

  test('of few candidates, in any order', async () => {
    const { rows, buffers, whole } = await costOf({ customer: '7', note: { $prefix: 'n' } }, ['-$updatedAt']);
    expect([rows?.length, whole]).toEqual([20, []]);
    expect(buffers).toBeLessThan(250);
  });

  test('of many candidates and tests of columns looks at 20,000 rows of the index, and of fields at 5,000', async () => {
    const ofColumns = await costOf({ note: { $contains: 'x' } }, ['total']);
    expect([ofColumns.rows, ofColumns.whole]).toEqual([[], []]);
    expect(ofColumns.buffers).toBeLessThan(70_000);
    const ofFields = await costOf({ other: 1 }, ['total']);
    expect([ofFields.rows, ofFields.whole]).toEqual([[], []]);
    expect(ofFields.buffers).toBeLessThan(30_000);
  });

  test('of a part of a text reads the entities that have it', async () => {
    const { rows, buffers, whole } = await costOf({ label: { $contains: '7919000' } }, ['-$updatedAt']);
    expect([rows?.length, whole]).toEqual([2, []]);
    expect(buffers).toBeLessThan(300);
  });

  test('of own entities costs these alone, in the order of an index and in any other, and more of others do not change it (rule 64)', async () => {
    const covered = await costOf({}, ['-placedAt'], {}, 'bob');
    const few = await costOf({ note: { $contains: 'n' } }, ['total'], {}, 'bob');
    const unfit = await costOf({ state: 'nothing' }, ['-placedAt'], {}, 'bob');
    const values = await costOf({ total: { $gt: 20_000 } }, ['total'], {}, 'bob');
    expect([covered, few, unfit, values].map(({ rows }) => rows?.length)).toEqual([12, 12, 0, 4]);
    for (const { buffers, whole } of [covered, few, unfit, values]) {
      expect(buffers).toBeLessThan(150);
      expect(whole).toEqual([]);
    }
  });

  test('by key reads the keys in order, and only a list of keys is planned for its values', () => {
    const scansOf = (filter: object) => rowsOf(pathByKey(filter), undefined).scans;
    expect(scansOf({})).toBe('by-index');
    expect(scansOf({ $key: { $gt: '10' } })).toBe('by-index');
    expect(scansOf({ $key: { $in: ['1', '2'] } })).toBe('by-any-index');
    expect(scansOf({ $key: { $in: ['1', '2'] }, nowhere: 'x' })).toBe('by-any-index');
  });

  test('of what references lead to looks each key up, however few rows PostgreSQL expects of the name', async () => {
    await putBeside(5_000, 5_000);
    const { rows } = await sql<{ key: string }>`select key from entity where name = 'order' and key % 600 = 0 limit 40`.execute(
      service().db,
    );
    const positions = new Map(rows.map(({ key }, index) => [key, index]));
    const permit = { ...rowsCoveredFor('order', null), userName: 'ada' } as Permit<'read'>;
    const query = includedQuery([{ permit, positions, further: [] }], 1e6);
    const plan = await service().store.readOnly(10_000, async (run) => {
      await run(sql`select set_config('plan_cache_mode', ${mode}, true)`.compile(builder));
      await run(statement(`prepare explained as ${query.sql}`));
      const [row] = await run<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        statement(`explain (analyze, buffers, format json) execute explained (${query.parameters.map(literal).join()})`),
      );
      await run(statement('deallocate explained'));
      return row?.['QUERY PLAN'][0].Plan;
    });
    expect(rows.length).toBeGreaterThan(20);
    expect((plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)).toBeLessThan(rows.length * 5);
  });

  test.for<[string, object, string | null, number]>([
    ['alone', {}, null, 100],
    ['with a filter', { note: 'n1' }, null, 21_000],
    ['of own entities', {}, 'ada', 21_000],
  ])('by key reads the rows that it shows in order, also without a transaction: %s', async ([, filter, owner, most]) => {
    await putBeside(200, 20_000);
    const path = pathByKey(filter, owner);
    const cursor = { values: [], key: '1000', direction: 'next' as const };
    expect(await affordablePath(() => expect.fail('one statement suffices'), path, cursor)).toBe(path);
    const query = pageQuery({ ...path.query.page, ...rowsOf(path, cursor), order: path.order });
    const nodes = await service()
      .store.db.transaction()
      .execute(async (trx) => {
        await sql`select set_config('plan_cache_mode', ${mode}, true)`.execute(trx);
        await sql.raw(`prepare explained as ${query.sql}`).execute(trx);
        const text = `explain (analyze, buffers, format json) execute explained (${query.parameters.map(literal).join()})`;
        const { rows } = await sql.raw<{ 'QUERY PLAN': [{ Plan: Plan }] }>(text).execute(trx);
        await sql.raw('deallocate explained').execute(trx);
        return nodesOf(rows[0]?.['QUERY PLAN'][0].Plan ?? expect.fail('no plan'));
      });
    expect(nodes.filter((node) => node['Relation Name'] === 'entity').map((node) => node['Node Type'])).toEqual(['Index Scan']);
    const [page] = nodes;
    expect((page?.['Shared Hit Blocks'] ?? 0) + (page?.['Shared Read Blocks'] ?? 0)).toBeLessThan(most);
  });

  test('ends its look at the rows at one row, however many follow', async () => {
    const { end } = rowsOf(pathByKey({ nowhere: 'x' }), undefined);
    const ends = await service().store.readOnly(10_000, async (run) => end && (await run(end())));
    expect(ends).toEqual([{ key: expect.any(String), position: [] }]);
  });

  test('of a list that no index of the companion table serves does not read the table', async () => {
    await expect(costOf({}, [])).rejects.toThrow('the companion table is of no use');
  });

  test('of too many candidates without an index in this order has none', async () => {
    expect((await costOf({ state: 'done' }, ['total', '-placedAt'])).rows).toBeUndefined();
  });
});
