/** The access path of a query, without a database. */
import { describe, expect, test } from 'vitest';
import { companionOf, rulesOf } from '../../../src/entities/companion/rule-layout.ts';
import { accessPathOf, describePath, type AccessPath } from '../../../src/entities/querying/access-path.ts';
import { bindQuery } from '../../../src/entities/querying/bind.ts';
import { fieldTypesOf } from '../../../src/entity-types/field-types.ts';
import { bodyLimits } from '../../../src/filter/limits.ts';
import { parseFilter } from '../../../src/filter/parse.ts';
import { parseSort } from '../../../src/filter/sort.ts';
import { withVariables, type Variables } from '../../../src/filter/variables.ts';
import { all } from '../../../src/filter/syntax.ts';
import { rowsCoveredFor } from '../../support/coverage.ts';

const text = { type: 'string' };
const types = fieldTypesOf({
  type: 'object',
  properties: {
    state: text,
    city: text,
    label: text,
    note: text,
    placedAt: { type: 'string', format: 'date-time' },
    due: { type: 'string', format: 'date' },
  },
});
const rules = {
  'x-index': [['state', '-placedAt'], ['city'], ['due', 'city'], ['$createdBy', 'city'], { field: 'label', substring: true as const }],
  'x-search': { fields: ['note'] },
};
const companion = companionOf(rulesOf(rules, types), 1, null, false) ?? undefined;

const ada: Variables = { names: ['user.name'], typeOf: () => 'string', valueOf: () => 'ada', timeZone: 'UTC' };

interface Query {
  filter?: object;
  sort?: string[];
  search?: string;
  owner?: string;
}

function pathFor({ filter = {}, sort = [], search, owner }: Query, table = companion): AccessPath {
  const [parsed, terms] = [parseFilter(filter, types, bodyLimits, ada), parseSort(sort, types)];
  if ('faults' in parsed || 'faults' in terms) throw new Error('refused');
  const words = search === undefined ? [] : [{ kind: 'search' as const, field: [], words: search }];
  const relevantTo = sort.length === 0 ? search : undefined;
  const wanted = { filter: all([withVariables(parsed.filter, ada), ...words]), relevantTo, sort: terms.sort, limit: 50, bytes: 1_000 };
  return accessPathOf(bindQuery(wanted, rowsCoveredFor('order', owner ?? null), table));
}

/** The path and those instead of it. */
function inTurn(path: AccessPath): AccessPath[] {
  return [path, ...(path.otherwise ? inTurn(path.otherwise) : [])];
}

describe('the access path', () => {
  test.for<[Query, AccessPath['kind'][]]>([
    [{}, ['primary key']],
    [{ filter: { note: 'x' } }, ['primary key']],
    [{ sort: ['note'] }, ['sort']],
    [{ sort: ['city'] }, ['index-only scan']],
    [{ filter: { state: 'open' }, sort: ['-placedAt'] }, ['index-only scan']],
    [{ filter: { note: 'x' }, sort: ['city'] }, ['index scan']],
    [{ filter: { state: 'open' }, sort: ['city'] }, ['sort', 'index scan']],
    [{ filter: { state: 'open' }, sort: ['note'] }, ['sort']],
    [{ filter: { label: { $contains: 'abc' } } }, ['sort', 'index scan']],
    [{ search: 'x' }, ['relevance', 'sort', 'index scan']],
    [{ search: 'x', sort: ['city'] }, ['sort', 'index scan']],
    [{ filter: { city: { $in: [] } } }, ['primary key']],
    [{ owner: 'bob' }, ['sort', 'index scan']],
    [{ sort: ['city'], owner: 'bob' }, ['index-only scan']],
    [{ sort: ['state'], owner: 'bob' }, ['sort']],
  ])('of %j is %j', ([query, kinds]) => {
    expect(inTurn(pathFor(query)).map(({ kind }) => kind)).toEqual(kinds);
  });

  test('of a page by its primary key or of an index-only scan looks at no row that it does not show', () => {
    const queries: Query[] = [
      {},
      { sort: ['city'] },
      { filter: { note: 'x' } },
      { filter: { note: 'x' }, sort: ['city'] },
      { sort: ['note'] },
    ];
    expect(queries.map((query) => pathFor(query).budget)).toEqual([undefined, undefined, 5_000, 5_000, 10_000]);
  });
});

describe('the description', () => {
  test.for<[Query, string]>([
    [{}, 'primary key'],
    [{ filter: { note: 'x' } }, 'primary key, at most 5000 rows'],
    [{ sort: ['note'] }, 'sort of the primary key, at most 10000 rows'],
    [{ sort: ['-city'] }, 'index-only scan of (-city)'],
    [{ filter: { state: 'open' }, sort: ['placedAt'] }, 'index-only scan of (state, placedAt), prefix (state)'],
    [{ filter: { note: 'a', city: { $gt: 'b' } }, sort: ['city'] }, 'sort of (city), at most 10000 rows'],
    [{ filter: { state: { $contains: 'a' } }, sort: ['city'] }, 'index scan of (city), at most 20000 rows'],
    [{ filter: { $or: [{ state: 'open' }, { city: 'x' }] }, sort: ['note'] }, 'sort of (state) or (city), at most 10000 rows'],
    [{ filter: { label: { $contains: 'abc' } }, sort: ['note'] }, 'sort of the trigrams of (label), at most 10000 rows'],
    [{ search: 'x' }, 'relevance of the words, at most 10000 rows'],
    [{ filter: { state: 'open' }, sort: ['note', 'city'] }, 'sort of (state), at most 10000 rows'],
    [{ sort: ['city'], owner: 'bob' }, 'index-only scan of ($createdBy, city), prefix ($createdBy)'],
    [{ filter: { state: { $var: 'user.name' } }, sort: ['placedAt'] }, 'index-only scan of (state, placedAt), prefix (state)'],
    [{ filter: { due: { $var: 'today' } }, sort: ['city'] }, 'index-only scan of (due, city), prefix (due)'],
    [{ filter: { due: { $in: [{ $var: 'today' }, '2026-01-01'] } }, sort: ['city'] }, 'sort of (due), at most 10000 rows'],
    [
      { filter: { state: 'open', placedAt: { $gte: { $ago: 'P7D' } } }, sort: ['placedAt'] },
      'index-only scan of (state, placedAt), prefix (state)',
    ],
    [{ filter: { state: { $or: ['open', 'paid'] } }, sort: ['note'] }, 'sort of (state), at most 10000 rows'],
    [{ filter: { city: { $field: 'note' } } }, 'primary key, at most 5000 rows'],
    [{ filter: { city: { $field: 'note' } }, sort: ['city'] }, 'index scan of (city), at most 5000 rows'],
    [{ filter: { city: { $field: 'state' } }, sort: ['city'] }, 'index scan of (city), at most 20000 rows'],
    [{ filter: { $createdAt: { $lt: { $field: 'placedAt' } } } }, 'primary key, at most 5000 rows'],
  ])('of %j is %s', ([query, expected]) => {
    expect(describePath(pathFor(query))).toBe(expected);
  });

  test('has no value of the filter, and no name that must not be repeated (rule 75)', () => {
    const properties = { 'a secret': text };
    const fields = fieldTypesOf({ type: 'object', properties });
    const table = companionOf(rulesOf({ 'x-index': [['a secret']] }, fields), 2, null, false) ?? undefined;
    const parsed = parseFilter({ 'a secret': 'hidden' }, fields, bodyLimits);
    if ('faults' in parsed) throw new Error('refused');
    const query = bindQuery({ filter: parsed.filter, sort: [], limit: 50, bytes: 1_000 }, rowsCoveredFor('order', null), table);
    expect(describePath(accessPathOf(query))).toBe('index-only scan of (c1), prefix (c1)');
  });
});
