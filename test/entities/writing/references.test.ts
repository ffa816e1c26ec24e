/** A new or changed reference needs `label` or `read` on its target, by a grant that covers it; otherwise the target looks like a missing one (rule 115). */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, type Entity } from '../../support/entities.ts';
import { useService, type Answer, type Call, type ProblemBody, type TestGrants } from '../../support/service.ts';

const service = useService();
const writes = ['create' as const, 'update' as const, 'delete' as const, 'read' as const];
type Body = Entity & ProblemBody & { results: { status: number; entity: Entity; problem?: ProblemBody }[] };
/** Callers who may write orders, and read no customer, their own, or all. */
let blind: Call;
let owner: Call;
let reader: Call;
/** Reads no customer, and sees the names of all. */
let labeller: Call;
let admin: Call;
const missing = '9000000000000000000';
let foreign: string;

const as = async (name: string, grants: TestGrants): Promise<Call> => ({
  cookie: await service().openSession((await service().createUser(name, grants)).id),
});
const send = (who: Call, method: string, path: string, call: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>(method, `/rest/${path}`, { ...who, ...call, headers: { ...who.headers, ...call.headers } });
const create = async (who: Call, name: string, fields: object) => (await send(who, 'POST', `entity/${name}`, { json: fields })).body.key;

beforeAll(async () => {
  admin = await as('admin', { '*': [...writes, 'purge'] });
  const order = { actions: writes, condition: 'any' as const };
  blind = await as('blind', { order, customer: ['create'] });
  owner = await as('owner', { order, customer: { actions: writes, condition: 'own' } });
  reader = await as('reader', { order, customer: ['read'] });
  labeller = await as('labeller', { order, customer: ['label'] });
  const reference = { type: ['string', 'null'], format: 'int64' };
  await declareType(service(), 'customer', { type: 'object' });
  await declareType(service(), 'order', {
    type: 'object',
    properties: { number: { type: 'string' }, customer: reference, o: { type: 'object', properties: { second: reference } } },
    'x-unique': [{ fields: ['number'] }],
    'x-references': { customer: { to: 'customer' }, 'o.second': { to: 'customer' } },
    'x-soft-delete': true,
  });
  foreign = await create(admin, 'customer', {});
});

let count = 0;
const newNumber = () => `N-${++count}`;

/** Roads on which an order gets a customer: each returns the answer, and the place of the fields in it. */
const roads: Record<string, (who: Call, customer: string) => Promise<Answer<Body>>> = {
  create: (who, customer) => send(who, 'POST', 'entity/order', { json: { customer } }),
  'create with an Idempotency-Key': (who, customer) =>
    send(who, 'POST', 'entity/order', { json: { customer }, headers: { 'idempotency-key': newNumber() } }),
  'create of a nested reference': (who, customer) => send(who, 'POST', 'entity/order', { json: { o: { second: customer } } }),
  update: async (who, customer) => send(who, 'POST', `entity/order/${await create(who, 'order', {})}`, { json: { customer } }),
  'update of a nested reference': async (who, customer) =>
    send(who, 'POST', `entity/order/${await create(who, 'order', {})}`, { json: { o: { second: customer } } }),
  'heavy update': async (who, customer) =>
    send(who, 'POST', `entity/order/${await create(who, 'order', { text: 'x'.repeat(20_000) })}`, { json: { customer } }),
  'update with an Idempotency-Key': async (who, customer) =>
    send(who, 'POST', `entity/order/${await create(who, 'order', {})}`, {
      json: { customer },
      headers: { 'idempotency-key': newNumber() },
    }),
  'upsert that creates': (who, customer) => send(who, 'POST', 'entity/order/upsert?by=number', { json: { number: newNumber(), customer } }),
  'upsert that updates': async (who, customer) => {
    const number = newNumber();
    await create(who, 'order', { number });
    return await send(who, 'POST', 'entity/order/upsert?by=number', { json: { number, customer } });
  },
  bulk: (who, customer) => send(who, 'POST', 'entity/order/bulk', { json: [{}, { customer }] }),
  'create in a batch': (who, customer) =>
    send(who, 'POST', 'batch', {
      json: {
        operations: [
          { op: 'create', name: 'order', fields: {} },
          { op: 'create', name: 'order', fields: { customer } },
        ],
      },
    }),
  'update in a batch': async (who, customer) => {
    const key = await create(who, 'order', {});
    return await send(who, 'POST', 'batch', { json: { operations: [{ op: 'update', name: 'order', key, fields: { customer } }] } });
  },
  'restore of a version': async (who, customer) => {
    const key = await create(admin, 'order', { customer: customer === missing ? foreign : customer });
    await send(admin, 'POST', `entity/order/${key}`, { json: { customer: null } });
    if (customer === missing) await forget(key);
    return await send(who, 'POST', `entity/order/${key}/restore?version=1`);
  },
  'restore from the trash': async (who, customer) => {
    const key = await create(admin, 'order', { customer: customer === missing ? foreign : customer });
    await send(admin, 'DELETE', `entity/order/${key}`);
    if (customer === missing) await forget(key);
    return await send(who, 'POST', `entity/order/${key}/restore`);
  },
};
const creating = ['create', 'create with an Idempotency-Key', 'create of a nested reference', 'upsert that creates'];
const statusOf = (road: string) => (creating.includes(road) ? 201 : 200);
/** Makes the reference of an earlier version and of the trash lead to no entity. */
async function forget(key: string): Promise<void> {
  const fields = sql`jsonb_set(fields, '{customer}', ${JSON.stringify(missing)}::jsonb)`;
  await sql`update entity_change set fields = ${fields} where key = ${key} and fields ? 'customer'`.execute(service().db);
  await sql`update entity_trash set fields = ${fields} where key = ${key}`.execute(service().db);
}
const orders = async () =>
  (
    await sql<{
      key: string;
      fields: string;
    }>`select key, fields::text from entity where name = 'order' and fields::text like ${`%"${foreign}"%`}`.execute(service().db)
  ).rows.length;
const shown = ({ status, headers, body }: Answer<Body>) => ({
  status,
  headers: [...headers.keys()].toSorted(),
  code: body.code,
  detail: body.detail,
  errors: body.errors?.map(({ detail: _, ...error }) => error),
});

describe.for(Object.keys(roads))('%s', (road) => {
  test('200, 201 and 422 — to what the caller may label or read, and to nothing else; that looks like a missing entity (rule 115)', async () => {
    const run = roads[road] ?? expect.unreachable();
    for (const who of [reader, labeller, admin]) {
      const answer = await run(who, foreign);
      expect(answer.status, answer.text).toBe(statusOf(road));
    }
    const mine = await create(owner, 'customer', {});
    const own = await run(owner, mine);
    expect(own.status, own.text).toBe(statusOf(road));
    const before = await orders();
    for (const who of [blind, owner]) {
      const refused = await run(who, foreign);
      expect(refused.status, refused.text).toBe(422);
      expect(refused.body.errors?.map(({ code }) => code)).toEqual(['reference-not-found']);
      expect(shown(refused)).toEqual(shown(await run(who, missing)));
    }
    // Of the setup of a restore from the past, no live order is left either.
    expect(await orders()).toBe(before);
  });
});

test('403 and 422 — `label` alone shows no entity, not to lists, includes, filters or values of a reference (rule 115)', async () => {
  const key = await create(labeller, 'order', { customer: foreign });
  for (const path of [`entity/customer/${foreign}`, 'entity/customer', `entity/customer/${foreign}/history`]) {
    expect((await send(reader, 'GET', path)).status, path).toBe(200);
    expect([path, (await send(labeller, 'GET', path)).status]).toEqual([path, 403]);
  }
  const included = async (who: Call) => {
    const { body } = await service().call<{ included: { customer?: object } }>('GET', `/rest/entity/order/${key}?include=customer`, who);
    return Object.keys(body.included.customer ?? {});
  };
  expect(await included(reader)).toEqual([foreign]);
  expect(await included(labeller)).toEqual([]);
  const matched = (who: Call) =>
    service().call<{ items: unknown[] }>('POST', '/rest/entity/order/query', {
      ...who,
      json: { filter: { $key: key, customer: { $match: { $key: foreign } } } },
    });
  expect((await matched(reader)).body.items).toHaveLength(1);
  expect((await matched(labeller)).body.items).toEqual([]);
  for (const method of ['POST', 'DELETE']) {
    const refused = await send(labeller, method, `entity/customer/${foreign}`, method === 'POST' ? { json: {} } : {});
    expect([method, refused.status]).toEqual([method, 403]);
  }
});

test('201 and 422 — own entities by `label` and all by `read` are all entities; own by both are own ones (rule 115)', async () => {
  const order = { actions: writes, condition: 'any' as const };
  const both = await as('both', { order, customer: { actions: ['create', 'label'], condition: 'own' }, '*': ['read'] });
  expect((await send(both, 'POST', 'entity/order', { json: { customer: foreign } })).status).toBe(201);
  const own = await as('own', {
    order,
    customer: { actions: ['create', 'label'], condition: 'own' },
    '*': { actions: ['read'], condition: 'own' },
  });
  const mine = await create(own, 'customer', {});
  expect((await send(own, 'POST', 'entity/order', { json: { customer: mine } })).status).toBe(201);
  expect((await send(own, 'POST', 'entity/order', { json: { customer: foreign } })).status).toBe(422);
});

test('200 — a reference that stays needs nothing; one that goes and comes is new (rule 115)', async () => {
  for (const text of ['', 'x'.repeat(20_000)]) {
    const number = newNumber();
    const key = await create(admin, 'order', { number, customer: foreign, o: { second: foreign }, text });
    const same = { customer: foreign, o: { second: foreign } };
    for (const who of [blind, owner]) {
      const by = who === blind ? 'b' : 'o';
      const answers = [
        await send(who, 'POST', `entity/order/${key}`, { json: { n: `${by}1` } }),
        await send(who, 'POST', `entity/order/${key}`, { json: { ...same, n: `${by}2` } }),
        await send(who, 'POST', 'entity/order/upsert?by=number', { json: { number, ...same, n: `${by}3` } }),
        await send(who, 'POST', 'batch', {
          json: { operations: [{ op: 'update', name: 'order', key, fields: { ...same, n: `${by}4` } }] },
        }),
        await send(who, 'POST', `entity/order/${key}/restore?version=1`),
      ];
      for (const answer of answers) expect(answer.status, answer.text.slice(0, 300)).toBe(200);
    }
    expect((await send(blind, 'POST', `entity/order/${key}`, { json: { customer: null } })).status).toBe(200);
    expect((await send(blind, 'POST', `entity/order/${key}`, { json: { customer: foreign } })).status).toBe(422);
    expect((await send(blind, 'POST', `entity/order/${key}/restore?version=1`)).status).toBe(422);
  }
});

test('200 — a restore with a merge patch leaves out what does not fit, and brings back the rest', async () => {
  const key = await create(admin, 'order', { customer: foreign, number: newNumber(), n: 1 });
  await send(admin, 'DELETE', `entity/order/${key}`);
  expect((await send(blind, 'POST', `entity/order/${key}/restore`)).status).toBe(422);
  const call = { json: { customer: null, n: 2 }, headers: { 'idempotency-key': key } };
  const restored = await send(blind, 'POST', `entity/order/${key}/restore`, call);
  expect([restored.status, restored.body.version, restored.body.fields]).toEqual([200, 2, { number: expect.any(String), n: 2 }]);
  expect((await send(blind, 'POST', `entity/order/${key}/restore`, call)).text).toBe(restored.text);
  const other = await send(blind, 'POST', `entity/order/${key}/restore`, { ...call, json: { customer: null, n: 3 } });
  expect([other.status, other.body.code]).toEqual([422, 'idempotency-key-reused']);
  const past = await send(admin, 'POST', `entity/order/${key}/restore?version=1`, { json: { n: 5, number: 7 } });
  expect([past.status, past.body.errors?.[0]?.pointer]).toEqual([422, '/number']);
  expect((await send(admin, 'POST', `entity/order/${key}/restore?version=1`, { json: { n: 5 } })).body.fields).toMatchObject({
    customer: foreign,
    n: 5,
  });
});

test('200 — an import refuses the rows that refer to what its caller may not read, and writes the others (rule 115)', async () => {
  const numbers = [newNumber(), newNumber(), newNumber()];
  await create(admin, 'order', { number: numbers[0], customer: foreign });
  await create(admin, 'order', { number: numbers[1] });
  const line = (number: string | undefined, customer: string, n: number) => JSON.stringify({ number, customer, n });
  const raw = [
    line(numbers[0], foreign, 1),
    line(numbers[1], foreign, 2),
    line(numbers[2], foreign, 3),
    line(newNumber(), missing, 4),
  ].join('\n');
  for (const query of ['?by=number', '?by=number&mode=merge', '']) {
    const answer = await service().call('POST', `/rest/entity/order/import${query}`, {
      ...blind,
      raw,
      headers: { 'content-type': 'application/x-ndjson' },
    });
    const lines = answer.text
      .trim()
      .split('\n')
      .map(
        (each) =>
          JSON.parse(each) as {
            row?: number;
            problem?: ProblemBody;
            created?: number;
            updated?: number;
            unchanged?: number;
            failed?: number;
          },
      );
    expect(lines.at(-1), answer.text).toMatchObject(query === '' ? { created: 0, failed: 4 } : { created: 0, failed: 3 });
    for (const { problem } of lines.filter((each) => each.problem)) expect(problem?.errors?.[0]?.code).toBe('reference-not-found');
  }
});

test('200 — grants alone are asked: scopes of a key do not narrow to what its orders may refer (rule 115)', async () => {
  const { id } = await service().createUser('scoped', { order: writes, customer: ['read'] });
  const key = { headers: { 'x-api-key': await service().createKey(id, { scopes: [{ entity: 'order', actions: writes }] }) } };
  expect((await send(key, 'GET', `entity/customer/${foreign}`)).status).toBe(403);
  expect((await send(key, 'POST', 'entity/order', { json: { customer: foreign } })).status).toBe(201);
});

test('200 — a batch refers to the entities that it creates, whatever its caller may read (rule 115)', async () => {
  const operations = [
    { op: 'create', id: 'c', name: 'customer', fields: {} },
    { op: 'create', id: 'o', name: 'order', fields: { customer: { $ref: 'c' } } },
  ];
  for (const json of [{ operations }, { operations: operations.toReversed() }, { atomic: false, operations }]) {
    const answer = await send(blind, 'POST', 'batch', { json });
    expect([answer.status, answer.body.results.map(({ status }) => status)], answer.text).toEqual([200, [201, 201]]);
  }
});

test('200 and 204 — a caller who may not read a customer cannot keep its owner from deleting it (rule 115)', async () => {
  const customer = await create(admin, 'customer', {});
  await send(blind, 'POST', 'entity/order', { json: { customer } });
  expect((await send(admin, 'DELETE', `entity/customer/${customer}`)).status).toBe(204);
});
