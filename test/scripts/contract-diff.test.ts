/** The check that no change breaks the released contract: it finds each kind of breaking change, and passes additions. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { breaksBetween } from '../../scripts/contract-diff/breaks.ts';
import type { Document } from '../../scripts/contract-diff/schemas.ts';

const released = `
openapi: 3.1.0
info: { title: Shop, version: 1.0.0 }
security: [{ cookie: [] }, { key: [] }, { oauth: [read] }]
paths:
  /items/{id}:
    parameters:
      - $ref: '#/components/parameters/Id'
    get:
      operationId: getItem
      parameters:
        - { name: view, in: query, schema: { type: string, enum: [short, long] } }
        - { name: If-None-Match, in: header, schema: { type: string, maxLength: 64 } }
      responses:
        '200':
          description: The item.
          headers:
            ETag: { required: true, schema: { type: string, pattern: '^"' } }
          content:
            application/json: { schema: { $ref: '#/components/schemas/Item' } }
        '404': { $ref: '#/components/responses/Missing' }
    post:
      operationId: updateItem
      security: []
      requestBody:
        content:
          application/json: { schema: { $ref: '#/components/schemas/Change' } }
          application/x-www-form-urlencoded: { schema: { type: object } }
      responses:
        '204': { description: Done. }
  /items:
    get:
      operationId: listItems
      responses:
        '200': { description: The items. }
components:
  parameters:
    Id: { name: id, in: path, required: true, schema: { type: string, pattern: '^[0-9]+$' } }
  responses:
    Missing:
      description: No such item.
      content:
        application/problem+json:
          schema:
            allOf:
              - { type: object, required: [code], properties: { code: { type: string } } }
              - { type: object, properties: { code: { enum: [missing, hidden] } } }
  schemas:
    Item:
      type: object
      additionalProperties: false
      required: [id, name, owner]
      properties:
        id: { type: string, format: int64 }
        name: { type: string }
        price: { type: [integer, 'null'] }
        parts: { type: array, items: { $ref: '#/components/schemas/Item' } }
        owner: { anyOf: [{ type: string }, { type: 'null' }] }
    Change:
      type: object
      properties:
        name: { type: string, minLength: 1, maxLength: 80 }
        price: { type: [integer, string], minimum: 0, maximum: 1000 }
        note: { type: string, pattern: '^\\P{Cc}*$' }
        tags: { type: array, maxItems: 5, items: { type: string, enum: [new, used] } }
        size: { anyOf: [{ type: integer }, { enum: [small, large] }] }
`;

/** The breaks between the document with `from` and the one with `to` in its place. */
function breaksOf(from: string, to: string): string[] {
  expect(released.split(from), `"${from}" occurs once`).toHaveLength(2);
  return breaksBetween(parse(released) as Document, parse(released.replace(from, to)) as Document);
}

describe('breaking changes are found', () => {
  const seeded: [string, string, string, string][] = [
    ['a removed path', '/items:', '/things:', 'GET /items is gone'],
    ['a removed method', '    post:\n', '    put:\n', 'POST /items/{} is gone'],
    ['an operation with another name', 'operationId: getItem', 'operationId: readItem', 'is called readItem'],
    ['a removed credential', '{ key: [] }, ', '', 'not open any more to key'],
    ['a credential that requires more', 'oauth: [read]', 'oauth: [read, write]', 'not open any more to oauth'],
    ['an open operation that now requires a credential', 'security: []', 'security: [{ key: [] }]', 'callers without a credential'],
    ['a removed status', "'404': { $ref", "'410': { $ref", 'does not answer 404'],
    ['a removed header', 'ETag:', 'Tag:', 'no header ETag'],
    [
      'a header that is now optional',
      'required: true, schema: { type: string, pattern: \'^"',
      'schema: { type: string, pattern: \'^"',
      'ETag is not always',
    ],
    ['a header with another pattern', `pattern: '^"'`, `pattern: '^W'`, 'header ETag: pattern'],
    ['a removed media type of an answer', 'application/problem+json', 'application/json', 'no application/problem+json'],
    ['a removed media type of a body', 'application/x-www-form-urlencoded', 'text/plain', 'no application/x-www-form-urlencoded'],
    ['a body that is now required', 'requestBody:\n', 'requestBody:\n        required: true\n', 'asks for a body'],
    ['a removed parameter', 'name: view', 'name: look', 'does not take the parameter query view'],
    ['a parameter that is now required', 'view, in: query,', 'view, in: query, required: true,', 'asks for the parameter query view'],
    [
      'a new required parameter',
      'parameters:\n        - {',
      'parameters:\n        - { name: a, in: query, required: true, schema: {} }\n        - {',
      'asks for the parameter query a',
    ],
    ['a removed value of a parameter', 'short, long', 'short', 'value long is not taken'],
    ['a parameter limited to an enum', 'maxLength: 64', 'maxLength: 64, enum: [a]', 'limited to an enum'],
    ['another pattern of a path parameter', '^[0-9]+$', '^[0-9]{3}$', 'parameter id: pattern'],
    ['a shorter text', 'maxLength: 80', 'maxLength: 79', 'maxLength is 79'],
    ['a longer text', 'minLength: 1', 'minLength: 2', 'minLength is 2'],
    ['a new pattern', 'minLength: 1', "pattern: '^a'", 'pattern was none'],
    ['a class that leaves out more', String.raw`\P{Cc}`, String.raw`[^\x00-\x20\x7F-\x9F]`, 'pattern was'],
    ['a higher minimum', 'minimum: 0', 'minimum: 1', 'minimum is 1'],
    ['a lower maximum', 'maximum: 1000', 'maximum: 999', 'maximum is 999'],
    ['fewer items', 'maxItems: 5', 'maxItems: 4', 'maxItems is 4'],
    ['items that must now differ', 'maxItems: 5', 'maxItems: 5, uniqueItems: true', 'uniqueItems differs'],
    ['a removed value of an item', 'new, used', 'new', 'body/tags/items: value used'],
    ['a type that is now refused', '[integer, string]', 'integer', 'type string is not taken'],
    [
      'a member that is now required',
      'Change:\n      type: object',
      'Change:\n      type: object\n      required: [name]',
      'name is required now',
    ],
    [
      'members that are now refused',
      'Change:\n      type: object',
      'Change:\n      type: object\n      additionalProperties: false',
      'no further members',
    ],
    ['a removed member of a body', '        tags:', '        marks:', 'member tags is gone'],
    ['a removed alternative', '{ type: integer }, { enum', '{ enum', 'alternatives is gone'],
    ['a removed member of an answer', '        name: { type: string }\n', '', 'member name is gone'],
    ['a member that is now optional', '[id, name, owner]', '[id, owner]', 'name is not always there'],
    ['an answer of another type', 'name: { type: string }\n', 'name: { type: integer }\n', 'may be integer now'],
    ['an answer that may now be null', 'name: { type: string }\n', "name: { type: [string, 'null'] }\n", 'may be null now'],
    ['an answer of another format', 'format: int64', 'format: int32', 'format was "int64"'],
    [
      'a new alternative',
      "{ type: string }, { type: 'null' }]",
      "{ type: string }, { type: integer }, { type: 'null' }]",
      'alternatives is new',
    ],
    ['an enum that is now open', ', properties: { code: { enum: [missing, hidden] } }', '', 'not limited to its enum'],
  ];

  test.for(seeded)('%s', ([, from, to, expected]) => {
    expect(breaksOf(from, to).join('\n')).toContain(expected);
  });
});

describe('additions pass', () => {
  const additive: [string, string, string][] = [
    [
      'an operation',
      '/items:\n',
      "/things:\n    get: { operationId: listThings, responses: { '200': { description: All. } } }\n  /items:\n",
    ],
    ['a status', "'204': { description: Done. }", "'204': { description: Done. }\n        '409': { description: No. }"],
    ['a credential', '{ key: [] }', '{ key: [] }, { token: [] }'],
    ['a credential that requires less', 'oauth: [read]', 'oauth: []'],
    ['a parameter', 'name: view, in: query', 'name: a, in: query, schema: {} }\n        - { name: view, in: query'],
    ['another name of a path parameter', '/items/{id}:', '/items/{number}:'],
    ['a value of a parameter', 'short, long', 'short, long, full'],
    ['a longer text', 'maxLength: 80', 'maxLength: 81'],
    ['a lower minimum', 'minimum: 0', 'minimum: -1'],
    ['no pattern', ", pattern: '^[0-9]+$'", ''],
    ['an accepted type', '[integer, string]', '[integer, string, boolean]'],
    ['an alternative of a body', '{ type: integer }, { enum', '{ type: integer }, { type: boolean }, { enum'],
    ['a member of a body', '        tags:', '        more: { type: string }\n        tags:'],
    ['a member of an answer', '        name: { type: string }\n', '        name: { type: string }\n        more: { type: string }\n'],
    ['a member that is now always there', '[id, name, owner]', '[id, name, owner, price]'],
    ['a value of a code', '[missing, hidden]', '[missing, hidden, sold]'],
    ['an answer that is now never null', "[integer, 'null']", 'integer'],
    ['a header', 'ETag:', 'Age: { schema: { type: integer } }\n            ETag:'],
    ['the same pattern without a Unicode property', String.raw`\P{Cc}`, String.raw`[^\x00-\x1F\x7F-\x9F]`],
    ['words', 'description: The item.', 'description: The item as it is.'],
  ];

  test.for(additive)('%s', ([, from, to]) => {
    expect(breaksOf(from, to)).toEqual([]);
  });
});

describe('docs/released/openapi.yaml', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const document = parse(read('docs/released/openapi.yaml')) as Document & { info: { version: string }; paths: Record<string, unknown> };

  test('is compared with openapi.yaml by npm run check:contract, without a break', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(scripts['check:contract']).toContain('node scripts/contract-diff/main.ts');
    expect(breaksBetween(document, parse(read('openapi.yaml')) as Document)).toEqual([]);
  });

  test('is checked completely: openapi.yaml without any one of its paths would break callers', () => {
    for (const path of Object.keys(document.paths)) {
      const { [path]: _, ...paths } = document.paths;
      expect(breaksBetween(document, { ...document, paths }).length, path).toBeGreaterThan(0);
    }
  });
});
