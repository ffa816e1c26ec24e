/** `POST /rest/entity-type/{name}/plan`: what a change would do. It changes nothing. */
import { sql } from 'kysely';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { countEntities } from '../../src/entities/companion/scan.ts';
import { declareType, seed } from '../support/entities.ts';
import { useService, type ProblemBody } from '../support/service.ts';

interface Plan {
  effect: string;
  steps: { kind: string; pointer: string; effect: string }[];
  entities: number;
  unfit: number;
  examples: { key: string; errors: { pointer: string; code: string }[] }[];
  digest: string;
}

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada', { '*': ['type', 'read'] })).id);
});

let name = '';
let number = 0;
beforeEach(() => {
  name = `customer${++number}`;
});
const plan = <T = Plan>(document?: unknown) => service().call<T>('POST', `/rest/entity-type/${name}/plan`, { cookie, json: { document } });
const stepsOf = async (from: Record<string, unknown>, to: unknown) => {
  await declareType(service(), name, from);
  const { body } = await plan(to);
  return body.steps.map(({ effect, kind, pointer }) => `${effect} ${kind} ${pointer}`);
};
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

test('200 — names the entities that a new required field makes unfit, with pointers, and changes nothing', async () => {
  await declareType(service(), name, object({ email: { type: 'string' } }));
  for (let key = 1; key <= 10; key++) await seed(service(), name, `${number}0${key}`, key % 4 === 0 ? {} : { email: 'a' }, 'ada');
  const answer = await plan(object({ email: { type: 'string' } }, { required: ['email'] }));
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toMatchObject({
    effect: 'check',
    steps: [{ kind: 'narrower', pointer: '/required', effect: 'check' }],
    entities: 10,
    unfit: 2,
    examples: [4, 8].map((key) => ({ key: `${number}0${key}`, errors: [{ pointer: '/email', code: 'required' }] })),
  });
  expect((await plan(object({ email: { type: 'string' } }))).body.steps).toEqual([]);
});

test('200 — has no steps for the document in force, whatever the order of its members', async () => {
  expect(await stepsOf({ type: 'object', title: 'a' }, { title: 'a', type: 'object' })).toEqual([]);
});

test('200 — what accepts more needs no check', async () => {
  const from = object(
    { a: { type: 'string', maxLength: 5, enum: ['x'] }, b: { type: 'integer', minimum: 3 } },
    { required: ['a'], additionalProperties: false },
  );
  const to = object(
    { a: { type: ['string', 'null'], maxLength: 6, enum: ['x', 'y'] }, b: { type: 'number', minimum: 2 }, c: { type: 'string' } },
    { title: 'A', additionalProperties: false },
  );
  expect((await stepsOf(from, to)).toSorted()).toEqual([
    'none note /title',
    'none wider /properties/a/enum',
    'none wider /properties/a/maxLength',
    'none wider /properties/a/type',
    'none wider /properties/b/minimum',
    'none wider /properties/b/type',
    'none wider /properties/c',
    'none wider /required',
  ]);
});

const narrower: [what: string, from: Record<string, unknown>, to: Record<string, unknown>, pointer: string][] = [
  ['a lower bound', object({ a: { maxLength: 5 } }), object({ a: { maxLength: 4 } }), '/properties/a/maxLength'],
  ['a removed value', object({ a: { enum: [1, 2] } }), object({ a: { enum: [1] } }), '/properties/a/enum'],
  ['fewer types', object({ a: { type: ['string', 'null'] } }), object({ a: { type: 'string' } }), '/properties/a/type'],
  ['a closed object', object({}), object({}, { additionalProperties: false }), '/additionalProperties'],
  ['a type for other members', object({}), object({}, { additionalProperties: { type: 'string' } }), '/additionalProperties'],
  ['a type for a member that could be anything', object({}), object({ a: { type: 'string' } }), '/properties/a'],
  ['a pattern', object({ a: {} }), object({ a: { pattern: 'x' } }), '/properties/a/pattern'],
  [
    'a changed definition',
    object({ a: { $ref: '#/$defs/x' } }, { $defs: { x: { minimum: 1 } } }),
    object({ a: { $ref: '#/$defs/x' } }, { $defs: { x: { minimum: 2 } } }),
    '/$defs/x/minimum',
  ],
  [
    'a changed definition behind anyOf',
    object({ a: { anyOf: [{ $ref: '#/$defs/x' }] } }, { $defs: { x: { minimum: 1 } } }),
    object({ a: { anyOf: [{ $ref: '#/$defs/x' }] } }, { $defs: { x: { minimum: 2 } } }),
    '/properties/a/anyOf',
  ],
  [
    'a changed definition beside unevaluatedProperties',
    object({}, { $ref: '#/$defs/x', unevaluatedProperties: false, $defs: { x: object({ a: { type: 'integer' } }) } }),
    object({}, { $ref: '#/$defs/x', unevaluatedProperties: false, $defs: { x: object({ a: { type: 'string' } }) } }),
    '/$ref',
  ],
  ['a wider schema under not', object({ a: { not: { minimum: 5 } } }), object({ a: { not: { minimum: 4 } } }), '/properties/a/not'],
];
test.each(narrower)('200 — %s needs a check', async (_what, from, to, pointer) => {
  expect(await stepsOf(from, to)).toEqual([`check narrower ${pointer}`]);
});

test('200 — the deletion is a loss, and 404 without a type', async () => {
  expect((await plan<ProblemBody>()).status).toBe(404);
  expect(await stepsOf({ type: 'object' }, undefined)).toEqual(['loss delete ']);
});

test('422 — all faults of the document, with pointers under /document', async () => {
  const answer = await plan<ProblemBody>({ requierd: [], properties: { a: { default: 1 } } });
  expect(answer.status).toBe(422);
  expect(answer.body.errors?.map(({ pointer, code }) => `${code} ${pointer}`)).toEqual([
    'unknown /document/requierd',
    'not-supported /document/properties/a/default',
  ]);
});

test('403 — for a caller without the action', async () => {
  const bob = await service().openSession((await service().createUser('bob')).id);
  expect((await service().call('POST', `/rest/entity-type/${name}/plan`, { cookie: bob, json: {} })).status).toBe(403);
});

test('403 — for a check, unless the caller may read the entities of all owners (rule 64)', async () => {
  await declareType(service(), name, object({}));
  await seed(service(), name, `${number}01`, {}, 'ada');
  const document = object({}, { required: ['a'] });
  const { id } = await service().createUser('carl', { '*': ['type'], [name]: { actions: ['read'], condition: 'own' } });
  const own = { cookie: await service().openSession(id) };
  const path = `/rest/entity-type/${name}`;
  const change = { ...own, json: document, headers: { 'if-match': '*' } };
  expect((await plan(document)).body.unfit).toBe(1);
  expect((await service().call('POST', `${path}/plan`, { ...own, json: { document } })).status).toBe(403);
  expect((await service().call('PUT', path, change)).status).toBe(403);
  expect((await service().call('POST', `${path}/plan`, { ...own, json: { document: object({}, { title: 'A' }) } })).status).toBe(200);
  expect((await service().call('PUT', `${path}?allowUnfit=1`, change)).status).toBe(200);
});

test('200 — a count ends at one more than its limit', async () => {
  for (let key = 1; key <= 4; key++) await seed(service(), name, `${number}0${key}`, {}, 'ada');
  expect(await countEntities(service().db, name)).toBe(4);
  expect(await countEntities(service().db, name, 2)).toBe(3);
});

test('200 — tells which rules are built, which are gone, and which entities violate them', async () => {
  const text = { type: 'string' };
  const reference = { type: 'string', format: 'int64' };
  await declareType(
    service(),
    name,
    object({ a: text, b: text, c: reference, d: text }, { 'x-index': [['a'], ['b']], 'x-search': { fields: ['d'] } }),
  );
  await seed(service(), name, `${number}01`, { a: 'same', c: '999' }, 'ada');
  await seed(service(), name, `${number}02`, { a: 'same' }, 'ada');
  const rules = {
    'x-unique': [{ fields: ['a'] }],
    'x-index': [['b'], ['-a']],
    'x-references': { c: { to: name } },
  };
  const { body } = await plan(object({ a: text, b: text, c: reference, d: text }, rules));
  expect(body.steps.map(({ effect, kind, pointer }) => `${effect} ${kind} ${pointer}`)).toEqual([
    'build rule /x-unique/0',
    'build rule /x-index/1',
    'build rule /x-references/c',
    'none no-rule /x-index/0',
    'none no-rule /x-search',
  ]);
  expect(body).toMatchObject({
    effect: 'build',
    entities: 2,
    unfit: 3,
    examples: [
      { key: `${number}01`, errors: [{ pointer: '/c', code: 'reference-not-found' }] },
      { key: `${number}01`, errors: [{ pointer: '/a', code: 'duplicate-value' }] },
      { key: `${number}02`, errors: [{ pointer: '/a', code: 'duplicate-value' }] },
    ],
  });
});

test('200 — another order of rules, and another effect of a deletion, build nothing', async () => {
  const reference = { type: ['string', 'null'], format: 'int64' };
  const document = (more: object) => object({ a: reference }, more);
  const index = [['a'], ['-a']];
  expect(await stepsOf(document({ 'x-index': index }), document({ 'x-index': index.toReversed() }))).toEqual(['none note ']);
  const references = (onDelete: string) => document({ 'x-references': { a: { to: name, onDelete } } });
  expect(await stepsOf(references('restrict'), references('set-null'))).toEqual(['none note /x-references/a']);
});

test('422 — a reference to a name without a type, with the pointer into the body', async () => {
  const document = object({ a: { type: 'string', format: 'int64' } }, { 'x-references': { a: { to: 'nobody' } } });
  const answer = await plan<ProblemBody>(document);
  expect(answer.body.errors).toMatchObject([{ pointer: '/document/x-references/a/to', code: 'reference-not-found' }]);
});

test('409 — a request reads at most 100,000 entities, also to build an index', async () => {
  // On a busy machine this takes more than the five seconds of a pooled connection.
  const { store } = service();
  await store.runLong((db) =>
    sql`insert into entity (name, fields, created_by, updated_by)
      select ${name}, '{}', 'ada', 'ada' from generate_series(1, 100001)`.execute(db),
  );
  const refused = await plan<ProblemBody>({ type: 'object', required: ['email'] });
  expect([refused.status, refused.body.code]).toEqual([409, 'type-conflict']);
  expect(refused.body.errors).toEqual([expect.objectContaining({ pointer: '', code: 'too-many-values' })]);
  const put = await service().call('PUT', `/rest/entity-type/${name}?allowUnfit=1`, {
    cookie,
    json: object({ a: { type: 'string' } }, { 'x-index': [['a']] }),
    headers: { 'if-none-match': '*' },
  });
  expect(put.body).toMatchObject({ code: 'type-conflict', errors: [{ pointer: '', code: 'too-many-values' }] });
  await store.runLong((db) => sql`delete from entity where name = ${name}`.execute(db));
});
