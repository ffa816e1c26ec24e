/** `POST /rest/entity/{name}` of a declared type: which fields are refused, and with which pointers, whatever the names and keywords of the type. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useService, type ProblemBody } from '../support/service.ts';
import { rowsOf, type Entity } from '../support/entities.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada', { '*': ['type', 'create', 'read', 'update', 'delete'] })).id);
});

let name = '';
let number = 0;
beforeEach(() => {
  name = `refused${++number}`;
});
const put = async (document: object) => {
  const { status, text } = await service().call('PUT', `/rest/entity-type/${name}`, {
    cookie,
    headers: { 'if-none-match': '*' },
    json: document,
  });
  expect(status, text).toBe(201);
};
const create = <T = ProblemBody>(raw: string) =>
  service().call<T>('POST', `/rest/entity/${name}`, { cookie, raw, headers: { 'content-type': 'application/json' } });

describe('names of properties that are text of a program or of an object', () => {
  const names = ['for(let a', 'errors++;', '*/', '//', '`${0}`', "'", '\u2028', 'hasOwnProperty', 'if(errors>0)return false;'];

  test.each(names)('422 — %j is required: a create without it is refused, with its pointer', async (property) => {
    await put({ required: [property], properties: { [property]: { type: 'string', maxLength: 3 } } });
    const missing = await create('{}');
    expect([missing.status, missing.body.errors]).toMatchObject([422, [{ code: 'required' }]]);
    expect(missing.body.errors?.[0]?.pointer).toBe(`/${property.replaceAll('/', '~1')}`);
    const wrong = await create(JSON.stringify({ [property]: 'four' }));
    expect([wrong.status, wrong.body.errors]).toMatchObject([422, [{ code: 'too-long' }]]);
    expect(await rowsOf(service(), name)).toEqual([]);
    const fitting = await create(JSON.stringify({ [property]: 'abc' }));
    expect(fitting.status, fitting.text).toBe(201);
  });

  test.each(['constructor', '__proto__'])(
    '422 — %s is required: a create without it is refused with its pointer, and 400 with it',
    async (property) => {
      await put({ required: [property] });
      const missing = await create('{}');
      expect([missing.status, missing.body.errors]).toMatchObject([422, [{ code: 'required', pointer: `/${property}` }]]);
      const reserved = await create(`{"${property}":{"prototype":{}}}`);
      expect([reserved.status, reserved.body.errors]).toMatchObject([400, [{ code: 'member-name-reserved', pointer: `/${property}` }]]);
      expect(await rowsOf(service(), name)).toEqual([]);
    },
  );

  test.each(['constructor', '__proto__'])('400 — a type with the property %s is refused, and not declared', async (property) => {
    const { status, body } = await service().call('PUT', `/rest/entity-type/${name}`, {
      cookie,
      raw: `{"properties":{"${property}":{"type":"string"}}}`,
      headers: { 'if-none-match': '*', 'content-type': 'application/json' },
    });
    const pointer = `/properties/${property}`;
    expect([status, body.errors]).toMatchObject([400, [{ code: 'member-name-reserved', pointer }]]);
    expect((await service().call('GET', `/rest/entity-type/${name}`, { cookie })).status).toBe(404);
  });
});

interface Example {
  title: string;
  document: object;
  fitting: object[];
  unfit: object[];
}

describe('keywords that look at what other keywords have evaluated', () => {
  const examples: Example[] = [
    {
      title: 'allOf with properties, oneOf of required, unevaluatedProperties: false',
      document: {
        allOf: [{ properties: { p: { type: 'string' } } }],
        oneOf: [
          { required: ['x'], properties: { x: { type: 'string' } } },
          { required: ['y'], properties: { y: { type: 'string' } } },
        ],
        unevaluatedProperties: false,
      },
      fitting: [{ p: 'a', y: 'b' }, { p: 'a', x: 'b' }, { y: 'b' }],
      unfit: [{ p: 'a' }, { p: 'a', x: 'b', y: 'c' }, { p: 'a', y: 'b', z: 'c' }, { z: 'c' }],
    },
    {
      title: 'unevaluatedItems under nested prefixItems',
      document: {
        properties: {
          a: {
            prefixItems: [{ type: 'string' }],
            allOf: [{ prefixItems: [true, { type: 'number' }] }],
            unevaluatedItems: false,
          },
        },
      },
      fitting: [{ a: ['a', 1] }, { a: ['a'] }, { a: [] }],
      unfit: [{ a: ['a', 1, 2] }, { a: ['a', 'b'] }, { a: [1] }],
    },
    {
      title: 'unevaluatedItems under several contains',
      document: {
        properties: {
          a: { allOf: [{ contains: { multipleOf: 2 } }, { contains: { multipleOf: 3 } }], unevaluatedItems: { multipleOf: 5 } },
        },
      },
      fitting: [{ a: [2, 3, 4, 5, 6] }, { a: [6] }],
      unfit: [{ a: [2, 3, 4, 7, 8] }, { a: [2, 4] }, { a: [3, 5] }],
    },
    {
      title: 'unevaluatedProperties beside if without then',
      document: {
        if: { properties: { kind: { const: 'a' } }, required: ['kind'] },
        else: { properties: { other: { type: 'string' } } },
        unevaluatedProperties: false,
      },
      fitting: [{ kind: 'a' }, { other: 'b' }, {}],
      unfit: [{ kind: 'a', other: 'b' }, { kind: 'b' }, { more: 1 }],
    },
    {
      title: 'enum with an object that has a member $ref',
      document: { properties: { a: { enum: [{ $ref: '#/$defs/b' }, { $ref: 5 }] } }, $defs: { b: { type: 'string' } } },
      fitting: [{ a: { $ref: '#/$defs/b' } }, { a: { $ref: 5 } }],
      unfit: [{ a: 'text' }, { a: { $ref: '#/$defs/c' } }, { a: {} }],
    },
  ];

  test.each(examples)('201 and 422 — $title', async ({ document, fitting, unfit }) => {
    await put(document);
    for (const fields of fitting) {
      const { status, text } = await create<Entity>(JSON.stringify(fields));
      expect([status, status === 201 ? '' : text], JSON.stringify(fields)).toEqual([201, '']);
    }
    for (const fields of unfit) {
      const { status, body } = await create(JSON.stringify(fields));
      expect([status, body.code], JSON.stringify(fields)).toEqual([422, 'validation-failed']);
    }
    expect(await rowsOf(service(), name)).toHaveLength(fitting.length);
  });
});
