/** Updates of declared types: which need a look at the entity first, and that those which need none keep the rules of the type. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Companion } from '../../../src/entities/companion/layout.ts';
import { inSchema } from '../../../src/entities/companion/table.ts';
import { verifyCompanion } from '../../../src/entities/companion/verify.ts';
import { companionRows, declareWithRules } from '../../support/companions.ts';
import { declareType, seed, type Entity } from '../../support/entities.ts';
import { race } from '../../support/races.ts';
import { useService, type Answer, type ProblemBody } from '../../support/service.ts';
import { fullRights } from '../../../src/rights/field-view.ts';
import { previewOne } from '../../../src/entities/writing/preview.ts';

const service = useService();
let cookie: string;
let companion: Companion;

const properties = {
  email: { type: 'string', minLength: 3 },
  state: { enum: ['open', 'done'] },
  total: { type: 'string', format: 'decimal' },
  note: { type: 'string' },
  address: { type: 'object', properties: { city: { type: 'string' } } },
};

beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada', { '*': ['create', 'read', 'update', 'delete', 'type'] })).id);
  companion = await declareWithRules(service(), 'order', {
    required: ['email'],
    properties,
    'x-unique': [{ fields: ['email'] }],
    'x-index': [['state', '-total'], ['address.city'], ['-$updatedAt']],
    'x-search': { fields: ['note'], language: 'english' },
  });
  await declareType(service(), 'line', { type: 'object', required: ['email'], properties });
  await declareType(service(), 'counted', { type: 'object', minProperties: 1, properties });
  await declareType(service(), 'guarded', { type: 'object', properties, 'x-if-match': 'required' });
});

type Body = Entity & ProblemBody;
const create = async (name: string, json: object): Promise<string> =>
  (await service().call<Body>('POST', `/rest/entity/${name}`, { cookie, json })).body.key;
const update = (name: string, key: string, json: object, headers = {}): Promise<Answer<Body>> =>
  service().call<Body>('POST', `/rest/entity/${name}/${key}`, { cookie, json, headers });

/** The answer, and how often the service has looked at an entity for it. */
async function observed(work: () => Promise<Answer<Body>>): Promise<{ answer: Answer<Body>; looks: number }> {
  const { store } = service();
  const read = store.read.bind(store);
  let looks = 0;
  onTestFinished(() => void Object.assign(store, { read }));
  const counting: typeof read = (statement, values) => {
    if (Object.is(statement, previewOne(fullRights))) looks += 1;
    return read(statement, values);
  };
  Object.assign(store, { read: counting });
  const answer = await work();
  Object.assign(store, { read });
  return { answer, looks };
}

const fieldsOf = async (name: string, key: string) =>
  (await service().call<Body>('GET', `/rest/entity/${name}/${key}`, { cookie })).body.fields;

describe('an update of a declared type', () => {
  test.for<[string, object, object]>([
    ['line', { note: 'b' }, { email: 'abc', note: 'b' }],
    ['line', { note: null, total: '1.5' }, { email: 'abc', total: '1.5' }],
    ['order', { state: 'done', total: '2.5' }, { email: 'abc', note: 'a', state: 'done', total: '2.5' }],
    ['order', { email: 'other' }, { email: 'other', note: 'a' }],
    ['order', { total: null }, { email: 'abc', note: 'a' }],
    ['guarded', { note: 'b' }, { email: 'abc', note: 'b' }],
  ])('200 — %s: %j needs no look at the entity', async ([name, patch, expected]) => {
    const key = await create(name, { email: 'abc', note: 'a' });
    onTestFinished(() =>
      service()
        .call('DELETE', `/rest/entity/${name}/${key}`, { cookie })
        .then(() => undefined),
    );
    const { answer, looks } = await observed(() => update(name, key, patch, { 'if-match': '*' }));
    expect([answer.status, answer.body.fields, looks]).toEqual([200, expected, 0]);
    expect(await fieldsOf(name, key)).toEqual(expected);
    expect((await verifyCompanion(service().db, 'order', companion, undefined)).different).toEqual([]);
  });

  test.for<[number, string, string, object, object]>([
    [200, 'line', 'an object, which is merged', { address: { city: 'Rome' } }, {}],
    [200, 'order', 'a text that is searched', { note: 'b' }, {}],
    [200, 'counted', 'a type that counts members', { note: 'b' }, {}],
    [428, 'guarded', 'a type that needs If-Match, without it', { note: 'b' }, {}],
    [422, 'line', 'a member that must not go', { email: null }, {}],
    [422, 'line', 'a member that does not fit', { note: 5 }, {}],
    [422, 'order', 'a text that is too long for its index', { email: 'x'.repeat(2_000) }, {}],
  ])('%s — %s looks at the entity: %s', async ([status, name, , patch, headers]) => {
    const key = await create(name, { email: 'abc', address: { street: 'Via Appia' } });
    onTestFinished(() =>
      service()
        .call('DELETE', `/rest/entity/${name}/${key}`, { cookie })
        .then(() => undefined),
    );
    const before = await fieldsOf(name, key);
    const { answer, looks } = await observed(() => update(name, key, patch, headers));
    expect([answer.status, looks]).toEqual([status, 1]);
    const after = { ...before, ...patch, ...('address' in patch && { address: { street: 'Via Appia', city: 'Rome' } }) };
    expect(await fieldsOf(name, key)).toEqual(status === 200 ? after : before);
  });

  test('404 and 412 — without a look first, and nothing changes', async () => {
    const key = await create('line', { email: 'abc' });
    expect((await update('line', '999', { note: 'b' })).status).toBe(404);
    expect((await update('line', key, { note: 'b' }, { 'if-match': '"7"' })).status).toBe(412);
    expect(await fieldsOf('line', key)).toEqual({ email: 'abc' });
    expect((await update('line', key, { note: 'b' }, { 'if-match': '"1"' })).status).toBe(200);
  });

  test('409 — a value that another entity has, and neither row changes', async () => {
    const [one, other] = [await create('order', { email: 'one' }), await create('order', { email: 'two', state: 'open' })];
    const before = await companionRows(service(), companion);
    const { status, body } = await update('order', other, { email: 'one', state: 'done' });
    expect([status, body.code, body.errors?.map(({ pointer }) => pointer)]).toEqual([409, 'unique-conflict', ['/email']]);
    expect(await companionRows(service(), companion)).toEqual(before);
    expect((await update('order', one, { email: 'three' })).status).toBe(200);
    expect((await update('order', other, { email: 'one' })).status).toBe(200);
  });
});

test('200 — updates of different members of the same entities at the same time lose nothing, neither in the entity nor in its row', async () => {
  const keys: string[] = [];
  for (let index = 0; index < 3; index++) keys.push(await create('order', { email: `race ${index}`, state: 'open', total: '0' }));
  const given = { state: ['open', 'done'], total: ['1', '2', '3'], email: ['a', 'b', 'c'] } as const;
  const last = new Map<string, Record<string, string>>();
  await race(9, async (index) => {
    const [key = '', member] = [keys[index % 3], (['state', 'total', 'email'] as const)[Math.floor(index / 3)] ?? 'state'];
    for (let done = 0; done < 60; done++) {
      const value = member === 'email' ? `${given.email[done % 3]} ${key}` : (given[member][done % given[member].length] ?? '');
      expect((await update('order', key, { [member]: value })).status).toBe(200);
      last.set(key, { ...last.get(key), [member]: value });
    }
  });
  for (const key of keys) expect(await fieldsOf('order', key)).toEqual(last.get(key));
  expect((await verifyCompanion(service().db, 'order', companion, undefined)).different).toEqual([]);
});

test('200 — an update keeps what another transaction has written to the row since the statement began', async () => {
  const key = await create('order', { email: 'kept', state: 'open', total: '1' });
  const columnOf = (field: string) => companion.columns.find((column) => column.field[0] === field)?.name ?? '';
  const [state, total] = [columnOf('state'), columnOf('total')];
  const { answer } = await service()
    .db.transaction()
    .execute(async (trx) => {
      await sql`update ${inSchema(companion.table)} set ${sql.ref(state)} = 'done' where key = ${key}`.execute(trx);
      const answer = update('order', key, { total: '2' });
      await vi.waitUntil(isWaiting, { timeout: 4_000, interval: 20 });
      return { answer };
    });
  expect((await answer).status).toBe(200);
  const row = (await companionRows(service(), companion)).find((each) => each['key'] === key);
  expect([row?.[state], row?.[total]]).toEqual(['done', '2']);
});

/** Whether a statement waits for a lock of a row. */
async function isWaiting(): Promise<boolean> {
  const { rows } = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    service().db,
  );
  return rows.length > 0;
}

test('422 — an entity that a type has let stay unfit must fit at its next update, until all have been checked', async () => {
  const put = async (document: object, query = '') =>
    (await service().call('PUT', `/rest/entity-type/old${query}`, { cookie, json: document, headers: { 'if-match': '*' } })).status;
  await declareType(service(), 'old', { type: 'object' });
  await seed(service(), 'old', '77001', {}, 'ada');
  const strict = { type: 'object', required: ['a'], properties: { b: { type: 'number' } } };
  expect(await put(strict, '?allowUnfit=1')).toBe(200);
  expect((await update('old', '77001', { b: 1 })).status).toBe(422);
  // A change after which nothing has to be checked tells nothing about the entities.
  expect(await put({ ...strict, title: 'Old' })).toBe(200);
  expect((await update('old', '77001', { b: 1 })).status).toBe(422);
  // Nor does a build, which has revisions of its own.
  expect(await put({ ...strict, 'x-index': [['b']] })).toBe(200);
  expect((await update('old', '77001', { b: 1 })).status).toBe(422);
  expect((await update('old', '77001', { a: 1 })).status).toBe(200);
  expect((await observed(() => update('old', '77001', { b: 1 }))).looks).toBe(1);
  expect(await put({ ...strict, properties: { b: { type: 'number', minimum: 0 } } })).toBe(200);
  expect((await observed(() => update('old', '77001', { b: 2 }))).looks).toBe(0);
  const { rows } = await sql<{ flags: boolean[] }>`
    select array_agg(may_be_unfit order by revision) as flags from entity_type_revision where name = 'old'`.execute(service().db);
  expect(rows[0]?.flags).toEqual([false, true, true, true, true, false]);
});
