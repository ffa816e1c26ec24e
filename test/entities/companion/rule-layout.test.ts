/** The companion table that the rules of a type need, as its document changes. */
import { expect, test } from 'vitest';
import type { Companion } from '../../../src/entities/companion/layout.ts';
import { companionOf, rulesOf, type RuleKeywords } from '../../../src/entities/companion/rule-layout.ts';
import { fieldTypesOf } from '../../../src/entity-types/field-types.ts';

const types = fieldTypesOf({
  type: 'object',
  properties: {
    email: { type: 'string' },
    city: { type: ['string', 'null'] },
    since: { type: 'string', format: 'date-time' },
    parent: { type: 'string', format: 'int64' },
    address: { type: 'object', properties: { street: { type: 'string' } } },
  },
});
const layoutOf = (keywords: RuleKeywords, previous: Companion | null = null, isReferenced = false) =>
  companionOf(rulesOf(keywords, types), 7, previous, isReferenced);

test('a type without rules has no companion table, unless another type refers to it', () => {
  expect(layoutOf({})).toBeNull();
  expect(layoutOf({}, null, true)).toEqual({
    table: 'x7',
    columns: [],
    uniques: [],
    indexes: [],
    substrings: [],
    references: [],
    search: undefined,
    next: 1,
    state: 'ready',
  });
});

test('each field has one column, a folded one another; a reference has an index of its own, once', () => {
  const layout = layoutOf({
    'x-unique': [{ fields: ['email'], fold: true }, { fields: ['email'] }],
    'x-index': [['city', '-since'], ['parent'], ['address.street']],
    'x-references': { parent: { to: 'person', onDelete: 'cascade' } },
  });
  expect(layout?.columns.map(({ name, field, fold }) => [name, field.join('.'), fold])).toEqual([
    ['c1', 'email', true],
    ['c2', 'email', false],
    ['c5', 'city', false],
    ['c6', 'since', false],
    ['c7', 'parent', false],
    ['c8', 'address.street', false],
  ]);
  expect(layout?.uniques).toEqual([
    { name: 'x7_u3', columns: ['c1'] },
    { name: 'x7_u4', columns: ['c2'] },
  ]);
  expect(layout?.indexes).toEqual([
    {
      name: 'x7_i9',
      columns: [
        { name: 'c5', descending: false },
        { name: 'c6', descending: true },
      ],
    },
    { name: 'x7_i10', columns: [{ name: 'c7', descending: false }] },
    { name: 'x7_i11', columns: [{ name: 'c8', descending: false }] },
  ]);
  expect(layout?.references).toEqual([{ name: 'x7_r12', column: 'c7', to: 'person', onDelete: 'cascade' }]);
});

test('what stays keeps its name, and no name is used twice', () => {
  const first = layoutOf({ 'x-index': [['email'], ['city']] });
  const second = layoutOf({ 'x-index': [['city']] }, first);
  expect(second?.columns).toEqual(first?.columns.slice(1));
  expect(second?.indexes).toEqual(first?.indexes.slice(1));
  const third = layoutOf({ 'x-index': [['city'], ['email']] }, second);
  expect(third?.indexes).toEqual([...(second?.indexes ?? []), { name: 'x7_i6', columns: [{ name: 'c5', descending: false }] }]);
});

test('another action at a deletion needs no other constraint', () => {
  const first = layoutOf({ 'x-references': { parent: { to: 'person' } } });
  const second = layoutOf({ 'x-references': { parent: { to: 'person', onDelete: 'cascade' } } }, first);
  expect(second?.references).toEqual([{ ...first?.references[0], onDelete: 'cascade' }]);
});

test('the texts of an index share 600 characters, and the index with the least room decides', () => {
  const layout = layoutOf({ 'x-index': [['email'], ['city', 'email', 'since']] });
  expect(layout?.columns.map(({ field: [name], maximumLength }) => [name, maximumLength])).toEqual([
    ['email', 300],
    ['city', 300],
    ['since', undefined],
  ]);
});

test('an index of parts of a text has room for 10,000 characters, unless another index has less', () => {
  const first = layoutOf({ 'x-index': [{ field: 'email', substring: true }] });
  expect(first?.columns.map(({ maximumLength }) => maximumLength)).toEqual([10_000]);
  expect(first?.substrings).toEqual([{ name: 'x7_s2', column: 'c1' }]);
  const both = layoutOf({ 'x-index': [['email'], { field: 'email', substring: true }] }, first);
  expect(both?.columns.map(({ name, maximumLength }) => [name, maximumLength])).toEqual([['c1', 600]]);
  expect(both?.substrings).toEqual(first?.substrings);
});
