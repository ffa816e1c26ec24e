/** Changes that several grants judge together, and what their refusals and answers tell (rules 168 and 171). */
import { beforeAll, describe, expect, test } from 'vitest';
import { declareType, type Entity } from '../support/entities.ts';
import { callerWith, type RuleGrant } from '../support/rules.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../support/service.ts';

const service = useService();
let root: Call;

const send = (who: Call, method: string, path: string, json?: object) =>
  service().call<Entity & ProblemBody>(method, `/rest/entity/order${path}`, { ...who, ...(json && { json }) });
const create = (who: Call, fields: object) => send(who, 'POST', '', fields);
const faultsOf = ({ body }: Answer<ProblemBody>) => (body.errors ?? []).map(({ pointer, code }) => ({ pointer, code }));
const stored = async ({ key }: Entity) => (await send(root, 'GET', `/${key}`)).body;
const caller = (name: string, ...grants: Omit<RuleGrant, 'entity'>[]) =>
  callerWith(
    service(),
    name,
    grants.map((grant) => Object.assign({ entity: 'order' }, grant)),
  );

beforeAll(async () => {
  const text = { type: 'string' };
  const properties = { region: text, state: text, note: text, tenant: text, secret: text };
  await declareType(service(), 'order', { type: 'object', properties, additionalProperties: false });
  root = { cookie: await service().openSession((await service().createUser('root')).id) };
});

describe('presets', () => {
  const acme = { actions: ['create' as const], rule: { set: { tenant: 'acme' } } };

  test('201 — a value that all grants set fills an absent member; 403 — another value', async () => {
    const only = await caller('only', acme);
    expect((await create(only, { note: 'a' })).body.fields).toEqual({ note: 'a', tenant: 'acme' });
    expect((await create(only, { tenant: 'acme' })).status).toBe(201);
    for (const tenant of ['other', '']) {
      const refused = await create(only, { tenant });
      expect([refused.status, faultsOf(refused)]).toEqual([403, [{ pointer: '/tenant', code: 'value-forbidden' }]]);
    }
  });

  test('201 — with a grant that sets nothing, or another value, nothing is filled (check 11 of rights)', async () => {
    const beside = await caller('beside', acme, { actions: ['create'], rule: { write: ['note'] } });
    expect((await create(beside, { note: 'a' })).body.fields).toEqual({ note: 'a' });
    const two = await caller('two', acme, { actions: ['create'], rule: { set: { tenant: 'other' } } });
    const refused = await create(two, { note: 'a' });
    expect([refused.status, faultsOf(refused)]).toEqual([403, [{ pointer: '/tenant', code: 'value-forbidden' }]]);
  });
});

describe('refusals', () => {
  test('403 — a check that compares a hidden field names the entity, and one of a shown field that field', async () => {
    const row = (await create(root, { region: 'north', secret: 'x', state: 'draft' })).body;
    const rule = { filter: { region: 'north' }, read: ['*', '-secret'], write: ['note'] };
    const secret = await caller('by-secret', { actions: ['read', 'update'], rule: { ...rule, check: { secret: 'y' } } });
    const shown = await caller('by-state', { actions: ['read', 'update'], rule: { ...rule, check: { state: 'open' } } });
    for (const [who, pointer] of [
      [secret, ''],
      [shown, '/state'],
    ] as const) {
      const refused = await send(who, 'POST', `/${row.key}`, { note: 'n' });
      expect([refused.status, faultsOf(refused)]).toEqual([403, [{ pointer, code: 'value-forbidden' }]]);
    }
    expect((await stored(row)).version).toBe(1);
  });

  test('403 — a grant whose rule does not bind creates nothing, also nothing empty (rule 170)', async () => {
    const unbound = await caller('unbound', { actions: ['create'], rule: { check: { nosuch: 'a' } } });
    for (const fields of [{}, { note: 'a' }]) expect((await create(unbound, fields)).status).toBe(403);
    const bound = await caller('bound', { actions: ['create'], rule: { check: {} } });
    expect((await create(bound, {})).status).toBe(201);
  });
});

describe('answers', () => {
  test('200 — the answer shows what the allowing grant shows, and nothing of a grant whose check does not hold', async () => {
    const row = (await create(root, { region: 'north', state: 'draft', secret: 'x' })).body;
    const filter = { region: 'north' };
    const clerk = await caller(
      'clerk',
      { actions: ['read'], rule: { filter, read: ['region'] } },
      { actions: ['update'], rule: { filter, check: {}, read: ['note'], write: ['note'] } },
      { actions: ['update'], rule: { filter, check: { state: 'closed' }, read: ['secret'], write: ['note'] } },
    );
    const noted = await send(clerk, 'POST', `/${row.key}`, { note: 'n' });
    expect([noted.status, noted.body.fields]).toEqual([200, { region: 'north', note: 'n' }]);
    await send(root, 'POST', `/${row.key}`, { state: 'closed' });
    const both = await send(clerk, 'POST', `/${row.key}`, { note: 'm' });
    expect([both.status, both.body.fields]).toEqual([200, { region: 'north', note: 'm', secret: 'x' }]);
  });

  test('200 — a change of a row that the caller may not read keeps each field that it does not send', async () => {
    const row = (await create(root, { region: 'south', state: 'draft', secret: 'x', note: 'a' })).body;
    const blind = await caller(
      'blind',
      { actions: ['read'], rule: { filter: { region: 'north' } } },
      { actions: ['update'], rule: { filter: { region: 'south' }, write: ['note'], read: ['note'] } },
    );
    const noted = await send(blind, 'POST', `/${row.key}`, { note: 'b' });
    expect([noted.status, noted.body.fields]).toEqual([200, { note: 'b' }]);
    expect((await stored(row)).fields).toEqual({ region: 'south', state: 'draft', secret: 'x', note: 'b' });
    const hidden = await send(blind, 'POST', `/${row.key}`, { secret: 'x' });
    expect([hidden.status, faultsOf(hidden)]).toEqual([403, [{ pointer: '/secret', code: 'not-writable' }]]);
  });
});
