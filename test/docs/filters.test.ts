/** Runs the examples of docs/filters.md. */
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { operators } from '../../src/filter/operators.ts';
import { declareIndexed } from '../support/companion.ts';
import { declareType } from '../support/entities.ts';
import { faultsIn, keysIn, list, queryBy, seedMany, type ListQuery } from '../support/lists.ts';
import { codeOf, readDocument, section, tableRows } from '../support/markdown.ts';
import { useService, type ProblemBody } from '../support/service.ts';

const service = useService();
const text = readDocument('docs/filters.md');
const examples = tableRows(section(text, '## Examples')).map(([filter = '', finds = '']) => ({
  filter: JSON.parse(codeOf(filter)) as Record<string, unknown>,
  finds: finds.split(', ').filter(Boolean),
}));
const jsonIn = (title: string) => JSON.parse(/```json\n([^`]+)```/.exec(section(text, title))?.[1] ?? '') as unknown;
const customers = jsonIn('## Examples') as { company: string }[];
let ada: { cookie: string };
let keys: string[];

beforeAll(async () => {
  ada = { cookie: await service().openSession((await service().createUser('ada')).id) };
  keys = await seedMany(service(), 'customer', customers, 'ada');
  await service().db.updateTable('entity').set({ version: 1 }).execute();
});

test.for(examples.map((example) => [JSON.stringify(example.filter), example] as const))('%s', async ([, { filter, finds }]) => {
  const expected = customers.flatMap(({ company }, index) => (finds.includes(company.split(' ')[0] ?? '') ? [keys[index]] : []));
  expect(expected).toHaveLength(finds.length);
  for (const by of [list, queryBy]) expect(keysIn([(await by(service(), ada, 'customer', { filter })).body])).toEqual(expected);
});

test('every operator is in an example and in the table of operators, and no other', () => {
  const used = examples.flatMap(({ filter }) => [...JSON.stringify(filter).matchAll(/"(\$\w+)":/g)].map(([, name = '']) => name));
  const listed = tableRows(section(text, '## Operators')).flatMap(([names = '']) =>
    [...names.matchAll(/`(\$\w+)`/g)].map(([, name = '']) => name),
  );
  expect(new Set(listed)).toEqual(new Set([...Object.keys(operators), '$match', '$fold', '$and', '$or', '$not']));
  expect(Object.keys(operators).filter((name) => !used.includes(name))).toEqual([]);
});

test('the body that it shows is accepted, and the place of a fault is as it says', async () => {
  expect((await queryBy(service(), ada, 'customer', jsonIn('## Lists') as ListQuery)).body.items).toHaveLength(1);
  const filter = { $or: [{}, { credit: { $gte: null } }] };
  expect(faultsIn(await list<ProblemBody>(service(), ada, 'customer', { filter }))).toEqual(['filter /$or/1/credit/$gte invalid-type']);
  expect(faultsIn(await queryBy<ProblemBody>(service(), ada, 'customer', { filter }))).toEqual(['/filter/$or/1/credit/$gte invalid-type']);
});

test('a search finds what its table says', async () => {
  const part = section(text, '## Search');
  const companies = jsonIn('## Search') as { name: string }[];
  const found = await seedMany(service(), 'company', companies, 'ada');
  await declareIndexed(service(), 'company', parse(/```yaml\n([^`]+)```/.exec(part)?.[1] ?? '') as Record<string, unknown>);
  const rows = tableRows(part);
  expect(rows.length).toBeGreaterThan(3);
  for (const [search = '', finds = ''] of rows) {
    const { body } = await list(service(), ada, 'company', { search: codeOf(search) });
    const expected = companies.flatMap(({ name }, index) => (finds.split(', ').includes(name.split(' ')[0] ?? '') ? [found[index]] : []));
    expect(keysIn([body]).toSorted(), search).toEqual(expected);
  }
});

test('a filter without regard to case and accents finds what its table says', async () => {
  const part = section(text, '## Without case and accents');
  const yarns = jsonIn('## Without case and accents') as { name: string }[];
  const found = await seedMany(service(), 'yarn', yarns, 'ada');
  await declareIndexed(service(), 'yarn', parse(/```yaml\n([^`]+)```/.exec(part)?.[1] ?? '') as Record<string, unknown>);
  const rows = tableRows(part);
  expect(rows.length).toBeGreaterThan(3);
  for (const [filter = '', finds = ''] of rows) {
    const { body } = await list(service(), ada, 'yarn', { filter: JSON.parse(codeOf(filter)) as object });
    const expected = yarns.flatMap(({ name }, index) => (finds.split(', ').includes(name) ? [found[index]] : []));
    expect(keysIn([body]), filter).toEqual(expected);
  }
});

test('an aggregation answers what it shows', async () => {
  const [orders, body, answer] = [...section(text, '## Aggregates').matchAll(/```json\n([^`]+)```/g)].map(
    ([, json = '']) => JSON.parse(json) as object,
  );
  await seedMany(service(), 'order', orders as object[], 'ada');
  const properties = {
    state: { type: 'string' },
    total: { type: 'string', format: 'decimal' },
    placedAt: { type: 'string', format: 'date-time' },
  };
  const rules = { 'x-index': [['state'], ['total'], ['placedAt']] };
  await declareIndexed(service(), 'order', { type: 'object', properties, ...rules });
  const answered = await service().call('POST', '/rest/entity/order/aggregate', { ...ada, json: body ?? {} });
  expect(answered.body).toEqual(answer);
});

test('a filter with other operands finds what its table says', async () => {
  const part = section(text, '## Other operands');
  const bills = jsonIn('## Other operands') as { nr: string }[];
  const found = await seedMany(service(), 'bill', bills, 'ada');
  const decimal = { type: 'string', format: 'decimal' };
  const properties = {
    nr: { type: 'string' },
    agent: { type: 'string' },
    total: decimal,
    paid: decimal,
    placedAt: { type: 'string', format: 'date-time' },
  };
  await declareIndexed(service(), 'bill', { type: 'object', properties, 'x-index': [['placedAt']] });
  const rows = tableRows(part);
  expect(rows.length).toBeGreaterThan(3);
  for (const [filter = '', finds = ''] of rows) {
    const { body } = await list(service(), ada, 'bill', { filter: JSON.parse(codeOf(filter)) as object });
    const expected = bills.flatMap(({ nr }, index) => (finds.split(', ').includes(nr) ? [found[index]] : []));
    expect(keysIn([body]), filter).toEqual(expected);
  }
});

test('the projects and tasks of a member are found as it says', async () => {
  const key = { type: 'string', format: 'int64' };
  const reference = { 'x-references': { project: { to: 'project' } } };
  await declareType(service(), 'project', { type: 'object', properties: { name: { type: 'string' } } });
  const [led, other] = await seedMany(service(), 'project', [{ name: 'A' }, { name: 'B' }], 'ada');
  const tasks = await seedMany(service(), 'task', [{ project: led }, { project: other }], 'ada');
  await seedMany(
    service(),
    'member',
    [led, other].map((project, index) => ({ project, user: 'ada', role: index === 0 ? 'lead' : 'guest' })),
    'ada',
  );
  const properties = { project: key, user: { type: 'string' }, role: { type: 'string' } };
  await declareIndexed(service(), 'task', { type: 'object', properties: { project: key }, ...reference });
  await declareIndexed(service(), 'member', { type: 'object', properties, ...reference, 'x-index': [['project', 'user']] });
  const part = section(text, '## Filters through references');
  const [, , example = ''] = /```json\n([^`]+)```[^]*?```json\n([^`]+)```/.exec(part) ?? [];
  expect(keysIn([(await queryBy(service(), ada, 'project', JSON.parse(example) as ListQuery)).body])).toEqual([led]);
  const [, through = ''] = /`({"project":.*?})` finds the tasks/.exec(part) ?? [];
  expect(keysIn([(await list(service(), ada, 'task', { filter: JSON.parse(through) as object })).body])).toEqual(tasks);
});
