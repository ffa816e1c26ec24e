/** `POST /rest/batch`: several operations, all of them or none, or each by itself. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, rowsOf, whileReplaced, whileWaiting, type Entity } from '../support/entities.ts';
import { race, statuses } from '../support/races.ts';
import { useService, type ProblemBody } from '../support/service.ts';

interface Results {
  results: { status: number; entity?: Entity; problem?: ProblemBody }[];
}

const service = useService();
let cookie: string;
const int64 = { type: 'string', format: 'int64' };
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada')).id);
  await declareType(service(), 'order', {
    type: 'object',
    properties: { number: { type: 'string' }, main: { ...int64, type: ['string', 'null'] } },
    'x-unique': [{ fields: ['number'] }],
    'x-references': { main: { to: 'order' } },
  });
  await declareType(service(), 'line', {
    type: 'object',
    required: ['order', 'quantity'],
    properties: { order: int64, quantity: { type: 'integer' } },
    'x-references': { order: { to: 'order', onDelete: 'cascade' } },
  });
  await declareType(service(), 'ledger', { type: 'object', 'x-if-match': 'required' });
});

const run = async (
  operations: unknown,
  { atomic, by = cookie, headers }: { atomic?: boolean; by?: string; headers?: Record<string, string> } = {},
) =>
  await service().call<Results & ProblemBody>('POST', '/rest/batch', {
    cookie: by,
    json: { operations, ...(atomic !== undefined && { atomic }) },
    ...(headers && { headers }),
  });
const faultsOf = ({ code, errors = [] }: ProblemBody) => [code, ...errors.map((fault) => `${fault.code} ${fault.pointer}`)];
const outcomeOf = ({ status, problem }: Results['results'][number]) => (problem ? [status, ...faultsOf(problem)] : [status]);
const create = async (name: string, fields: object) =>
  (await service().call<Entity>('POST', `/rest/entity/${name}`, { cookie, json: fields })).body;
const get = async (name: string, key: string) => await service().call<Entity>('GET', `/rest/entity/${name}/${key}`, { cookie });
const count = async (name: string) => (await rowsOf(service(), name)).length;
let number = 0;
const newNumber = () => `A-${++number}`;

test('200 — creates an order with its lines, changes, deletes and retrieves, in this order', async () => {
  const [customer, old] = [await create('customer', { city: 'Paris', orders: 0 }), await create('customer', {})];
  const { status, body } = await run([
    { op: 'create', id: 'o', name: 'order', fields: { number: newNumber() } },
    { op: 'create', name: 'line', fields: { order: { $ref: 'o' }, quantity: 1 } },
    { op: 'create', name: 'line', fields: { order: { $ref: 'o' }, quantity: 2 } },
    { op: 'update', name: 'customer', key: customer.key, ifMatch: '1', fields: { orders: 1 } },
    { op: 'update', name: 'customer', key: customer.key, fields: { city: null } },
    { op: 'delete', name: 'customer', key: old.key },
    { op: 'get', name: 'customer', key: customer.key },
  ]);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.results.map((result) => result.status)).toEqual([201, 201, 201, 200, 200, 204, 200]);
  const [order, first, second] = body.results.map(({ entity }) => entity);
  expect([first?.fields, second?.fields]).toEqual([1, 2].map((quantity) => ({ order: order?.key, quantity })));
  expect(body.results[6]?.entity).toMatchObject({ version: 3, fields: { orders: 1 } });
  expect((await get('line', second?.key ?? '')).body).toEqual(second);
  expect((await get('customer', customer.key)).body.fields).toEqual({ orders: 1 });
  expect((await get('customer', old.key)).status).toBe(404);
});

test('200 — entities of one batch refer to each other in a circle', async () => {
  const { status, body } = await run([
    { op: 'create', id: 'a', name: 'order', fields: { number: newNumber(), main: { $ref: 'b' } } },
    { op: 'create', id: 'b', name: 'order', fields: { number: newNumber(), main: { $ref: 'a' } } },
  ]);
  expect(status, JSON.stringify(body)).toBe(200);
  const [one, other] = body.results.map(({ entity }) => entity);
  expect([one?.fields['main'], other?.fields['main']]).toEqual([other?.key, one?.key]);
});

test('200 — operations refer to later ones also beside deletions', async () => {
  const old = await create('order', { number: newNumber() });
  const { status, body } = await run([
    { op: 'create', id: 'a', name: 'order', fields: { number: newNumber(), main: { $ref: 'b' } } },
    { op: 'delete', name: 'order', key: old.key },
    { op: 'create', id: 'b', name: 'order', fields: { number: newNumber() } },
  ]);
  expect([status, body.results.map((result) => result.status)]).toEqual([200, [201, 204, 201]]);
});

test('200 — with `atomic: false` each operation has its own outcome, and later ones may refer to those that succeeded', async () => {
  const used = newNumber();
  await create('order', { number: used });
  const { status, headers, body } = await run(
    [
      { op: 'create', id: 'bad', name: 'order', fields: { number: used } },
      { op: 'create', id: 'good', name: 'order', fields: { number: newNumber() } },
      { op: 'create', name: 'line', fields: { order: { $ref: 'good' }, quantity: 1 } },
      { op: 'create', name: 'line', fields: { order: { $ref: 'bad' }, quantity: 1 } },
      { op: 'update', name: 'customer', key: '9000000000000000000', fields: {} },
    ],
    { atomic: false },
  );
  expect(status).toBe(200);
  expect(headers.get('preference-applied')).toBeNull();
  expect(body.results.map(outcomeOf)).toEqual([
    [409, 'unique-conflict', 'duplicate-value /operations/0/fields/number'],
    [201],
    [201],
    [422, 'validation-failed', 'reference-not-found /operations/3/fields/order'],
    [404, 'not-found', 'refused /operations/4'],
  ]);
});

test('200 — `Prefer: dry-run` tells what the batch would do, and writes nothing', async () => {
  const before = await count('order');
  const operations = [{ op: 'create', name: 'order', fields: { number: newNumber() } }];
  const { status, body, headers } = await run(operations, { headers: { prefer: 'respond-async, dry-run' } });
  expect([status, headers.get('preference-applied'), body.results[0]?.status]).toEqual([200, 'dry-run', 201]);
  expect(await count('order')).toBe(before);
  const written = await service()
    .db.selectFrom('entity_change')
    .where('key', '=', body.results[0]?.entity?.key ?? '')
    .select('id')
    .execute();
  expect(written).toEqual([]);
  expect((await get('order', body.results[0]?.entity?.key ?? '')).status).toBe(404);
  expect((await run(operations)).headers.get('preference-applied')).toBeNull();
});

test('200 — `dry-run` within a quoted value is none', async () => {
  const applied = async (prefer: string) =>
    (await run([{ op: 'create', name: 'order', fields: { number: newNumber() } }], { headers: { prefer } })).headers.get(
      'preference-applied',
    );
  expect(await applied(String.raw`a="x\", dry-run", b="c"`)).toBeNull();
  expect(await applied(String.raw`a="x\\", dry-run; b="c"`)).toBe('dry-run');
});

test.each([
  ['update', 'update'],
  ['update', 'delete'],
  ['delete', 'update'],
  ['delete', 'delete'],
])('200 — batches lock what they change in one order, whatever the order of their operations: %s, %s', async (...ops) => {
  const [first, second] = [await create('customer', {}), await create('customer', {})];
  const opposite = [second, first].map(({ key }, index) => {
    const [op, name] = [ops[index], 'customer'];
    return op === 'delete' ? { op, name, key } : { op, name, key, fields: { city: 'Rome' } };
  });
  const answer = await whileWaiting(
    service(),
    sql`select from entity where key = ${first.key} for update`,
    () => run(opposite),
    // The batch does not have the other row while it waits for this one.
    (trx) => sql`select from entity where key = ${second.key} for update nowait`.execute(trx),
  );
  expect(answer.status).toBe(200);
});

test('200 — eight batches at once update the same entities in opposite orders', async () => {
  const [first, second] = [await create('customer', {}), await create('customer', {})];
  const opposite = [second, first].map(({ key }) => ({ op: 'update', name: 'customer', key }));
  const answers = await race(8, (n) => {
    const operations = opposite.map(({ op, name, key }) => ({ op, name, key, fields: { city: `Rome ${n}` } }));
    return run(n % 2 ? operations : operations.toReversed());
  });
  expect(statuses(answers)).toEqual({ 200: 8 });
  expect((await get('customer', second.key)).body.version).toBe(9);
});

test('200 — a batch writes the audit events and the history of each change', async () => {
  const { body } = await run([
    { op: 'create', id: 'x', name: 'note', fields: { n: 1 } },
    { op: 'create', name: 'note', fields: { n: 2 } },
  ]);
  for (const { entity } of body.results) {
    const events = await service().db.selectFrom('audit_event').where('event', '=', 'entity.created').select('detail').execute();
    expect(events.filter(({ detail }) => detail['key'] === entity?.key)).toHaveLength(1);
    expect(
      await service()
        .db.selectFrom('entity_change')
        .where('key', '=', entity?.key ?? '')
        .select('version')
        .execute(),
    ).toEqual([{ version: '1' }]);
  }
});

const note = { op: 'create', name: 'note', fields: {} };
const refusals: [status: number, what: string, operation: () => Promise<object> | object, faults: string[]][] = [
  [
    404,
    'an entity that does not exist',
    () => ({ op: 'get', name: 'note', key: '9000000000000000000' }),
    ['not-found', 'refused /operations/1'],
  ],
  [
    409,
    'a value that another entity has',
    async () => ({ op: 'create', name: 'order', fields: { number: (await create('order', { number: newNumber() })).fields['number'] } }),
    ['unique-conflict', 'duplicate-value /operations/1/fields/number'],
  ],
  [
    412,
    'a version that is not the present one',
    async () => ({ op: 'update', name: 'customer', key: (await create('customer', {})).key, ifMatch: '7', fields: {} }),
    ['precondition-failed', 'refused /operations/1'],
  ],
  [
    422,
    'fields that do not fit the type',
    () => ({ op: 'create', name: 'line', fields: { order: '1', quantity: 'x' } }),
    ['validation-failed', 'invalid-type /operations/1/fields/quantity'],
  ],
  [
    422,
    'an update whose result does not fit the type',
    async () => {
      const order = await create('order', { number: newNumber() });
      return { op: 'update', name: 'line', key: (await create('line', { order: order.key, quantity: 1 })).key, fields: { quantity: null } };
    },
    ['validation-failed', 'required /operations/1/fields/quantity'],
  ],
  [
    422,
    'a reference to no entity',
    () => ({ op: 'create', name: 'line', fields: { order: '1', quantity: 1 } }),
    ['validation-failed', 'reference-not-found /operations/1/fields/order'],
  ],
  [
    422,
    'a reference to no create',
    () => ({ op: 'create', name: 'line', fields: { order: { $ref: 'none' }, quantity: 1 } }),
    ['validation-failed', 'reference-not-found /operations/1/fields/order'],
  ],
  [
    428,
    'a change without the version that the type wants',
    async () => ({ op: 'delete', name: 'ledger', key: (await create('ledger', {})).key }),
    ['precondition-required', 'refused /operations/1'],
  ],
];
test.each(refusals)(
  '404, 409, 412, 422 and 428 — %i, %s, is the answer, and nothing is written',
  async (expected, _what, operation, faults) => {
    const sent = await operation();
    expect((await run([note])).status).toBe(200);
    const before = await count('note');
    const { status, body } = await run([note, sent, note]);
    expect([status, ...faultsOf(body)]).toEqual([expected, ...faults]);
    expect(await count('note')).toBe(before);
  },
);

test('422 — a missing key is reported at the operation that refers to it, also where others refer to later creates', async () => {
  const { status, body } = await run([
    { op: 'create', id: 'a', name: 'order', fields: { number: newNumber(), main: { $ref: 'b' } } },
    { op: 'create', id: 'b', name: 'order', fields: { number: newNumber(), main: '999999999' } },
  ]);
  expect([status, ...faultsOf(body)]).toEqual([422, 'validation-failed', 'reference-not-found /operations/1/fields/main']);
});

test('422 — `$ref` in a field that is no reference', async () => {
  const sent = [
    { ...note, id: 'a' },
    { op: 'create', name: 'note', fields: { other: { $ref: 'a' } } },
  ];
  const { status, body } = await run(sent);
  expect([status, ...faultsOf(body)]).toEqual([422, 'validation-failed', 'not-a-reference /operations/1/fields/other']);
});

test('422 — members that an operation does not take are listed, each in its place, and nothing is written', async () => {
  const before = await count('note');
  const { status, body } = await run([
    { ...note, key: '1', ifMatch: '1' },
    { op: 'update', name: 'note', key: '1', fields: {}, id: 'a' },
    { op: 'delete', name: 'note', key: '1', fields: {}, id: 'b' },
    { op: 'get', name: 'note', key: '1', fields: {}, ifMatch: '1', id: 'c' },
    note,
  ]);
  const places = ['0/key', '0/ifMatch', '1/id', '2/id', '2/fields', '3/id', '3/ifMatch', '3/fields'];
  expect([status, ...faultsOf(body)]).toEqual([422, 'validation-failed', ...places.map((place) => `conflicting /operations/${place}`)]);
  expect(await count('note')).toBe(before);
});

test('422 — the faults of all creates are listed', async () => {
  const { status, body } = await run([
    { op: 'create', name: 'line', fields: { quantity: 1 } },
    note,
    { op: 'create', name: 'order', fields: { number: 5 } },
  ]);
  expect([status, ...faultsOf(body)]).toEqual([
    422,
    'validation-failed',
    'required /operations/0/fields/order',
    'invalid-type /operations/2/fields/number',
  ]);
});

test('409 — an entity that others refer to is not deleted, unless the batch deletes these before', async () => {
  const main = await create('order', { number: newNumber() });
  const other = await create('order', { number: newNumber(), main: main.key });
  const refused = await run([note, { op: 'delete', name: 'order', key: main.key }]);
  expect([refused.status, ...faultsOf(refused.body)]).toEqual([409, 'still-referenced', 'referenced /operations/1']);
  expect(refused.body.errors?.[0]?.detail).toBe('Other entities or types refer to this. Entities called order: 1.');
  expect((await get('order', main.key)).status).toBe(200);
  const deleted = await run([
    { op: 'delete', name: 'order', key: other.key },
    { op: 'delete', name: 'order', key: main.key },
  ]);
  expect(deleted.body.results.map(({ status }) => status)).toEqual([204, 204]);
});

test('403 — a batch with one operation that the caller may not do does nothing, atomic or not, and the refusal is audited', async () => {
  const by = await service().openSession((await service().createUser('creator', { note: ['create'] })).id);
  expect((await run([note], { by })).status).toBe(200);
  const before = await count('note');
  for (const atomic of [true, false]) {
    const { status, body } = await run([note, { op: 'get', name: 'note', key: '1' }], { by, atomic });
    expect([status, ...faultsOf(body)]).toEqual([403, 'forbidden', 'refused /operations/1']);
  }
  expect(await count('note')).toBe(before);
  const denied = await service()
    .db.selectFrom('audit_event')
    .where('event', '=', 'permission.denied')
    .where('user_name', '=', 'creator')
    .select('id')
    .execute();
  expect(denied).not.toEqual([]);
});

test('404 — own entities are all that a caller with such a right reaches (rule 64)', async () => {
  const actions = ['create', 'read', 'update', 'delete'] as const;
  const { id } = await service().createUser('owner', { note: { actions: [...actions], condition: 'own' } });
  const by = await service().openSession(id);
  const foreign = await create('note', { secret: 1 });
  const own = (await run([note], { by })).body.results[0]?.entity;
  for (const op of ['get', 'update', 'delete']) {
    const at = (key = '') => ({ op, name: 'note', key, ...(op === 'update' && { fields: {} }) });
    expect((await run([at(foreign.key)], { by })).status, op).toBe(404);
    expect((await run([at(own?.key)], { by })).status, op).toBe(200);
  }
  expect((await get('note', foreign.key)).body).toEqual(foreign);
});

test('403 — an entity that the caller may read and not change; one that the caller may not read is 404 like a missing one (rule 64)', async () => {
  const writes = { actions: ['update' as const, 'delete' as const], condition: 'own' as const };
  const reader = async (name: string) =>
    service().openSession((await service().createUser(name, { note: writes, '*': ['create', 'read'] })).id);
  const by = await reader('reader');
  const stranger = await service().openSession(
    (await service().createUser('stranger', { note: { ...writes, actions: [...writes.actions, 'read'] } })).id,
  );
  const foreign = await create('note', { a: 1 });
  const own = (await run([note], { by })).body.results[0]?.entity;
  for (const op of ['update', 'delete']) {
    const at = (key = '') => ({ op, name: 'note', key, ...(op === 'update' && { fields: { a: 2 } }) });
    for (const headers of [undefined, { prefer: 'dry-run' }, { 'idempotency-key': op }]) {
      const { status, body } = await run([note, at(foreign.key)], { by, ...(headers && { headers }) });
      expect([status, ...faultsOf(body)], op).toEqual([403, 'forbidden', 'refused /operations/1']);
    }
    for (const key of [foreign.key, '999999']) {
      const { status, body } = await run([at(key)], { by: stranger });
      expect([status, ...faultsOf(body)], op).toEqual([404, 'not-found', 'refused /operations/0']);
    }
    const each = (await run([at(foreign.key), at('999999'), at(own?.key)], { by, atomic: false })).body.results;
    expect(each.map(outcomeOf)).toEqual([
      [403, 'forbidden', 'refused /operations/0'],
      [404, 'not-found', 'refused /operations/1'],
      [op === 'update' ? 200 : 204],
    ]);
  }
  expect((await get('note', foreign.key)).body).toEqual(foreign);
  await run([{ op: 'delete', name: 'note', key: foreign.key }], { by: await reader('other reader'), atomic: false });
  const denied = service().db.selectFrom('audit_event').where('event', '=', 'permission.denied').where('user_name', 'like', '%reader');
  const detail = { operation: 'runBatch', reason: 'forbidden', entity: 'note' };
  expect(await denied.select(['user_name', 'detail']).orderBy('id').execute()).toEqual([
    { user_name: 'reader', detail },
    { user_name: 'other reader', detail },
  ]);
});

const malformed: [what: string, operations: unknown, fault: string][] = [
  ['no operation', [], 'invalid-value /operations'],
  ['101 operations', Array.from({ length: 101 }, () => note), 'invalid-value /operations'],
  ['an operation without a key', [{ op: 'update', name: 'note', fields: {} }], 'required /operations/0/key'],
  ['an unknown operation', [{ op: 'upsert', name: 'note', fields: {} }], 'invalid-value /operations/0/op'],
  [
    'two operations with one id',
    [
      { ...note, id: 'a' },
      { ...note, id: 'a' },
    ],
    'repeated /operations/1/id',
  ],
];
test.each(malformed)('422 — %s', async (_what, operations, fault) => {
  const { status, body } = await run(operations);
  expect([status, faultsOf(body).slice(1)]).toEqual([422, [fault]]);
});

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

test('200 — a dry run neither uses nor claims an Idempotency-Key (rule 79)', async () => {
  const before = await count('note');
  for (let round = 0; round < 2; round++) {
    const { status, headers } = await run([note], { headers: { prefer: 'dry-run', 'idempotency-key': 'dry' } });
    expect([status, headers.get('idempotency-replayed')]).toEqual([200, null]);
  }
  expect((await run([note], keyed('dry'))).headers.get('idempotency-replayed')).toBeNull();
  const repeated = await run([note], { headers: { prefer: 'dry-run', 'idempotency-key': 'dry' } });
  expect([repeated.headers.get('preference-applied'), repeated.headers.get('idempotency-replayed')]).toEqual(['dry-run', null]);
  expect(await count('note')).toBe(before + 1);
});

test('200 — with `atomic: false` a repeat under an Idempotency-Key does what has not been done, and nothing twice (rule 79)', async () => {
  const target = await create('customer', {});
  const operations = [
    { op: 'create', id: 'o', name: 'order', fields: { number: newNumber() } },
    { op: 'create', name: 'line', fields: { order: { $ref: 'o' }, quantity: 1 } },
    { op: 'update', name: 'customer', key: target.key, ifMatch: '2', fields: { city: 'Rome' } },
  ];
  const each = { atomic: false, ...keyed('each') };
  const first = await run(operations, each);
  expect(first.body.results.map(({ status }) => status)).toEqual([201, 201, 412]);
  await service().call('POST', `/rest/entity/customer/${target.key}`, { cookie, json: { city: 'Paris' } });
  const second = await run(operations, each);
  expect(second.body.results.slice(0, 2)).toEqual(first.body.results.slice(0, 2));
  expect(second.body.results[2]).toMatchObject({ status: 200, entity: { version: 3, fields: { city: 'Rome' } } });
  expect(second.headers.get('idempotency-replayed')).toBeNull();
  const third = await run(operations, each);
  expect([third.text, third.headers.get('idempotency-replayed')]).toEqual([second.text, 'true']);
  const other = await run([note, ...operations.slice(1)], each);
  expect(other.body.results.map(outcomeOf)).toEqual(operations.map(() => [422, 'idempotency-key-reused']));
});

test('400 — a dry run of operations that are no transaction', async () => {
  const { status, body } = await run([note], { atomic: false, headers: { prefer: 'dry-run' } });
  expect([status, body.errors]).toEqual([400, [expect.objectContaining({ parameter: 'Prefer', code: 'conflicting' })]]);
});

test('400 — a dry run with a value that the service does not know, instead of writing', async () => {
  const before = await count('note');
  for (const prefer of ['dry-run=full', 'wait=5, Dry-Run="yes"; a=b', 'dry-run=,dry-run=1']) {
    const { status, body } = await run([note], { headers: { prefer } });
    expect([status, body.errors], prefer).toEqual([400, [expect.objectContaining({ parameter: 'Prefer', code: 'invalid-value' })]]);
  }
  for (const prefer of ['dry-run=""', 'dry-run;strict', 'a="b, c",dry-run'])
    expect((await run([note], { headers: { prefer } })).headers.get('preference-applied'), prefer).toBe('dry-run');
  expect(await count('note')).toBe(before);
  for (const prefer of ['a="b, dry-run"', 'no-dry-run', 'dry-running'])
    expect((await run([note], { headers: { prefer } })).status).toBe(200);
  expect(await count('note')).toBe(before + 3);
});

test('413 — a body beyond 4 MiB, and an answer beyond 8 MiB', async () => {
  expect((await run([{ ...note, fields: { text: 'x'.repeat(4_200_000) } }])).status).toBe(413);
  const large = await create('note', { text: 'x'.repeat(1_000_000) });
  const get = { op: 'get', name: 'note', key: large.key };
  const times = (count: number) => Array.from({ length: count }, () => get);
  expect((await run(times(8))).status).toBe(200);
  expect((await run([note, ...times(9)])).status).toBe(413);
  const each = await run(times(12), { atomic: false });
  expect(each.body.results.map(({ status }) => status)).toEqual([...times(9).map(() => 200), 413, 413, 413]);
});

test('200 — deletes without ifMatch also while another request deletes and restores the entity', async () => {
  for (const ifMatch of [undefined, '1']) {
    const entity = await create('note', {});
    const operation = { op: 'delete', name: 'note', key: entity.key, ...(ifMatch && { ifMatch }) };
    const { status } = await whileReplaced(service(), entity, () => run([operation]));
    expect(status).toBe(ifMatch ? 412 : 200);
  }
});

describe('deletes of a batch', () => {
  const refer = { type: 'object', properties: { other: { type: 'string', format: 'int64' } }, 'x-references': { other: { to: 'twin' } } };
  const pair = async () => {
    const operations = [
      { op: 'create', id: 'a', name: 'twin', fields: { other: { $ref: 'b' } } },
      { op: 'create', id: 'b', name: 'twin', fields: { other: { $ref: 'a' } } },
    ];
    return (await run(operations)).body.results.map(({ entity }) => entity?.key ?? '');
  };
  const remove = (key: string) => ({ op: 'delete', name: 'twin', key });
  beforeAll(() => declareType(service(), 'twin', { ...refer, required: ['other'] }));

  test('200 — delete two entities that refer to each other, and entities in any order', async () => {
    const twins = await pair();
    expect((await run([remove(twins[0] ?? '')])).body).toMatchObject({ code: 'still-referenced' });
    const done = await run(twins.map(remove));
    expect([done.status, done.body.results.map(({ status }) => status)], JSON.stringify(done.body)).toEqual([200, [204, 204]]);
    const [first = '', second = ''] = await pair();
    const last = (await run([{ op: 'create', name: 'twin', fields: { other: first } }])).body.results[0]?.entity?.key ?? '';
    const refused = await run([remove(second), remove(first)]);
    expect([refused.status, ...faultsOf(refused.body)]).toEqual([409, 'still-referenced', 'referenced /operations/1']);
    expect((await get('twin', first)).status).toBe(200);
    expect((await run([first, last, second].map(remove))).status).toBe(200);
    for (const key of [first, second, last]) expect((await get('twin', key)).status).toBe(404);
  });

  test('409 and 422 — a refused delete undoes the others, and a reference to what the batch deletes is refused', async () => {
    const [first = '', second = ''] = await pair();
    expect((await run([remove(first), { ...remove(second), ifMatch: '9' }])).status).toBe(412);
    const dangling = { op: 'create', name: 'twin', fields: { other: first } };
    const refused = await run([remove(first), remove(second), dangling]);
    expect([refused.status, refused.body.code]).toEqual([422, 'validation-failed']);
    expect((await get('twin', first)).status).toBe(200);
  });
});
