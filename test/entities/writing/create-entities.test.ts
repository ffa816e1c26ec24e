/** `POST /rest/entity/{name}/bulk`: many entities, all of them or none. */
import { beforeAll, expect, test } from 'vitest';
import { declareType, rowsOf } from '../../support/entities.ts';
import { writeTypes } from '../../support/lists.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

interface Created {
  items: { key: string; version: number }[];
}

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
});

let number = 0;
const newName = () => `article${++number}`;
const bulk = async (name: string, json: unknown, by = cookie) =>
  await service().call<Created & ProblemBody>('POST', `/rest/entity/${name}/bulk`, { cookie: by, json });
const faultsOf = ({ errors = [] }: ProblemBody) => errors.map(({ code, pointer }) => `${code} ${pointer}`);

test('200 — creates each item in the order of the request, with its digits, its audit event and its history', async () => {
  const name = newName();
  const body = '[{"n":1.50},{"n":2,"text":"a,\\"]"} , {"n":[{}]}]';
  const { status, body: created } = await service().call<Created>('POST', `/rest/entity/${name}/bulk`, {
    cookie,
    raw: body,
    headers: { 'content-type': 'application/json' },
  });
  expect(status).toBe(200);
  const rows = await rowsOf(service(), name);
  expect(created.items).toEqual(rows.map(({ key }) => ({ key, version: 1 })));
  expect(rows.map(({ fields }) => fields)).toEqual(['{"n": 1.50}', '{"n": 2, "text": "a,\\"]"}', '{"n": [{}]}']);
  const events = await service().db.selectFrom('audit_event').where('event', '=', 'entity.created').select('detail').execute();
  expect(events.filter(({ detail }) => detail['entity'] === name)).toHaveLength(3);
  expect(await service().db.selectFrom('entity_change').where('name', '=', name).select('operation').execute()).toHaveLength(3);
});

test('200 — takes 1,000 items, in several statements', async () => {
  const name = newName();
  const items = Array.from({ length: 1_000 }, (_, n) => ({ n, text: 'x'.repeat(1_500) }));
  const { status, body } = await bulk(name, items);
  expect([status, new Set(body.items.map(({ key }) => key)).size]).toEqual([200, 1_000]);
  expect((await rowsOf(service(), name)).map(({ fields }) => (JSON.parse(fields) as { n: number }).n)).toEqual(items.map(({ n }) => n));
});

test('409 — every item with a value that another entity has, or another item, is named, and nothing is created', async () => {
  const name = newName();
  const email = { type: 'string' };
  await declareType(service(), name, { type: 'object', properties: { email }, 'x-unique': [{ fields: ['email'], fold: true }] });
  expect((await bulk(name, [{ email: 'ada@example.com' }])).status).toBe(200);
  const items = [{ email: 'a@b' }, { email: 'ADA@example.com' }, { email: 'c@d' }, { email: 'A@B' }];
  const { status, body } = await bulk(name, items);
  expect([status, body.code, faultsOf(body)]).toEqual([409, 'unique-conflict', ['duplicate-value /1/email', 'duplicate-value /3/email']]);
  expect(await rowsOf(service(), name)).toHaveLength(1);
});

test('409 — of 1,000 items the first 20 that conflict are named in their order, wherever they are', async () => {
  const name = newName();
  await declareType(service(), name, { type: 'object', properties: { code: { type: 'string' } }, 'x-unique': [{ fields: ['code'] }] });
  const taken = [0, 1, 199, 200, 201, ...Array.from({ length: 20 }, (_, n) => 300 + 31 * n), 999];
  expect(
    (
      await bulk(
        name,
        taken.map((n) => ({ code: `c${n}` })),
      )
    ).status,
  ).toBe(200);
  const items = Array.from({ length: 1_000 }, (_, n) => ({ code: n === 250 ? 'c2' : `c${n}` }));
  const { status, body } = await bulk(name, items);
  const expected = [...taken, 250].toSorted((one, other) => one - other).slice(0, 20);
  expect([status, faultsOf(body)]).toEqual([409, expected.map((n) => `duplicate-value /${n}/code`)]);
  expect(await rowsOf(service(), name)).toHaveLength(taken.length);
});

test('422 — the faults of all items are listed by the place of the item, and nothing is created', async () => {
  const name = newName();
  await declareType(service(), name, { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] });
  expect((await bulk(name, [{ price: 1 }])).status).toBe(200);
  const { status, body } = await bulk(name, [{ price: 1 }, { price: 'two' }, {}, { price: 3 }]);
  expect([status, faultsOf(body)]).toEqual([422, ['invalid-type /1/price', 'required /2/price']]);
  expect(await rowsOf(service(), name)).toHaveLength(1);
});

test('422 — a reference to no entity is reported by the place of the item', async () => {
  const [target, name] = [newName(), newName()];
  await declareType(service(), target, { type: 'object' });
  const properties = { parent: { type: 'string', format: 'int64' } };
  await declareType(service(), name, { type: 'object', properties, 'x-references': { parent: { to: target } } });
  const [parent] = (await bulk(target, [{}])).body.items;
  expect((await bulk(name, [{ parent: parent?.key }])).status).toBe(200);
  const { status, body } = await bulk(name, [{ parent: parent?.key }, { parent: '1' }]);
  expect([status, faultsOf(body)]).toEqual([422, ['reference-not-found /1/parent']]);
  expect(await rowsOf(service(), name)).toHaveLength(1);
});

test('422 — no item, 1,001 items and an item that is no object', async () => {
  const name = newName();
  for (const json of [[], Array.from({ length: 1_001 }, () => ({})), [{}, 1]]) expect((await bulk(name, json)).status).toBe(422);
  expect(await rowsOf(service(), name)).toEqual([]);
});

test('413 — a body beyond 4 MiB, and an item beyond the limit of one entity (rule 70)', async () => {
  const name = newName();
  const text = 'x'.repeat(1_000_000);
  expect((await bulk(name, [{ text }, { text }, { text }])).status).toBe(200);
  expect((await bulk(name, [{ text }, { text: text + text }])).status).toBe(413);
  expect((await bulk(name, [{ text }, { text }, { text }, { text }, { text }])).status).toBe(413);
  expect(await rowsOf(service(), name)).toHaveLength(3);
});

test('400 and 422 — more than 50,000 values, and more than 10,000 of an item (rule 70)', async () => {
  const name = newName();
  const list = (length: number) => Array.from({ length }, () => 0);
  expect((await bulk(name, [{ list: list(9_000) }, { list: list(9_000) }])).status).toBe(200);
  const item = await bulk(name, [{}, { list: list(11_000) }]);
  expect([item.status, item.body.errors?.[0]]).toEqual([
    422,
    expect.objectContaining({ code: 'too-many-values', pointer: '/1/list/9998' }),
  ]);
  const body = await bulk(name, [{ list: list(50_000) }]);
  expect([body.status, body.body.errors?.[0]?.code]).toEqual([400, 'too-many-values']);
});

test('403 — a caller who may not create the entities creates none', async () => {
  const name = newName();
  const reader = await service().openSession((await service().createUser('reader', { '*': ['read', 'update', 'delete'] })).id);
  expect((await bulk(name, [{}], reader)).status).toBe(403);
  expect(await rowsOf(service(), name)).toEqual([]);
});

test('404 — a name without a type, where only declared names exist', async () => {
  const strict = await service().replica({ ENTITY_TYPES: 'declared', ENTITY_TYPES_DIR: await writeTypes({ listed: { type: 'object' } }) });
  try {
    const name = newName();
    expect((await strict.call('POST', '/rest/entity/listed/bulk', { cookie, json: [{}] })).status).toBe(200);
    expect((await strict.call('POST', `/rest/entity/${name}/bulk`, { cookie, json: [{}] })).status).toBe(404);
    expect(await rowsOf(service(), name)).toEqual([]);
  } finally {
    await strict.close();
  }
});
