/** The meaning of the rule of a grant on each road: rows, fields and checks (rules 168 and 171). */
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, type Entity } from '../support/entities.ts';
import { importFile, refusalsOf } from '../support/imports.ts';
import { callerWith, type RuleGrant } from '../support/rules.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../support/service.ts';

const service = useService();
type Body = Entity & ProblemBody & { items: Entity[]; results: { entity: Entity }[] };
let ada: Call;
let root: Call;

const send = (who: Call, method: string, path: string, json?: object, call: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>(method, `/rest/${path}`, { ...who, ...call, ...(json && { json }) });
const faultsOf = ({ body }: Answer<Body>) => (body.errors ?? []).map(({ pointer, code }) => ({ pointer, code }));

const inNorth = { region: 'north' };

beforeAll(async () => {
  const properties = {
    number: { type: 'string' },
    region: { type: 'string' },
    state: { type: 'string' },
    note: { type: 'string' },
    margin: { type: 'string', format: 'decimal' },
    paid: { type: 'string', format: 'decimal' },
    total: { type: 'string', format: 'decimal' },
  };
  await declareType(service(), 'order', {
    type: 'object',
    properties,
    additionalProperties: false,
    'x-unique': [{ fields: ['number'] }],
    'x-index': [['region'], ['margin']],
    'x-soft-delete': true,
  });
  root = { cookie: await service().openSession((await service().createUser('root')).id) };
  ada = await callerWith(service(), 'ada', [
    {
      entity: 'order',
      actions: ['read', 'update'],
      rule: { filter: inNorth, check: { region: 'north', state: { $in: ['draft', 'open'] } }, read: ['*', '-margin'], write: ['note'] },
    },
    {
      entity: 'order',
      actions: ['update'],
      rule: { filter: { region: 'north', state: 'draft' }, check: { state: 'submitted' }, write: ['state'] },
    },
    { entity: 'order', actions: ['create'], rule: { check: inNorth, write: ['*', '-margin'] } },
    { entity: 'order', actions: ['read', 'update', 'delete'], condition: 'own' },
  ]);
});

let count = 0;
/** An order of root. */
async function order(fields: object): Promise<Entity> {
  const { status, body } = await send(root, 'POST', 'entity/order', { number: `n${++count}`, ...fields });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}
const at = ({ key }: Entity) => `entity/order/${key}`;
const stored = async (entity: Entity) => (await send(root, 'GET', at(entity))).body;

describe('read by key', () => {
  test('200 — a covered row shows its cells, 404 — another one is as a missing one', async () => {
    const [north, south] = [await order({ region: 'north', margin: '5', state: 'draft' }), await order({ region: 'south', margin: '5' })];
    const found = await send(ada, 'GET', at(north));
    expect(found.status).toBe(200);
    expect(found.body.fields).toEqual({ number: north.fields['number'], region: 'north', state: 'draft' });
    const hidden = await send(ada, 'GET', at(south));
    const missing = await send(ada, 'GET', 'entity/order/9000000000000000000');
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    expect({ ...hidden.body, instance: '' }).toEqual({ ...missing.body, instance: '' });
  });
  test('200 — own rows show all', async () => {
    const own = await send(ada, 'POST', 'entity/order', { number: 'own1', region: 'north', state: 'draft' });
    expect(own.status, own.text).toBe(201);
    await send(root, 'POST', at(own.body), { margin: '7' });
    expect((await send(ada, 'GET', at(own.body))).body.fields['margin']).toBe('7');
  });
  test('200 — fields and views show the same cells', async () => {
    const north = await order({ region: 'north', margin: '5', state: 'draft' });
    expect((await send(ada, 'GET', `${at(north)}?fields=region,margin`)).body.fields).toEqual({ region: 'north' });
  });
});

describe('list', () => {
  test('200 — covered rows with their cells, also counted, filtered and sorted', async () => {
    const north = await order({ region: 'north', margin: '5', note: 'list' });
    const south = await order({ region: 'south', margin: '5', note: 'list' });
    const own = (await send(ada, 'POST', 'entity/order', { number: 'own2', region: 'north', note: 'list' })).body;
    await send(root, 'POST', at(own), { margin: '9' });
    const list = async (rest: string, who = ada) =>
      (await send(who, 'GET', `entity/order?filter=${encodeURIComponent(rest)}`)).body.items.map(({ key }) => key);
    expect(await list('{"note":"list"}', root)).toEqual([north.key, south.key, own.key]);
    expect(await list('{"note":"list"}')).toEqual([north.key, own.key]);
    expect(await list('{"note":"list","margin":{"$gt":"0"}}')).toEqual([own.key]);
    expect(await list('{"note":"list","margin":{"$exists":false}}')).toEqual([north.key]);
    expect(await list('{"note":"list","$not":{"margin":{"$gt":"0"}}}')).toEqual([north.key]);
    const sorted = await send(ada, 'GET', `entity/order?sort=margin&count=exact&filter=${encodeURIComponent('{"note":"list"}')}`);
    expect(sorted.body).toMatchObject({ count: { value: 2, kind: 'exact' } });
    expect(sorted.body.items.map(({ key, fields }) => [key, fields['margin']])).toEqual([
      [own.key, '9'],
      [north.key, undefined],
    ]);
  });
});

describe('update', () => {
  test('200 — one grant allows the change; 403 — a field without a grant, and a value that no check allows', async () => {
    const north = await order({ region: 'north', margin: '5', state: 'draft' });
    const noted = await send(ada, 'POST', at(north), { note: 'a' });
    expect(noted.status, noted.text).toBe(200);
    expect(noted.body.fields).toEqual({ number: north.fields['number'], region: 'north', state: 'draft', note: 'a' });
    const submitted = await send(ada, 'POST', at(north), { state: 'submitted' });
    expect(submitted.status, submitted.text).toBe(200);
    const withMargin = await send(ada, 'POST', at(north), { margin: '6' });
    expect([withMargin.status, withMargin.body.code, faultsOf(withMargin)]).toEqual([
      403,
      'field-forbidden',
      [{ pointer: '/margin', code: 'not-writable' }],
    ]);
    const back = await send(ada, 'POST', at(north), { state: 'draft' });
    expect([back.status, faultsOf(back)]).toEqual([403, [{ pointer: '/state', code: 'not-writable' }]]);
    expect(await stored(north)).toMatchObject({ version: 3, fields: { state: 'submitted', margin: '5', note: 'a' } });
  });
  test('403 — a hidden member is refused, whether or not its value is right', async () => {
    const north = await order({ region: 'north', margin: '5', state: 'draft' });
    for (const margin of ['5', '6']) {
      const answer = await send(ada, 'POST', at(north), { margin });
      expect([answer.status, faultsOf(answer)]).toEqual([403, [{ pointer: '/margin', code: 'not-writable' }]]);
    }
    expect((await send(ada, 'POST', at(north), { state: 'draft' })).status).toBe(200);
    expect((await stored(north)).version).toBe(1);
  });
  test('404 — a row that is not readable, 200 — own rows leave the region', async () => {
    const south = await order({ region: 'south' });
    expect((await send(ada, 'POST', at(south), { note: 'x' })).status).toBe(404);
    const own = (await send(ada, 'POST', 'entity/order', { number: 'own3', region: 'north' })).body;
    const moved = await send(ada, 'POST', at(own), { region: 'south' });
    expect([moved.status, moved.body.fields]).toEqual([200, { number: 'own3', region: 'south' }]);
  });
});

describe('create', () => {
  test('201 — the check holds; 403 — it does not, or a field is not writable', async () => {
    expect((await send(ada, 'POST', 'entity/order', { number: 'c1', region: 'north' })).status).toBe(201);
    const south = await send(ada, 'POST', 'entity/order', { number: 'c2', region: 'south' });
    expect([south.status, faultsOf(south)]).toEqual([403, [{ pointer: '/region', code: 'value-forbidden' }]]);
    const margin = await send(ada, 'POST', 'entity/order', { number: 'c3', region: 'north', margin: '1' });
    expect([margin.status, faultsOf(margin)]).toEqual([403, [{ pointer: '/margin', code: 'not-writable' }]]);
    const none = await send(ada, 'POST', 'entity/order', {});
    expect([none.status, faultsOf(none)]).toEqual([403, [{ pointer: '/region', code: 'value-forbidden' }]]);
  });
  test('200 — many are created, 403 — one of them is not allowed and none is created', async () => {
    const done = await send(ada, 'POST', 'entity/order/bulk', [
      { number: 'b1', region: 'north' },
      { number: 'b2', region: 'north' },
    ] as object);
    expect(done.status, done.text).toBe(200);
    const refused = await send(ada, 'POST', 'entity/order/bulk', [
      { number: 'b3', region: 'north' },
      { number: 'b4', region: 'south' },
    ] as object);
    expect([refused.status, faultsOf(refused)]).toEqual([403, [{ pointer: '/1/region', code: 'value-forbidden' }]]);
    const found = await send(root, 'GET', `entity/order?filter=${encodeURIComponent('{"number":"b3"}')}`);
    expect(found.body.items).toEqual([]);
  });
});

describe('delete', () => {
  test('204 — an own row; 403 — a readable one; 404 — another one', async () => {
    const own = (await send(ada, 'POST', 'entity/order', { number: 'd1', region: 'north' })).body;
    expect((await send(ada, 'DELETE', at(own))).status).toBe(204);
    expect((await send(ada, 'DELETE', at(await order({ region: 'north' })))).status).toBe(403);
    expect((await send(ada, 'DELETE', at(await order({ region: 'south' })))).status).toBe(404);
  });
});

describe('batch', () => {
  test('200 — each operation for itself; later ones see earlier ones', async () => {
    const north = await order({ region: 'north', state: 'draft', margin: '5' });
    const batch = (operations: object[]) => send(ada, 'POST', 'batch', { operations });
    const done = await batch([
      { op: 'create', name: 'order', fields: { number: 'ba1', region: 'north' } },
      { op: 'update', name: 'order', key: north.key, fields: { state: 'submitted' } },
      { op: 'get', name: 'order', key: north.key },
    ]);
    expect(done.status, done.text).toBe(200);
    expect(done.body.results[2]?.entity.fields).toEqual({ number: north.fields['number'], region: 'north', state: 'submitted' });
    const refused = await batch([
      { op: 'update', name: 'order', key: north.key, fields: { note: 'x' } },
      { op: 'create', name: 'order', fields: { number: 'ba2', region: 'south' } },
    ]);
    expect([refused.status, faultsOf(refused)]).toEqual([
      403,
      [
        { pointer: '/operations/0/fields/region', code: 'value-forbidden' },
        { pointer: '/operations/0/fields/state', code: 'value-forbidden' },
      ],
    ]);
  });
});

describe('the past', () => {
  test('200 — versions by their own values, while the row is readable', async () => {
    const moved = await order({ region: 'north', margin: '1' });
    await send(root, 'POST', at(moved), { region: 'south', margin: '2' });
    await send(root, 'POST', at(moved), { region: 'north', margin: '3', note: 'n' });
    const history = await send(ada, 'GET', `${at(moved)}/history`);
    expect(history.status, history.text).toBe(200);
    expect(history.body.items.map((each) => [each.version, each.fields])).toEqual([
      [3, { number: moved.fields['number'], region: 'north', note: 'n' }],
      [1, { number: moved.fields['number'], region: 'north' }],
    ]);
    expect(JSON.stringify(history.body)).not.toContain('margin');
    expect((await send(ada, 'GET', `${at(moved)}?version=2`)).status).toBe(404);
    await send(root, 'POST', at(moved), { region: 'south' });
    expect((await send(ada, 'GET', `${at(moved)}/history`)).status).toBe(404);
    expect((await send(ada, 'GET', `${at(moved)}?version=1`)).status).toBe(404);
  });
  test('200 — a restore of a version leaves hidden fields as they are', async () => {
    const row = await order({ region: 'north', margin: '1', note: 'one' });
    await send(root, 'POST', at(row), { margin: '2', note: 'two' });
    const restored = await send(ada, 'POST', `${at(row)}/restore?version=1`);
    expect(restored.status, restored.text).toBe(403);
  });
});

describe('hidden fields stay shut (rules 168 and 171)', () => {
  const clerk = (read: string[], write = ['*']): RuleGrant[] => [
    { entity: 'order', actions: ['read'], rule: { filter: inNorth, read } },
    { entity: 'order', actions: ['update'], rule: { filter: inNorth, check: inNorth, write } },
    { entity: 'order', actions: ['create'], rule: { check: inNorth, write: ['*', '-margin'] } },
  ];
  let bob: Call;
  let carl: Call;

  beforeAll(async () => {
    bob = await callerWith(service(), 'bob', clerk(['*', '-margin'], ['*', '-margin']));
    carl = await callerWith(service(), 'carl', clerk(['*', '-note'], ['*', '-note']));
  });

  test('200 — callers whose rules differ in the shown fields alone are judged each by their own', async () => {
    for (const [who, hidden, shown] of [
      [bob, 'margin', 'note'],
      [carl, 'note', 'margin'],
    ] as const) {
      const row = await order({ region: 'north', margin: '1', note: '1' });
      await send(root, 'POST', at(row), { margin: '2', note: '2' });
      const restored = await send(who, 'POST', `${at(row)}/restore?version=1`);
      expect(restored.status, restored.text).toBe(200);
      expect(restored.body.fields).toEqual({ number: row.fields['number'], region: 'north', [shown]: '1' });
      expect((await stored(row)).fields).toMatchObject({ [hidden]: '2', [shown]: '1' });
    }
  });

  test('200 — a restore leaves a field as it is that only the old version hides', async () => {
    const row = await order({ region: 'north', margin: '1' });
    const own = await callerWith(service(), 'dora', [
      { entity: 'order', actions: ['read', 'update'], rule: { filter: inNorth, read: ['*', '-margin'] } },
      { entity: 'order', actions: ['read', 'update'], rule: { filter: { region: 'north', state: 'open' }, read: ['*'] } },
    ]);
    await send(root, 'POST', at(row), { margin: '2', state: 'open' });
    const restored = await send(own, 'POST', `${at(row)}/restore?version=1`);
    expect(restored.status, restored.text).toBe(200);
    expect((await stored(row)).fields).toEqual({ number: row.fields['number'], region: 'north', margin: '2' });
  });

  test('403 — a restore with a patch of a hidden field', async () => {
    const row = await order({ region: 'north', margin: '1', note: '1' });
    await send(root, 'POST', at(row), { note: '2' });
    const patched = await send(bob, 'POST', `${at(row)}/restore?version=1`, { note: '3' });
    expect([patched.status, patched.body.fields['note']]).toEqual([200, '3']);
    for (const margin of ['1', '9', null]) {
      const refused = await send(bob, 'POST', `${at(row)}/restore?version=1`, { margin });
      expect([refused.status, faultsOf(refused)]).toEqual([403, [{ pointer: '/margin', code: 'not-writable' }]]);
    }
    expect(await stored(row)).toMatchObject({ version: 3, fields: { margin: '1', note: '3' } });
  });

  test('200 — an import with replace keeps a hidden field, and refuses the row that names it', async () => {
    const row = await order({ region: 'north', margin: '1', note: '1' });
    const imported = async (fields: object) => {
      const file = JSON.stringify({ number: row.fields['number'], region: 'north', ...fields });
      const query = '?by=number&mode=replace';
      const { end, refused } = await importFile(service(), 'order', file, {
        cookie: bob.cookie ?? '',
        query,
        type: 'application/x-ndjson',
      });
      return [end?.updated, refusalsOf(refused)];
    };
    expect(await imported({ note: '2' })).toEqual([1, []]);
    expect((await stored(row)).fields).toMatchObject({ margin: '1', note: '2' });
    for (const margin of ['1', '9']) {
      expect(await imported({ note: '2', margin })).toEqual([0, ['1 403 not-writable /margin']]);
      expect(await imported({ note: '3', margin })).toEqual([0, ['1 403 not-writable /margin']]);
    }
    expect(await stored(row)).toMatchObject({ version: 2, fields: { margin: '1', note: '2' } });
  });

  test('409 — a unique conflict does not name the key of a row whose value is hidden', async () => {
    const row = await order({ region: 'north' });
    const eric = await callerWith(service(), 'eric', clerk(['*', '-number']));
    const conflict = async (who: Call) => {
      const answer = await send(who, 'POST', 'entity/order', { number: row.fields['number'], region: 'north' });
      expect(answer.status).toBe(409);
      return answer.body.errors?.map(({ detail }) => /key is (\d+)/.exec(detail)?.[1]);
    };
    expect(await conflict(bob)).toEqual([row.key]);
    expect(await conflict(eric)).toEqual([undefined]);
  });

  test('422 — a new entity lacks a required field that a grant writes', async () => {
    await declareType(service(), 'invoice', { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] });
    const fred = await callerWith(service(), 'fred', [{ entity: 'invoice', actions: ['create'], rule: { check: {}, write: ['name'] } }]);
    expect((await send(fred, 'POST', 'entity/invoice', { name: 'a' })).status).toBe(201);
    const lacking = await send(fred, 'POST', 'entity/invoice', {});
    expect([lacking.status, faultsOf(lacking)]).toEqual([422, [{ pointer: '/name', code: 'required' }]]);
  });
});
