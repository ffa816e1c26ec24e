/** `POST /rest/entity/{name}/{key}/restore`: the fields of an earlier version again. */
import { beforeAll, expect, test } from 'vitest';
import { declareType, rowsOf, type Entity } from '../../support/entities.ts';
import { useService, type Answer, type ProblemBody } from '../../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

const at = ({ name, key }: Pick<Entity, 'name' | 'key'>) => `/rest/entity/${name}/${key}`;
const create = async (name: string, fields: object) =>
  (await service().call<Entity>('POST', `/rest/entity/${name}`, { cookie, json: fields })).body;
const update = (entity: Entity, json: object) => service().call<Entity>('POST', at(entity), { cookie, json });
const restore = (
  entity: Pick<Entity, 'name' | 'key'>,
  version: string,
  { by = cookie, headers = {} } = {},
): Promise<Answer<Entity & ProblemBody>> => service().call('POST', `${at(entity)}/restore?version=${version}`, { cookie: by, headers });

test('200 — the entity has the fields of the version again, digit for digit, in a new version with its event and its history', async () => {
  const { body: entity } = await service().call<Entity>('POST', '/rest/entity/note', {
    cookie,
    raw: '{"price":1.50,"none":null,"list":[1]}',
    headers: { 'content-type': 'application/json' },
  });
  await update(entity, { price: 2, none: 'x', more: true });
  const answer = await restore(entity, '1');
  expect([answer.status, answer.headers.get('etag'), answer.body.version]).toEqual([200, '"3"', 3]);
  expect((await rowsOf(service(), 'note')).find(({ key }) => key === entity.key)?.fields).toBe(
    '{"list": [1], "none": null, "price": 1.50}',
  );
  const { body: history } = await service().call<{ items: { operation: string; changed: string[] }[] }>('GET', `${at(entity)}/history`, {
    cookie,
  });
  expect(history.items[0]).toMatchObject({ operation: 'restored', changed: ['more', 'none', 'price'] });
  const events = await service().db.selectFrom('audit_event').where('event', '=', 'entity.restored').select('detail').execute();
  expect(events.map(({ detail }) => detail)).toContainEqual({ entity: 'note', key: entity.key, version: 3 });
  expect((await restore(entity, '2')).body.fields).toEqual({ price: 2, none: 'x', list: [1], more: true });
});

test('400 — without the version to restore', async () => {
  const entity = await create('note', {});
  const answer = await service().call('POST', `${at(entity)}/restore`, { cookie });
  expect([answer.status, answer.body.errors?.[0]]).toEqual([400, expect.objectContaining({ parameter: 'version', code: 'required' })]);
});

test('403 — a caller without `update` restores nothing', async () => {
  const entity = await create('note', { n: 1 });
  await update(entity, { n: 2 });
  const by = await service().openSession((await service().createUser('reader', { '*': ['create', 'read', 'delete'] })).id);
  expect((await restore(entity, '1', { by })).status).toBe(403);
  expect((await service().call<Entity>('GET', at(entity), { cookie })).body.fields).toEqual({ n: 2 });
});

test('404 — no such version, a deleted entity, and an entity of another owner (rule 64)', async () => {
  const entity = await create('note', { n: 1 });
  expect((await restore(entity, '2')).status).toBe(404);
  const { id } = await service().createUser('owner', { note: { actions: ['create', 'read', 'update', 'delete'], condition: 'own' } });
  const by = await service().openSession(id);
  const { body: own } = await service().call<Entity>('POST', '/rest/entity/note', { cookie: by, json: {} });
  expect((await restore(own, '1', { by })).status).toBe(200);
  expect((await restore(entity, '1', { by })).status).toBe(404);
  expect((await service().call('DELETE', at(entity), { cookie })).status).toBe(204);
  expect((await restore(entity, '1')).status).toBe(404);
});

test('409 — a value that another entity has by now', async () => {
  await declareType(service(), 'article', {
    type: 'object',
    properties: { number: { type: 'string' } },
    'x-unique': [{ fields: ['number'] }],
  });
  const entity = await create('article', { number: 'A' });
  await update(entity, { number: 'B' });
  expect((await restore(entity, '1')).status).toBe(200);
  await update(entity, { number: 'C' });
  await create('article', { number: 'A' });
  const { status, body } = await restore(entity, '1');
  expect([status, body.code, body.errors?.[0]?.pointer]).toEqual([409, 'unique-conflict', '/number']);
  expect((await service().call<Entity>('GET', at(entity), { cookie })).body.fields).toEqual({ number: 'C' });
});

test('412 — another version than the caller names stays', async () => {
  const entity = await create('note', { n: 1 });
  await update(entity, { n: 2 });
  for (const tag of ['"1"', 'W/"1"']) expect((await restore(entity, '1', { headers: { 'if-match': tag } })).status, tag).toBe(412);
  expect((await restore(entity, '1', { headers: { 'if-match': 'W/"2"' } })).status).toBe(200);
});

test('422 — fields that do not fit the type as it is now', async () => {
  await declareType(service(), 'file', { type: 'object' });
  const entity = await create('file', { size: 'large' });
  await update(entity, { size: 5 });
  await declareType(service(), 'file', { type: 'object', properties: { size: { type: 'integer' } } });
  const { status, body } = await restore(entity, '1');
  expect([status, body.errors?.[0]]).toEqual([422, expect.objectContaining({ pointer: '/size', code: 'invalid-type' })]);
});

test('428 — a type that requires If-Match', async () => {
  await declareType(service(), 'ledger', { type: 'object', 'x-if-match': 'required' });
  const entity = await create('ledger', { n: 1 });
  expect((await restore(entity, '1')).status).toBe(428);
  expect((await restore(entity, '1', { headers: { 'if-match': '"1"' } })).status).toBe(200);
});
