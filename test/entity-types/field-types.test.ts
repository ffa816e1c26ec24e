import { expect, test } from 'vitest';
import { fieldTypesOf } from '../../src/entity-types/field-types.ts';

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
  ['composed', 'any'],
  ['composed.below', 'any'],
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

test('the texts of an enum are those of a field or of all its items', () => {
  const textsOf = (name: string) => types.textsOf?.([name]);
  expect(['state', 'fixed', 'labels'].map(textsOf)).toEqual([['open', 'paid'], ['x'], ['new', 'old']]);
  expect(['mixedEnum', 'text', 'tags', 'pair', 'free', 'never', 'other'].map(textsOf)).toEqual(Array.from({ length: 7 }, () => undefined));
});

test('a schema without additionalProperties: false has all other fields', () => {
  expect(fieldTypesOf({ type: 'object' }).typeOf(['anything'])).toBe('any');
});
