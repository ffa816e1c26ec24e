/** What `types convert` makes of schemas of other drafts: each keyword, each kind of reference, and what cannot be converted. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { convertSchema } from '../../src/entity-types/convert/convert.ts';
import { faultsOfDocument, schemaOf } from '../../src/entity-types/document.ts';
import { validatorOptions } from '../../src/entity-types/validator.ts';
import { compileSchema } from '../../src/json-schema/validator.ts';
import { describeFault } from '../../src/locales/describe.ts';

const draft = (number: number) => `http://json-schema.org/draft-0${number}/schema#`;
const current = 'https://json-schema.org/draft/2020-12/schema';

const convert = (document: unknown, { at, others = {} }: { at?: string; others?: Record<string, unknown> } = {}) => {
  const files = Object.entries(others).map(([name, each]) => ({ name, document: each }));
  const { notes, faults, ...rest } = convertSchema({ name: 'schema.json', document }, files, at);
  const lines = (found: typeof notes) => found.map(({ place, text }) => `${place} ${text}`);
  return { ...rest, notes: lines(notes), faults: lines(faults) };
};
/** The converted schema of a property, in a file of draft 7. */
const property = (schema: object, number = 7) => {
  const { document, notes, faults } = convert({ $schema: draft(number), properties: { p: schema } });
  expect(faults).toEqual([]);
  return { schema: (document['properties'] as Record<string, unknown>)['p'], notes: notes.slice(0, -1) };
};

test('a document of 2020-12 that a type can have stays as it is, without a note', () => {
  const document = {
    $schema: current,
    $id: 'https://example.com/order',
    title: 'Order',
    $comment: 'x',
    type: 'object',
    required: ['a'],
    properties: {
      a: { $ref: '#/$defs/a', deprecated: true, readOnly: true, examples: [1] },
      id: { type: 'string' },
      default: { type: 'null' },
    },
    $defs: { a: { type: 'integer', exclusiveMinimum: 0 } },
    'x-index': [['id']],
  };
  expect(convert(document)).toEqual({ document, notes: [], faults: [], refusedInRequests: [] });
});

describe('a keyword becomes its successor, and the note has its place', () => {
  test.each<[string, object, object, string[]]>([
    [
      'dependencies',
      { dependencies: { a: ['b'], c: { required: ['d'] } } },
      { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] } } },
      ['/properties/p/dependencies became dependentRequired and dependentSchemas'],
    ],
    [
      'items as a list',
      { items: [{ type: 'string' }, true], additionalItems: false },
      { prefixItems: [{ type: 'string' }, true], items: false },
      ['/properties/p/items became prefixItems', '/properties/p/additionalItems became items'],
    ],
    [
      'additionalItems beside one schema for all items',
      { items: { type: 'string' }, additionalItems: false },
      { items: { type: 'string' } },
      ['/properties/p/additionalItems dropped: it has no effect here'],
    ],
    [
      'default',
      { type: 'string', default: 'x' },
      { type: 'string' },
      ['/properties/p/default dropped: the service fills in no values. The client sends them'],
    ],
    [
      'what stands beside $ref',
      { $ref: '#/properties/q', title: 'P', minLength: 2 },
      { $ref: '#/$defs/q', title: 'P' },
      ['/properties/p/$ref became #/$defs/q', '/properties/p/minLength dropped: it has no effect beside $ref in draft 7'],
    ],
    [
      'a format that does not exist here',
      { type: 'string', format: 'color' },
      { type: 'string' },
      ['/properties/p/format dropped: the service has no format "color"'],
    ],
    [
      'int64 of a number',
      { type: 'integer', format: 'int64' },
      { type: 'integer' },
      ['/properties/p/format dropped: int64 is a format of texts. Numbers have all their digits anyway'],
    ],
    [
      'a misspelt keyword',
      { requierd: ['a'] },
      {},
      ['/properties/p/requierd dropped: JSON Schema has no such keyword. If required is meant, correct it'],
    ],
    [
      'dependencies beside dependentRequired of the same name',
      { dependencies: { a: ['b'] }, dependentRequired: { a: ['c'] } },
      { dependentRequired: { a: ['b'] }, allOf: [{ dependentRequired: { a: ['c'] } }] },
      ['/properties/p/dependencies became dependentRequired'],
    ],
    [
      'dependencies behind dependentSchemas and allOf',
      { allOf: [{ minProperties: 1 }], dependentSchemas: { a: { required: ['c'] } }, dependencies: { a: { required: ['b'] } } },
      {
        allOf: [{ minProperties: 1 }, { dependentSchemas: { a: { required: ['b'] } } }],
        dependentSchemas: { a: { required: ['c'] } },
      },
      ['/properties/p/dependencies became dependentSchemas'],
    ],
    [
      'a type of a program beside not',
      { not: { type: 'string' }, typeof: 'function' },
      { not: { type: 'string' }, allOf: [{ not: {} }] },
      ['/properties/p/typeof became {"not": {}}: no JSON value is one'],
    ],
    [
      'patterns that become the same',
      { patternProperties: { 'a\\-': { type: 'string' }, 'a-': { minLength: 2 } } },
      { patternProperties: { 'a-': { allOf: [{ type: 'string' }, { minLength: 2 }] } } },
      [expect.stringContaining('became')],
    ],
    [
      'nullable beside const',
      { type: 'string', nullable: true, const: 'a' },
      { type: ['string', 'null'], const: 'a' },
      ['/properties/p/nullable became the type null, but const still refuses null'],
    ],
    [
      'nullable beside allOf',
      { type: 'string', nullable: true, allOf: [{ minLength: 1 }] },
      { type: ['string', 'null'], allOf: [{ minLength: 1 }] },
      ['/properties/p/nullable became the type null. Null must fit allOf too'],
    ],
    ['a type of a program', { typeof: 'function' }, { not: {} }, ['/properties/p/typeof became {"not": {}}: no JSON value is one']],
    ['a type of a program that JSON has', { instanceof: ['RegExp', 'Array'] }, {}, [expect.stringContaining('Write type instead')]],
    ['examples that are no list', { examples: 'x' }, {}, ['/properties/p/examples dropped: it is no list']],
    [
      'a pattern with needless escapes',
      { pattern: '^[\\w-.]+\\-\\_}$' },
      { pattern: '^[\\w\\-.]+-_\\}$' },
      [expect.stringContaining('became')],
    ],
    [
      'nullable',
      { type: 'string', nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a'] },
      ['/properties/p/nullable became the type null, but enum still refuses null'],
    ],
    [
      'nullable without a type',
      { nullable: true, minLength: 1 },
      { minLength: 1 },
      [expect.stringContaining('dropped: it has no effect without type')],
    ],
  ])('%s', (_title, schema, converted, notes) => {
    const { document, notes: all, faults } = convert({ $schema: draft(7), properties: { p: schema, q: { type: 'string' } } });
    expect(faults).toEqual([]);
    expect(document).toMatchObject({ $schema: current });
    expect((document['properties'] as Record<string, unknown>)['p']).toEqual(converted);
    expect(all).toEqual([...notes, '/$schema became 2020-12']);
  });

  test('the limits and addresses of draft 4', () => {
    const document = {
      $schema: draft(4),
      id: 'https://example.com/order#',
      properties: { id: { minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } },
    };
    const { document: converted, notes } = convert(document);
    expect(converted).toEqual({
      $schema: current,
      $id: 'https://example.com/order',
      properties: { id: { exclusiveMinimum: 1, maximum: 9 } },
    });
    expect(notes).toEqual([
      '/properties/id/exclusiveMinimum became the number of minimum',
      '/properties/id/exclusiveMaximum dropped: it has no effect here',
      '/$schema became 2020-12',
    ]);
  });

  test('contains beside unevaluatedItems of 2019-09 leaves its items unevaluated', () => {
    const schema = { contains: { const: 1 }, minContains: 2, unevaluatedItems: { type: 'string' } };
    const { document } = convert({ $schema: 'https://json-schema.org/draft/2019-09/schema', properties: { p: schema } });
    expect(document['properties']).toEqual({
      p: { allOf: [{ not: { not: { contains: { const: 1 }, minContains: 2 } } }], unevaluatedItems: { type: 'string' } },
    });
  });

  test('names of properties and values of enum, const and examples are no keywords', () => {
    const names = {
      dependencies: { type: 'string' },
      $ref: { type: 'string' },
      definitions: {},
      default: { enum: [{ $ref: 'x', default: 1 }] },
    };
    expect(property({ properties: names, const: { items: [1] } })).toEqual({
      schema: { properties: names, const: { items: [1] } },
      notes: [],
    });
  });
});

describe('references', () => {
  test('definitions become $defs with names for pointers; unused ones are dropped, and a schema may contain itself', () => {
    const { document, notes, faults } = convert({
      $schema: draft(7),
      properties: { tree: { $ref: '#/definitions/tree<T>' }, all: { $ref: '#' } },
      definitions: { 'tree<T>': { properties: { next: { $ref: '#/definitions/tree<T>' } } }, unused: { default: 1 } },
    });
    expect(faults).toEqual([]);
    expect(document).toEqual({
      $schema: current,
      properties: { tree: { $ref: '#/$defs/tree_T_' }, all: { $ref: '#' } },
      $defs: { tree_T_: { properties: { next: { $ref: '#/$defs/tree_T_' } } } },
    });
    expect(notes).toEqual(['/$schema became 2020-12', '/definitions became $defs', '/definitions/unused dropped: nothing refers to it']);
  });

  test('by $id, by anchor, by an address inside, and into other files', () => {
    const { document, faults } = convert(
      {
        $schema: draft(7),
        $id: 'https://example.com/schemas/order.json',
        properties: {
          a: { $ref: 'address.json' },
          b: { $ref: '#street' },
          c: { $ref: 'common.json#/definitions/money' },
          d: { $ref: 'https://elsewhere.example/unit.json' },
          e: { $ref: '/schemas/order.json#/definitions/x/properties/y' },
        },
        definitions: {
          x: { $id: 'address.json', properties: { y: { $ref: '#/definitions/z' } }, definitions: { z: { type: 'integer' } } },
          s: { $id: '#street', type: 'string' },
        },
      },
      {
        others: {
          'shared/common.json': { definitions: { money: { $ref: '#/definitions/number' }, number: { type: 'number' } } },
          'u.json': { $id: 'https://elsewhere.example/unit.json', enum: ['kg'] },
        },
      },
    );
    expect(faults).toEqual([]);
    expect(document).toEqual({
      $schema: current,
      $id: 'https://example.com/schemas/order.json',
      properties: {
        a: { $ref: '#/$defs/x' },
        b: { $ref: '#/$defs/s' },
        c: { $ref: '#/$defs/money' },
        d: { $ref: '#/$defs/u' },
        e: { $ref: '#/$defs/y' },
      },
      $defs: {
        x: { properties: { y: { $ref: '#/$defs/z' } } },
        s: { type: 'string' },
        money: { $ref: '#/$defs/number' },
        u: { enum: ['kg'] },
        y: { $ref: '#/$defs/z' },
        z: { type: 'integer' },
        number: { type: 'number' },
      },
    });
  });

  test('a schema of an OpenAPI document has those to which it refers, and each definition of one name gets its own', () => {
    const openapi = {
      openapi: '3.0.3',
      components: {
        schemas: {
          Order: {
            properties: { lines: { type: 'array', items: { $ref: '#/components/schemas/Line' } }, other: { $ref: '#/paths/Line' } },
          },
          Line: { type: 'object', nullable: true },
          Unused: { default: 1 },
        },
      },
      paths: { Line: { type: 'string' } },
    };
    const { document, faults } = convert(openapi, { at: '/components/schemas/Order' });
    expect(faults).toEqual([]);
    expect(document).toEqual({
      properties: { lines: { type: 'array', items: { $ref: '#/$defs/Line' } }, other: { $ref: '#/$defs/Line2' } },
      $defs: { Line: { type: ['object', 'null'] }, Line2: { type: 'string' } },
    });
    expect(convert(openapi).faults).toEqual([
      ' is an OpenAPI document with many schemas. Name one with --at: /components/schemas/Order, /components/schemas/Line, /components/schemas/Unused',
    ]);
  });
});

describe('what cannot be converted is named with its place and what to do', () => {
  test.each<[string, unknown, string[]]>([
    [
      'items as a list beside prefixItems',
      { $schema: draft(7), properties: { p: { prefixItems: [{ type: 'string' }], items: [] } } },
      ['/properties/p/items is a list beside prefixItems, which means the same. Leave one of them'],
    ],
    ['draft 3', { $schema: draft(3) }, ['/$schema is draft 3 or older. Convert it to draft 4 first']],
    ['a schema that is no object', true, [' is no object. The fields of an entity are an object']],
    ['a list', { type: 'array' }, ['/type This value is not accepted. Accepted: object.']],
    [
      'a reference out of the file',
      { properties: { p: { $ref: 'https://example.com/other.json' } } },
      [
        '/properties/p/$ref leads to https://example.com/other.json, which is not in the file. Name the file that has it behind this one; nothing is fetched',
      ],
    ],
    [
      'a reference to nothing',
      { properties: { p: { $ref: '#/definitions/q' } } },
      ['/properties/p/$ref leads to "#/definitions/q", which does not exist. Correct it'],
    ],
    [
      'a boolean in place of required',
      { properties: { p: { required: true } } },
      [
        '/properties/p/required is a boolean, as in draft 3. Write the name of the property into the list `required` of the object around it',
      ],
    ],
    ['extends of draft 3', { extends: {} }, ['/extends is no keyword of 2020-12. Write allOf instead']],
    [
      'a pattern that only another language has',
      { properties: { p: { pattern: '(?i)a' } } },
      ['/properties/p/pattern is no regular expression with the flag u. Rewrite it, for example without needless escapes'],
    ],
    [
      'what no type may have, at its place in the older document',
      { definitions: { d: { minimum: 2, maximum: 1 } }, properties: { p: { $ref: '#/definitions/d' } } },
      ['/definitions/d/minimum This contradicts another keyword: maximum.'],
    ],
  ])('%s', (_title, document, faults) => {
    expect(convert(document).faults).toEqual(faults);
  });

  test('a dynamic reference between schemas with addresses of their own', () => {
    const document = { $defs: { a: { $id: 'a', $dynamicAnchor: 'x' } }, properties: { p: { $dynamicRef: '#x' } } };
    expect(convert(document).faults).toEqual([
      '/properties/p/$dynamicRef may lead to several places, because schemas here have addresses of their own. Write $ref instead',
    ]);
  });
});

test('what a file may have and a request may not is told apart', () => {
  const { refusedInRequests, faults } = convert({ properties: { p: { type: 'string', pattern: '^(?=a)' } } });
  expect(faults).toEqual([]);
  expect(refusedInRequests).toMatchObject([{ place: '/properties/p/pattern' }]);
});

test.each<[string, object, object]>([
  [
    'commitlint',
    { extends: '@commitlint/config-conventional', rules: { 'subject-case': [2, 'never'] } },
    { rules: { 'subject-case': [7] } },
  ],
  ['job', { title: 'Engineer', date: '2026-11' }, { title: 7 }],
  ['copy-webpack-plugin', { patterns: ['a'] }, { patterns: [] }],
])('a public schema, %s, is refused before and accepted after, and judges values as it did', (name, fitting, unfit) => {
  const document = JSON.parse(readFileSync(new URL(`public-schemas/${name}.json`, import.meta.url), 'utf8')) as object;
  expect(faultsOfDocument(document, 'command')).not.toEqual([]);
  const { document: converted, faults } = convert(document);
  expect(faults).toEqual([]);
  const { accepts } = compileSchema(schemaOf(converted), validatorOptions('files'));
  expect([accepts(fitting), accepts(unfit)]).toEqual([true, false]);
});

describe('a document is taken with its annotations, and each refusal says what to write instead', () => {
  test.each(['http://json-schema.org/draft-04/schema#', draft(6), draft(7), 'https://json-schema.org/draft/2019-09/schema', current])(
    '$schema %s is an annotation',
    ($schema) => {
      const annotations = { title: 'T', description: 'D', $comment: 'C', examples: [1], deprecated: true, readOnly: true };
      const document = { $schema, $id: 'https://example.com/t', ...annotations, properties: { p: annotations } };
      for (const source of ['api', 'command'] as const) expect(faultsOfDocument(document, source)).toEqual([]);
    },
  );

  test.each<[object, string, string]>([
    [{ default: 1 }, '/default', 'the service fills in no values'],
    [{ writeOnly: true }, '/writeOnly', 'Remove writeOnly'],
    [{ items: [{}] }, '/items', 'Write prefixItems instead'],
    [{ minimum: 1, exclusiveMinimum: true }, '/exclusiveMinimum', 'Write {"exclusiveMinimum":1} instead'],
    [{ maximum: 1, exclusiveMaximum: false }, '/exclusiveMaximum', 'Write {"exclusiveMaximum":1} instead'],
    [{ required: true }, '/required', 'Write {"required":["…"],"properties":{…}} instead'],
    [{ dependencies: {} }, '/dependencies', 'Write dependentRequired, dependentSchemas instead'],
    [{ additionalItems: false }, '/additionalItems', 'Write prefixItems, items instead'],
    [{ id: 'x' }, '/id', 'Write $id instead'],
    [{ $id: 'x' }, '/$id', 'Remove $id. Write {"$ref":"#/$defs/…"} instead'],
    [{ $schema: current }, '/$schema', 'Remove $schema'],
    [{ $ref: 'other.json' }, '/$ref', 'Accepted: #/$defs/…'],
    [{ format: 'color' }, '/format', 'Accepted: date, '],
    [{ pattern: '(?<!a)b' }, '/pattern', 'Write RE2'],
  ])('%j', (schema, pointer, text) => {
    const [fault, ...others] = faultsOfDocument({ properties: { p: schema } }, 'api');
    expect([fault?.pointer, others]).toEqual([`/properties/p${pointer}`, []]);
    expect(fault && describeFault('en', fault).detail).toContain(text);
  });

  test('a pattern of a file that is none says of which language it must be', () => {
    const [fault] = faultsOfDocument({ properties: { p: { pattern: '[' } } }, 'command');
    expect(fault).toEqual({ pointer: '/properties/p/pattern', code: 'invalid-value', values: { allowed: 'ECMA 262 with the flag u' } });
  });
});
