import { beforeAll, describe, expect, test } from 'vitest';
import type { Schemas } from '../../src/contract/operation.ts';
import { declareType } from '../support/entities.ts';
import { userWith, type RoleGrant } from '../support/ruled-roles.ts';
import { useService, type Call } from '../support/service.ts';

const service = useService();

type Permission = Schemas['Permission'];

const text = { type: 'string' };
const orderType = {
  type: 'object',
  additionalProperties: false,
  properties: { number: text, region: text, state: text, note: text, margin: { type: 'string', format: 'decimal' } },
  'x-unique': [{ fields: ['number'] }],
};
const missing = '9000000000000000000';

let root: Call;
let clerk: Call;

const order = (grant: Omit<RoleGrant, 'entity'>): RoleGrant => ({ entity: 'order', ...grant });
const north = { region: { $in: ['north'] } };

async function answerTo<T = Permission>(caller: Call, json: object): Promise<T> {
  const { status, body, text: said } = await service().call<T>('POST', '/auth/permissions/check', { ...caller, json });
  expect(status, said).toBe(200);
  return body;
}

async function create(fields: object, caller = root): Promise<string> {
  const { status, headers, text: said } = await service().call('POST', '/rest/entity/order', { ...caller, json: fields });
  expect(status, said).toBe(201);
  return headers.get('location')?.split('/').at(-1) ?? '';
}

const update = (key: string, set: object) => ({ entity: 'order', key, action: 'update', set });

beforeAll(async () => {
  await declareType(service(), 'order', orderType);
  root = { headers: { 'x-api-key': await service().createKey((await service().createUser('root')).id) } };
  clerk = await userWith(
    service(),
    'clerk',
    order({ name: 'region', actions: ['read', 'update'], rule: { filter: north, read: ['*', '-margin'], write: ['note'] } }),
    order({
      name: 'submit',
      actions: ['update'],
      rule: { filter: { state: 'draft', ...north }, check: { state: 'submitted' }, write: ['state'] },
    }),
  );
});

describe('checkOwnPermission', () => {
  test('200 — says which grant refuses a change, by which member of its rule', async () => {
    const key = await create({ region: 'north', state: 'draft', margin: '5' });
    const question = update(key, { state: 'approved', note: 'x' });
    expect(await answerTo(clerk, question)).toEqual({
      action: 'update',
      allowed: false,
      status: 403,
      code: 'field-forbidden',
      faults: [{ pointer: '/state', code: 'value-forbidden' }],
      profile: 'clerk',
      grants: [
        { role: 'clerk', grant: 'region', covers: true, check: true, failed: [], write: ['note'] },
        { role: 'clerk', grant: 'submit', covers: true, check: false, failed: ['/check/state'], write: ['state'] },
      ],
      rows: north,
      fields: { readable: ['number', 'region', 'state', 'note'], writable: ['state', 'note'] },
      limits: [],
    });
    const { status, body } = await service().call('POST', `/rest/entity/order/${key}`, { ...clerk, json: question.set });
    expect([status, body.code]).toEqual([403, 'field-forbidden']);
    expect(await answerTo(clerk, update(key, { state: 'submitted' }))).toMatchObject({ allowed: true, status: 200, faults: [] });
  });

  test('200 — changes nothing, and writes no event', async () => {
    const key = await create({ region: 'north', state: 'draft' });
    const stateOf = async () => {
      const { db } = service();
      return await Promise.all([
        db.selectFrom('entity').where('key', '=', key).select(['version', 'updated_by']).execute(),
        db
          .selectFrom('audit_event')
          .select(({ fn }) => fn.countAll().as('n'))
          .execute(),
      ]);
    };
    const before = await stateOf();
    expect(await answerTo(clerk, update(key, { note: 'x' }))).toMatchObject({ allowed: true });
    expect(await answerTo(clerk, update(key, { margin: '6' }))).toMatchObject({ allowed: false });
    expect(await answerTo(root, { entity: 'order', action: 'create', set: { note: 'new' } })).toMatchObject({ status: 201 });
    expect(await answerTo(root, { entity: 'order', key, action: 'delete' })).toMatchObject({ status: 204 });
    expect(await stateOf()).toEqual(before);
  });

  test('200 — explains a hidden entity as a missing one, for each action (rule 172)', async () => {
    const [shown, hidden] = [await create({ region: 'north' }), await create({ region: 'south', state: 'draft' })];
    expect(await answerTo(clerk, { entity: 'order', key: shown, action: 'read' })).toMatchObject({ status: 200 });
    for (const action of ['read', 'update', 'delete', 'purge', 'label']) {
      const about = (key: string) => answerTo(clerk, { entity: 'order', key, action });
      expect(await about(hidden), action).toEqual(await about(missing));
    }
    const { grants, status, fields } = await answerTo(clerk, update(hidden, { note: 'x' }));
    expect([status, grants, fields]).toEqual([404, [], undefined]);
  });

  test('200 — names a hidden field nowhere (rule 172)', async () => {
    const rich = await userWith(
      service(),
      'rich',
      order({ name: 'all', actions: ['read'], rule: { read: ['*', '-margin'] } }),
      order({ name: 'rich', actions: ['update'], rule: { filter: { margin: { $gt: '10' } }, write: ['note'] } }),
    );
    const [some, none] = [await create({ margin: '50' }), await create({ margin: '5' })];
    const covered = await answerTo(rich, update(some, { note: 'x' }));
    const refused = await answerTo(rich, update(none, { note: 'x' }));
    expect(covered).toMatchObject({ status: 200, grants: [{ grant: 'rich', covers: true, failed: [] }], rows: { $hidden: true } });
    expect(refused).toMatchObject({ status: 403, code: 'forbidden', grants: [{ grant: 'rich', covers: false, failed: [''] }] });
    expect(JSON.stringify([covered, refused])).not.toMatch(/margin|"50"|"10"/);
  });

  test('200 — leaves out a finding about a hidden value that no request tells (rule 172)', async () => {
    const both = await userWith(
      service(),
      'both',
      order({ name: 'all', actions: ['read'], rule: { read: ['*', '-margin'] } }),
      order({ name: 'north', actions: ['update'], rule: { filter: north, write: ['note'] } }),
      order({ name: 'rich', actions: ['update'], rule: { filter: { margin: { $gt: '10' } }, write: ['note'] } }),
    );
    const question = async (margin: string) => update(await create({ region: 'north', margin }), { note: 'x' });
    const [rich, poor] = [await answerTo(both, await question('50')), await answerTo(both, await question('5'))];
    expect(rich.grants).toEqual([
      { role: 'both', grant: 'north', covers: true, check: true, failed: [], write: ['note'] },
      { role: 'both', grant: 'rich', failed: [], write: ['note'] },
    ]);
    expect(poor).toEqual(rich);
  });

  test('200 — without a key tells the rows of the rule, and without an action all actions', async () => {
    const rows = { entity: 'order', action: 'read' };
    expect(await answerTo(clerk, rows)).toMatchObject({
      allowed: true,
      rows: north,
      grants: [{ grant: 'region', failed: [] }],
      fields: { readable: ['number', 'region', 'state', 'note'], writable: [] },
    });
    const { profile, actions } = await answerTo<Schemas['PermissionList']>(clerk, { entity: 'order' });
    expect(profile).toBe('clerk');
    expect(actions.map(({ action, status }) => [action, status])).toEqual([
      ['create', 403],
      ['read', 200],
      ['update', 200],
      ['delete', 403],
      ['type', 403],
      ['purge', 403],
      ['label', 200],
    ]);
    expect(actions[1]).toEqual(await answerTo(clerk, rows));
  });

  test('200 — names the scopes of a key and the header that a type requires as limits', async () => {
    await declareType(service(), 'guarded', { type: 'object', 'x-if-match': 'required' });
    const { id } = await service().createUser('scoped', { guarded: ['read', 'update'] });
    const scoped = { headers: { 'x-api-key': await service().createKey(id, { scopes: [{ entity: 'guarded', actions: ['read'] }] }) } };
    const question = { entity: 'guarded', action: 'update' };
    expect(await answerTo(scoped, question)).toMatchObject({ status: 403, code: 'insufficient-scope', limits: ['scope', 'if-match'] });
    const whole = { headers: { 'x-api-key': await service().createKey(id) } };
    expect(await answerTo(whole, question)).toMatchObject({ status: 200, limits: ['if-match'] });
  });

  test('200 — tells a conflict with another entity, and a reference that keeps one, as the request does', async () => {
    await declareType(service(), 'line', {
      type: 'object',
      properties: { order: { type: 'string', format: 'int64' } },
      'x-references': { order: { to: 'order' } },
    });
    const key = await create({ number: 'A-1' });
    await service().call('POST', '/rest/entity/line', { ...root, json: { order: key } });
    const duplicate = { entity: 'order', action: 'create', set: { number: 'A-1' } };
    expect(await answerTo(root, duplicate)).toMatchObject({
      status: 409,
      code: 'unique-conflict',
      faults: [{ pointer: '/number', code: 'duplicate-value' }],
    });
    expect(await answerTo(root, { entity: 'order', key, action: 'delete' })).toMatchObject({
      status: 409,
      code: 'still-referenced',
      faults: [{ pointer: '', code: 'referenced' }],
    });
    const requests = [
      await service().call('POST', '/rest/entity/order', { ...root, json: duplicate.set }),
      await service().call('DELETE', `/rest/entity/order/${key}`, root),
    ];
    expect(requests.map(({ body }) => body.code)).toEqual(['unique-conflict', 'still-referenced']);
  });

  test('422 — a question that the action does not take', async () => {
    const faultsOf = async (json: object) => {
      const { status, body } = await service().call('POST', '/auth/permissions/check', { ...clerk, json });
      expect(status).toBe(422);
      return body.errors?.map(({ pointer, code }) => [pointer, code]);
    };
    expect(await faultsOf({ entity: 'order', set: {} })).toEqual([['/action', 'required']]);
    expect(await faultsOf({ entity: 'order', action: 'read', set: {} })).toEqual([['/set', 'conflicting']]);
    expect(await faultsOf({ entity: 'order', action: 'update', set: {} })).toEqual([['/key', 'required']]);
    expect(await faultsOf({ entity: 'order', action: 'create', key: '1' })).toEqual([['/key', 'conflicting']]);
    expect(await faultsOf({ entity: 'order', user: 'root' })).toEqual([['/user', 'unknown']]);
  });
});

test('200 — GET /auth?roles=1 names no field that a rule tests and no grant shows (rule 172)', async () => {
  const blind = await userWith(
    service(),
    'blind',
    order({ name: 'all', actions: ['read'], rule: { read: ['*', '-margin'] } }),
    order({ name: 'rich', actions: ['update'], rule: { filter: { margin: { $gt: '10' }, region: 'north' }, write: ['note'] } }),
  );
  const { body } = await service().call<{ roles: { rules: { name: string; filter?: object }[] }[] }>('GET', '/auth?roles=1', blind);
  expect(body.roles[0]?.rules.find(({ name }) => name === 'rich')?.filter).toEqual({ $hidden: true, region: 'north' });
  const { body: seen } = await service().call<typeof body>('GET', '/auth?roles=1', clerk);
  expect(seen.roles[0]?.rules.map(({ filter }) => filter)).toContainEqual(north);
});

test('200 — tells no finding about other entities that a rule looks at, unless the request tells it (rule 172)', async () => {
  const reference = { type: 'string', format: 'int64' };
  await declareType(service(), 'project', { type: 'object', properties: { lead: text } });
  await declareType(service(), 'task', {
    type: 'object',
    properties: { project: reference, note: text },
    'x-references': { project: { to: 'project' } },
  });
  const led = { project: { $match: { lead: { $var: 'user.name' } } } };
  const team = await userWith(
    service(),
    'team',
    { entity: 'task', actions: ['read'] },
    { entity: 'task', name: 'open', actions: ['update'], rule: { filter: { note: 'open' }, check: { note: 'x' } } },
    { entity: 'task', name: 'led', actions: ['update'], rule: { filter: led } },
  );
  const make = async (name: string, json: object) => {
    const { headers } = await service().call('POST', `/rest/entity/${name}`, { ...root, json });
    return headers.get('location')?.split('/').at(-1) ?? '';
  };
  const [mine, other] = [await make('project', { lead: 'team' }), await make('project', { lead: 'root' })];
  const about = async (project: string, note: string) => {
    const question = { entity: 'task', key: await make('task', { project, note }), action: 'update', set: { note: 'x' } };
    return await answerTo(team, question);
  };
  const found = ({ status, grants }: Permission) => [status, ...grants.map(({ covers, failed }) => [covers, failed])];
  expect(found(await about(mine, 'closed'))).toEqual([200, [true, []], [false, ['/filter/note']]]);
  expect(found(await about(other, 'closed'))).toEqual([403, [false, ['']], [false, ['/filter/note']]]);
  expect(found(await about(mine, 'open'))).toEqual([200, [undefined, []], [true, []]]);
  expect(await about(other, 'open')).toEqual(await about(mine, 'open'));
  expect((await about(mine, 'open')).rows).toEqual({ $or: [{ $hidden: true }, { note: 'open' }] });
});
