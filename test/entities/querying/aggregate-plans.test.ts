/** What PostgreSQL reads for aggregations and counts of own entities: as many rows, whatever values the entities of others have. */
import { sql, type CompiledQuery } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { bindToColumns } from '../../../src/entities/companion/fields.ts';
import type { Companion } from '../../../src/entities/companion/layout.ts';
import type { AggregateRequest } from '../../../src/entities/querying/aggregate-request.ts';
import { aggregateQuery } from '../../../src/entities/querying/aggregate-statements.ts';
import { bindQuery } from '../../../src/entities/querying/bind.ts';
import { aggregatedRows, selectedRowsOf } from '../../../src/entities/querying/column-statements.ts';
import { countQuery } from '../../../src/entities/querying/list-statements.ts';
import { all, constantOperand, everyEntity, type Filter } from '../../../src/filter/syntax.ts';
import { declareIndexed } from '../../support/companion.ts';
import { useService } from '../../support/service.ts';
import { rowsCoveredFor } from '../../support/coverage.ts';

const service = useService();
const document = {
  type: 'object',
  properties: { state: { type: 'string' }, total: { type: 'number' }, text: { type: 'string' } },
  'x-search': { fields: ['text'] },
};
const indexes = [['state'], ['total']];
/** Without and with an index that begins with the creator. */
const names = { plain: indexes, indexed: [...indexes, ['$createdBy', '-total']] };
type Name = keyof typeof names;
const companions = new Map<Name, Companion>();
/** The entities of each creator. */
const numbers = { ada: 6_000, bob: 50, carl: 1_500 };
type Owner = keyof typeof numbers;

beforeAll(async () => {
  const { db } = service();
  for (const owner of Object.keys(numbers)) await service().createUser(owner);
  for (const [name, index] of Object.entries(names) as [Name, string[][]][]) {
    // A tenth of the entities of each creator but ada are rare, and a tenth common, as all of hers are.
    for (const [owner, count] of Object.entries(numbers))
      await sql`
        insert into entity (name, fields, created_by, updated_by)
        select ${name}, jsonb_build_object('state', value, 'text', 'a ' || value || ' word', 'other', value, 'total', n), ${owner}, ${owner}
        from generate_series(1, ${count}::int) as n,
          lateral (select case when ${owner === 'ada'} or n % 10 = 0 then 'common' when n % 10 = 1 then 'rare' else 'own' end as value)`.execute(
        db,
      );
    companions.set(name, await declareIndexed(service(), name, { ...document, 'x-index': index }));
  }
  await sql`vacuum analyze`.execute(db);
});

interface Plan {
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
const rowsOf = (node: Plan): number =>
  node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0));

const ofField =
  (field: string) =>
  (value: string): Filter => ({ kind: 'compare', field: [field], operator: '=', type: 'string', operand: constantOperand(value) });
const filters: [string, (value: string) => Filter][] = [
  ['a column', ofField('state')],
  ['words', (words) => ({ kind: 'search', field: [], words })],
  ['a field without a column', ofField('other')],
  ['a column and a field', (value) => all([ofField('state')(value), ofField('other')(value)])],
];

type Statement = CompiledQuery;
type Measure = AggregateRequest['measures'][number];
const request = { filter: everyEntity, targets: new Map(), groups: [], having: everyEntity, sort: [], limit: 1 };

function aggregation(name: Name, owner: Owner, filter: Filter, measure: Measure): Statement {
  const fields = bindToColumns(companions.get(name));
  const rows = aggregatedRows(fields, rowsCoveredFor(name, owner), filter, measure.of !== 'count');
  return aggregateQuery(rows, fields, { ...request, measures: [measure] });
}

const sum: Measure = { name: 'sum', of: 'sum', field: ['total'], type: 'number', pointer: '' };
const statements: [string, (name: Name, owner: Owner, filter: Filter) => Statement][] = [
  ['a sum', (name, owner, filter) => aggregation(name, owner, filter, sum)],
  ['a number', (name, owner, filter) => aggregation(name, owner, filter, { name: 'n', of: 'count' })],
  [
    'the count of a list',
    (name, owner, filter) =>
      countQuery(
        selectedRowsOf(bindQuery({ filter, sort: [], limit: 50, bytes: 1e6 }, rowsCoveredFor(name, owner), companions.get(name))),
        undefined,
      ),
  ],
];

/** The rows of tables and indexes that PostgreSQL reads. */
async function rowsReadBy(query: Statement): Promise<number> {
  return await service().store.readOnly(10_000, async (run) => {
    const explained: CompiledQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }> = {
      ...query,
      sql: `explain (analyze, timing off, format json) ${query.sql}`,
    };
    const [row] = await run(explained, 'any');
    const nodes = row ? nodesOf(row['QUERY PLAN'][0].Plan) : [];
    return nodes.filter((node) => node['Relation Name'] ?? node['Index Name']).reduce((total, node) => total + rowsOf(node), 0);
  });
}

describe.for(statements)('%s of own entities', ([, statementOf]) => {
  test.for(filters)('reads as many rows, however many entities of others have the value of %s (rule 64)', async ([, filterBy]) => {
    for (const owner of ['bob', 'carl'] as const) {
      const read = async (name: Name, value: string) => await rowsReadBy(statementOf(name, owner, filterBy(value)));
      const plain = await read('plain', 'common');
      expect(plain).toBeGreaterThan(numbers[owner]);
      expect(plain).toBe(await read('plain', 'rare'));
      const indexed = await read('indexed', 'common');
      expect(indexed).toBe(await read('indexed', 'rare'));
      // The part of the index, and a look at each of these entities.
      expect(indexed).toBeLessThanOrEqual(2 * numbers[owner]);
    }
  });

  test('reads only the entities whose keys the filter names, whatever values these have (rule 64)', async () => {
    for (const name of ['plain', 'indexed'] as const) {
      // Of ada a common one, of carl a rare one, and of bob one that is neither.
      const { rows } = await sql<{ key: string }>`
        select min(key) as key from entity
        where name = ${name} and (created_by <> 'bob' or fields ->> 'other' = 'own') group by created_by`.execute(service().db);
      expect(rows).toHaveLength(3);
      const named: Filter = { kind: 'in', field: ['$key'], type: 'int64', values: rows.map(({ key }) => key) };
      const read = async (filter: Filter) => await rowsReadBy(statementOf(name, 'bob', all([named, filter])));
      for (const [, filterBy] of filters) {
        const common = await read(filterBy('common'));
        expect(common).toBe(await read(filterBy('rare')));
        // At most four looks for each key: at the two tables, at an index, and at the fields.
        expect(common).toBeLessThanOrEqual(4 * rows.length);
      }
    }
  });
});
