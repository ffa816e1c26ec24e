/** `GET /rest/entity/{name}/{key}/history`: what an entity was, who changed it and when. */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { maintainHistory } from '../../../src/entities/history/history.ts';
import { declareType, type Entity } from '../../support/entities.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

interface Version extends Entity {
  operation: string;
  changed: string[] | null;
}
interface History {
  items: Version[];
  next: string | null;
}

const service = useService();
let [ada, grace, bob] = ['', '', ''];
beforeAll(async () => {
  ada = await service().openSession((await service().createUser('ada')).id);
  grace = await service().openSession((await service().createUser('grace')).id);
  bob = await service().openSession(
    (await service().createUser('bob', { note: { actions: ['create', 'read', 'update', 'delete'], condition: 'own' } })).id,
  );
});

const at = ({ name, key }: Pick<Entity, 'name' | 'key'>) => `/rest/entity/${name}/${key}`;
const create = async (fields: object, { cookie = ada, name = 'note' } = {}) =>
  (await service().call<Entity>('POST', `/rest/entity/${name}`, { cookie, json: fields })).body;
const historyOf = async (entity: Entity, { cookie = ada, query = '' } = {}) =>
  await service().call<History & ProblemBody>('GET', `${at(entity)}/history${query}`, { cookie });

test('200 — each version, newest first, with who changed what and when', async () => {
  const entity = await create({ title: 'a', price: 1.5 });
  const second = await service().call<Entity>('POST', at(entity), { cookie: grace, json: { price: 2, title: null, list: [1] } });
  const { status, body } = await historyOf(entity);
  expect(status).toBe(200);
  expect(body).toEqual({
    items: [
      { operation: 'updated', ...second.body, changed: ['list', 'price', 'title'] },
      { operation: 'created', ...entity, changed: null },
    ],
    next: null,
  });
  expect(body.items[0]?.updatedBy).toBe('grace');
});

test('200 — `changed` names a number of which only the digits differ', async () => {
  const headers = { 'content-type': 'application/json' };
  const { body: entity } = await service().call<Entity>('POST', '/rest/entity/note', {
    cookie: ada,
    raw: '{"a":1.5,"b":[1.5],"c":2}',
    headers,
  });
  await service().call('POST', at(entity), { cookie: ada, raw: '{"a":1.50,"b":[1.50],"c":2}', headers });
  const { body, text } = await historyOf(entity);
  expect(body.items.map(({ changed }) => changed)).toEqual([['a', 'b'], null]);
  expect(text.match(/"a": ?1\.\d+/g)).toEqual(['"a": 1.50', '"a": 1.5']);
});

test('200 — a deleted entity has its history still, with the deletion, for callers that could read it', async () => {
  const entity = await create({ title: 'a' }, { cookie: bob });
  expect((await service().call('DELETE', at(entity), { cookie: grace })).status).toBe(204);
  const { body } = await historyOf(entity, { cookie: bob });
  expect(body.items.map(({ operation, version, updatedBy, fields }) => [operation, version, updatedBy, fields])).toEqual([
    ['deleted', 1, 'grace', { title: 'a' }],
    ['created', 1, 'bob', { title: 'a' }],
  ]);
  expect((await service().call('GET', at(entity), { cookie: bob })).status).toBe(404);
});

test('200 — pages by cursor see each version once', async () => {
  const entity = await create({ n: 0 });
  for (let n = 1; n < 5; n++) await service().call('POST', at(entity), { cookie: ada, json: { n } });
  const seen: unknown[] = [];
  for (let query: string | undefined = '?limit=2'; query !== undefined;) {
    const { body } = await historyOf(entity, { query });
    expect(body.items.length).toBe(body.next === null ? 1 : 2);
    seen.push(...body.items.map(({ fields, changed }) => [fields['n'], changed]));
    query = body.next === null ? undefined : `?limit=2&cursor=${body.next}`;
  }
  expect(seen).toEqual([
    [4, ['n']],
    [3, ['n']],
    [2, ['n']],
    [1, ['n']],
    [0, null],
  ]);
});

test('200 — grouped creates and updates of several requests have a version each', async () => {
  const created = await Promise.all(Array.from({ length: 20 }, (_, n) => create({ n })));
  await Promise.all(created.map((entity) => service().call('POST', at(entity), { cookie: grace, json: { done: true } })));
  for (const [n, entity] of created.entries()) {
    const { body } = await historyOf(entity);
    expect(body.items.map(({ version, updatedBy, fields }) => [version, updatedBy, fields])).toEqual([
      [2, 'grace', { n, done: true }],
      [1, 'ada', { n }],
    ]);
  }
});

test('400 — a cursor of another history, or a changed one, is refused', async () => {
  const [one, other] = [await create({ n: 1 }), await create({ n: 1 })];
  await service().call('POST', at(one), { cookie: ada, json: { n: 2 } });
  const { next } = (await historyOf(one, { query: '?limit=1' })).body;
  for (const [entity, cursor] of [
    [other, next],
    [one, `${next}A`],
  ] as const) {
    const { status, body } = await historyOf(entity, { query: `?cursor=${cursor}` });
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ parameter: 'cursor', code: 'invalid-cursor' })]]);
  }
});

test('403 — a caller without `read` gets no history', async () => {
  const entity = await create({ n: 1 });
  const writer = await service().openSession((await service().createUser('writer', { note: ['update'] })).id);
  expect((await historyOf(entity, { cookie: writer })).status).toBe(403);
});

test("404 — `read` of own entities covers no other user's versions, and none is told from a key that was never given (rule 64)", async () => {
  const own = await create({ n: 1 }, { cookie: bob });
  expect((await historyOf(own, { cookie: bob })).status).toBe(200);
  const foreign = await create({ n: 1 });
  const refused = await historyOf(foreign, { cookie: bob });
  const missing = await historyOf({ ...foreign, key: '9000000000000000000' }, { cookie: bob });
  expect([refused.status, refused.body.code, refused.body.detail]).toEqual([404, missing.body.code, missing.body.detail]);
  expect((await service().call('GET', `${at(foreign)}?version=1`, { cookie: bob })).status).toBe(404);
});

test('200 and 404 — a history ends after 7 days, or after the time that the type says; the present version stays', async () => {
  await declareType(service(), 'contract', { type: 'object', 'x-history': { keep: 'P2Y' } });
  const [short, long] = [await create({ n: 1 }), await create({ n: 1 }, { name: 'contract' })];
  await sql`update entity_change set at = at - interval '8 days' where (name, key) in ((${short.name}, ${short.key}), (${long.name}, ${long.key}))`.execute(
    service().db,
  );
  expect((await historyOf(short)).body).toEqual({ items: [], next: null });
  expect((await historyOf(long)).status).toBe(200);
  expect((await service().call('GET', `${at(short)}?version=1`, { cookie: ada })).body).toEqual(short);
  expect((await service().call('DELETE', at(short), { cookie: ada })).status).toBe(204);
  await sql`update entity_change set at = at - interval '8 days' where (name, key) = (${short.name}, ${short.key})`.execute(service().db);
  expect((await historyOf(short)).status).toBe(404);
  expect((await service().call('GET', `${at(short)}?version=1`, { cookie: ada })).status).toBe(404);
});

test('200 — a month of which nothing is kept is dropped, and what is kept longer stays', async () => {
  await declareType(service(), 'deed', { type: 'object', 'x-history': { keep: 'P1Y' } });
  const [short, long] = [await create({ n: 1 }), await create({ n: 1 }, { name: 'deed' })];
  const months = async () => {
    const { rows } = await sql<{ name: string }>`
      select relname::text as name from pg_class
      where relnamespace = 'entity_data'::regnamespace and relname like 'change_%' and relkind = 'r' order by 1`.execute(service().db);
    return rows.map(({ name }) => name);
  };
  const before = await months();
  expect(before).toHaveLength(5);
  const monthsAgo = (months: number) => {
    const now = new Date();
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)).toISOString().slice(0, 7);
  };
  const [kept, forgotten] = [monthsAgo(3), monthsAgo(30)];
  const tableOf = (month: string) => `change_${month.replace('-', '_')}`;
  for (const month of [kept, forgotten]) {
    await sql`create table ${sql.ref(`entity_data.${tableOf(month)}`)} partition of entity_change
      for values from (${sql.lit(`${month}-01 00:00+00`)}) to (${sql.lit(`${month}-28 00:00+00`)})`.execute(service().db);
    await sql`insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields)
      select ${`${month}-15`}::timestamptz, name, key, version, operation, changed_by, created_at, created_by, fields from entity_change
      where at > now() - interval '1 day' and (name, key) in ((${short.name}, ${short.key}), (${long.name}, ${long.key}))`.execute(
      service().db,
    );
  }
  expect(await maintainHistory(service().db, 1_000)).toBe(1);
  expect(await months()).toEqual([tableOf(kept), ...before].toSorted());
  const { rows } = await sql<{ name: string }>`select name from ${sql.ref(`entity_data.${tableOf(kept)}`)}`.execute(service().db);
  expect(rows).toEqual([{ name: 'deed' }]);
});

test('200 — `version` gives the entity as it was, with the tag of that version, and 304 for a client that has it', async () => {
  const entity = await create({ n: 1 });
  await service().call('POST', at(entity), { cookie: ada, json: { n: 2 } });
  const old = await service().call('GET', `${at(entity)}?version=1`, { cookie: ada });
  expect([old.status, old.body, old.headers.get('etag')]).toEqual([200, entity, '"1"']);
  expect((await service().call('GET', `${at(entity)}?version=1`, { cookie: ada, headers: { 'if-none-match': '"1"' } })).status).toBe(304);
  expect((await service().call('GET', `${at(entity)}?version=3`, { cookie: ada })).status).toBe(404);
});

test('400 — `version` goes along with neither `fields` nor `include`', async () => {
  const entity = await create({ n: 1 });
  const { status, body } = await service().call('GET', `${at(entity)}?version=1&fields=n`, { cookie: ada });
  expect([status, body.errors]).toEqual([400, [expect.objectContaining({ parameter: 'version', code: 'conflicting' })]]);
});

test('200 — the members that differ are listed quickly, although there are thousands', async () => {
  const fields = Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`m${n}`, 'x'.repeat(50)]));
  const entity = await create(fields);
  await service().call('POST', at(entity), { cookie: ada, json: { m7: 1, m8999: null } });
  const { status, body } = await historyOf(entity, { query: '?limit=1' });
  expect([status, body.items[0]?.changed]).toEqual([200, ['m7', 'm8999']]);
});
