/** A refused value gets all its errors, in bounded time. */
import { describe, expect, test } from 'vitest';
import { formats } from '../../src/contract/formats.ts';
import { faultsOf } from '../../src/problems/validation-faults.ts';
import type { SchemaError } from '../../src/json-schema/types.ts';
import { compileSchema } from '../../src/json-schema/validator.ts';

const validatorOf = (schema: object) => compileSchema(schema, { formats, compilePattern: (pattern) => new RegExp(pattern, 'u') });

/** The errors, those of alternatives included. */
const flat = (errors: readonly SchemaError[]): SchemaError[] =>
  errors.flatMap((error) => [...(error.alternatives ?? []).flatMap(flat), error]);

/** The errors of a refused value, each as its place and keyword. */
function errorsOf(schema: object, value: unknown): string[] {
  const validator = validatorOf(schema);
  expect(validator.accepts(value)).toBe(false);
  return flat(validator.errorsOf(value)).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
}
/** The faults that the answer has. */
function faults(schema: object, value: unknown) {
  const validator = validatorOf(schema);
  expect(validator.accepts(value)).toBe(false);
  return faultsOf(validator.errorsOf(value), 'body', value).faults;
}
const many = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => item(index));

test.for([
  [{ anyOf: [{ minimum: 5 }, { const: 1 }] }, [5, 1], [2, 4]],
  [{ oneOf: [{ minimum: 5 }, { maximum: 7 }] }, [1, 9], [5, 6]],
  [
    { contains: { anyOf: [{ const: 1 }, { const: 2 }] }, maxContains: 2 },
    [
      [9, 1],
      [1, 2, 3],
    ],
    [[], [3], [1, 1, 2]],
  ],
  [
    { $defs: { a: { anyOf: [{ const: 1 }, { const: 2 }] } }, anyOf: [{ minimum: 5, $ref: '#/$defs/a' }, { not: { $ref: '#/$defs/a' } }] },
    [3],
    [1, 2],
  ],
  [
    { anyOf: [{ required: ['a'], properties: { a: true } }, { properties: { b: true } }], unevaluatedProperties: false },
    [{ a: 1, b: 1 }],
    [{ c: 1 }],
  ],
])('the verdict is that of the keywords: %j', ([schema, accepted, refused]) => {
  const { accepts: validate } = validatorOf(schema as object);
  expect((accepted as unknown[]).map((value) => validate(value))).not.toContain(false);
  expect((refused as unknown[]).map((value) => validate(value))).not.toContain(true);
});

test('every error is found', () => {
  const schema = { required: ['a', 'b'], properties: { c: { type: 'string', minLength: 3, pattern: '^x' }, d: { items: { minimum: 1 } } } };
  expect(errorsOf(schema, { c: 'y', d: [0, 1, 0] }).toSorted()).toEqual([
    ' required',
    ' required',
    '/c minLength',
    '/c pattern',
    '/d/0 minimum',
    '/d/2 minimum',
  ]);
});

describe('the work is bounded (rule 75)', () => {
  test('by the number of errors: loops over items and members stop soon after the thousandth', () => {
    const alternatives = { anyOf: many(100, (index) => ({ const: `x${index}` })) };
    const node = { $ref: '#/$defs/node' };
    const tree = { $defs: { node: { properties: { items: { items: node } }, required: ['name'] } }, ...node };
    const wrong: [schema: object, value: unknown][] = [
      [{ items: alternatives }, many(10_000, () => 1)],
      [{ additionalProperties: alternatives }, Object.fromEntries(many(10_000, (index) => [`m${index}`, 1]))],
      [{ patternProperties: { '^m': alternatives } }, Object.fromEntries(many(10_000, (index) => [`m${index}`, 1]))],
      [{ additionalProperties: false }, Object.fromEntries(many(10_000, (index) => [`m${index}`, 1]))],
      [{ unevaluatedProperties: false }, Object.fromEntries(many(10_000, (index) => [`m${index}`, 1]))],
      [{ propertyNames: alternatives }, Object.fromEntries(many(10_000, (index) => [`m${index}`, 1]))],
      [{ required: many(10_000, (index) => `m${index}`) }, {}],
      [tree, { name: 1, items: many(100, () => ({ items: many(100, () => ({})) })) }],
    ];
    for (const [schema, value] of wrong) {
      const found = errorsOf(schema, value).length;
      expect(found, JSON.stringify(schema).slice(0, 60)).toBeGreaterThanOrEqual(20);
      expect(found, JSON.stringify(schema).slice(0, 60)).toBeLessThan(2_500);
    }
  });

  test('by the number of errors made: recursion through members and alternatives ends', () => {
    const node = { $ref: '#/$defs/node' };
    const sides = (depth: number): object | null => (depth === 0 ? null : { l: sides(depth - 1), r: sides(depth - 1) });
    const orNull = { anyOf: [node, { type: 'null' }] };
    const nullable = { $defs: { node: { type: 'object', properties: { l: orNull, r: orNull }, required: ['name'] } }, ...node };
    const either = { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }] };
    const side = (name: string) => ({ type: 'object', required: [name], properties: { next: either } });
    const doubling = { $defs: { a: side('x'), b: side('y') }, ...either };
    const chain = (depth: number): object => (depth === 0 ? {} : { next: chain(depth - 1) });
    expect(errorsOf(nullable, sides(4)).length).toBeGreaterThan(10);
    expect(errorsOf(nullable, sides(12)).length).toBeLessThan(2_500);
    expect(errorsOf(doubling, chain(2)).length).toBeGreaterThan(10);
    expect(errorsOf(doubling, chain(13)).length).toBeLessThan(5_500);
    expect(faults(doubling, chain(13))).toEqual([{ pointer: '', code: 'invalid-value' }]);
  });

  test('by the limits beside a keyword: it does not test what is too long already', () => {
    const same = many(10_000, () => 'same');
    expect(errorsOf({ maxItems: 10, uniqueItems: true }, same)).toEqual([' maxItems']);
    expect(errorsOf({ maxItems: 10_000, uniqueItems: true }, same)).toEqual([' uniqueItems']);
    expect(errorsOf({ type: 'string', maxLength: 3, pattern: '^x$' }, 'aaaa')).toEqual([' maxLength']);
    expect(errorsOf({ type: 'string', maxLength: 3, format: 'date' }, 'aaaa')).toEqual([' maxLength']);
    expect(errorsOf({ type: 'string', maxLength: 4, pattern: '^x$' }, 'aaaa')).toEqual([' pattern']);
  });
});

describe('an error that only follows from another is no fault', () => {
  const type = (name: string) => ({ type: name });
  const closed = { type: 'object', properties: { zip: type('string') }, required: ['zip'], additionalProperties: false };
  const address = { properties: { address: { anyOf: [closed, type('null')] } } };

  test.for<[what: string, schema: object, value: unknown, faults: object[]]>([
    [
      'of the alternatives',
      { properties: { a: { anyOf: [type('string'), type('null')] } } },
      { a: 1 },
      [{ pointer: '/a', code: 'invalid-type', values: { allowed: 'string, null' } }],
    ],
    [
      'of alternatives that are references, beside another fault of the value',
      { $defs: { text: type('string') }, properties: { a: { minimum: 5, anyOf: [{ $ref: '#/$defs/text' }, type('null')] } } },
      { a: 1 },
      [
        { pointer: '/a', code: 'invalid-value', values: { minimum: 5 } },
        { pointer: '/a', code: 'invalid-type', values: { allowed: 'string, null' } },
      ],
    ],
    [
      'of alternatives inside an alternative',
      { properties: { a: { anyOf: [{ anyOf: [type('string'), type('integer')] }, type('null')] } } },
      { a: true },
      [{ pointer: '/a', code: 'invalid-type', values: { allowed: 'string, integer, null' } }],
    ],
    [
      'inside an alternative',
      { properties: { a: { oneOf: [{ required: ['b'] }, { properties: { c: type('string') }, required: ['c'] }] } } },
      { a: { c: 1 } },
      [{ pointer: '/a', code: 'invalid-value' }],
    ],
    [
      'of the other alternative, where the type of one fits',
      address,
      { address: { zip: 8001 } },
      [{ pointer: '/address/zip', code: 'invalid-type' }],
    ],
    [
      'of the other alternative, with each fault of the one',
      address,
      { address: { zi: 1 } },
      [
        { pointer: '/address/zip', code: 'required' },
        { pointer: '/address/zi', code: 'unknown' },
      ],
    ],
    [
      'of a reference beside alternatives: its own errors stay',
      {
        $defs: { a: { required: ['z'], properties: { k: type('integer') } } },
        properties: { x: { $ref: '#/$defs/a', anyOf: [{ required: ['m'] }, { required: ['n'] }] } },
      },
      { x: { k: 's' } },
      [
        { pointer: '/x/z', code: 'required' },
        { pointer: '/x/k', code: 'invalid-type' },
        { pointer: '/x', code: 'invalid-value' },
      ],
    ],
    [
      'of one item that contains wants',
      { properties: { a: { contains: { const: 1 } }, b: type('string') } },
      { a: [2, 3, 4], b: 5 },
      [
        { pointer: '/a', code: 'invalid-value' },
        { pointer: '/b', code: 'invalid-type' },
      ],
    ],
    ['of a value of the wrong type', { properties: { a: { type: 'string', enum: ['x'] } } }, { a: 1 }, [{ code: 'invalid-type' }]],
    ['of if', { if: { required: ['a'] }, else: { required: ['b'] } }, {}, [{ pointer: '/b', code: 'required' }]],
    ['of a name', { propertyNames: { maxLength: 2 } }, { abc: 1 }, [{ pointer: '/abc', code: 'invalid-value' }]],
  ])('%s', ([, schema, value, expected]) => {
    // Several types are accepted in these schemas, which Ajv's strict mode allows.
    expect(faults(schema, value)).toMatchObject(expected);
  });
});

describe('what is expected', () => {
  test.for<[schema: object, value: unknown, expected: object | undefined]>([
    [{ type: 'string', format: 'date' }, 'soon', { kind: 'format', values: { format: 'date', example: '2026-11-22' } }],
    [{ type: 'string', format: 'date' }, 5, { kind: 'format', values: { format: 'date', example: '2026-11-22' } }],
    [{ type: ['string', 'null'] }, 5, { kind: 'one-of', values: { values: 'string, null' } }],
    [{ type: 'string' }, 5, { kind: 'value', values: { value: 'string' } }],
    [{ const: { a: 1 } }, 5, { kind: 'value', values: { value: '{"a":1}' } }],
    [{ exclusiveMinimum: 5 }, 5, { kind: 'more-than', values: { limit: 5 } }],
    [{ multipleOf: 0.01 }, 0.001, { kind: 'multiple-of', values: { limit: 0.01 } }],
    [{ maxItems: 1 }, [1, 2], { kind: 'maximum-items', values: { limit: 1 } }],
    [{ minProperties: 1 }, {}, { kind: 'minimum-members', values: { limit: 1 } }],
    [{ uniqueItems: true }, [1, 1], { kind: 'different-items', values: {} }],
    [{ required: ['a'], properties: { a: { type: 'integer' } } }, {}, { kind: 'value', values: { value: 'integer' } }],
    [{ required: ['a'], properties: { a: { enum: [1, 2] } } }, {}, { kind: 'one-of', values: { values: '1, 2' } }],
    [{ additionalProperties: false, properties: { a: true, b: true } }, { c: 1 }, { kind: 'one-of', values: { values: 'a, b' } }],
    [{ additionalProperties: false, properties: { b: true }, patternProperties: { '^x-': true } }, { c: 1 }, undefined],
    [{ unevaluatedProperties: false, properties: { b: true }, allOf: [{ properties: { a: true } }] }, { c: 1 }, undefined],
    [
      {
        anyOf: [
          { type: 'object', required: ['a'] },
          { type: 'object', required: ['b'] },
        ],
      },
      {},
      undefined,
    ],
    [{ not: { const: 1 } }, 1, undefined],
  ])('by %j', ([schema, value, expected]) => {
    expect(faults(schema, value)[0]?.expected).toEqual(expected);
  });

  test('is cut, so that a small request causes no large answer (rule 75)', () => {
    const [fault] = faults({ enum: many(1_000, (index) => `value${index}`) }, 'other');
    expect(fault?.expected?.values).toEqual({ values: expect.stringMatching(/^value0, value1, .*, …$/) });
    const texts = [JSON.stringify(fault?.values), JSON.stringify(fault?.expected)];
    for (const text of texts) expect(text.length).toBeLessThan(260);
    const [byPattern] = faults({ type: 'string', pattern: `^${'a'.repeat(1_000)}$` }, 'other');
    expect(JSON.stringify(byPattern).length).toBeLessThan(400);
  });
});
