/** The trash: entities of a type with `x-soft-delete` after their deletion, until they are restored or their time is over. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { deleteExpiredTrash } from '../../../src/entities/trash.ts';
import type { Action } from '../../../src/rights/vocabulary.ts';
import { companionRows, declareWithRules } from '../../support/companions.ts';
import { declareType, rowsOf, type Entity } from '../../support/entities.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../../support/service.ts';

type Trashed = Entity & { deletedAt: string; deletedBy: string; expiresAt: string };
type Body = Trashed & ProblemBody & { items: Trashed[]; next: string | null; count?: object };

const service = useService();
let [ada, bob, carl] = ['', '', ''];
const all: Action[] = ['create', 'read', 'update', 'delete'];
beforeAll(async () => {
  ada = await service().openSession((await service().createUser('ada')).id);
  bob = await service().openSession((await service().createUser('bob', { '*': { actions: all, condition: 'own' } })).id);
  carl = await service().openSession((await service().createUser('carl', { '*': all })).id);
  await declareType(service(), 'memo', { type: 'object', 'x-soft-delete': true });
  await declareType(service(), 'paper', { type: 'object', 'x-soft-delete': { keep: 'P1Y' }, 'x-if-match': 'required' });
});

const call = (method: string, path: string, rest: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>(method, `/rest/entity/${path}`, { cookie: ada, ...rest });
const made = async (name: string, json: object = {}, cookie = ada) => {
  const { status, body, text } = await call('POST', name, { json, cookie });
  expect(status, text).toBe(201);
  return body;
};
const removed = async (name: string, json: object = {}, cookie = ada) => {
  const entity = await made(name, json, cookie);
  const { status, text } = await call('DELETE', `${name}/${entity.key}`, { cookie, headers: { 'if-match': '"1"' } });
  expect(status, text).toBe(204);
  return entity;
};
const inTrash = async (name: string) =>
  (await service().db.selectFrom('entity_trash').where('name', '=', name).select('key').orderBy('key').execute()).map(({ key }) => key);

describe('deleteEntity', () => {
  test('204 — moves the entity to the trash with one event; the key is 404, and its values are in no table of live entities', async () => {
    const table = await declareWithRules(service(), 'card', {
      properties: { email: { type: 'string' } },
      'x-unique': [{ fields: ['email'] }],
      'x-soft-delete': true,
    });
    const entity = await removed('card', { email: 'ada@example.com', price: 1 }, bob);
    expect((await call('GET', `card/${entity.key}`)).status).toBe(404);
    expect([await rowsOf(service(), 'card'), await companionRows(service(), table), await inTrash('card')]).toEqual([[], [], [entity.key]]);
    const { body } = await call('GET', `card/${entity.key}?deleted=only`);
    expect(body).toMatchObject({ ...entity, deletedBy: 'bob' });
    expect(Date.parse(body.expiresAt) - Date.parse(body.deletedAt)).toBe(30 * 86_400_000);
    // Its unique value is free at once.
    await made('card', { email: 'ada@example.com' });
    const events = await service()
      .db.selectFrom('audit_event')
      .where(sql`detail ->> 'key'`, '=', entity.key)
      .select('event')
      .execute();
    expect(events.map(({ event }) => event)).toEqual(['entity.created', 'entity.deleted']);
  });

  test('204 — is final for a type without the keyword, and for a name without a type', async () => {
    const entity = await removed('note');
    expect((await call('GET', `note/${entity.key}?deleted=only`)).status).toBe(404);
    expect((await call('POST', `note/${entity.key}/restore`)).status).toBe(404);
    expect(await inTrash('note')).toEqual([]);
  });

  test('204 — entities that are deleted along go to the trash if their own type says so; a restored one does not bring them back', async () => {
    const reference = { type: ['string', 'null'], format: 'int64' };
    const referring = { properties: { to: reference }, 'x-references': { to: { to: 'folder', onDelete: 'cascade' } } };
    await declareType(service(), 'folder', { type: 'object', 'x-soft-delete': true });
    await declareWithRules(service(), 'letter', { ...referring, 'x-soft-delete': true });
    await declareWithRules(service(), 'scrap', referring);
    const folder = await made('folder');
    const [letter, scrap] = [await made('letter', { to: folder.key }), await made('scrap', { to: folder.key })];
    expect((await call('DELETE', `folder/${folder.key}`)).status).toBe(204);
    expect([await inTrash('folder'), await inTrash('letter'), await inTrash('scrap')]).toEqual([[folder.key], [letter.key], []]);
    // Its reference leads to no live entity.
    const early = await call('POST', `letter/${letter.key}/restore`);
    expect([early.status, early.body.errors?.[0]]).toEqual([422, expect.objectContaining({ pointer: '/to', code: 'reference-not-found' })]);
    expect((await call('POST', `folder/${folder.key}/restore`)).status).toBe(200);
    expect(await inTrash('letter')).toEqual([letter.key]);
    expect((await call('POST', `letter/${letter.key}/restore`)).body).toMatchObject({ version: 2, fields: { to: folder.key } });
    expect((await call('GET', `scrap/${scrap.key}`)).status).toBe(404);
  });

  test('204 — of a batch moves entities to the trash too, with and without a companion table', async () => {
    await declareWithRules(service(), 'slip', { properties: { n: { type: 'integer' } }, 'x-index': [['n']], 'x-soft-delete': true });
    const [memo, slip] = [await made('memo'), await made('slip', { n: 1 })];
    const operations = [memo, slip].map(({ name, key }) => ({ op: 'delete', name, key }));
    const answer = await service().call('POST', '/rest/batch', { cookie: ada, json: { operations } });
    expect(answer.status, answer.text).toBe(200);
    expect([await inTrash('memo'), await inTrash('slip')]).toEqual([expect.arrayContaining([memo.key]), [slip.key]]);
  });
});

describe('restoreEntity', () => {
  test('200 — brings the entity back under its key as the next version, with its event, its history and its companion row', async () => {
    const table = await declareWithRules(service(), 'sheet', {
      properties: { a: { type: 'string' } },
      'x-index': [['a']],
      'x-soft-delete': true,
    });
    const entity = await removed('sheet', { a: 'x', price: 1.5 }, bob);
    const answer = await call('POST', `sheet/${entity.key}/restore`);
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, '"2"']);
    const { createdAt, createdBy, fields } = entity;
    expect(answer.body).toMatchObject({ version: 2, createdAt, createdBy, updatedBy: 'ada', fields });
    expect(answer.body).not.toHaveProperty('deletedAt');
    expect([await inTrash('sheet'), await companionRows(service(), table)]).toMatchObject([[], [{ key: entity.key, c1: 'x' }]]);
    const { body: history } = await service().call<{ items: { operation: string; version: number; updatedBy: string }[] }>(
      'GET',
      `/rest/entity/sheet/${entity.key}/history`,
      { cookie: ada },
    );
    expect(history.items.map(({ operation, version, updatedBy }) => [operation, version, updatedBy])).toEqual([
      ['restored', 2, 'ada'],
      ['deleted', 1, 'bob'],
      ['created', 1, 'bob'],
    ]);
  });

  test('200 — with `version` it comes back with the fields of that version; of two requests at once one restores it', async () => {
    const entity = await made('memo', { n: 1 });
    await call('POST', `memo/${entity.key}`, { json: { n: 2 } });
    await call('DELETE', `memo/${entity.key}`);
    const answers = await Promise.all([1, 2].map(() => call('POST', `memo/${entity.key}/restore`)));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 400]);
    await call('DELETE', `memo/${entity.key}`);
    expect((await call('POST', `memo/${entity.key}/restore?version=1`)).body).toMatchObject({ version: 4, fields: { n: 1 } });
  });

  test('409 and 422 — if another entity has its unique value meanwhile, and if its fields do not fit the type any more', async () => {
    const unique = { properties: { email: { type: 'string' } }, 'x-unique': [{ fields: ['email'] }], 'x-soft-delete': true };
    await declareWithRules(service(), 'contact', unique);
    const entity = await removed('contact', { email: 'x@example.com' });
    const other = await made('contact', { email: 'x@example.com' });
    const conflict = await call('POST', `contact/${entity.key}/restore`);
    expect([conflict.status, conflict.body.code]).toEqual([409, 'unique-conflict']);
    expect(await inTrash('contact')).toEqual([entity.key]);
    await call('DELETE', `contact/${other.key}`);
    await declareWithRules(service(), 'contact', { ...unique, required: ['name'] });
    expect((await call('POST', `contact/${entity.key}/restore`)).status).toBe(422);
    expect(await inTrash('contact')).toEqual([entity.key, other.key]);
  });

  test('412 and 428 — under the precondition of an update', async () => {
    const entity = await removed('paper');
    expect((await call('POST', `paper/${entity.key}/restore`)).status).toBe(428);
    expect((await call('POST', `paper/${entity.key}/restore`, { headers: { 'if-match': '"2"' } })).status).toBe(412);
    expect(await inTrash('paper')).toEqual([entity.key]);
    expect((await call('POST', `paper/${entity.key}/restore`, { headers: { 'if-match': 'W/"1"' } })).status).toBe(200);
  });
});

describe('the trash of a name', () => {
  test('200 — lists deleted entities by key, page by page, with filter, sort and count, and no live one', async () => {
    await declareType(service(), 'leaf', { type: 'object', 'x-soft-delete': { keep: 'P2W' } });
    const keys: string[] = [];
    for (let n = 0; n < 5; n++) keys.push((await removed('leaf', { n })).key);
    await made('leaf', { n: 9 });
    const first = await call('GET', 'leaf?deleted=only&limit=3&count=exact');
    expect([first.body.items.map(({ key }) => key), first.body.count]).toEqual([keys.slice(0, 3), { value: 5, kind: 'exact' }]);
    expect(first.body.items[0]).toMatchObject({ deletedBy: 'ada', fields: { n: 0 } });
    const second = await call('GET', `leaf?deleted=only&limit=3&cursor=${first.body.next}`);
    expect([second.body.items.map(({ key }) => key), second.body.next]).toEqual([keys.slice(3), null]);
    // A cursor of the trash opens no other list.
    expect((await call('GET', `leaf?limit=3&cursor=${first.body.next}`)).status).toBe(400);
    const filter = { n: { $gte: 3 } };
    const sorted = await call('POST', 'leaf/query', { json: { filter, sort: ['-n'], deleted: 'only' } });
    expect(sorted.body.items.map(({ key }) => key)).toEqual([keys[4], keys[3]]);
    const byUrl = await call('GET', `leaf?deleted=only&sort=-n&filter=${encodeURIComponent(JSON.stringify(filter))}`);
    expect(byUrl.text).toBe(sorted.text);
    expect((await call('GET', 'leaf')).body.items.map(({ fields }) => fields)).toEqual([{ n: 9 }]);
  });

  test('200 and 404 — a caller with own rows alone finds, reads and restores those alone, on every way (rule 64)', async () => {
    const [own, foreign] = [await removed('memo', { n: 1 }, bob), await removed('memo', { n: 1 }, carl)];
    const as = { cookie: bob };
    const keysOf = async (query: string) => (await call('GET', `memo?deleted=only${query}`, as)).body.items.map(({ key }) => key);
    for (const query of ['', '&sort=n', '&filter={"n":1}', `&filter={"$key":"${foreign.key}"}`, '&sort=-$updatedAt'])
      expect(await keysOf(query), query).toEqual(query.includes('$key') ? [] : [own.key]);
    expect((await call('GET', 'memo?deleted=only&count=exact', as)).body.count).toEqual({ value: 1, kind: 'exact' });
    for (const [method, path] of [
      ['GET', '?deleted=only'],
      ['POST', '/restore'],
      ['POST', '/restore?version=1'],
      ['GET', '/history'],
      ['GET', '?version=1'],
    ] as const) {
      expect((await call(method, `memo/${foreign.key}${path}`, as)).status, path).toBe(404);
      if (!path.startsWith('/restore')) expect((await call(method, `memo/${own.key}${path}`, as)).status, path).toBe(200);
    }
    expect(await inTrash('memo')).toContain(foreign.key);
    expect((await call('POST', `memo/${own.key}/restore`, as)).status).toBe(200);
    expect((await call('POST', `memo/${foreign.key}/restore`)).status).toBe(200);
  });

  test('403 — for a caller without `read` or without `update`; the narrower of both covers rows (rule 64)', async () => {
    const entity = await removed('memo', {}, carl);
    for (const [user, grants] of Object.entries({ reader: ['read'], writer: ['update'] } satisfies Record<string, Action[]>)) {
      const cookie = await service().openSession((await service().createUser(user, { memo: grants })).id);
      expect((await call('GET', 'memo?deleted=only', { cookie })).status).toBe(403);
      expect((await call('POST', 'memo/query', { cookie, json: { deleted: 'only' } })).status).toBe(403);
      expect((await call('GET', `memo/${entity.key}?deleted=only`, { cookie })).status).toBe(403);
    }
    const { id } = await service().createUser('mixed', { memo: { actions: ['update'], condition: 'own' }, '*': ['read'] });
    const mixed = { cookie: await service().openSession(id) };
    expect((await call('GET', 'memo?deleted=only', mixed)).body.items).toEqual([]);
    expect((await call('GET', `memo/${entity.key}?deleted=only`, mixed)).status).toBe(404);
    expect((await call('POST', `memo/${entity.key}/restore`, mixed)).status).toBe(404);
  });

  test('400 and 422 — `deleted` goes along with no other way to read an entity, and the trash has no index of texts', async () => {
    const entity = await removed('memo');
    for (const query of ['version=1', 'fields=n', 'include=n'])
      expect((await call('GET', `memo/${entity.key}?deleted=only&${query}`)).status).toBe(400);
    expect((await call('GET', `memo?deleted=yes`)).status).toBe(400);
    expect((await call('GET', `memo?deleted=only&search=x`)).status).toBe(422);
  });

  test('404 — once the time of an entity is over, also before it is deleted (rule 12)', async () => {
    const [over, other] = [await removed('paper'), await removed('paper')];
    await sql`update entity_trash set expires_at = now() where key = ${over.key}::bigint`.execute(service().db);
    expect((await call('GET', `paper/${over.key}?deleted=only`)).status).toBe(404);
    expect((await call('POST', `paper/${over.key}/restore`, { headers: { 'if-match': '*' } })).status).toBe(404);
    expect((await call('GET', 'paper?deleted=only')).body.items.map(({ key }) => key)).toEqual([other.key]);
    expect(await deleteExpiredTrash(service().db, 1_000)).toBe(1);
    expect(await inTrash('paper')).toEqual([other.key]);
  });

  test('entities whose time is over are deleted without waiting for one that another process deletes or restores', async () => {
    await declareType(service(), 'straw', { type: 'object', 'x-soft-delete': { keep: 'P1M' } });
    const [held, free] = [await removed('straw'), await removed('straw')];
    await deleteExpiredTrash(service().db, 1_000);
    await sql`update entity_trash set expires_at = now() where name = 'straw'`.execute(service().db);
    await service()
      .db.transaction()
      .execute(async (trx) => {
        await sql`select from entity_trash where name = 'straw' and key = ${held.key}::bigint for update`.execute(trx);
        expect(await deleteExpiredTrash(service().db, 1_000)).toBe(1);
        expect(await inTrash('straw'), free.key).toEqual([held.key]);
      });
    expect(await deleteExpiredTrash(service().db, 1_000)).toBe(1);
  });

  test('200 — what is in the trash stays for its time when the type loses the keyword', async () => {
    await declareType(service(), 'pad', { type: 'object', 'x-soft-delete': { keep: 'P1M' } });
    const [entity, other] = [await removed('pad'), await removed('pad')];
    await declareType(service(), 'pad', { type: 'object' });
    const final = await removed('pad');
    expect((await call('GET', 'pad?deleted=only')).body.items.map(({ key }) => key)).toEqual([entity.key, other.key]);
    expect((await call('POST', `pad/${entity.key}/restore`)).status).toBe(200);
    expect((await call('GET', `pad/${final.key}?deleted=only`)).status).toBe(404);
  });
});
