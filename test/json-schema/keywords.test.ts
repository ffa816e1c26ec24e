/** Each keyword of JSON Schema 2020-12: values that fit a schema, and values that do not. */
import { describe, expect, test } from 'vitest';
import { validatorOptions } from '../../src/entity-types/validator.ts';
import { compileSchema } from '../../src/json-schema/validator.ts';

type Case = [schema: unknown, fitting: unknown[], unfit: unknown[]];

/** The schema of a JSON text: a literal with `then` would be taken for a promise. */
const parsed = (text: string): unknown => JSON.parse(text);

const cases: Readonly<Record<string, Case[]>> = {
  boolean: [
    [true, [null, 1, {}], []],
    [false, [], [null, 1, {}]],
  ],
  type: [
    [{ type: 'integer' }, [1, -0, 1.0, 1e3], [1.5, '1', null, true]],
    [{ type: ['string', 'null'] }, ['', null], [0, false, [], {}]],
    [{ type: 'object' }, [{}], [[], null]],
    [{ type: 'string', nullable: true }, ['a', null], [1]],
  ],
  enum: [
    [{ enum: [1, 'a', [1, { b: null }]] }, [1, 'a', [1, { b: null }]], ['1', [1], [1, { b: false }], true]],
    [{ enum: [{ $ref: '#/$defs/a' }], $defs: { a: true } }, [{ $ref: '#/$defs/a' }], [{}, 'a']],
    [{ enum: [0, false] }, [0, false], ['', null, []]],
  ],
  const: [
    [{ const: { a: 1, b: [2] } }, [{ b: [2], a: 1 }], [{ a: 1 }, { a: 1, b: [2], c: 3 }]],
    [{ const: null }, [null], [0, false, '']],
  ],
  numbers: [
    [{ minimum: 1, maximum: 3 }, [1, 3, '0'], [0.9, 3.1]],
    [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, [1.1, 2.9, null], [1, 3]],
    [{ multipleOf: 0.01 }, [19.99, 0, 'a'], [0.001]],
    [{ multipleOf: 1e-8 }, [12_391_239_123], [1e-9]],
  ],
  texts: [
    [{ minLength: 2, maxLength: 3 }, ['ab', '💩💩', 5], ['a', 'abcd', '💩']],
    [{ pattern: 'b' }, ['abc', 5], ['', 'ac']],
  ],
  required: [[{ required: ['a', 'toString'] }, [{ a: null, toString: 1 }, [], 'a'], [{ a: 1 }, {}]]],
  dependentRequired: [[{ dependentRequired: { a: ['b'] } }, [{}, { b: 1 }, { a: 1, b: 1 }, 'a'], [{ a: 1 }]]],
  dependentSchemas: [[{ dependentSchemas: { a: { maxProperties: 1 } } }, [{ a: 1 }, { b: 1, c: 1 }], [{ a: 1, b: 1 }]]],
  properties: [
    [{ properties: { a: { type: 'string' }, b: false } }, [{ a: 'x' }, { c: 1 }, []], [{ a: 1 }, { b: 1 }]],
    [{ patternProperties: { '^a': { type: 'number' }, b$: { minimum: 2 } } }, [{ a: 1 }, { ab: 2 }, { c: '' }], [{ ab: 1 }, { a: '' }]],
    [
      { properties: { a: true }, patternProperties: { '^b': true }, additionalProperties: { type: 'null' } },
      [{ a: 1, b1: 1, c: null }],
      [{ c: 1 }],
    ],
    [{ allOf: [{ properties: { a: true } }], additionalProperties: false }, [{}], [{ a: 1 }]],
    [{ propertyNames: { maxLength: 2 } }, [{ ab: 1 }, {}, 'abc'], [{ abc: 1 }]],
    [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }, { a: 1, b: 2 }, []], [{}, { a: 1, b: 2, c: 3 }]],
  ],
  items: [
    [{ items: { type: 'number' } }, [[], [1, 2], { 0: '' }], [[1, '']]],
    [{ prefixItems: [{ type: 'number' }, true], items: false }, [[], [1], [1, 'a']], [['a'], [1, 2, 3]]],
    [{ minItems: 1, maxItems: 2 }, [[1], [1, 2], 'a'], [[], [1, 2, 3]]],
    [
      { uniqueItems: true },
      [[1, true, '1'], [{ a: 1 }, { a: 2 }], []],
      [
        [1, 1.0],
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
        [[1], [1]],
      ],
    ],
    [{ contains: { minimum: 5 } }, [[1, 5], {}], [[], [4]]],
    [
      { contains: true, minContains: 2, maxContains: 3 },
      [
        [1, 2],
        [1, 2, 3],
      ],
      [[1], [1, 2, 3, 4]],
    ],
    [{ contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
    [{ minContains: 2, maxContains: 0 }, [[], [1]], []],
  ],
  composition: [
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
    [{ anyOf: [{ type: 'string' }, { minimum: 2 }] }, ['a', 2, null], [1]],
    [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [1, 6]],
    [{ not: { required: ['a'] } }, [{}, { b: 1 }], [{ a: 1 }]],
    [parsed('{"if":{"minimum":5},"then":{"multipleOf":2},"else":{"multipleOf":3}}'), [6, 3, 'a'], [5, 4]],
    [parsed('{"then":false,"else":false}'), [1], []],
    [parsed('{"if":false,"then":false}'), [1], []],
  ],
  unevaluatedProperties: [
    [{ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, [{ a: 1 }, {}], [{ b: 1 }]],
    [
      {
        allOf: [{ properties: { p: true } }],
        oneOf: [
          { required: ['x'], properties: { x: true } },
          { required: ['y'], properties: { y: true } },
        ],
        unevaluatedProperties: false,
      },
      [{ p: 1, y: 1 }, { x: 1 }],
      [{ p: 1 }, { x: 1, y: 1 }, { x: 1, z: 1 }],
    ],
    [
      { if: { properties: { a: { const: 1 } }, required: ['a'] }, else: { properties: { b: true } }, unevaluatedProperties: false },
      [{ a: 1 }, { b: 1 }],
      [{ a: 1, b: 1 }, { a: 2 }],
    ],
    [{ not: { not: { properties: { a: true } } }, unevaluatedProperties: false }, [{}], [{ a: 1 }]],
    [
      { dependentSchemas: { a: { properties: { b: true } } }, properties: { a: true }, unevaluatedProperties: false },
      [{ a: 1, b: 1 }],
      [{ b: 1 }],
    ],
    [{ $ref: '#/$defs/a', unevaluatedProperties: false, $defs: { a: { properties: { a: true } } } }, [{ a: 1 }], [{ b: 1 }]],
    [{ allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: false }, [{ a: 1 }], []],
    [
      { properties: { a: { unevaluatedProperties: false } }, unevaluatedProperties: { type: 'number' } },
      [{ a: {}, b: 1 }],
      [{ b: '' }, { a: { b: 1 } }],
    ],
  ],
  unevaluatedItems: [
    [
      { prefixItems: [true], allOf: [{ prefixItems: [true, { type: 'number' }] }], unevaluatedItems: false },
      [[1, 2], ['a']],
      [
        [1, 2, 3],
        [1, ''],
      ],
    ],
    [
      { allOf: [{ contains: { multipleOf: 2 } }, { contains: { multipleOf: 3 } }], unevaluatedItems: { multipleOf: 5 } },
      [[2, 3, 4, 5, 6]],
      [
        [2, 3, 7],
        [2, 4],
      ],
    ],
    [{ contains: { const: 1 }, unevaluatedItems: false }, [[1, 1]], [[1, 2], [2]]],
    [{ anyOf: [{ items: { type: 'number' } }, { prefixItems: [true] }], unevaluatedItems: false }, [[1, 2], ['a']], [['a', 1]]],
  ],
  references: [
    [{ properties: { a: { $ref: '#' } }, additionalProperties: false }, [{ a: { a: {} } }], [{ a: { b: 1 } }]],
    [{ $ref: '#/$defs/a~1b%25', minimum: 2, $defs: { 'a/b%': { maximum: 3 } } }, [2, 3], [1, 4]],
    [{ $ref: '#here', $defs: { a: { $anchor: 'here', type: 'null' } } }, [null], [1]],
    [{ $ref: 'b.json', $id: 'https://a.example/a.json', $defs: { b: { $id: 'b.json', type: 'null' } } }, [null], [1]],
    [{ $defs: { a: { $dynamicAnchor: 'node', type: 'string' } }, $dynamicRef: '#node' }, ['a'], [1]],
  ],
  annotations: [
    [
      { title: 'a', description: 'b', $comment: 'c', examples: [1], deprecated: true, readOnly: true, contentEncoding: 'base64' },
      [1, '%'],
      [],
    ],
  ],
  format: [
    [{ format: 'date' }, ['2026-02-28', 1], ['2026-02-29']],
    [{ format: 'date', formatMinimum: '2026-01-01', formatExclusiveMaximum: '2027-01-01' }, ['2026-01-01'], ['2025-12-31', '2027-01-01']],
    [{ format: 'int32' }, [2_147_483_647, 'a'], [2_147_483_648, 1.5]],
    [{ format: 'email' }, ['ada@example.com'], ['ada', '@a']],
  ],
};

describe.each(Object.entries(cases))('%s', (_name, listed) => {
  test.each(listed)('%j', (schema, fitting, unfit) => {
    const { accepts, errorsOf } = compileSchema(schema, validatorOptions('files'));
    expect(fitting.filter((value) => !accepts(value))).toEqual([]);
    expect(unfit.filter((value) => accepts(value))).toEqual([]);
    // The list of errors agrees with the verdict.
    expect(fitting.filter((value) => errorsOf(value).length > 0)).toEqual([]);
    expect(unfit.filter((value) => errorsOf(value).length === 0)).toEqual([]);
  });
});

test('a $dynamicRef beside an inner $id is refused, with and without an $id of the root: the outermost anchor decides', () => {
  const inner = { $id: 'https://a.example/b', $dynamicAnchor: 'n', type: 'string' };
  const schema = { $dynamicAnchor: 'n', $defs: { inner }, properties: { a: { $dynamicRef: '#n' } } };
  const compile = (given: object) => compileSchema(given, validatorOptions('files'));
  expect(() => compile({ ...schema, $defs: {} })).not.toThrow();
  expect(() => compile({ $id: 'https://a.example/a', ...schema, $defs: {} })).not.toThrow();
  expect(() => compile(schema)).toThrow('properties/a/$dynamicRef');
  expect(() => compile({ $id: 'https://a.example/a', ...schema })).toThrow('properties/a/$dynamicRef');
});
