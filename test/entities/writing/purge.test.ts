/** `DELETE /rest/entity/{name}/{key}?purge=1`: what is stored of an entity is removed for good. */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Action } from '../../../src/rights/vocabulary.ts';
import { addReferrers, declareWithRules } from '../../support/companions.ts';
import { declareType, type Entity } from '../../support/entities.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../../support/service.ts';

const service = useService();
let [ada, officer, own] = ['', '', ''];
const all: Action[] = ['create', 'read', 'update', 'delete'];
beforeAll(async () => {
  ada = await service().openSession((await service().createUser('ada')).id);
  officer = await service().openSession((await service().createUser('officer', { '*': [...all, 'purge'] })).id);
  own = await service().openSession((await service().createUser('bob', { '*': { actions: [...all, 'purge'], condition: 'own' } })).id);
  await declareType(service(), 'memo', { type: 'object', 'x-soft-delete': true });
});

const call = (method: string, path: string, rest: Call = {}): Promise<Answer<Entity & ProblemBody>> =>
  service().call<Entity & ProblemBody>(method, `/rest/entity/${path}`, { cookie: officer, ...rest });
const made = async (name: string, json: object = {}, cookie = ada) => {
  const { status, body, text } = await call('POST', name, { json, cookie });
  expect(status, text).toBe(201);
  return body;
};
const purge = ({ name, key }: Pick<Entity, 'name' | 'key'>, rest: Call = {}) => call('DELETE', `${name}/${key}?purge=1`, rest);

/** The tables of the service with a row whose text has `value`. */
async function tablesWith(value: string): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace in ('public'::regnamespace, 'entity_data'::regnamespace)`.execute(service().db);
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql`select from ${sql.raw(name)} as row where row::text ilike ${`%${value}%`} limit 1`.execute(service().db);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

/** The rows of an entity in the history, oldest first. */
const versionsOf = async ({ key }: Pick<Entity, 'key'>) =>
  await service()
    .db.selectFrom('entity_change')
    .where('key', '=', key)
    .orderBy('id')
    .select(['operation', 'version', 'changed_by as by', 'fields'])
    .execute();

test('204 — no table has a value of the entity any more: not the trash, the history, the companion table nor what an Idempotency-Key stores', async () => {
  await declareWithRules(service(), 'person', {
    properties: { email: { type: 'string' }, about: { type: 'string' } },
    'x-unique': [{ fields: ['email'], fold: true }],
    'x-search': { fields: ['about'] },
    'x-soft-delete': true,
  });
  const fields = { email: 'Zylophant@example.com', about: 'Zylophant lives in Brobdingnag' };
  const created = await call('POST', 'person', { cookie: ada, json: fields, headers: { 'idempotency-key': 'once' } });
  const person = created.body;
  const place = `person/${person.key}`;
  await call('POST', place, { cookie: ada, json: { phone: 'Zylophant-1' } });
  // A part of the history that is older than the history shows.
  await sql`update entity_change set at = at - interval '40 days' where key = ${person.key}::bigint and version = 1`.execute(service().db);
  expect(await tablesWith('zylophant')).toEqual(expect.arrayContaining(['entity', 'entity_data.change_default']));
  expect((await call('DELETE', place, { cookie: ada })).status).toBe(204);
  expect(await tablesWith('zylophant')).toContain('entity_trash');
  expect((await purge(person)).status).toBe(204);
  expect(await tablesWith('zylophant')).toEqual([]);
  expect(await versionsOf(person)).toEqual([
    { operation: 'created', version: '1', by: 'ada', fields: null },
    { operation: 'updated', version: '2', by: 'ada', fields: null },
    { operation: 'deleted', version: '2', by: 'ada', fields: null },
    { operation: 'purged', version: '2', by: 'officer', fields: null },
  ]);
  for (const path of ['', '?version=1', '?version=2', '?deleted=only', '/history'])
    expect((await call('GET', place + path)).status, path).toBe(404);
  for (const path of ['/restore', '/restore?version=1']) expect((await call('POST', place + path)).status, path).toBe(404);
  expect((await purge(person)).status).toBe(404);
  // A repeat of the create brings nothing back.
  await call('POST', 'person', { cookie: ada, json: fields, headers: { 'idempotency-key': 'once' } });
  expect(await tablesWith('zylophant')).toEqual([]);
  const events = await service()
    .db.selectFrom('audit_event')
    .where('event', '=', 'entity.purged')
    .select(['user_name', 'detail'])
    .execute();
  expect(events).toEqual([{ user_name: 'officer', detail: { entity: 'person', key: person.key, version: 2 } }]);
});

test('204 — a live entity is deleted and purged at once, and does not go to the trash; so are names without a type', async () => {
  for (const name of ['memo', 'note']) {
    const entity = await made(name, { text: `Quagga of ${name}` });
    expect((await purge(entity)).status).toBe(204);
    expect((await versionsOf(entity)).map(({ operation }) => operation)).toEqual(['created', 'deleted', 'purged']);
  }
  expect(await tablesWith('quagga')).toEqual([]);
});

test('204 — what was deleted for good is purged from the history alone, once', async () => {
  const entity = await made('note', { text: 'Okapi' });
  await call('DELETE', `note/${entity.key}`);
  const answers = await Promise.all([purge(entity), purge(entity)]);
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([204, 404]);
  expect(await tablesWith('okapi')).toEqual([]);
  expect((await versionsOf(entity)).map(({ operation }) => operation)).toEqual(['created', 'deleted', 'purged']);
});

test('204 — an entity in the trash is purged although the history has forgotten all its versions', async () => {
  const memo = await made('memo', { text: 'Thylacine' });
  await call('DELETE', `memo/${memo.key}`);
  await sql`delete from entity_change where key = ${memo.key}`.execute(service().db);
  expect((await purge(memo, { cookie: ada })).status).toBe(403);
  expect((await purge(memo, { headers: { 'if-match': '"2"' } })).status).toBe(412);
  expect(await tablesWith('thylacine')).toEqual(['entity_trash']);
  expect((await purge(memo)).status).toBe(204);
  expect(await tablesWith('thylacine')).toEqual([]);
  expect(await versionsOf(memo)).toEqual([{ operation: 'purged', version: '1', by: 'officer', fields: null }]);
  expect((await purge(memo)).status).toBe(404);
});

test('204 — entities that are deleted along with a purged one go to the trash', async () => {
  await declareType(service(), 'box', { type: 'object' });
  const reference = { type: 'string', format: 'int64' };
  const referring = { properties: { box: reference }, 'x-references': { box: { to: 'box', onDelete: 'cascade' } }, 'x-soft-delete': true };
  await declareWithRules(service(), 'item', referring);
  const box = await made('box');
  const item = await made('item', { box: box.key });
  expect((await purge(box)).status).toBe(204);
  expect((await call('GET', `item/${item.key}?deleted=only`)).status).toBe(200);
});

test('204 — of 1,001 entities that are deleted along and to one of which it refers, which an ordinary DELETE refuses', async () => {
  const reference = { type: ['string', 'null'], format: 'int64' };
  await declareType(service(), 'crate', { type: 'object' });
  const table = await declareWithRules(service(), 'bottle', {
    properties: { crate: reference },
    'x-references': { crate: { to: 'crate', onDelete: 'cascade' } },
  });
  const best = { properties: { best: reference }, 'x-references': { best: { to: 'bottle', onDelete: 'set-null' } } };
  await declareWithRules(service(), 'crate', best);
  const crate = await made('crate');
  const bottles = await addReferrers(service(), table, { name: 'bottle', field: 'crate', target: crate.key, count: 1_001 });
  const bottle = bottles.at(-1);
  expect((await call('POST', `crate/${crate.key}`, { cookie: ada, json: { best: bottle } })).status).toBe(200);
  const refusal = await call('DELETE', `crate/${crate.key}`, { cookie: ada });
  expect([refusal.status, refusal.body.errors?.[0]?.code], refusal.text).toEqual([409, 'too-many-referrers']);
  expect((await call('GET', `bottle/${bottle}`)).status).toBe(200);
  expect((await purge(crate, { headers: { 'if-match': '"2"' } })).status).toBe(204);
  for (const path of [`bottle/${bottle}`, `crate/${crate.key}`]) expect((await call('GET', path)).status).toBe(404);
  expect((await versionsOf(crate)).map(({ operation }) => operation)).toEqual(['created', 'updated', 'deleted', 'purged']);
});

test('409, 412 and 428 — a live entity is purged under the rules and preconditions of its deletion, one in the trash with its version', async () => {
  await declareType(service(), 'shelf', { type: 'object', 'x-if-match': 'required' });
  await declareWithRules(service(), 'book', {
    properties: { shelf: { type: 'string', format: 'int64' } },
    'x-references': { shelf: { to: 'shelf' } },
  });
  const shelf = await made('shelf');
  await made('book', { shelf: shelf.key });
  expect((await purge(shelf)).status).toBe(428);
  expect((await purge(shelf, { headers: { 'if-match': '"2"' } })).status).toBe(412);
  expect((await purge(shelf, { headers: { 'if-match': '"1"' } })).body.code).toBe('still-referenced');
  expect((await call('GET', `shelf/${shelf.key}`)).status).toBe(200);
  const memo = await made('memo', { n: 1 });
  await call('DELETE', `memo/${memo.key}`);
  for (const tag of ['"2"', 'W/"2"']) expect((await purge(memo, { headers: { 'if-match': tag } })).status, tag).toBe(412);
  expect((await call('GET', `memo/${memo.key}?deleted=only`)).status).toBe(200);
  expect((await purge(memo, { headers: { 'if-match': 'W/"1"' } })).status).toBe(204);
});

test('403 — no other action has the right, and a live entity needs `delete` too (rule 62)', async () => {
  const entity = await made('memo', { n: 1 });
  expect((await purge(entity, { cookie: ada })).status).toBe(403);
  const cookie = await service().openSession((await service().createUser('eraser', { memo: ['purge'] })).id);
  expect((await purge(entity, { cookie })).status).toBe(403);
  expect((await call('GET', `memo/${entity.key}`)).status).toBe(200);
  expect((await call('DELETE', `memo/${entity.key}`, { cookie })).status).toBe(403);
  await call('DELETE', `memo/${entity.key}`);
  expect((await purge(entity, { cookie: ada })).status).toBe(403);
  expect((await call('GET', `memo/${entity.key}?deleted=only`)).status).toBe(200);
  expect((await purge(entity, { cookie })).status).toBe(204);
});

test("404 — `purge` of own entities covers no other user's: live, in the trash, and in the history (rule 64)", async () => {
  const live = await made('memo', { n: 1 });
  const [trashed, gone] = [await made('memo', { n: 1 }), await made('note', { n: 1 })];
  for (const { name, key } of [trashed, gone]) await call('DELETE', `${name}/${key}`);
  for (const entity of [live, trashed, gone]) {
    expect((await purge(entity, { cookie: own })).status).toBe(404);
    expect((await versionsOf(entity)).every(({ fields }) => fields !== null)).toBe(true);
  }
  const mine = await made('note', { n: 1 }, own);
  await call('DELETE', `note/${mine.key}`);
  expect((await purge(mine, { cookie: own })).status).toBe(204);
});

test('503 — outcome-unknown once the deletion is committed and the purge cannot go on; the same request again does the rest (rule 77)', async () => {
  const memo = await made('note', { secret: 'Snicker-snack' });
  await service()
    .db.transaction()
    .execute(async (trx) => {
      await sql`lock table entity_trash in exclusive mode`.execute(trx);
      const answer = await purge(memo);
      expect([answer.status, answer.body.code], answer.text).toEqual([503, 'outcome-unknown']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    });
  expect((await call('GET', `note/${memo.key}`)).status).toBe(404);
  expect(await tablesWith('Snicker-snack')).toEqual([expect.stringContaining('change_')]);
  expect((await purge(memo)).status).toBe(204);
  expect(await tablesWith('Snicker-snack')).toEqual([]);
});
