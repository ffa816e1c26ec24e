/** `/openapi.json?type=…`: the contract with the types that the caller may see. */
import { beforeAll, describe, expect, test } from 'vitest';
import { methods, type ContractDocument } from '../../src/contract/contract.ts';
import { schemaOf } from '../../src/entity-types/document.ts';
import { fieldTypesOf } from '../../src/entity-types/field-types.ts';
import type { VariableTypes } from '../../src/filter/variables.ts';
import { bodyLimits } from '../../src/filter/limits.ts';
import { parseFilter } from '../../src/filter/parse.ts';
import { PartMaker } from '../../src/entity-types/typed-contract/derive.ts';
import { roles } from '../../src/entity-types/typed-contract/names.ts';
import { parseSort } from '../../src/filter/sort.ts';
import type { Action } from '../../src/rights/vocabulary.ts';
import { declareType } from '../support/entities.ts';
import { document } from '../support/operations.ts';
import { list, queryBy } from '../support/lists.ts';
import { useService, type ProblemBody, type TestGrants } from '../support/service.ts';
import { hostileTypes, typedContract, validatorsOf } from '../support/typed-documents.ts';

const service = useService();
let cookie: string;
let number = 0;

beforeAll(async () => {
  for (const [name, document] of Object.entries(hostileTypes)) await declareType(service(), name, document);
  cookie = await signedIn();
});

/** A new user's cookie. */
async function signedIn(grants?: TestGrants): Promise<string> {
  number += 1;
  return await service().openSession((await service().createUser(`user${number}`, grants)).id);
}

const schemasOf = ({ components }: ContractDocument) => components['schemas'] as Record<string, { [member: string]: unknown }>;
const pathsOf = (document: ContractDocument) =>
  Object.keys(document.paths).filter((path) => path.startsWith('/rest/entity/') && !path.includes('{name}'));
const operationsAt = (document: ContractDocument, path: string) => methods.filter((method) => document.paths[path]?.[method]);

describe('the document', () => {
  test('is the plain one plus the schemas, paths and tags of the type', async () => {
    const plain = await service().call<ContractDocument>('GET', '/openapi.json');
    const { status, headers, body } = await typedContract(service(), { cookie }, 'customer');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(body).toMatchObject({
      ...plain.body,
      tags: [{ name: 'Customer', description: 'Customer. Buys things.', 'x-entity-type': 'customer' }, ...plain.body.tags],
    });
    const added = Object.keys(schemasOf(body)).filter((name) => !(name in schemasOf(plain.body)));
    expect(added.filter((name) => name.startsWith('Customer'))).toEqual(
      // New entities have a schema of their own only where rights on fields differ.
      expect.arrayContaining(['', ...roles.filter((role) => role !== 'New')].map((role) => `Customer${role}`)),
    );
    expect(pathsOf(body)).toEqual(
      ['', '/query', '/aggregate', '/bulk', '/upsert', '/{key}', '/{key}/history', '/{key}/restore'].map(
        (path) => `/rest/entity/customer${path}`,
      ),
    );
    const ids = pathsOf(body).flatMap((path) => operationsAt(body, path).map((method) => String(body.paths[path]?.[method]?.operationId)));
    expect(ids.toSorted()).toEqual(
      ['aggregate', 'create', 'createMany', 'delete', 'get', 'list', 'listVersions', 'query', 'restore', 'update', 'upsert'].map(
        (verb) => `${verb}Customer`,
      ),
    );
  });

  test('has the fields of the type, and its filter has a test for each by its type', async () => {
    const { body } = await typedContract(service(), { cookie }, 'customer');
    const { Customer, CustomerFilter, CustomerSort, CustomerPatch } = schemasOf(body);
    expect(Customer?.['properties']).toMatchObject({ credit: { type: 'string', format: 'decimal' }, city: { type: ['string', 'null'] } });
    expect(CustomerPatch?.['properties']).toMatchObject({ company: { type: 'string' }, credit: { type: ['string', 'null'] } });
    expect(CustomerFilter).toMatchObject({
      additionalProperties: false,
      properties: {
        company: { $ref: '#/components/schemas/TextTest' },
        credit: { $ref: '#/components/schemas/DecimalTest' },
        account: { $ref: '#/components/schemas/Int64Test' },
        since: { $ref: '#/components/schemas/InstantTest' },
        birthday: { $ref: '#/components/schemas/DayTest' },
        vip: { $ref: '#/components/schemas/BooleanTest' },
        score: { $ref: '#/components/schemas/NumberTest' },
        anything: { $ref: '#/components/schemas/FieldTest' },
        $not: { $ref: '#/components/schemas/CustomerFilter' },
      },
    });
    expect(CustomerSort?.['enum']).toEqual(expect.arrayContaining(['credit', '-credit', 'address.zip', '-$createdAt']));
    expect(CustomerSort?.['enum']).not.toContain('tags');
  });

  test('has a test of references, with the filter of what they lead to', async () => {
    const { SaleFilter, ReferenceTest } = schemasOf((await typedContract(service(), { cookie }, 'sale')).body);
    expect(SaleFilter).toMatchObject({
      properties: { buyer: { $ref: '#/components/schemas/ReferenceTest' }, number: { $ref: '#/components/schemas/Int64Test' } },
    });
    expect(JSON.stringify(ReferenceTest)).toContain('"$match":{"description"');
    const filter = { buyer: { $match: { company: 'Babbage' } }, ship: { to: { $match: {} } } };
    expect((await list(service(), { cookie }, 'sale', { filter })).status).toBe(200);
  });

  test('without the parameter is byte for byte the one for everybody, and openapi.yaml is so with it', async () => {
    const [signedOut, withCookie] = [
      await service().call('GET', '/openapi.json'),
      await service().call('GET', '/openapi.json', { cookie }),
    ];
    expect(withCookie.text).toBe(signedOut.text);
    expect(withCookie.headers.get('etag')).toBe(null);
    const yaml = await service().call('GET', '/openapi.yaml');
    expect((await service().call('GET', '/openapi.yaml?type=customer', { cookie })).text).toBe(yaml.text);
  });

  test('has several types, or with * all of them', async () => {
    const two = await typedContract(service(), { cookie }, 'file', 'customer', 'file');
    expect(two.body.tags.slice(0, 2).map(({ name }) => name)).toEqual(['Customer', 'FileType']);
    const { body } = await typedContract(service(), { cookie }, '*');
    expect(new Set(pathsOf(body).map((path) => path.split('/')[3]))).toEqual(new Set(Object.keys(hostileTypes)));
  });

  test('has the same name for a type whether others are in it or not', async () => {
    const one = await typedContract(service(), { cookie }, 'order_line');
    const all = await typedContract(service(), { cookie }, '*');
    const [tag] = one.body.tags;
    expect(tag?.name).toMatch(/^OrderLine__/);
    expect(all.body.tags).toContainEqual(tag);
  });
});

test('no body of an operation of a type has a schema for any name', async () => {
  const { body } = await typedContract(service(), { cookie }, 'file');
  const referred = (value: unknown = null) =>
    [...JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
  const general = new Set(['Fields', 'Filter']);
  // What includes other names, or has an entity as it was under another type.
  const { Included: _, EntityHistory: _history, ...schemas } = schemasOf(body);
  for (let before = 0; before < general.size;) {
    before = general.size;
    for (const [name, schema] of Object.entries(schemas)) if (referred(schema).some((each) => general.has(each))) general.add(name);
  }
  expect(general).toContain('EntityPage');
  const operations = pathsOf(body).flatMap((path) => operationsAt(body, path).map((method) => body.paths[path]?.[method]));
  const bodies = operations.flatMap((operation) => [operation?.requestBody, operation?.parameters, operation?.responses]);
  expect(bodies.flatMap(referred).filter((name) => general.has(name))).toEqual([]);
});

describe('what the caller may not do is not in it (rule 64)', () => {
  test('without a right to any action on the name there is no such type, as if it were not declared', async () => {
    const reader = await signedIn({ customer: ['read'] });
    const refused = await typedContract(service(), { cookie: reader }, 'file');
    const unknown = await typedContract(service(), { cookie: reader }, 'none');
    const both = await typedContract(service(), { cookie: reader }, 'customer', 'file');
    for (const { status, body } of [refused, unknown, both]) expect([status, body.code]).toEqual([404, 'not-found']);
    const without = ({ instance: _, ...problem }: ProblemBody) => problem;
    expect(without(refused.body)).toEqual(without(unknown.body));
    for (const name of ['', 'constructor', '__proto__', 'a b', '**'])
      expect((await typedContract(service(), { cookie }, name)).status).toBe(404);
  });

  test.for<[Action[], string[], string[]]>([
    [
      ['read'],
      ['get', 'post /query', 'post /aggregate', 'get /{key}', 'get /{key}/history'],
      ['', 'Filter', 'Sort', 'Entity', 'View', 'Page', 'Query', 'Aggregation'],
    ],
    [['create'], ['post', 'post /bulk'], ['', 'List', 'Entity']],
    [
      ['read', 'update'],
      ['get', 'post /query', 'post /aggregate', 'post /upsert', 'get /{key}', 'post /{key}', 'get /{key}/history', 'post /{key}/restore'],
      ['', 'Patch', 'Filter', 'Sort', 'Entity', 'View', 'Page', 'Query', 'Aggregation'],
    ],
    [['delete'], ['delete /{key}'], []],
    [['type'], [], ['']],
  ])('%j has the operations %j and the schemas %j', async ([actions, operations, roles]) => {
    const { status, body } = await typedContract(service(), { cookie: await signedIn({ file: actions }) }, '*');
    expect(status).toBe(200);
    const found = pathsOf(body).flatMap((path) =>
      operationsAt(body, path).map((method) => `${method} ${path.replace('/rest/entity/file', '')}`.trim()),
    );
    expect(found).toEqual(operations);
    const schemas = Object.keys(schemasOf(body)).filter((name) => name.startsWith('FileType'));
    expect(schemas.toSorted()).toEqual(roles.map((role) => `FileType${role}`).toSorted());
    expect(body.tags[0]?.name).toBe('FileType');
    expect(Object.keys(schemasOf(body)).filter((name) => /^(Customer|OrderLine|Tree)/.test(name))).toEqual([]);
  });

  test('the right to delete shows no word of the document', async () => {
    const { body } = await typedContract(service(), { cookie: await signedIn({ customer: ['delete'] }) }, 'customer');
    expect(body.tags[0]).toEqual({ name: 'Customer', description: 'customer', 'x-entity-type': 'customer' });
  });

  test('own rows count as a right, and a name is not told by the name of another schema', async () => {
    const { body } = await typedContract(
      service(),
      { cookie: await signedIn({ order_line: { actions: ['read'], condition: 'own' } }) },
      '*',
    );
    expect(body.tags[0]?.name, 'order-line would give it a digest').toBe('OrderLine');
  });

  test('the scopes of a key are a ceiling', async () => {
    const { id } = await service().createUser('keys');
    const apiKey = await service().createKey(id, { scopes: [{ entity: 'file', actions: ['read'] }] });
    const credential = { headers: { 'x-api-key': apiKey } };
    const { body } = await typedContract(service(), credential, '*');
    expect(pathsOf(body).flatMap((path) => operationsAt(body, path))).toEqual(['get', 'post', 'post', 'get', 'get']);
    expect((await typedContract(service(), credential, 'customer')).status).toBe(404);
  });

  test('a right that is taken counts at once', async () => {
    const user = await service().createUser('bob', { file: ['read'] });
    const session = { cookie: await service().openSession(user.id) };
    expect((await typedContract(service(), session, 'file')).status).toBe(200);
    await service().db.deleteFrom('role_grant').where('entity', '=', 'file').where('action', '=', 'read').execute();
    await service().settle();
    expect((await typedContract(service(), session, 'file')).status).toBe(404);
  });

  test('401 — without a credential, or with one that is not valid, also for an unknown type', async () => {
    const credentials = [
      { headers: {} },
      { cookie: `sid=${'a'.repeat(43)}` },
      { headers: { 'x-api-key': 'esk_nonsense' } },
      { headers: { authorization: 'Bearer x' } },
    ];
    for (const credential of credentials) {
      for (const type of ['*', 'customer', 'none']) expect((await typedContract(service(), credential, type)).status).toBe(401);
    }
    const { status, body } = await typedContract(service(), { headers: { authorization: 'Bearer x', 'x-api-key': 'y' } }, '*');
    expect([status, body.code]).toEqual([400, 'ambiguous-credentials']);
  });
});

describe('the ETag', () => {
  test('is the same for the same types and rights, and answers 304', async () => {
    const tags = [await signedIn(), await signedIn()].map(async (each) =>
      (await typedContract(service(), { cookie: each }, '*')).headers.get('etag'),
    );
    const [tag, other] = await Promise.all(tags);
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    expect(other).toBe(tag);
    const again = await service().call('GET', '/openapi.json?type=*', { cookie, headers: { 'if-none-match': `"x", ${tag}` } });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
    expect((await service().call('GET', '/openapi.json?type=*', { cookie, headers: { 'if-none-match': 'x' } })).status).toBe(400);
  });

  test('is another one after a change of the type, for other rights and for other types', async () => {
    await declareType(service(), 'note', { type: 'object' });
    const tagOf = async (...types: string[]) => (await typedContract(service(), { cookie }, ...types)).headers.get('etag');
    const before = await tagOf('note');
    const reader = await typedContract(service(), { cookie: await signedIn({ note: ['read'] }) }, 'note');
    expect(reader.headers.get('etag')).not.toBe(before);
    await declareType(service(), 'note', { type: 'object', properties: { text: { type: 'string' } } });
    const after = await tagOf('note');
    expect(after).not.toBe(before);
    expect(await tagOf('note', 'file')).not.toBe(after);
    await declareType(service(), 'note', { type: 'object' });
    expect(await tagOf('note')).toBe(before);
  });
});

test('references may lead to one another as often as a document can have them', () => {
  const link = (index: number) => ({
    type: 'object',
    properties: { next: { $ref: `#/$defs/d${index + 1}` }, other: { $ref: '#/$defs/d0' } },
  });
  const $defs = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`d${index}`, link(index)]));
  const type = { name: 'chain', base: 'Chain', actions: new Set(['read', 'update'] as const) };
  const part = new PartMaker(document).part({
    ...type,
    document: { type: 'object', properties: { first: { $ref: '#/$defs/d0' } }, $defs },
  });
  const schemas = JSON.parse(`{${part.schemas}}`) as object;
  expect(Object.keys(schemas).filter((name) => /^Chain_D\d+$/.test(name))).toHaveLength(2_000);
  expect(Object.keys(schemas).filter((name) => name.endsWith('Test')).length, 'as deep as a filter may be').toBeLessThan(10);
});

test('422 — for documents that are too long together; one of them is not', async () => {
  const long = { type: 'object', description: 'x'.repeat(250_000) };
  for (let index = 0; index < 17; index += 1) await declareType(service(), `long-${index}`, long);
  const reader = {
    cookie: await signedIn(Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`long-${index}`, ['delete']]))),
  };
  const { status, body } = await typedContract(service(), reader, '*');
  expect([status, body.errors]).toEqual([422, [expect.objectContaining({ parameter: 'type', code: 'too-long' })]]);
  expect((await typedContract(service(), reader, 'long-0')).status).toBe(200);
});

test('the answers and bodies of an entity’s life fit the operations of its type', async () => {
  const { body: document } = await typedContract(service(), { cookie }, 'customer');
  const faults = validatorsOf(document);
  const at = (path: string, method: string) => ['paths', `/rest/entity/customer${path}`, method];
  const answered = (path: string, method: string, status: number) => [
    ...at(path, method),
    'responses',
    String(status),
    'content',
    'application/json',
    'schema',
  ];
  const sent = (path: string, method: string) => [...at(path, method), 'requestBody', 'content', 'application/json', 'schema'];

  const fields = {
    company: 'A',
    credit: '1.50',
    tags: ['x'],
    lines: [{ count: 1 }],
    address: { zip: '1', geo: { lat: 1 } },
    state: 'open',
  };
  expect(faults(sent('', 'post'), fields)).toEqual([]);
  const created = await service().call<{ key: string }>('POST', '/rest/entity/customer', { cookie, json: fields });
  expect(created.status).toBe(201);
  expect(faults(answered('', 'post', 201), created.body)).toEqual([]);

  expect(faults(sent('/bulk', 'post'), [fields, fields])).toEqual([]);
  expect(faults(sent('/bulk', 'post'), [fields, { company: 1 }])).not.toEqual([]);
  const both = await service().call('POST', '/rest/entity/customer/bulk', {
    cookie,
    json: [{ ...fields, company: 'B' }, { company: 'C' }],
  });
  expect([both.status, faults(answered('/bulk', 'post', 200), both.body)]).toEqual([200, []]);

  const { key } = created.body;
  for (const patch of [{ credit: null, city: 'Paris' }, { address: { geo: null } }, { address: null, city: null, tags: null }]) {
    expect(faults(sent('/{key}', 'post'), patch)).toEqual([]);
    const updated = await service().call('POST', `/rest/entity/customer/${key}`, { cookie, json: patch });
    expect(updated.status).toBe(200);
    expect(faults(answered('/{key}', 'post', 200), updated.body)).toEqual([]);
  }
  for (const patch of [{ company: null }, { credit: 1 }, { unknown: 1 }, { address: { zip: null } }]) {
    expect(faults(sent('/{key}', 'post'), patch)).not.toEqual([]);
    expect((await service().call('POST', `/rest/entity/customer/${key}`, { cookie, json: patch })).status).toBe(422);
  }
  const read = await service().call('GET', `/rest/entity/customer/${key}`, { cookie });
  expect(faults(answered('/{key}', 'get', 200), read.body)).toEqual([]);
  const query = { filter: { company: 'A', 'first name': { $exists: false } }, sort: ['-credit', 'address.zip'], count: 'exact' };
  expect(faults(sent('/query', 'post'), query)).toEqual([]);
  for (const page of [await list(service(), { cookie }, 'customer', query), await queryBy(service(), { cookie }, 'customer', query)]) {
    expect(page.body.items).toHaveLength(1);
    expect(faults(answered('', 'get', 200), page.body)).toEqual([]);
    expect(faults(answered('/query', 'post', 200), page.body)).toEqual([]);
  }
  expect((await service().call('DELETE', `/rest/entity/customer/${key}`, { cookie })).status).toBe(204);
});

test.for(Object.keys(hostileTypes))('the service takes each name of the sort of %s', async (name) => {
  const { body } = await typedContract(service(), { cookie }, name);
  const sort = schemasOf(body)[`${body.tags[0]?.name}Sort`];
  const [known] = (sort?.['anyOf'] ?? [sort]) as { enum: string[] }[];
  const names = known?.enum ?? [];
  const types = fieldTypesOf(schemaOf(hostileTypes[name] ?? {}));
  expect(names).toContain('-$key');
  expect(names.filter((each) => 'faults' in parseSort([each], types))).toEqual([]);
});

const caller: VariableTypes = { names: ['user.name'], typeOf: (name) => (name === 'user.name' ? 'string' : undefined) };

test('the filter of a type takes what the service takes, and refuses what it refuses', async () => {
  const { body } = await typedContract(service(), { cookie }, 'customer', 'tree');
  const faults = validatorsOf(body);
  const check = (type: 'customer' | 'tree', filter: object, accepted: boolean) => {
    const parsed = parseFilter(filter, fieldTypesOf(schemaOf(hostileTypes[type] ?? {})), bodyLimits, caller);
    const schema = type === 'customer' ? 'CustomerFilter' : 'TreeFilter';
    expect([!('faults' in parsed), faults(['components', 'schemas', schema], filter).length === 0], JSON.stringify(filter)).toEqual([
      accepted,
      accepted,
    ]);
  };
  for (const filter of [
    {},
    { company: 'A', credit: { $gte: '1.5', $ne: null }, $or: [{ vip: true }, { $not: { score: { $in: [1, null] } } }] },
    {
      state: { $in: ['open', null] },
      tags: { $contains: 'x' },
      lines: { $exists: true },
      $key: '5',
      $createdAt: { $gt: '2026-01-01T00:00:00Z' },
    },
    { address: { zip: { $prefix: '1' }, geo: { lat: 1, other: 'x' } }, billing: null, anything: { a: { $gt: 1 } }, birthday: '2026-02-28' },
    { $or: [], $and: [], state: { $in: [], $nin: [] } },
    { company: { $var: 'user.name' }, credit: { $lt: { $field: 'credit' } }, birthday: { $or: [{ $gt: { $ago: 'P1Y' } }, null] } },
    {
      company: { $in: [{ $var: 'user.name' }, null], $not: { $prefix: { $var: 'user.name' } } },
      state: { $or: ['open', { $ne: null }], $not: 'open' },
    },
    {
      address: { $or: [{ zip: '1' }, { $not: { zip: { $prefix: 'W' } } }], zip: { $ne: { $field: 'company' } } },
      tags: { $not: { $contains: 'x' } },
    },
    { state: { $ne: 'open' }, labels: { $contains: 'vip' } },
    { labels: { $contains: null } },
    { address: { geo: { $empty: true } }, billing: { $exists: true }, 'first name': 'x', city: { $contains: 'y' } },
  ])
    check('customer', filter, true);
  for (const filter of [
    { company: { $var: 5 } },
    { company: { $eq: { $var: 'user.name', $field: 'company' } } },
    { score: { $lt: {} } },
    { state: { $or: [1] } },
    { address: { $not: { zip: 5 } } },
    { unknown: 1 },
    { credit: 1 },
    { credit: { $prefix: '1' } },
    { vip: { $gt: true } },
    { company: { zip: '1' } },
    { address: 'x' },
    { address: {} },
    { address: { unknown: 1 } },
    { $or: {} },
    { $nor: [] },
    { tags: 'x' },
    { state: { $in: ['opne'] } },
    { state: 'opne' },
    { state: { $nin: ['open', 'opne'] } },
    { labels: { $contains: 'old' } },
    { since: 'yesterday' },
  ])
    check('customer', filter, false);
  check('tree', { left: { below: { below: { value: 1 } } }, anything: 1 }, true);
  check('tree', { left: { below: { value: 'x' } } }, false);
});

test('200 — names the fields of a unique rule exactly, also with `$`, which has a meaning where JavaScript replaces text', async () => {
  const field = 'a$`b$$';
  await declareType(service(), 'money', { type: 'object', properties: { [field]: { type: 'string' } }, 'x-unique': [{ fields: [field] }] });
  const { status, body } = await typedContract(service(), { cookie }, 'money');
  expect(status).toBe(200);
  expect(body.paths['/rest/entity/money/upsert']).toMatchObject({
    post: { parameters: expect.arrayContaining([expect.objectContaining({ name: 'by', example: field })]) },
  });
});
