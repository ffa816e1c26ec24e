/** Which patches keep every entity of a type that fits it. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileType } from '../../src/entity-types/compile.ts';
import type { Schema } from '../../src/entity-types/subschemas.ts';
import type { EntityType } from '../../src/entity-types/types.ts';

const typeOf = (document: Schema) => compileType('1', document, 'files');

function fits(type: EntityType, fields: unknown): boolean {
  try {
    type.check(fields);
    return true;
  } catch {
    return false;
  }
}

const customer = {
  type: 'object',
  title: 'Customer',
  required: ['email'],
  properties: {
    email: { type: 'string', minLength: 3 },
    tags: { type: 'array', items: { $ref: '#/$defs/tag' } },
    address: { type: 'object' },
  },
  patternProperties: { '^n_': { type: 'number' } },
  additionalProperties: { type: ['string', 'boolean'] },
  $defs: { tag: { enum: ['a', 'b'] } },
  'x-unique': [{ fields: ['email'] }],
};

test.for<[boolean, Schema]>([
  [true, {}],
  [true, { email: 'abc' }],
  [true, { note: 'x', tags: ['a'], n_1: 5 }],
  [true, { note: null, tags: null, unknown: null }],
  [false, { email: 'ab' }],
  [false, { email: null }],
  [false, { note: 5 }],
  [false, { tags: ['c'] }],
  [false, { n_1: 'x' }],
  [false, { address: {} }],
  [false, { address: { city: 'Paris' } }],
])('%s for the patch %j of a type that tests its members alone', ([expected, patch]) => {
  expect(typeOf(customer).acceptsPatch(patch)).toBe(expected);
});

test.for<[string, Schema]>([
  ['minProperties', { minProperties: 1 }],
  ['maxProperties', { maxProperties: 3 }],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }],
  ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }],
  ['allOf', { allOf: [{ required: ['b'] }] }],
  ['anyOf', { anyOf: [{ required: ['a'] }, { required: ['b'] }] }],
  ['oneOf', { oneOf: [{ required: ['a'] }, { required: ['b'] }] }],
  ['not', { not: { required: ['a', 'b'] } }],
  ['if', { if: { required: ['a'] }, else: { required: ['b'] } }],
  ['$ref', { $ref: '#/$defs/one', $defs: { one: { required: ['b'] } } }],
  ['unevaluatedProperties', { properties: { a: true }, unevaluatedProperties: false }],
  ['enum', { enum: [{ a: 1 }] }],
  ['const', { const: { a: 1 } }],
  ['a reference to the whole', { required: ['b'], properties: { a: { type: 'array', items: { $ref: '#' } } } }],
])('none for a type with %s', ([, document]) => {
  for (const patch of [{}, { a: 1 }, { a: [] }, { a: null }]) expect(typeOf(document).acceptsPatch(patch)).toBe(false);
});

const names = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
const schemas: fc.Arbitrary<Schema | boolean> = fc.oneof(
  fc.constantFrom<Schema | boolean>(
    true,
    false,
    { type: 'string', maxLength: 2 },
    { type: 'number', minimum: 0 },
    { enum: ['x', 1, null] },
  ),
  fc.constantFrom<Schema>(
    { type: 'array', maxItems: 1 },
    { type: 'object', required: ['a'] },
    { $ref: '#/properties/a' },
    { type: 'null' },
  ),
);
const values = fc.oneof(
  fc.constantFrom<unknown>('x', 'long', 1, -1, true, null, [], ['x', 'x'], {}, { a: 1 }),
  fc.string({ maxLength: 3 }),
  fc.integer({ min: -2, max: 2 }),
);
const objects = fc.dictionary(fc.oneof(names, fc.constantFrom('n', 'other')), values, { maxKeys: 4, noNullPrototype: true });
const documents = fc
  .record(
    {
      type: fc.constant('object'),
      properties: fc
        .dictionary(names, schemas, { maxKeys: 4, noNullPrototype: true })
        .map((properties) => Object.fromEntries([['a', true], ...Object.entries(properties)])),
      required: fc.uniqueArray(names, { maxLength: 2 }),
      additionalProperties: schemas,
      patternProperties: fc.constant({ '^n': { type: 'string' } }),
    },
    { requiredKeys: ['properties'] },
  )
  // A reference to itself has no end.
  .filter(({ properties }) => !JSON.stringify(properties).includes('"a":{"$ref"'));

/** RFC 7396. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  const members = new Map<string, unknown>(Object.entries(base));
  for (const [name, value] of Object.entries(patch))
    if (value === null) members.delete(name);
    else members.set(name, merged(members.get(name), value));
  return Object.fromEntries(members);
}

test('an entity that fits still fits after a patch that is accepted, for random types, entities and patches', () => {
  // To compile a type takes longer than all else.
  const types = fc.sample(documents, 60).map((document) => typeOf(document));
  let accepted = 0;
  fc.assert(
    fc.property(fc.constantFrom(...types), objects, objects, (type, fields, patch) => {
      if (!fits(type, fields) || !type.acceptsPatch(patch)) return;
      accepted += 1;
      expect(fits(type, merged(fields, patch)), JSON.stringify([type.document, fields, patch])).toBe(true);
    }),
    { numRuns: 10_000 },
  );
  expect(accepted).toBeGreaterThan(100);
});
