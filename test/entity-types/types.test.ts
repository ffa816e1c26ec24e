/** Declared entity types: ENTITY_TYPES_DIR and ENTITY_TYPES=declared. */
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/settings.ts';
import { readTypeFiles } from '../../src/entity-types/files.ts';
import { rowsOf, type Entity } from '../support/entities.ts';
import { TestService, useService, type ProblemBody } from '../support/service.ts';

const directory = await mkdtemp(join(tmpdir(), 'entity-types-'));
afterAll(() => rm(directory, { recursive: true }));

const customer = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['company'],
  additionalProperties: false,
  properties: {
    company: { type: 'string', minLength: 1, maxLength: 40 },
    credit: { type: 'number', minimum: 0, maximum: 1_000 },
    state: { enum: ['open', 'closed', 3] },
    since: { type: 'string', format: 'date' },
    big: { type: 'string', format: 'int64' },
    address: { $ref: '#/$defs/address' },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
  },
  $defs: { address: { type: 'object', properties: { zip: { type: 'string', pattern: '^[0-9]{5}$' } }, unevaluatedProperties: false } },
};
await writeFile(join(directory, 'customer.json'), JSON.stringify(customer));
await writeFile(join(directory, 'counter.yaml'), 'type: object\nproperties:\n  count: { type: integer, maximum: 100 }\n');
await writeFile(join(directory, 'constructor.yml'), 'required: [a]\n');
await writeFile(join(directory, 'account.yaml'), 'x-if-match: required\ntype: object\nproperties:\n  balance: { type: integer }\n');
await writeFile(
  join(directory, 'price.yaml'),
  'required: [toString]\nproperties:\n  valueOf: { type: string }\n  toString: true\n  amount: { multipleOf: 0.01 }\n  at: { format: date-time }\n  on: { format: date }\n',
);
const shades: object[] = [{ 'a\\b': 1 }, { valueOf: 1 }];
await writeFile(
  join(directory, 'colour.json'),
  JSON.stringify({
    properties: {
      list: { type: 'array', uniqueItems: true, maxItems: 9 },
      one: { enum: shades },
      only: { anyOf: shades.map((shade) => ({ const: shade })) },
    },
  }),
);
await writeFile(join(directory, 'README.md'), 'Not a type.');

const service = useService({ ENTITY_TYPES: 'declared', ENTITY_TYPES_DIR: directory });
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

const create = <T = ProblemBody>(name: string, json: unknown) => service().call<T>('POST', `/rest/entity/${name}`, { cookie, json });
const update = <T = ProblemBody>(name: string, key: string, json: unknown, headers = {}) =>
  service().call<T>('POST', `/rest/entity/${name}/${key}`, { cookie, json, headers });

describe('a declared type', () => {
  test('201 and 422 — a member of Object.prototype is no field, however the body writes its names', async () => {
    expect((await create('price', { toString: 1 })).status).toBe(201);
    for (const missing of [{}, { name: 'x' }, { 'a\\b': 'x' }]) {
      const answer = await create('price', missing);
      expect(answer.body.errors).toMatchObject([{ pointer: '/toString', code: 'required' }]);
    }
    expect((await create('price', { toString: 1, valueOf: 1 })).body.errors).toMatchObject([{ pointer: '/valueOf', code: 'invalid-type' }]);
    // The service reads this object into one without a prototype.
    expect((await create('price', { toString: 1, 'a\\b': 1, valueOf: 'x' })).status).toBe(201);
  });

  test('201 and 422 — values are compared by the members that they have, whatever their names are', async () => {
    for (const name of ['a\\b', 'valueOf', 'toString']) {
      const [one, other] = [
        { [name]: 1, b: [{}] },
        { [name]: 2, b: [{}] },
      ];
      expect((await create('colour', { list: [one, other] })).status, name).toBe(201);
      const same = await create('colour', { list: [one, other, { b: [{}], [name]: 1 }] });
      expect(same.body.errors).toMatchObject([{ pointer: '/list', code: 'invalid-value' }]);
    }
    for (const field of ['one', 'only'])
      for (const shade of [{ 'a\\b': 1 }, { valueOf: 1 }]) {
        expect((await create('colour', { [field]: shade })).status).toBe(201);
        expect((await create('colour', { [field]: { ...shade, c: 1 } })).status).toBe(422);
        expect((await create('colour', { [field]: Object.values(shade) })).status).toBe(422);
      }
  });

  test('201 and 422 — a multiple is one of decimals', async () => {
    for (const amount of [19.99, 0.07, 4.35, 0.29, 1e20]) expect((await create('price', { toString: 1, amount })).status).toBe(201);
    expect((await create('price', { toString: 1, amount: 0.001 })).status).toBe(422);
  });

  test('201 and 200 — valid fields are stored unchanged: no coercion, no defaults, no removals (rule 72)', async () => {
    const fields = {
      company: 'ACME',
      credit: 10.5,
      state: 3,
      since: '2026-11-20',
      big: '9223372036854775807',
      address: { zip: '12345' },
      tags: ['a'],
    };
    const created = await create<Entity>('customer', fields);
    expect(created.status, created.text).toBe(201);
    expect(created.body.fields).toEqual(fields);
    const updated = await update<Entity>('customer', created.body.key, { credit: null, address: { zip: '54321' } });
    expect(updated.status, updated.text).toBe(200);
    expect(updated.body.fields).toEqual({ ...fields, credit: undefined, address: { zip: '54321' } });
  });

  const misfits: [object, object][] = [
    [{}, { pointer: '/company', code: 'required' }],
    [{ company: '' }, { pointer: '/company', code: 'too-short' }],
    [{ company: 'x'.repeat(41) }, { pointer: '/company', code: 'too-long', detail: expect.stringContaining('40') }],
    [{ company: 1 }, { pointer: '/company', code: 'invalid-type', detail: expect.stringContaining('string') }],
    [
      { company: 'a', credit: '1' },
      { pointer: '/credit', code: 'invalid-type' },
    ],
    [
      { company: 'a', credit: -1 },
      { pointer: '/credit', code: 'invalid-value', detail: expect.stringContaining('0') },
    ],
    [
      { company: 'a', credit: 1e3 + 1 },
      { pointer: '/credit', code: 'invalid-value' },
    ],
    [
      { company: 'a', state: 'ajar' },
      { pointer: '/state', code: 'invalid-value', detail: expect.stringContaining('open, closed, 3') },
    ],
    [
      { company: 'a', since: 'yesterday' },
      { pointer: '/since', code: 'invalid-value' },
    ],
    [
      { company: 'a', big: '9223372036854775808' },
      { pointer: '/big', code: 'invalid-value' },
    ],
    [
      { company: 'a', 'a/b~c': 1 },
      { pointer: '', position: 2, code: 'unknown' },
    ],
    [
      { company: 'a', address: { zip: '1' } },
      { pointer: '/address/zip', code: 'invalid-value' },
    ],
    [
      { company: 'a', address: { street: 'x' } },
      { pointer: '/address/street', code: 'unknown' },
    ],
    [
      { company: 'a', tags: ['a', 2] },
      { pointer: '/tags/1', code: 'invalid-type' },
    ],
    [
      { company: 'a', tags: ['a', 'b', 'c', 'd'] },
      { pointer: '/tags', code: 'invalid-value' },
    ],
  ];

  test.for(misfits)('422 — %j is not created, and the pointer names the invalid part', async ([fields, fault]) => {
    const before = await rowsOf(service(), 'customer');
    const answer = await create('customer', fields);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body).toMatchObject({ code: 'validation-failed', errors: [fault] });
    expect(await rowsOf(service(), 'customer')).toEqual(before);
  });

  test('422 — lists every fault, each with what is expected, and at most twenty (rule 75)', async () => {
    const answer = await create('customer', {
      credit: -1,
      state: 'ajar',
      since: 'soon',
      tags: ['a', 2],
      address: { zip: '1', street: 'x' },
    });
    expect(answer.status, answer.text).toBe(422);
    const faults = answer.body.errors?.map(({ pointer, code, expected }) => [pointer, code, expected]);
    expect(faults?.toSorted()).toEqual([
      ['/address/street', 'unknown', 'zip'],
      ['/address/zip', 'invalid-value', 'text that matches ^[0-9]{5}$'],
      ['/company', 'required', 'string'],
      ['/credit', 'invalid-value', 'at least 0'],
      ['/since', 'invalid-value', 'date, as 2026-11-22'],
      ['/state', 'invalid-value', 'one of open, closed, 3'],
      ['/tags/1', 'invalid-type', 'string'],
    ]);
    const unknown = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`m${index}`, index]));
    expect((await create('customer', { company: 'ACME', ...unknown })).body.errors).toHaveLength(20);
  });

  test('422 — the position of a name that is not repeated is that of the patch, not of the merged entity (rule 75)', async () => {
    const { body } = await create<Entity>('customer', { company: 'ACME', credit: 1 });
    const answer = await update('customer', body.key, { state: 'open', 'pass word': 1 });
    expect(answer.body.errors).toMatchObject([{ pointer: '', position: 2, code: 'unknown' }]);
  });

  test('422 — also for an update, whose merged result must be valid, not its patch', async () => {
    const { body } = await create<Entity>('customer', { company: 'ACME' });
    for (const [patch, fault] of [
      [{ company: null }, { pointer: '/company', code: 'required' }],
      [{ credit: 5_000 }, { pointer: '/credit', code: 'invalid-value' }],
      [{ unknown: 1 }, { pointer: '/unknown', code: 'unknown' }],
    ] as const) {
      const answer = await update('customer', body.key, patch);
      expect(answer.status, answer.text).toBe(422);
      expect(answer.body).toMatchObject({ code: 'validation-failed', errors: [fault] });
    }
    expect((await update<Entity>('customer', body.key, { unknown: null, credit: 1 })).body).toMatchObject({
      version: 2,
      fields: { company: 'ACME', credit: 1 },
    });
  });

  test('404, 412 and 400 — come before 422, because there is nothing to validate', async () => {
    const { body } = await create<Entity>('customer', { company: 'ACME' });
    expect((await update('customer', '999999', { company: null })).status).toBe(404);
    expect((await update('customer', body.key, { company: null }, { 'if-match': '"7"' })).status).toBe(412);
    expect((await update('customer', body.key, { company: null }, { 'if-match': '7' })).status).toBe(400);
    expect((await update<Entity>('customer', body.key, { credit: 1 }, { 'if-match': '"1"' })).body.version).toBe(2);
  });

  test('200 — concurrent updates are each validated against their merged result, and none is lost', async () => {
    const { body } = await create<Entity>('counter', {});
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => update('counter', body.key, { [`m${index}`]: index })));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const { body: after } = await service().call<Entity>('GET', `/rest/entity/counter/${body.key}`, { cookie });
    expect(after.version).toBe(21);
    expect(Object.keys(after.fields)).toHaveLength(20);
  });

  test('412 and 200 — of twenty guarded updates with one ETag exactly one succeeds', async () => {
    const { body } = await create<Entity>('counter', {});
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, count) => update('counter', body.key, { count }, { 'if-match': '"1"' })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(19);
  });

  test('428 — a type that requires If-Match is updated and deleted with it only', async () => {
    const { body } = await create<Entity>('account', { balance: 1 });
    const remove = (key: string, headers = {}) => service().call('DELETE', `/rest/entity/account/${key}`, { cookie, headers });
    const before = await rowsOf(service(), 'account');
    for (const answer of [await update('account', body.key, { balance: 2 }), await remove(body.key)]) {
      expect(answer, answer.text).toMatchObject({ status: 428, body: { code: 'precondition-required' } });
    }
    expect(await rowsOf(service(), 'account')).toEqual(before);

    expect((await update<Entity>('account', body.key, { balance: 2 }, { 'if-match': '"1"' })).body.version).toBe(2);
    expect((await update('account', body.key, { balance: 3 }, { 'if-match': '"1"' })).status).toBe(412);
    expect((await update<Entity>('account', body.key, { balance: 3 }, { 'if-match': '*' })).body.version).toBe(3);
    expect((await remove(body.key, { 'if-match': '"2"' })).status).toBe(412);
    expect((await remove(body.key, { 'if-match': '"3"' })).status).toBe(204);
  });

  test('404 — comes before 428, and 428 before 422', async () => {
    const { body } = await create<Entity>('account', {});
    expect((await update('account', '999999', { balance: 2 })).status).toBe(404);
    expect((await service().call('DELETE', '/rest/entity/account/999999', { cookie })).status).toBe(404);
    expect((await update('account', body.key, { balance: 'much' })).status).toBe(428);
    expect((await update('account', body.key, { balance: 'much' }, { 'if-match': '"1"' })).status).toBe(422);
  });

  test('may have the name of a member of every object (rule 65)', async () => {
    expect((await create('constructor', {})).status).toBe(422);
    expect((await create('constructor', { a: 1 })).status).toBe(201);
    expect((await create('toString', { a: 1 })).status).toBe(404);
  });
});

describe('an undeclared name', () => {
  test('404 — under ENTITY_TYPES=declared, for every operation, and 403 for a caller without the right (rule 64)', async () => {
    const bob = await service().openSession((await service().createUser('bob', { customer: ['read'] })).id);
    for (const [method, path] of [
      ['POST', ''],
      ['GET', '/1'],
      ['POST', '/1'],
      ['DELETE', '/1'],
    ] as const) {
      const call = method === 'POST' ? { json: {} } : {};
      expect((await service().call(method, `/rest/entity/order${path}`, { ...call, cookie })).status, method).toBe(404);
      expect((await service().call(method, `/rest/entity/order${path}`, { ...call, cookie: bob })).status, method).toBe(403);
    }
    expect(await rowsOf(service(), 'order')).toEqual([]);
  });

  test('201 — under ENTITY_TYPES=open accepts any object, while declared types are validated', async () => {
    const open = await TestService.start({ ENTITY_TYPES_DIR: directory });
    try {
      const session = await open.openSession((await open.createUser('ada')).id);
      expect((await open.call('POST', '/rest/entity/order', { cookie: session, json: { any: 1 } })).status).toBe(201);
      expect((await open.call('POST', '/rest/entity/customer', { cookie: session, json: { any: 1 } })).status).toBe(422);
    } finally {
      await open.close();
    }
  });
});

test('a start that applies files is recorded as the service', async () => {
  const events = service().db.selectFrom('audit_event').where('event', '=', 'type.declared').select('detail');
  const { detail } = await events.executeTakeFirstOrThrow();
  expect(detail).toMatchObject({ by: 'service', via: 'files', actor: 'entity-service' });
});

describe('an invalid type', () => {
  const broken: [file: string, text: string, reason: RegExp][] = [
    ['a.json', '{"type":', /a\.json: .*JSON/],
    ['a.yaml', 'type: [object', /a\.yaml: /],
    ['a.yaml', 'type: object\ntype: string\n', /a\.yaml: .*unique/i],
    ['a.json', '[]', /a\.json: the document: .*wrong type.*object/],
    ['a.yaml', '', /a\.yaml: the document: .*wrong type.*object/],
    ['a.json', '{"type":"objekt"}', /a\.json: \/type: .*object/],
    ['a.json', '{"requierd":["a"]}', /a\.json: \/requierd: .*not known/],
    ['a.json', '{"properties":{"a":{"format":"dat"}}}', /a\.json: \/properties\/a\/format: .*date-time/],
    ['a.json', '{"$ref":"other.json"}', /a\.json: \/\$ref: /],
    ['a.json', '{"$schema":"http://json-schema.org/draft-03/schema#"}', /a\.json: \/\$schema: /],
    ['a.yaml', 'x-if-match: true', /a\.yaml: \/x-if-match: .*required/],
    ['a.yaml', 'properties: { a: { x-if-match: required } }', /a\.yaml: \/properties\/a\/x-if-match: .*not known/],
    ['a.json', '{"$async":true}', /a\.json: \/\$async: /],
    ['a.json', '{"properties":{"a":{"default":1}}}', /a\.json: \/properties\/a\/default: .*not support/],
    ['a.json', '{"x-soft-delete":{}}', /a\.json: \/x-soft-delete: .*accepted/],
    ['a b.json', '{}', /a b\.json: .*entity name/],
    ['1.json', '{}', /1\.json: .*entity name/],
  ];

  test.for(broken)('%s with %s stops the start, with one line', async ([file, text, reason]) => {
    const place = await mkdtemp(join(directory, 'broken-'));
    await writeFile(join(place, file), text);
    const { problems } = (await readTypeFiles([place], 'files', 'ENTITY_TYPES_DIR').catch((error: unknown) => error)) as ConfigError;
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(reason);
    expect(problems[0]).not.toContain('\n');
  });

  test('a name may contain the ending of another format: the last one counts', async () => {
    const place = await mkdtemp(join(directory, 'endings-'));
    await writeFile(join(place, 'note.json.yaml'), 'required: [a]\n');
    expect(await readTypeFiles([place], 'files', 'ENTITY_TYPES_DIR')).toEqual([
      { name: 'note.json', document: { required: ['a'] }, source: 'files' },
    ]);
  });

  test('two files for one name stop the start, and so does a missing directory; all problems are named', async () => {
    const place = await mkdtemp(join(directory, 'broken-'));
    await writeFile(join(place, 'a.json'), '{}');
    await writeFile(join(place, 'a.yaml'), '{}');
    await mkdir(join(place, 'b.json'));
    const twice = readTypeFiles([place], 'files', 'ENTITY_TYPES_DIR');
    await expect(twice).rejects.toThrow(ConfigError);
    await expect(twice).rejects.toMatchObject({
      problems: [expect.stringContaining('second file for a'), expect.stringContaining('b.json')],
    });
    await expect(readTypeFiles([join(place, 'none')], 'files', 'ENTITY_TYPES_DIR')).rejects.toThrow(/ENTITY_TYPES_DIR: .*no such file/);
    await expect(TestService.start({ ENTITY_TYPES_DIR: join(place, 'none') })).rejects.toThrow(/ENTITY_TYPES_DIR/);
  });
});
