/** Documents of types that no value can fit. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { AdminCommand } from '../support/admin.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { useService, type ProblemBody } from '../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada', { '*': ['type', 'create', 'read', 'update'] })).id);
});

let name = '';
let number = 0;
beforeEach(() => {
  name = `name${++number}`;
});
const put = <T = { revision: string }>(json: unknown, headers: Record<string, string> = { 'if-none-match': '*' }) =>
  service().call<T>('PUT', `/rest/entity-type/${name}`, { cookie, json, headers });
const faultsOf = ({ errors = [] }: ProblemBody) => errors.map(({ code, pointer, detail }) => `${code} ${pointer} ${detail}`);
const contradictory = (pointer: string, keyword: string) => `contradictory ${pointer} This contradicts another keyword: ${keyword}.`;

/** The type comes into force as it would have before contradictions were refused. */
async function store(document: object): Promise<void> {
  await declareType(service(), name, {});
  await sql`update entity_type_revision set document = ${JSON.stringify(document)} where name = ${name}`.execute(service().db);
}

const text = { type: 'string' };
const closed = { additionalProperties: false };
const field = (schema: object) => ({ properties: { a: schema } });
const bad: [what: string, document: object, pointer: string, keyword: string][] = [
  [
    'a required property that is not there',
    { properties: { a: text }, required: ['a', 'b'], ...closed },
    '/required/1',
    'additionalProperties',
  ],
  ['the same without evaluated ones', { required: ['b'], unevaluatedProperties: false }, '/required/0', 'unevaluatedProperties'],
  ['a required property that is false', { properties: { a: false }, required: ['a'] }, '/required/0', 'properties'],
  ['it in an object', field({ type: 'object', required: ['b'], ...closed }), '/properties/a/required/0', 'additionalProperties'],
  ['more required properties than allowed', { required: ['a', 'b'], maxProperties: 1 }, '/required', 'maxProperties'],
  ['fewer properties than needed', { properties: { a: text }, minProperties: 2, ...closed }, '/minProperties', 'additionalProperties'],
  ['no length', field({ type: 'string', minLength: 5, maxLength: 4 }), '/properties/a/minLength', 'maxLength'],
  ['no length of a text or null', field({ type: ['string', 'null'], minLength: 5, maxLength: 4 }), '/properties/a/minLength', 'maxLength'],
  ['no number of items', field({ minItems: 1, maxItems: 0 }), '/properties/a/minItems', 'maxItems'],
  ['no number of properties', { minProperties: 3, maxProperties: 2 }, '/minProperties', 'maxProperties'],
  ['no number', field({ type: 'integer', minimum: 2, maximum: 1.5 }), '/properties/a/minimum', 'maximum'],
  ['no number below', field({ minimum: 2, exclusiveMaximum: 2 }), '/properties/a/minimum', 'exclusiveMaximum'],
  ['no number above', field({ exclusiveMinimum: 2, maximum: 2 }), '/properties/a/exclusiveMinimum', 'maximum'],
  ['no number between', field({ exclusiveMinimum: 2, exclusiveMaximum: 2 }), '/properties/a/exclusiveMinimum', 'exclusiveMaximum'],
  ['a number among texts', field({ type: 'string', enum: ['open', 2] }), '/properties/a/enum/1', 'type'],
  ['a fraction among integers', field({ type: 'integer', enum: [1, 1.5] }), '/properties/a/enum/1', 'type'],
  ['null among texts', field({ type: 'string', enum: ['open', null] }), '/properties/a/enum/1', 'type'],
  ['a constant of another type', field({ type: ['number', 'null'], const: '1' }), '/properties/a/const', 'type'],
  [
    'it in an alternative of items',
    field({ items: { anyOf: [{ minimum: 1, maximum: 0 }] } }),
    '/properties/a/items/anyOf/0/minimum',
    'maximum',
  ],
  ['it in a definition', { $defs: { b: { const: 1, type: 'string' } } }, '/$defs/b/const', 'type'],
];

describe('a document that no value can fit', () => {
  test.for(bad)('201 and 422 — %s', async ([, document, pointer, keyword]) => {
    expect((await put({ type: 'object' })).status).toBe(201);
    const answer = await put<ProblemBody>(document, { 'if-match': '*' });
    expect([answer.status, answer.body.code]).toEqual([422, 'validation-failed']);
    expect(faultsOf(answer.body)).toEqual([contradictory(pointer, keyword)]);
    const { body } = await service().call<{ document: object }>('GET', `/rest/entity-type/${name}`, { cookie });
    expect(body.document).toEqual({ type: 'object' });
  });

  test('422 — all contradictions come at once, also in a plan, and the name of a property is repeated only if it looks like one (rule 75)', async () => {
    const document = { required: ['b'], ...closed, properties: { a: { minLength: 1, maxLength: 0 }, 'a b': { type: 'null', enum: [1] } } };
    const expected = [contradictory('/required/0', 'additionalProperties'), contradictory('/properties/a/minLength', 'maxLength')];
    const refused = await put<ProblemBody>(document);
    expect(faultsOf(refused.body)).toEqual([...expected, contradictory('/properties', 'type')]);
    expect(refused.body.errors?.[2]).toMatchObject({ position: 2 });
    const planned = await service().call('POST', `/rest/entity-type/${name}/plan`, { cookie, json: { document } });
    expect([planned.status, planned.body.errors?.[0]?.pointer]).toEqual([422, '/document/required/0']);
  });
});

test.for<[what: string, document: object]>([
  ['a required property that a pattern allows', { required: ['b'], patternProperties: { '^b': {} }, ...closed }],
  ['a required property that may be evaluated', { required: ['b'], allOf: [{ properties: { b: text } }], unevaluatedProperties: false }],
  ['a required property called as a member of Object.prototype', { required: ['valueOf'], properties: { valueOf: text }, ...closed }],
  ['equal limits', field({ minLength: 1, maxLength: 1, minItems: 0, maxItems: 0, minimum: 1, maximum: 1 })],
  ['limits of other types', field({ type: 'number', minLength: 2, maxLength: 1, minimum: -2, exclusiveMaximum: -1 })],
  ['values of several types', field({ type: ['integer', 'string', 'null'], enum: [1, 'a', null] })],
  ['null where it is accepted', field({ type: 'string', nullable: true, enum: ['a', null] })],
  ['an integer where numbers are', field({ type: 'number', enum: [1, 1.5] })],
  ['contradictions in examples', field({ examples: [{ minLength: 2, maxLength: 1 }], const: { required: ['b'], ...closed } })],
])('201 — %s', async ([, document]) => {
  const answer = await put(document);
  expect(answer.status, answer.text).toBe(201);
});

describe('a type in force that contradicts itself', () => {
  const document = field({ type: 'string', minLength: 2, maxLength: 1 });

  test('200 and 201 — it can be applied again, with a title too, and its entities are as before; 422 — with one more contradiction', async () => {
    await store(document);
    const create = (json: object) => service().call<Entity>('POST', `/rest/entity/${name}`, { cookie, json });
    expect([(await create({ b: 1 })).status, (await create({ a: 'a' })).status]).toEqual([201, 422]);
    const before = await service().call<{ revision: string }>('GET', `/rest/entity-type/${name}`, { cookie });
    const again = await put(document, { 'if-match': '*' });
    expect([again.status, again.body.revision]).toEqual([200, before.body.revision]);
    expect((await put({ ...document, title: 'Old' }, { 'if-match': '*' })).status).toBe(200);
    const more = await put<ProblemBody>({ ...document, required: ['b'], ...closed }, { 'if-match': '*' });
    expect(faultsOf(more.body)).toEqual([contradictory('/required/0', 'additionalProperties')]);
  });

  test('the command and a start with its file accept it, and refuse a new one with its pointer', async () => {
    await store(document);
    const place = await mkdtemp(join(tmpdir(), 'contradictions-'));
    onTestFinished(() => rm(place, { recursive: true }));
    await writeFile(join(place, `${name}.json`), JSON.stringify(document));
    const admin = new AdminCommand(service().databaseUrl);
    expect(await admin.json(['types', 'apply', place])).toMatchObject({ changed: false });
    await (await service().replica({ ENTITY_TYPES_DIR: place })).close();

    await writeFile(join(place, `other${name}.yaml`), 'properties: { a: { type: string, enum: [yes, 1] } }\n');
    const fault = `other${name}: /properties/a/enum/1: This contradicts another keyword: type.`;
    for (const command of ['plan', 'apply']) expect(await admin.refusal(['types', command, place])).toBe(fault);
    await expect(service().replica({ ENTITY_TYPES_DIR: place })).rejects.toThrow(`ENTITY_TYPES_DIR: ${fault}`);
  });
});
