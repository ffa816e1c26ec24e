/** `x-sensitive` beside a property: `*` in the lists of grants leaves the field out, also for plain grants (rule 176). */
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { announceProcess } from '../../src/database/processes.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { callerWith } from '../support/rules.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../support/service.ts';

interface Plan {
  effect: string;
  digest: string;
  steps: { kind: string; pointer: string; effect: string }[];
  fields: { pointer: string; change: string; grants: number; people: number }[];
}
type Body = Entity & ProblemBody & Plan & { items: Entity[] };

const service = useService();
let plain: Call;
let manager: Call;
let clerk: Call;
let name = '';
let count = 0;

const typeWith = (salary: object | undefined, more: object = {}) => ({
  type: 'object',
  additionalProperties: false,
  ...more,
  properties: { note: { type: 'string' }, ...(salary && { salary: { type: 'string', format: 'decimal', ...salary } }) },
});
const sensitive = { 'x-sensitive': true };

const send = (who: Call, method: string, path: string, json?: object, headers: Record<string, string> = {}): Promise<Answer<Body>> =>
  service().call<Body>(method, `/rest/${path}`, { ...who, headers: { ...who.headers, ...headers }, ...(json && { json }) });
const planOf = async (document?: object, who = plain) => await send(who, 'POST', `entity-type/${name}/plan`, { document });
const put = (document: object, confirm = '', who = plain) =>
  send(who, 'PUT', `entity-type/${name}${confirm && `?confirm=${confirm}`}`, document, { 'If-Match': '*' });

beforeAll(async () => {
  const { id } = await service().createUser('plain', { '*': ['create', 'read', 'update', 'delete', 'type'] });
  plain = { cookie: await service().openSession(id) };
  manager = await callerWith(service(), 'manager', [
    { entity: '*', actions: ['read', 'create', 'update'], rule: { read: ['**'], write: ['**'] } },
    { entity: '*', actions: ['type'] },
  ]);
});
beforeEach(async () => {
  name = `staff${++count}`;
});

describe('a sensitive field', () => {
  let shown: Entity;
  beforeEach(async () => {
    await declareType(service(), name, typeWith(sensitive, { 'x-index': [['salary']] }));
    clerk = await callerWith(service(), `clerk${count}`, [
      { entity: name, actions: ['read', 'create', 'update'], rule: { read: ['*', 'salary'], write: ['*'] } },
    ]);
    const { status, body } = await send(manager, 'POST', `entity/${name}`, { note: 'a', salary: '5' });
    expect(status, JSON.stringify(body)).toBe(201);
    shown = body;
  });

  test('200 — is shown by `**` and by its name, and hidden from plain grants on every road (rule 176)', async () => {
    expect(shown.fields).toEqual({ note: 'a', salary: '5' });
    const path = `entity/${name}/${shown.key}`;
    for (const who of [manager, clerk]) expect((await send(who, 'GET', path)).body.fields).toEqual({ note: 'a', salary: '5' });
    const got = await send(plain, 'GET', path);
    expect(got.body.fields).toEqual({ note: 'a' });
    expect(got.headers.get('etag')).not.toBe((await send(manager, 'GET', path)).headers.get('etag'));
    expect((await send(plain, 'GET', `entity/${name}`)).body.items[0]?.fields).toEqual({ note: 'a' });
    expect((await send(plain, 'GET', `${path}/history`)).body.items[0]?.fields).toEqual({ note: 'a' });
    expect((await send(plain, 'GET', `${path}?version=1`)).body.fields).toEqual({ note: 'a' });
    const exported = await service().call('GET', `/rest/entity/${name}/export`, plain);
    expect(exported.text).not.toContain('salary');
    expect((await service().call('GET', `/rest/entity/${name}/export?format=csv`, plain)).text).not.toContain('salary');
  });

  test('422 — cannot be named in filters, sorts and projections by a caller from whom it is hidden, like a field that there is not (rule 176)', async () => {
    const ask = async (who: Call, query: string, field: string) => {
      const { status, body } = await send(who, 'GET', `entity/${name}?${query.replace('FIELD', field)}`);
      return JSON.stringify([status, body.code, body.errors]).replaceAll(field, 'FIELD');
    };
    for (const query of [`filter=${encodeURIComponent('{"FIELD":"5"}')}`, 'sort=FIELD', 'fields=FIELD']) {
      expect(await ask(manager, query, 'salary')).toContain('200');
      expect(await ask(plain, query, 'salary')).toBe(await ask(plain, query, 'absent'));
    }
  });

  test('403 — is written by a grant that names it or has `**` alone, and stays as it is in updates of others (rule 176)', async () => {
    const path = `entity/${name}/${shown.key}`;
    expect((await send(manager, 'POST', path, { salary: '6' })).status).toBe(200);
    for (const who of [plain, clerk]) {
      const { status, body } = await send(who, 'POST', path, { salary: '7' });
      expect([status, body.code, body.errors?.[0]?.pointer]).toEqual([403, 'field-forbidden', '/salary']);
    }
    expect((await send(plain, 'POST', path, { note: 'b' })).body.fields).toEqual({ note: 'b' });
    expect((await send(manager, 'GET', path)).body.fields).toEqual({ note: 'b', salary: '6' });
    expect((await send(plain, 'POST', `entity/${name}`, { note: 'c', salary: '1' })).status).toBe(403);
    expect((await send(plain, 'POST', `entity/${name}`, { note: 'c' })).status).toBe(201);
  });
});

describe('the plan of a change of x-sensitive', () => {
  test('200 and 409 — a field that becomes sensitive is a narrow change with the number of its grants and people; it needs its digest and counts at once', async () => {
    await declareType(service(), name, typeWith({}));
    await callerWith(service(), `named${count}`, [{ entity: name, actions: ['read'], rule: { read: ['salary'] } }]);
    const one = await callerWith(service(), `starred${count}`, [{ entity: name, actions: ['read'], rule: { read: ['*'] } }]);
    const { body: entity } = await send(plain, 'POST', `entity/${name}`, { note: 'a', salary: '5' });
    const { body: plan } = await planOf(typeWith(sensitive));
    const pointer = '/properties/salary/x-sensitive';
    expect(plan).toMatchObject({ effect: 'narrow', steps: [{ kind: 'sensitive', pointer, effect: 'narrow' }] });
    // The three grants of plain on all names, and the one of starred.
    expect(plan.fields).toEqual([{ pointer: '/properties/salary', change: 'lost', grants: 4, people: 2 }]);
    expect((await put(typeWith(sensitive))).body.code).toBe('confirmation-required');
    const get = async (who: Call) => (await send(who, 'GET', `entity/${name}/${entity.key}`)).body.fields;
    expect(await get(one)).toEqual({ note: 'a', salary: '5' });
    const replica = await service().replica();
    onTestFinished(() => replica.stop());
    const there = async () => (await replica.call<Body>('GET', `/rest/entity/${name}/${entity.key}`, plain)).body.fields;
    expect(await there()).toEqual({ note: 'a', salary: '5' });
    expect((await put(typeWith(sensitive), plan.digest)).status).toBe(200);
    expect(await there()).toEqual({ note: 'a' });
    expect([await get(plain), await get(one), await get(manager)]).toEqual([{ note: 'a' }, { note: 'a' }, { note: 'a', salary: '5' }]);
  });

  test.each([
    ['the keyword is taken away', typeWith({})],
    ['the property is taken away', typeWith(undefined, { additionalProperties: true })],
  ])('200, 403 and 409 — when %s, the change is wide: it needs the digest, and a caller who sees the field', async (_what, document) => {
    await declareType(service(), name, typeWith(sensitive));
    const { body: entity } = await send(manager, 'POST', `entity/${name}`, { salary: '5' });
    const { body: plan } = await planOf(document, manager);
    expect(plan.effect).toBe('widen');
    expect(plan.fields).toContainEqual({ pointer: '/properties/salary', change: 'gained', grants: 3, people: 1 });
    expect((await planOf(document)).status).toBe(403);
    expect((await put(document, plan.digest)).status).toBe(403);
    expect((await put(document, '', manager)).body.code).toBe('confirmation-required');
    expect((await send(plain, 'GET', `entity/${name}/${entity.key}`)).body.fields).toEqual({});
    expect((await put(document, plan.digest, manager)).status).toBe(200);
    expect((await send(plain, 'GET', `entity/${name}/${entity.key}`)).body.fields).toEqual({ salary: '5' });
  });

  test('204 and 403 — a type with a sensitive field is deleted by a caller who sees the field alone', async () => {
    await declareType(service(), name, typeWith(sensitive));
    const { digest } = (await planOf(undefined, manager)).body;
    const remove = (who: Call) => send(who, 'DELETE', `entity-type/${name}?confirm=${digest}`);
    expect((await planOf()).status).toBe(403);
    expect((await remove(plain)).status).toBe(403);
    expect((await remove(manager)).status).toBe(204);
  });

  test('200 — a new field tells who will see it by `*`, and needs no digest; a new sensitive one hides nothing', async () => {
    await declareType(service(), name, typeWith(undefined));
    const plan = (await planOf(typeWith({}))).body;
    expect(plan).toMatchObject({ effect: 'none', fields: [{ pointer: '/properties/salary', change: 'gained', grants: 3, people: 1 }] });
    expect((await planOf(typeWith(sensitive))).body).toMatchObject({ effect: 'none', fields: [{ change: 'lost' }] });
    expect((await put(typeWith(sensitive))).status).toBe(200);
  });

  test('409 — older-version while a process runs that would show the field', async () => {
    await declareType(service(), name, typeWith({}));
    const { digest } = (await planOf(typeWith(sensitive))).body;
    const older = await announceProcess(service().db, '0.1.0');
    onTestFinished(() => older.withdraw());
    await service().db.updateTable('process').set({ knows: [] }).where('id', '=', older.id).execute();
    const refused = await put(typeWith(sensitive), digest);
    expect(refused.body).toMatchObject({ code: 'older-version', detail: expect.stringContaining('still run. ') as string });
    await older.withdraw();
    expect((await put(typeWith(sensitive), digest)).status).toBe(200);
  });
});

test.each([
  [
    'inside of an object',
    { properties: { address: { type: 'object', properties: { zip: sensitive } } } },
    '/properties/address/properties/zip',
    'not-supported',
  ],
  ['of a definition', { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: sensitive } }, '/$defs/a', 'not-supported'],
  ['in a branch', { allOf: [{ properties: { a: sensitive } }] }, '/allOf/0/properties/a', 'not-supported'],
  ['of a pattern', { patternProperties: { '^a': sensitive } }, '/patternProperties/^a', 'not-supported'],
  ['at the top', sensitive, '', 'not-supported'],
  ['that is false', { properties: { a: { 'x-sensitive': false } } }, '/properties/a', 'invalid-value'],
])('422 — x-sensitive %s hides nothing, so it is refused', async (_where, document, place, code) => {
  const { status, body } = await planOf(document);
  expect(status, JSON.stringify(body)).toBe(422);
  expect(body.errors?.map((fault) => fault.code)).toEqual([code]);
  if (!place.includes('^')) expect(body.errors?.[0]?.pointer).toBe(`/document${place}/x-sensitive`);
});
