/** The indexes that serve a query. */
import { describe, expect, test } from 'vitest';
import { companionOf, rulesOf } from '../../../src/entities/companion/rule-layout.ts';
import { fieldTypesOf } from '../../../src/entity-types/field-types.ts';
import { afterPrefix } from '../../../src/entities/companion/bounds.ts';
import { bodyLimits } from '../../../src/filter/limits.ts';
import { parseFilter } from '../../../src/filter/parse.ts';
import type { BoundValue } from '../../../src/entities/companion/bounds.ts';
import { bindToColumns } from '../../../src/entities/companion/fields.ts';
import {
  candidatesOf,
  columnOrderOf,
  filterBeside,
  orderedRangeOf,
  type IndexRange,
} from '../../../src/entities/companion/index-ranges.ts';
import { decidingTerms, parseSort } from '../../../src/filter/sort.ts';
import { testsOf } from '../../../src/filter/syntax.ts';

const text = { type: ['string', 'null'] };
const types = fieldTypesOf({
  type: 'object',
  properties: {
    state: text,
    city: text,
    email: text,
    note: text,
    credit: { type: 'string', format: 'decimal' },
    placedAt: { type: 'string', format: 'date-time' },
    customer: { type: 'string', format: 'int64' },
  },
});
const rules = {
  'x-index': [['state', '-placedAt'], ['placedAt'], ['customer'], ['city', '-credit']],
  'x-unique': [{ fields: ['email'], fold: true }],
};
const companion = companionOf(rulesOf(rules, types), 1, null, false);

const fieldOf = (name: string) => companion?.columns.find((column) => column.name === name)?.field.join('.') ?? name;

function queryOf(filter: object, sort: string[] = []) {
  const [parsed, terms] = [parseFilter(filter, types, bodyLimits), parseSort(sort, types)];
  if ('faults' in parsed || 'faults' in terms || !companion) throw new Error('refused');
  return { filter: parsed.filter, sort: terms.sort, fields: bindToColumns(companion) };
}

const valueText = (value: BoundValue | null) => (typeof value === 'string' ? value : '');

/** The prefix and the limits of a range, as `state=… placedAt>…`. */
const rangeText = ({ prefix, limits }: IndexRange) =>
  [
    ...prefix.map(({ column, values }) => `${fieldOf(column.name)}=${values.map(valueText).join('|')}`),
    ...limits.map(({ column, operator, value }) => `${fieldOf(column.name)}${operator}${valueText(value)}`),
  ].join(' ');

/** The range in the order of the sort, as `range: order, tests left`; undefined for none. */
function orderedText(query: object, sort: string[] = []): string | undefined {
  const { filter, sort: terms, fields } = queryOf(query, sort);
  const ordered = columnOrderOf(decidingTerms(terms, filter), fields);
  const keyDescending = terms.at(-1)?.descending ?? false;
  const range = ordered && orderedRangeOf(filter, { columns: ordered, keyDescending }, fields);
  if (!range) return undefined;
  const columns = [...range.columns, { name: 'key', descending: range.keyDescending }];
  const inOrder = columns.map(({ name, descending }) => `${descending ? '-' : ''}${fieldOf(name)}`).join();
  return `${rangeText(range)}: ${inOrder}, ${testsOf(filterBeside(filter, range)).length} left`;
}

const candidateTexts = (query: object) => {
  const { filter, fields } = queryOf(query);
  return candidatesOf(filter, fields).map((ranges) => ranges.map(rangeText).join(' or '));
};

describe('a range in order', () => {
  test.for<[object, string[], string | undefined]>([
    [{}, [], ': key, 0 left'],
    [{}, ['placedAt'], ': placedAt,key, 0 left'],
    [{}, ['-placedAt'], ': -placedAt,-key, 0 left'],
    [{ state: 'open' }, ['-placedAt'], 'state=open: -placedAt,-key, 0 left'],
    [{ state: 'open' }, ['placedAt'], 'state=open: placedAt,key, 0 left'],
    [{ state: 'open' }, ['state', 'placedAt'], 'state=open: placedAt,key, 0 left'],
    [{ state: 'open' }, [], ': key, 1 left'],
    [{ state: { $in: ['open', 'paid', null] } }, ['placedAt'], 'state=open|paid|: placedAt,key, 2 left'],
    [{ state: { $empty: true } }, ['placedAt'], 'state=: placedAt,key, 2 left'],
    [{ state: { $ne: 'open' } }, ['placedAt'], ': placedAt,key, 1 left'],
    [{ placedAt: { $gte: '2026-01-01T00:00:00Z' } }, ['placedAt'], 'placedAt>=2026-01-01T00:00:00Z: placedAt,key, 0 left'],
    [{ customer: '7', $key: { $gt: '5' } }, [], 'customer=7 key>5: key, 0 left'],
    [{ customer: '7' }, ['-$key'], 'customer=7: -key, 0 left'],
    [{ city: { $prefix: 'Lon' } }, ['city', '-credit'], 'city>=Lon city<Loo: city,-credit,-key, 0 left'],
    [{}, ['-city', 'credit'], ': -city,credit,key, 0 left'],
    [{}, ['city', 'credit'], undefined],
    [{}, ['city'], undefined],
    [{}, ['note'], undefined],
    [{}, ['placedAt', '-$key'], undefined],
    [{}, ['$updatedAt'], undefined],
    [{ state: { $in: Array.from({ length: 11 }, (_, n) => `s${n}`) } }, ['-placedAt'], ': -placedAt,-key, 1 left'],
  ])('for %j sorted by %j is %s', ([query, sort, expected]) => {
    expect(orderedText(query, sort)).toBe(expected);
  });
});

describe('candidates', () => {
  test.for<[object, string[]]>([
    [{}, []],
    [{ note: 'x' }, []],
    [{ city: { $ne: 'x' }, state: { $contains: 'y' } }, []],
    [{ customer: '7', state: 'open' }, ['state=open', 'customer=7']],
    [{ email: 'Ada@Example.COM' }, ['email=ada@example.com']],
    [{ city: 'x', credit: { $gt: '5' } }, ['city=x credit>5']],
    [{ credit: { $gt: '5' } }, []],
    [{ $key: '5' }, ['key=5']],
    [{ $or: [{ customer: '7' }, { state: 'open', note: 'x' }] }, ['customer=7 or state=open']],
    [{ $or: [{ customer: '7' }, { note: 'x' }] }, []],
    [{ $or: [{ customer: '7' }, { customer: { $in: ['8', '7'] } }] }, ['customer=7|8', 'customer=7 or customer=8|7']],
  ])('for %j are %j', ([query, expected]) => {
    expect(candidateTexts(query)).toEqual(expected);
  });
});

test('equal decimals are one value', () => {
  const { filter, fields } = queryOf({ city: 'x', credit: { $in: ['1.5', '1.50', '10'] } });
  const [ranges] = candidatesOf(filter, fields);
  expect(ranges?.map(rangeText)).toEqual(['city=x credit=1.50|10']);
});

test('the end of a prefix is the next text by code points', () => {
  expect(['ab', 'a\u{10FFFF}', '\u{D7FF}', '\u{10FFFF}', 'a\u{FFFF}'].map(afterPrefix)).toEqual([
    'ac',
    'b',
    '\u{E000}',
    undefined,
    'a\u{10000}',
  ]);
});
