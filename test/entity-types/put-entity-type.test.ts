/** `PUT /rest/entity-type/{name}`: declares a type, or changes it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createAjv } from '../support/ajv.ts';
import { faultsOfDocument } from '../../src/entity-types/document.ts';
import { declareType, seed, type Entity } from '../support/entities.ts';
import { statuses } from '../support/races.ts';
import { useService, type ProblemBody, type TestGrants } from '../support/service.ts';

interface TypeBody {
  name: string;
  revision: string;
  source: string;
  appliedBy: string;
  document: object;
}

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada', { '*': ['type', 'create', 'read', 'update', 'delete'] })).id);
});

let name = '';
let number = 0;
beforeEach(() => {
  name = `name${++number}`;
});
const isNew = { 'if-none-match': '*' };
const put = <T = TypeBody>(json: unknown, headers: Record<string, string> = isNew, query = '') =>
  service().call<T>('PUT', `/rest/entity-type/${name}${query}`, { cookie, json, headers });
const typeInForce = async () => {
  const rows = await service().db.selectFrom('entity_type').where('name', '=', name).select('revision').execute();
  return rows[0]?.revision;
};

test('201 and 200 — declares a type and changes it; each counts for the next request (rule 72)', async () => {
  const declared = await put({ type: 'object', required: ['a'] });
  expect(declared.status, declared.text).toBe(201);
  expect(declared.headers.get('location')).toBe(`/rest/entity-type/${name}`);
  expect(declared.body).toMatchObject({ name, source: 'api', appliedBy: 'ada', document: { type: 'object', required: ['a'] } });
  const create = (json: object) => service().call<Entity>('POST', `/rest/entity/${name}`, { cookie, json });
  expect((await create({})).status).toBe(422);

  const etag = declared.headers.get('etag') ?? '';
  const changed = await put({ type: 'object', required: ['b'] }, { 'if-match': `W/${etag}` });
  expect(changed.status, changed.text).toBe(200);
  expect(changed.headers.get('etag')).not.toBe(etag);
  expect((await create({ a: 1 })).status).toBe(422);
  expect((await create({ b: 1 })).status).toBe(201);
  const events = await service()
    .db.selectFrom('audit_event')
    .where('event', 'in', ['type.declared', 'type.changed'])
    .select(['event', 'user_name'])
    .orderBy('id')
    .execute();
  expect(events.slice(-2)).toEqual([
    { event: 'type.declared', user_name: 'ada' },
    { event: 'type.changed', user_name: 'ada' },
  ]);
});

test('200 — the document in force changes nothing and keeps its revision', async () => {
  const { body } = await put({ type: 'object' });
  const again = await put({ type: 'object' }, { 'if-match': '*' });
  expect([again.status, again.body.revision]).toEqual([200, body.revision]);
  const { revisions } = await service()
    .db.selectFrom('entity_type_revision')
    .where('name', '=', name)
    .select((select) => select.fn.countAll<string>().as('revisions'))
    .executeTakeFirstOrThrow();
  expect(revisions).toBe('1');
});

test('200 — the document in force keeps its revision, also one with a backslash in a name', async () => {
  const document = { patternProperties: { '^\\d+$': { type: 'string' } } };
  const { body } = await put(document);
  expect((await put(document, { 'if-match': '*' })).body.revision).toBe(body.revision);
});

test('422 — what the type refuses, whatever names other types have (rule 70: V8 may read a name as one that it expects)', async () => {
  const [other, refusing] = [name, `${name}x`];
  const patterns = { [other]: '^\\\\d{1,9}', [refusing]: '^\\d{1,9}$' };
  for (const [called, pattern] of Object.entries(patterns)) {
    name = called;
    expect((await put({ patternProperties: { zzq: {}, [pattern]: { type: 'string' } } })).status).toBe(201);
  }
  for (const [called, pattern] of Object.entries(patterns)) {
    // V8 may read the answer wrongly too.
    const { text } = await service().call('GET', `/rest/entity-type/${called}`, { cookie });
    expect(text).toContain(JSON.stringify(pattern));
  }
  const refused = await service().call('POST', `/rest/entity/${refusing}`, { cookie, json: { 1: 5 } });
  expect([refused.status, refused.body.errors]).toMatchObject([422, [{ pointer: '/1', code: 'invalid-type' }]]);
});

test('428, 400 and 412 — without a condition, with a malformed one, and with one that does not hold', async () => {
  const answers = [await put<ProblemBody>({}, {}), await put<ProblemBody>({}, { 'if-none-match': '"1"' })];
  answers.push(await put<ProblemBody>({}, { 'if-match': '*' }), await put<ProblemBody>({}, { 'if-match': '"1"' }));
  expect(await typeInForce()).toBeUndefined();
  await put({ type: 'object' });
  answers.push(
    await put<ProblemBody>({}),
    await put<ProblemBody>({}, { 'if-match': '"1"' }),
    await put<ProblemBody>({}, { ...isNew, 'if-match': '*' }),
  );
  expect(answers.map(({ status }) => status)).toEqual([428, 400, 412, 412, 412, 412, 400]);
});

test('201 and 412 — of ten concurrent declarations one is 201 and nine are 412', async () => {
  // The changes of one user take turns.
  const cookies = await Promise.all(
    Array.from({ length: 10 }, async (_, index) =>
      service().openSession((await service().createUser(`author${index}`, { '*': ['type', 'read'] })).id),
    ),
  );
  const declare = (each: string, index: number) =>
    service().call('PUT', `/rest/entity-type/${name}`, { cookie: each, json: { type: 'object', title: String(index) }, headers: isNew });
  const answers = await Promise.all(cookies.map(declare));
  expect(statuses(answers)).toEqual({ 201: 1, 412: 9 });
});

test('409 — entities that do not fit are named by key and pointer, and nothing changes; with allowUnfit they stay', async () => {
  await declareType(service(), name, { type: 'object' });
  const before = await typeInForce();
  for (const key of [1, 2, 3]) await seed(service(), name, `${number}00${key}`, key === 2 ? { a: 'x' } : {}, 'ada');
  const document = { type: 'object', required: ['a'] };
  const refused = await put<ProblemBody>(document, { 'if-match': '*' });
  expect([refused.status, refused.body.code]).toEqual([409, 'type-conflict']);
  expect(refused.body.errors?.map(({ pointer, code }) => `${code} ${pointer}`)).toEqual([
    `required /${number}001/a`,
    `required /${number}003/a`,
  ]);
  expect(await typeInForce()).toBe(before);

  expect((await put(document, { 'if-match': '*' }, '?allowUnfit=1')).status).toBe(200);
  const event = await service().db.selectFrom('audit_event').select('detail').orderBy('id', 'desc').executeTakeFirst();
  expect(event?.detail).toMatchObject({ type: name, allowUnfit: true });
  const old = `/rest/entity/${name}/${number}001`;
  expect((await service().call('GET', old, { cookie })).status).toBe(200);
  expect((await service().call('POST', old, { cookie, json: { b: 1 } })).status).toBe(422);
  expect((await service().call('POST', old, { cookie, json: { a: 1 } })).status).toBe(200);
});

test('409 — a type whose table has had 1,500 columns, before its entities are read; it can be declared again', async () => {
  const document = (...fields: string[]) => ({
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
    'x-index': fields.map((field) => [field]),
  });
  expect((await put(document('a'), { 'if-none-match': '*' })).status).toBe(201);
  // No index can hold the text, so that this type is refused all the same once the entity is read.
  const unfit = await service().call<Entity>('POST', `/rest/entity/${name}`, { cookie, json: { b: 'x'.repeat(601) } });
  const { id } = await service().db.selectFrom('entity_type').where('name', '=', name).select('id').executeTakeFirstOrThrow();
  const table = sql.id('entity_data', `x${id}`);
  const columns = Array.from({ length: 1_497 }, (_, n) => sql.id(`d${n}`));
  await sql`alter table ${table} ${sql.join(columns.map((column) => sql`add ${column} int`))}`.execute(service().db);
  await sql`alter table ${table} ${sql.join(columns.map((column) => sql`drop ${column}`))}`.execute(service().db);
  const change = async (...fields: string[]) => {
    const { status, body } = await put<ProblemBody>(document(...fields), { 'if-match': '*' });
    return [status, ...(body.errors ?? []).map(({ pointer, code }) => `${code} ${pointer}`)];
  };
  expect(await change('a', 'b', 'c')).toEqual([409, 'too-many-values ']);
  expect(await change('a', 'b')).toEqual([409, `too-long /${unfit.body.key}/b`]);
  await service().call('DELETE', `/rest/entity/${name}/${unfit.body.key}`, { cookie });
  expect(await change('a', 'b')).toEqual([200]);
  expect(await change('a', 'b', 'c')).toEqual([409, 'too-many-values ']);
  const plan = await service().call<{ digest: string }>('POST', `/rest/entity-type/${name}/plan`, { cookie, json: {} });
  const deletion = `/rest/entity-type/${name}?confirm=${plan.body.digest}`;
  expect((await service().call('DELETE', deletion, { cookie })).status).toBe(204);
  expect((await put(document('a', 'b', 'c'))).status).toBe(201);
});

const doubled = Object.fromEntries(
  Array.from({ length: 40 }, (_, n) => [
    `d${n}`,
    n === 39 ? {} : { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
  ]),
);
const text = { type: 'string' };
const part = (field: unknown) => ({ field, substring: true });
const key = { type: 'string', format: 'int64' };
const bad: [what: string, document: unknown, fault: string][] = [
  ['an unknown keyword', { requierd: ['a'] }, 'unknown /requierd'],
  ['an unknown keyword inside', { properties: { 'a.b': { minimun: 1 } } }, 'unknown /properties/a.b/minimun'],
  ['an unknown format', { properties: { a: { format: 'dat' } } }, 'invalid-value /properties/a/format'],
  ['a default', { properties: { x: { default: 1 } } }, 'not-supported /properties/x/default'],
  ['writeOnly', { properties: { x: { writeOnly: true } } }, 'not-supported /properties/x/writeOnly'],
  ['a trash without a duration', { 'x-soft-delete': { keep: 30 } }, 'invalid-value /x-soft-delete'],
  ['a trash that is off', { 'x-soft-delete': false }, 'invalid-value /x-soft-delete'],
  ['a history without a duration', { 'x-history': {} }, 'invalid-value /x-history'],
  ['a history of hours', { 'x-history': { keep: 'PT5H' } }, 'invalid-value /x-history'],
  ['a history with a word before its duration', { 'x-history': { keep: 'aP5D' } }, 'invalid-value /x-history'],
  ['a history with a word after its duration', { 'x-history': { keep: 'P5Da' } }, 'invalid-value /x-history'],
  ['an index on an object', { properties: { a: { type: 'object' } }, 'x-index': [['a']] }, 'invalid-type /x-index/0/0'],
  ['an index on two types', { properties: { a: { type: ['string', 'number'] } }, 'x-index': [['-a']] }, 'invalid-type /x-index/0/0'],
  ['an index on a field that any value fits', { properties: { a: true }, 'x-index': [['a']] }, 'invalid-type /x-index/0/0'],
  ['an index on a field that is not declared', { properties: { email: text }, 'x-index': [['emial']] }, 'unknown-field /x-index/0/0'],
  ['a unique field that is not declared', { 'x-unique': [{ fields: ['emial'] }] }, 'unknown-field /x-unique/0/fields/0'],
  [
    'a search of a field that is not declared',
    { additionalProperties: true, 'x-search': { fields: ['a'] } },
    'unknown-field /x-search/fields/0',
  ],
  ['an index on a member of any name', { additionalProperties: { type: 'array' }, 'x-index': [['a']] }, 'invalid-type /x-index/0/0'],
  ['an index on no field', { additionalProperties: false, 'x-index': [['a']] }, 'unknown-field /x-index/0/0'],
  ['an index on an array', { properties: { a: { type: 'array', items: text } }, 'x-index': [['a']] }, 'invalid-type /x-index/0/0'],
  ['an index with a field twice', { properties: { a: text }, 'x-index': [['a', '-a']] }, 'repeated /x-index/0/1'],
  ['an index of five fields', { 'x-index': [['a', 'b', 'c', 'd', 'e']] }, 'invalid-value /x-index/0'],
  ['an index on the key', { 'x-index': [['$key']] }, 'not-addressable /x-index/0/0'],
  ['an index on the version', { 'x-index': [['$version']] }, 'not-addressable /x-index/0/0'],
  ['a unique creator', { 'x-unique': [{ fields: ['$createdBy'] }] }, 'not-addressable /x-unique/0/fields/0'],
  ['an index on a field too deep', { 'x-index': [['a.b.c.d']] }, 'invalid-value /x-index/0/0'],
  ['an index of parts of a number', { properties: { a: { type: 'number' } }, 'x-index': [part('a')] }, 'invalid-type /x-index/0/field'],
  ['an index of parts of two fields', { 'x-index': [part(['a', 'b'])] }, 'invalid-type /x-index/0/field'],
  ['an index of parts of the creator', { 'x-index': [part('$createdBy')] }, 'not-addressable /x-index/0/field'],
  [
    'an index of an object that says nothing of parts',
    { properties: { a: text }, 'x-index': [{ field: 'a' }] },
    'required /x-index/0/substring',
  ],
  ['an index of a text', { properties: { a: text }, 'x-index': ['a'] }, 'invalid-type /x-index/0'],
  [
    'a unique rule with another member',
    { properties: { a: text }, 'x-unique': [{ fields: ['a'], where: 1 }] },
    'unknown /x-unique/0/where',
  ],
  [
    'a folded number',
    { properties: { a: { type: 'number' } }, 'x-unique': [{ fields: ['a'], fold: true }] },
    'conflicting /x-unique/0/fold',
  ],
  [
    'a reference of a number',
    { properties: { a: { type: 'number' } }, 'x-references': { a: { to: 'b' } } },
    'invalid-type /x-references/a',
  ],
  ['a reference without a target', { properties: { a: key }, 'x-references': { a: {} } }, 'required /x-references/a/to'],
  [
    'a reference to a name that is none',
    { properties: { a: key }, 'x-references': { a: { to: '1' } } },
    'invalid-value /x-references/a/to',
  ],
  [
    'a reference that cannot be set to null',
    { properties: { a: key }, 'x-references': { a: { to: 'b', onDelete: 'set-null' } } },
    'conflicting /x-references/a/onDelete',
  ],
  ['a search of numbers', { properties: { a: { type: 'number' } }, 'x-search': { fields: ['a'] } }, 'invalid-type /x-search/fields/0'],
  [
    'a search in no language',
    { properties: { a: text }, 'x-search': { fields: ['a'], language: 'klingon' } },
    'invalid-value /x-search/language',
  ],
  ['a rule below the top', { properties: { a: { 'x-index': [['b']] } } }, 'unknown /properties/a/x-index'],
  ['a service keyword below the top', { properties: { a: { 'x-if-match': 'required' } } }, 'unknown /properties/a/x-if-match'],
  ['$ref to a file', { $ref: 'other.json' }, 'invalid-value /$ref'],
  ['$ref to a server', { properties: { a: { $ref: 'http://127.0.0.1/a' } } }, 'invalid-value /properties/a/$ref'],
  ['$ref to nothing', { $ref: '#/$defs/none' }, 'invalid-value /$ref'],
  ['an anchor', { $defs: { a: { $anchor: 'x' } } }, 'not-supported /$defs/a/$anchor'],
  ['another type than object', { type: 'array' }, 'invalid-value /type'],
  ['a type that is none', { properties: { a: { type: 'strin' } } }, 'invalid-value /properties/a/type'],
  ['a list in place of a schema', { properties: { a: [] } }, 'invalid-type /properties/a'],
  ['$async', { $async: true }, 'unknown /$async'],
  ['a property whose name is not repeated', { properties: { 'a b': { default: 1 } } }, 'not-supported /properties'],
  ['a draft whose keywords mean something else', { $schema: 'http://json-schema.org/draft-03/schema#' }, 'invalid-value /$schema'],
  ['a recursive reference, whose work has no limit', { properties: { a: { $ref: '#' } } }, 'not-supported '],
  ['a reference to itself', { $defs: { a: { $ref: '#/$defs/a' } }, properties: { a: { $ref: '#/$defs/a' } } }, 'not-supported /$defs/a'],
  ['references that double forty times', { $defs: doubled, properties: { a: { $ref: '#/$defs/d0' } } }, 'too-many-values '],
  ['a pattern with a look-ahead', { properties: { a: { pattern: '(?=a)' } } }, 'not-supported /properties/a/pattern'],
  ['a pattern that is none', { properties: { a: { pattern: '(' } } }, 'not-supported /properties/a/pattern'],
  ['a pattern with a large program', { properties: { a: { pattern: '(a{100}){9}' } } }, 'not-supported /properties/a/pattern'],
  ['such a name of members', { patternProperties: { '(?!a)': {} } }, 'not-supported /patternProperties'],
  [
    'uniqueItems of objects without a limit',
    { properties: { a: { type: 'array', uniqueItems: true } } },
    'too-many-values /properties/a/uniqueItems',
  ],
  ['$recursiveRef of another draft', { allOf: [{ $recursiveRef: '#' }] }, 'unknown /allOf/0/$recursiveRef'],
  ['dependencies of another draft', { dependencies: { a: { $ref: '#' } } }, 'unknown /dependencies'],
  ['$ref into an example', { $ref: '#/examples/0', examples: [{ pattern: '(?=x)' }] }, 'invalid-value /$ref'],
  [
    '$ref whose pointer Ajv decodes before it splits it',
    { $ref: '#/$defs/a%2Fexamples%2F0', $defs: { 'a/examples/0': {}, a: { examples: [{ pattern: '(?=x)' }] } } },
    'not-supported /$ref',
  ],
  [
    'patterns that are too large together',
    { properties: { a: { allOf: ['a', 'b', 'c', 'd'].map((letter) => ({ pattern: `${letter}{90}` })) } } },
    'too-many-values ',
  ],
  [
    'many comparisons of all items',
    { properties: { a: { allOf: [1_000, 999, 998, 997].map((maxItems) => ({ type: 'array', uniqueItems: true, maxItems })) } } },
    'too-many-values ',
  ],
  [
    '100 alternatives for each item',
    { properties: { a: { type: 'array', contains: { anyOf: Array.from({ length: 100 }, (_, n) => ({ const: -n })) } } } },
    'too-many-values ',
  ],
  [
    '100 alternatives behind a reference',
    { $defs: { a: { oneOf: Array.from({ length: 100 }, (_, n) => ({ minimum: n })) } }, additionalProperties: { $ref: '#/$defs/a' } },
    'too-many-values ',
  ],
  ['an enum without values', { properties: { p: { enum: [] } } }, 'invalid-value /properties/p/enum'],
  ['a limit of no format', { properties: { p: { allOf: [{ formatMinimum: 'x' }] } } }, 'invalid-value /properties/p/allOf/0/formatMinimum'],
  ['1,000 properties', { properties: Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`p${n}`, {}])) }, 'too-many-values '],
  ['300 KB', { description: 'x'.repeat(300_000) }, 'too-long '],
];

test.for<[document: object, pointer: string]>([
  [{ properties: { p: { type: 'string', pattern: '(' } } }, '/properties/p/pattern'],
  [{ properties: { p: { items: { patternProperties: { '(': {} } } } } }, '/properties/p/items/patternProperties'],
  [{ $defs: { p: { $id: 'p', enum: [] } }, properties: { p: { $ref: '#/$defs/p' } } }, '/$defs/p/enum'],
])('a document of a file has the pointer of what makes no validator: %j', ([document, pointer]) => {
  const faults = faultsOfDocument(document, 'files');
  expect(faults.map((fault) => [fault.pointer, fault.code])).toEqual([[pointer, 'invalid-value']]);
});

describe('a document that is refused, and no type is declared', () => {
  test.for(bad)('422 — %s', async ([, document, fault]) => {
    const answer = await put<ProblemBody>(document);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.errors?.map(({ pointer, code }) => `${code} ${pointer}`)).toContain(fault);
    expect(await typeInForce()).toBeUndefined();
  });

  test('422 — names all faults at once, at most 20', async () => {
    const properties = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`p${n}`, { default: n }]));
    expect((await put<ProblemBody>({ properties })).body.errors).toHaveLength(20);
    const rules = await put<ProblemBody>({ 'x-unique': [{ field: ['a'] }], 'x-index': 5, 'x-search': { fields: [] } });
    expect(rules.body.errors?.map(({ pointer, expected }) => [pointer, expected])).toEqual([
      ['/x-unique/0/fields', 'array'],
      ['/x-unique/0/field', 'one of fields, fold'],
      ['/x-index', 'array'],
      ['/x-search/fields', 'minimum number of items 1'],
    ]);
  });
});

test('413 — a document of 2 MB', async () => {
  expect((await put<ProblemBody>({ description: 'x'.repeat(2_000_000) })).status).toBe(413);
});

test('400 — a name of 65 letters, and 201 for one of 64', async () => {
  name = 'a'.repeat(65);
  expect((await put<ProblemBody>({ type: 'object' })).status).toBe(400);
  name = 'a'.repeat(64);
  expect((await put({ type: 'object' })).status).toBe(201);
});

test('201 and 422 — a pattern that V8 would take exponential time for refuses a long text at once (rule 70)', async () => {
  expect((await put({ properties: { a: { type: 'string', pattern: '^(a+)+$' } } })).status).toBe(201);
  const create = (a: string) => service().call('POST', `/rest/entity/${name}`, { cookie, json: { a } });
  expect((await create('aaa')).status).toBe(201);
  expect((await create(`${'a'.repeat(100_000)}b`)).status).toBe(422);
});

test('201 and 200 — names of properties that a pattern of names matches too slowly, or matches, are no reason to test them (rule 70)', async () => {
  const document = (names: string[]) => ({
    type: 'object',
    properties: Object.fromEntries(names.map((each) => [each, { type: 'string' }])),
    patternProperties: { '^(a|a)*$': { maxLength: 3 }, '^([a-z]+)*$': true },
  });
  expect((await put(document([`${'a'.repeat(40)}!`]))).status).toBe(201);
  const plan = { cookie, json: { document: document([`${'a'.repeat(100)}!`, 'aaa']) } };
  expect((await service().call('POST', `/rest/entity-type/${name}/plan`, plan)).status).toBe(200);
  expect((await put(document(['aaa']), { 'if-match': '*' })).status).toBe(200);
  const create = (aaa: string) => service().call('POST', `/rest/entity/${name}`, { cookie, json: { aaa } });
  expect((await create('abc')).status).toBe(201);
  expect((await create('abcd')).status).toBe(422);
});

test('201 — 150 properties may each have a pattern, as each tests its own text', async () => {
  const properties = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`p${n}`, { type: 'string', pattern: '^[0-9]{5}$' }]));
  expect((await put({ properties })).status).toBe(201);
});

test('422 — every keyword of Ajv is refused, is walked, or has no schemas (rule 70)', () => {
  const withoutSchemas = `$schema $id $vocabulary $comment $ref title description example examples deprecated readOnly nullable discriminator xml
    externalDocs type enum const format formatMaximum formatMinimum formatExclusiveMaximum formatExclusiveMinimum pattern minLength maxLength
    contentMediaType contentEncoding contentSchema maximum minimum exclusiveMaximum exclusiveMinimum multipleOf minItems maxItems uniqueItems
    minContains maxContains required minProperties maxProperties dependentRequired`;
  const inner = { requierd: ['a'] };
  const isSeen = (keyword: string) =>
    [inner, [inner], { a: inner }].some((value) =>
      faultsOfDocument({ [keyword]: value }, 'api').some(({ code }) => code === 'unknown' || code === 'not-supported'),
    );
  const unseen = Object.keys(createAjv().RULES.keywords).filter((keyword) => !isSeen(keyword));
  expect(unseen.toSorted()).toEqual(withoutSchemas.split(/\s+/).toSorted());
});

test('201 and 422 — format decimal takes exact decimals only', async () => {
  await put({ properties: { a: { type: 'string', format: 'decimal' } } });
  const create = async (a: string) => (await service().call('POST', `/rest/entity/${name}`, { cookie, json: { a } })).status;
  for (const a of ['0', '-1', '1.50', '9'.repeat(31), `0.${'1'.repeat(18)}`]) expect([a, await create(a)]).toEqual([a, 201]);
  for (const a of ['', '+1', '01', '.5', '1.', '1e1', '-0', '-0.0', '9'.repeat(32), ' 1', '١'])
    expect([a, await create(a)]).toEqual([a, 422]);
});

test('201 and 422 — formats time and byte take times with an offset, and base64', async () => {
  await put({ properties: { at: { type: 'string', format: 'time' }, file: { type: 'string', format: 'byte' } } });
  const create = async (json: object) => (await service().call('POST', `/rest/entity/${name}`, { cookie, json })).status;
  expect(await create({ at: '10:00:00+01:00', file: 'Zm8=' })).toBe(201);
  for (const at of ['10:00:00', '10:00:00+0100']) expect([at, await create({ at })]).toEqual([at, 422]);
  for (const file of ['#\nZm8=', 'Zm8', 'Zm9=']) expect([file, await create({ file })]).toEqual([file, 422]);
});

describe('rules of a name with entities', () => {
  const text = { type: 'string' };
  const key = { type: 'string', format: 'int64' };

  test('200 and 409 — a unique field is built, and refused with both keys as long as two entities share its value', async () => {
    await declareType(service(), name, { properties: { email: text } });
    for (const [index, email] of ['ada', 'bob', 'ADA'].entries()) await seed(service(), name, `${number}00${index}`, { email }, 'ada');
    const document = { properties: { email: text }, 'x-unique': [{ fields: ['email'], fold: true }] };
    const before = await typeInForce();
    for (const query of ['', '?allowUnfit=1']) {
      const refused = await put<ProblemBody>(document, { 'if-match': '*' }, query);
      expect([refused.status, refused.body.code]).toEqual([409, 'type-conflict']);
      expect(refused.body.errors?.map(({ pointer, code }) => `${code} ${pointer}`)).toEqual([
        `duplicate-value /${number}000/email`,
        `duplicate-value /${number}002/email`,
      ]);
    }
    expect(await typeInForce()).toBe(before);
    await sql`delete from entity where key = ${`${number}002`}`.execute(service().db);
    const built = await put(document, { 'if-match': '*' });
    expect([built.status, built.body.document]).toEqual([200, document]);
    expect(Number(built.body.revision)).toBeGreaterThan(Number(before));
  });

  test('422 — a reference to a name without a type', async () => {
    const document = { properties: { customer: key }, 'x-references': { customer: { to: 'nobody' } } };
    const answer = await put<ProblemBody>(document);
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toMatchObject([{ pointer: '/x-references/customer/to', code: 'reference-not-found' }]);
    expect(await typeInForce()).toBeUndefined();
  });

  test('403 — for a caller who may not read all entities, or not all that a new reference leads to (rule 64)', async () => {
    await declareType(service(), 'target', {});
    const grants = { [name]: ['type', 'read'], target: { actions: ['read'], condition: 'own' } } as const satisfies TestGrants;
    const { id } = await service().createUser(`referrer${number}`, grants);
    const session = await service().openSession(id);
    const document = { properties: { target: key }, 'x-references': { target: { to: 'target' } } };
    const declare = (json: object) => service().call('PUT', `/rest/entity-type/${name}`, { cookie: session, json, headers: isNew });
    expect((await declare(document)).status).toBe(403);
    expect(await typeInForce()).toBeUndefined();
    expect((await declare({ ...document, 'x-references': { target: { to: name } } })).status).toBe(201);
  });

  test('200, 201 and 409 — changes and plans of one user wait for each other, and not those of another user', async () => {
    const [held, other] = [name, `${name}-other`];
    await seed(service(), held, `${number}001`, { a: 'x' }, 'ada');
    await declareType(service(), `${name}-deleted`, { type: 'object' });
    await declareType(service(), `${name}-planned`, { type: 'object' });
    const openSession = async (user: string) =>
      await service().openSession((await service().createUser(user, { '*': ['type', 'read', 'create'] })).id);
    const [mine, theirs] = [await openSession(`one${number}`), await openSession(`two${number}`)];
    const { id } = await service().db.selectFrom('user_account').where('name', '=', `one${number}`).select('id').executeTakeFirstOrThrow();
    const secondOfMine = await service().openSession(id);
    const change = (by: string, called: string) =>
      service().call('PUT', `/rest/entity-type/${called}`, { cookie: by, json: { type: 'object' }, headers: isNew });
    const ended: string[] = [];
    const waiting = await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`select from entity where name = ${held} for update`.execute(trx);
        const document = { properties: { a: text }, 'x-index': [['a']] };
        const build = service().call('PUT', `/rest/entity-type/${held}`, { cookie: mine, json: document, headers: isNew });
        await expect.poll(typeInForce).toBeDefined();
        // The deletion is refused without its confirmation, when it is its turn.
        const plan = (json: object) => service().call('POST', `/rest/entity-type/${name}-planned/plan`, { cookie: mine, json });
        const later = {
          put: change(secondOfMine, other),
          delete: service().call('DELETE', `/rest/entity-type/${name}-deleted`, { cookie: mine }),
          plan: plan({ document: { type: 'object' } }),
          'plan of a deletion': plan({}),
        };
        for (const [what, answer] of Object.entries(later)) void answer.then(() => ended.push(what));
        for (const n of [1, 2]) expect((await change(theirs, `${name}-theirs${n}`)).status).toBe(201);
        expect(ended).toEqual([]);
        return [build, ...Object.values(later)];
      });
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([201, 201, 409, 200, 200]);
  });

  test('503 — while another process builds the type, and 404 for a name whose first type is being built', async () => {
    await seed(service(), name, `${number}001`, { a: 'x' }, 'ada');
    const document = { properties: { a: text }, 'x-index': [['a']] };
    const building = await service()
      .db.transaction()
      .execute(async (trx) => {
        // The build waits for this entity.
        await sql`select from entity where name = ${name} for update`.execute(trx);
        const running = { answer: put(document) };
        await expect.poll(typeInForce).toBeDefined();
        expect((await service().call('GET', `/rest/entity-type/${name}`, { cookie })).status).toBe(404);
        const other = await service().openSession((await service().createUser(`builder${number}`, { '*': ['type', 'read'] })).id);
        const busy = await service().call('PUT', `/rest/entity-type/${name}`, { cookie: other, json: {}, headers: isNew });
        expect([busy.status, busy.body.code, busy.headers.get('retry-after')]).toEqual([503, 'busy', '1']);
        return running;
      });
    expect((await building.answer).status).toBe(201);
  });
});

describe('a caller without the right', () => {
  test('403 — for a caller with all other actions, for another name, and for a key without the scope (rule 62)', async () => {
    const { id } = await service().createUser('bob', { customer: ['type', 'read'], [name]: ['create', 'read', 'update', 'delete'] });
    const session = await service().openSession(id);
    expect((await service().call('PUT', `/rest/entity-type/${name}`, { cookie: session, json: {}, headers: isNew })).status).toBe(403);
    expect((await service().call('PUT', '/rest/entity-type/customer', { cookie: session, json: {}, headers: isNew })).status).toBe(201);
    const key = await service().createKey(id, { scopes: [{ entity: '*', actions: ['create', 'update'] }] });
    const answer = await service().call('PUT', '/rest/entity-type/customer', { json: {}, headers: { 'if-match': '*', 'x-api-key': key } });
    expect(answer.body.code).toBe('insufficient-scope');
    expect(await typeInForce()).toBeUndefined();
  });

  test('403 — from another site, with the cookie of a session that may declare types (rule 28)', async () => {
    const foreign = { ...isNew, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await put<ProblemBody>({}, foreign)).body.code).toBe('csrf-rejected');
    expect(await typeInForce()).toBeUndefined();
  });

  test('403 — where the files of the operator declare the types, unless ENTITY_TYPES_SOURCE=both', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'no-types-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    for (const [source, status] of [
      ['files', 403],
      ['both', 201],
    ] as const) {
      const replica = await service().replica({ ENTITY_TYPES_DIR: directory, ENTITY_TYPES_SOURCE: source });
      const answer = await replica.call('PUT', `/rest/entity-type/${name}`, { cookie, json: {}, headers: isNew });
      await replica.stop();
      expect(answer.status, source).toBe(status);
    }
  });
});

test('422 — a change through one replica counts for the next request to another (rule 72)', async () => {
  const other = await service().replica();
  onTestFinished(() => other.stop());
  const create = async (json: object) => (await other.call('POST', `/rest/entity/${name}`, { cookie, json })).status;
  expect(await create({ a: 1 })).toBe(201);
  expect((await put({ required: ['a'] })).status).toBe(201);
  expect(await create({})).toBe(422);
  expect((await put({ required: ['b'] }, { 'if-match': '*' }, '?allowUnfit=1')).status).toBe(200);
  expect(await create({ a: 1 })).toBe(422);
  expect(await create({ b: 1 })).toBe(201);
});

test('409 and 200 — a shorter history needs the digest of the plan; the same, a longer and the first one need none', async () => {
  const plan = async (document: object | undefined) =>
    (
      await service().call<{ digest: string; effect: string; steps: { kind: string; pointer: string; effect: string }[] }>(
        'POST',
        `/rest/entity-type/${name}/plan`,
        { cookie, json: { document } },
      )
    ).body;
  const historyOf = (keep: string | undefined, others = {}) => ({
    type: 'object',
    ...others,
    ...(keep !== undefined && { 'x-history': { keep } }),
  });
  const any = { 'if-match': '*' };
  expect((await put(historyOf('P1D'))).status).toBe(201);
  for (const keep of ['P6D', undefined, 'P7D', 'P1M', 'P32D', 'P1Y', 'P53W']) expect((await put(historyOf(keep), any)).status).toBe(200);
  for (const keep of ['P52W', 'P12M', 'P11M', 'P1Y', undefined]) {
    const before = await typeInForce();
    const refused = await put<ProblemBody>(historyOf(keep), any);
    expect([refused.status, refused.body.code, await typeInForce()]).toEqual([409, 'confirmation-required', before]);
    const { digest, effect, steps } = await plan(historyOf(keep));
    expect([effect, steps]).toEqual(['loss', [{ kind: 'shorter', pointer: '/x-history', effect: 'loss' }]]);
    expect((await put(historyOf(keep), any, `?confirm=${digest.replace(/./, (first) => (first === '0' ? '1' : '0'))}`)).status).toBe(409);
    if (keep === 'P1Y' || keep === undefined) expect((await put(historyOf(keep), any, `?confirm=${digest}`)).status).toBe(200);
  }
});

test('403 — a change with a loss checks stored entities too, and so needs `read` on all of them (rule 64)', async () => {
  await declareType(service(), name, { type: 'object', 'x-history': { keep: 'P1Y' } });
  await seed(service(), name, `${number}01`, {}, 'ada');
  const { id } = await service().createUser('dora', { '*': ['type'], [name]: { actions: ['read'], condition: 'own' } });
  const own = { cookie: await service().openSession(id) };
  const document = { type: 'object', properties: { a: { type: 'string' } }, 'x-index': [['a']] };
  const path = `/rest/entity-type/${name}/plan`;
  const allowed = await service().call<{ effect: string }>('POST', path, { cookie, json: { document } });
  expect([allowed.status, allowed.body.effect]).toEqual([200, 'loss']);
  expect((await service().call('POST', path, { ...own, json: { document } })).status).toBe(403);
});
