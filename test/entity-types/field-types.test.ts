import { expect, test } from 'vitest';
import { fieldTypesOf } from '../../src/entity-types/field-types.ts';
import { misspeltFinder } from '../../src/entity-types/spellings.ts';

const types = fieldTypesOf({
  type: 'object',
  additionalProperties: false,
  $defs: {
    city: { type: 'string' },
    loop: { $ref: '#/$defs/loop' },
    tree: { type: 'object', properties: { tree: { $ref: '#/$defs/tree' } } },
  },
  properties: {
    text: { type: 'string', minLength: 1 },
    email: { type: ['string', 'null'], format: 'email' },
    count: { type: 'integer' },
    both: { type: ['integer', 'number'] },
    account: { type: 'string', format: 'int64' },
    at: { type: 'string', format: 'date-time' },
    flag: { type: 'boolean' },
    state: { enum: ['open', 'paid', null] },
    fixed: { const: 'x' },
    mixedEnum: { enum: ['open', 1] },
    mixed: { type: ['string', 'number'] },
    free: {},
    always: true,
    never: false,
    composed: { anyOf: [{ type: 'string' }] },
    tags: { type: 'array', items: { type: 'string' } },
    labels: { type: 'array', items: { enum: ['new', 'old'] } },
    lines: { type: 'array', items: { type: 'object' } },
    pair: { type: 'array', prefixItems: [{ type: 'string' }], items: { enum: ['x'] } },
    city: { $ref: '#/$defs/city' },
    loop: { $ref: '#/$defs/loop' },
    gone: { $ref: '#/$defs/none' },
    tree: { $ref: '#/$defs/tree' },
    address: { type: 'object', additionalProperties: false, properties: { city: { type: 'string' } } },
    map: { type: 'object', additionalProperties: { type: 'number' } },
    pattern: { type: 'object', patternProperties: { '^x': {} }, additionalProperties: false },
  },
});

test.for<[string, unknown]>([
  ['text', 'string'],
  ['email', 'string'],
  ['count', 'number'],
  ['both', 'number'],
  ['account', 'int64'],
  ['at', 'date-time'],
  ['flag', 'boolean'],
  ['state', 'enum'],
  ['fixed', 'enum'],
  ['mixedEnum', 'any'],
  ['mixed', 'any'],
  ['free', 'any'],
  ['free.below', 'any'],
  ['always', 'any'],
  ['never', undefined],
  ['composed', 'string'],
  ['composed.below', undefined],
  ['tags', { items: 'string' }],
  ['lines', { items: 'any' }],
  ['pair', { items: 'any' }],
  ['city', 'string'],
  ['loop', 'any'],
  ['gone', 'any'],
  ['tree.tree.tree', 'object'],
  ['address', 'object'],
  ['address.city', 'string'],
  ['address.zip', undefined],
  ['text.below', undefined],
  ['map.any', 'number'],
  ['pattern.x1', 'any'],
  ['other', undefined],
  ['toString', undefined],
  ['constructor', undefined],
])('the field %s is of the type %j', ([name, type]) => {
  expect(types.typeOf(name.split('.'))).toEqual(type);
});

const decimal = { type: 'string', format: 'decimal' };
const date = { type: 'string', format: 'date' };
const nothing = { type: 'null' };
/** A schema with branches. */
function conditional(yes: object, no: object = {}): object {
  const branches = ['if', 'then', 'else'];
  return Object.fromEntries([{ maxLength: 3 }, yes, no].map((schema, index) => [branches[index], schema])) as object;
}

test.for<[string, object, unknown]>([
  ['anyOf with null', { anyOf: [decimal, nothing] }, 'decimal'],
  ['oneOf with null', { oneOf: [nothing, date] }, 'date'],
  ['allOf', { allOf: [{ type: 'string' }, { format: 'decimal' }] }, 'decimal'],
  ['a format beside a reference', { $ref: '#/$defs/text', format: 'decimal' }, 'decimal'],
  ['a reference inside of anyOf', { anyOf: [{ $ref: '#/$defs/decimal' }, nothing] }, 'decimal'],
  ['a format around anyOf', { format: 'decimal', anyOf: [{ type: 'string', maxLength: 5 }, nothing] }, 'decimal'],
  ['a type around anyOf', { type: 'string', anyOf: [{ format: 'int64' }] }, 'int64'],
  ['nullable', { ...decimal, nullable: true }, 'decimal'],
  ['a list of types', { ...decimal, type: ['string', 'null'] }, 'decimal'],
  ['if with the same format in both branches', conditional(decimal, { allOf: [decimal] }), 'decimal'],
  ['if with a format in one branch', { type: 'string', ...conditional(decimal) }, 'string'],
  ['one format around if', { ...decimal, ...conditional({ minLength: 2 }) }, 'decimal'],
  ['two formats', { anyOf: [decimal, date] }, 'string'],
  ['a format and any text', { anyOf: [decimal, { type: 'string' }] }, 'string'],
  ['a format and a number', { anyOf: [decimal, { type: 'number' }] }, 'any'],
  ['two formats at once', { allOf: [decimal, date] }, 'string'],
  ['int64 and decimal at once', { allOf: [decimal, { format: 'int64' }] }, 'int64'],
  ['a constant that has the format', { anyOf: [{ const: '0' }, decimal] }, 'decimal'],
  ['a constant that lacks the format', { anyOf: [{ const: '' }, decimal] }, 'string'],
  ['constants', { oneOf: [{ const: 'a' }, { const: 'b' }, nothing] }, 'enum'],
  ['a constant out of an enum', { enum: ['a', 'b', 1], allOf: [{ type: 'string' }] }, 'enum'],
  ['items', { anyOf: [{ type: 'array', items: { anyOf: [decimal, nothing] } }, nothing] }, { items: 'decimal' }],
  ['an object or null', { anyOf: [{ $ref: '#/$defs/object' }, nothing] }, 'object'],
  ['no value at all', { allOf: [{ type: 'string' }, { type: 'number' }] }, undefined],
  [
    'more alternatives than are read',
    { allOf: Array.from({ length: 8 }, (_, n) => ({ anyOf: [{ minLength: n }, { maxLength: n }] })), ...decimal },
    'decimal',
  ],
])('the type behind %s is %j', ([, schema, type]) => {
  const $defs = { text: { type: 'string' }, decimal, object: { type: 'object', properties: { inner: decimal } } };
  expect(fieldTypesOf({ $defs, properties: { v: schema } }).typeOf(['v'])).toEqual(type);
  expect(fieldTypesOf({ $defs, allOf: [{ properties: { v: schema } }] }).typeOf(['v'])).toEqual(type);
  expect(fieldTypesOf({ $defs, properties: { v: {} }, anyOf: [{ required: ['a'] }, {}], $ref: '#/$defs/whole' }).typeOf(['v'])).toBe('any');
});

test('the members of an object that is composed have their types, and others do not exist', () => {
  const $defs = { address: { type: 'object', properties: { zip: decimal }, additionalProperties: false } };
  const found = fieldTypesOf({
    $defs,
    properties: { a: { anyOf: [{ $ref: '#/$defs/address' }, nothing] } },
    unevaluatedProperties: false,
  });
  expect([found.typeOf(['a']), found.typeOf(['a', 'zip']), found.typeOf(['a', 'city']), found.typeOf(['b'])]).toEqual([
    'object',
    'decimal',
    undefined,
    undefined,
  ]);
});

test('the texts of an enum are those of a field or of all its items', () => {
  const textsOf = (name: string) => types.textsOf?.([name]);
  expect(fieldTypesOf({ properties: { v: { oneOf: [{ const: 'a' }, { enum: ['b', null] }] } } }).textsOf?.(['v'])).toEqual(['a', 'b']);
  expect(['state', 'fixed', 'labels'].map(textsOf)).toEqual([['open', 'paid'], ['x'], ['new', 'old']]);
  expect(['mixedEnum', 'text', 'tags', 'pair', 'free', 'never', 'other'].map(textsOf)).toEqual(Array.from({ length: 7 }, () => undefined));
});

test('a schema without additionalProperties: false has all other fields', () => {
  expect(fieldTypesOf({ type: 'object' }).typeOf(['anything'])).toBe('any');
});

test('a rule takes the texts of an alternative without the format, and one spelling of those of the format', () => {
  const schema = { properties: { a: { type: 'string', anyOf: [{ format: 'uuid' }, { pattern: '^[A-Z]+$' }] } } };
  const column = { name: 'c1', field: ['a'], type: 'string' as const, fold: false };
  const companion = {
    table: 'x1',
    columns: [column],
    indexes: [],
    uniques: [],
    substrings: [],
    references: [],
    search: undefined,
    next: 2,
  };
  const findMisspelt = misspeltFinder(schema, { ...companion, state: 'ready' });
  const uuid = '9f1c2a34-58d0-4b6e-9a71-0c5d8e3f2b17';
  expect(findMisspelt({ a: 'ABC' })).toEqual([]);
  expect(findMisspelt({ a: uuid })).toEqual([]);
  expect(findMisspelt({ a: uuid.toUpperCase() })).toMatchObject([{ pointer: '/a', code: 'invalid-value' }]);
});
