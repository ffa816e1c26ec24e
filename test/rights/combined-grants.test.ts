/** Grants of several actions together: update with read, trash, scopes, label, and rules that do not bind. */
import { beforeAll, expect, test } from 'vitest';
import { coverageOf } from '../../src/rights/coverage.ts';
import type { Grant } from '../../src/rights/grant.ts';
import { anyGrant } from '../../src/rights/grant.ts';
import { callerVariables } from '../../src/rights/variable-columns.ts';
import { variablesOf } from '../../src/rights/variables.ts';
import { undeclaredFields } from '../../src/filter/fields.ts';
import { isEveryEntity, type Filter } from '../../src/filter/syntax.ts';
import { bindRule } from '../../src/rights/rule.ts';
import type { Action, Scope } from '../../src/rights/vocabulary.ts';
import { declareType, type Entity } from '../support/entities.ts';
import { callerWith, type RuleGrant } from '../support/rules.ts';
import { useService, type Answer, type Call, type ProblemBody } from '../support/service.ts';

const service = useService();
type Body = Entity & ProblemBody & { items: Entity[] };
let root: Call;
let n = 0;

const send = (who: Call, method: string, path: string, json?: object, call: Call = {}): Promise<Answer<Body>> =>
  service().call<Body>(method, `/rest/${path}`, { ...who, ...call, ...(json && { json }) });

const north = { region: 'north' };
const reader: RuleGrant = { entity: 'order', actions: ['read'], rule: { filter: north } };

/** The session of a new user with the grants. */
const caller = (...grants: RuleGrant[]): Promise<Call> => callerWith(service(), `caller${++n}`, grants);

/** A key of the last caller that has the scopes alone. */
async function keyWith(scopes: Scope[]): Promise<Call> {
  const { id } = await service().db.selectFrom('user_account').where('name', '=', `caller${n}`).select('id').executeTakeFirstOrThrow();
  return { headers: { 'x-api-key': await service().createKey(id, { scopes }) } };
}

beforeAll(async () => {
  const text = { type: 'string' };
  await declareType(service(), 'customer', { type: 'object', properties: { company: text } });
  await declareType(service(), 'order', {
    type: 'object',
    properties: { number: text, region: text, note: text, margin: text, customer: { type: 'string', format: 'int64' } },
    additionalProperties: false,
    'x-unique': [{ fields: ['number'] }],
    'x-references': { customer: { to: 'customer' } },
    'x-soft-delete': true,
  });
  root = { cookie: await service().openSession((await service().createUser('root')).id) };
});

async function order(fields: object): Promise<Entity> {
  const { status, body, text } = await send(root, 'POST', 'entity/order', fields);
  expect(status, text).toBe(201);
  return body;
}
const at = ({ key }: Entity) => `entity/order/${key}`;
const stored = async (row: Entity) => (await send(root, 'GET', at(row))).body;

test('200 and 403 — an update without a rule needs a grant of read (rule 116)', async () => {
  const row = await order(north);
  const both = await caller({ entity: 'order', actions: ['read', 'update'] });
  expect((await send(both, 'POST', at(row), { note: 'a' })).status).toBe(200);
  const alone = await caller({ entity: 'order', actions: ['update'] });
  const refused = await send(alone, 'POST', at(row), { note: 'b' });
  expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
  expect(await stored(row)).toMatchObject({ version: 2, fields: { note: 'a' } });
});

test('200 and 404 — an update without a rule covers the rows that a rule of read covers (rule 116)', async () => {
  const who = await caller(reader, { entity: 'order', actions: ['update'] });
  const [here, there] = [await order(north), await order({ region: 'south' })];
  expect((await send(who, 'POST', at(here), { note: 'a' })).status).toBe(200);
  expect((await send(who, 'POST', at(there), { note: 'a' })).status).toBe(404);
  expect((await stored(there)).version).toBe(1);
});

test('200 and 404 — the trash has the rows that both update and read cover (rule 168)', async () => {
  const who = await caller(reader, { entity: 'order', actions: ['update'], rule: { filter: { note: 'gone' }, write: ['*'] } });
  const rows = [
    await order({ ...north, note: 'gone' }),
    await order({ region: 'south', note: 'gone' }),
    await order({ ...north, note: 'kept' }),
  ];
  for (const row of rows) expect((await send(root, 'DELETE', at(row))).status).toBe(204);
  const trash = await send(who, 'GET', 'entity/order?deleted=only');
  expect(trash.status, trash.text).toBe(200);
  expect(trash.body.items.map(({ key }) => key)).toEqual([rows[0]?.key]);
  const statuses = [];
  for (const row of rows.toReversed()) statuses.push((await send(who, 'POST', `${at(row)}/restore`)).status);
  expect(statuses.slice(0, 2)).toEqual([404, 404]);
  expect(statuses[2]).toBe(200);
});

test('200 — the answer of an update shows what scopes allow to read, and a conflict names no key beyond them (rule 154)', async () => {
  const row = await order({ ...north, number: 'scoped', margin: '5' });
  const other = await order({ ...north, number: 'other' });
  const session = await caller(
    reader,
    { entity: 'order', actions: ['create'] },
    {
      entity: 'order',
      actions: ['update'],
      rule: { filter: north, write: ['*'] },
    },
  );
  const key = await keyWith([{ entity: 'order', actions: ['update', 'create'] }]);
  expect((await send(session, 'POST', at(row), { note: 'a' })).body.fields).toEqual({ ...row.fields, note: 'a' });
  expect((await send(key, 'POST', at(row), { note: 'b' })).body.fields).toEqual({});
  for (const [who, isNamed] of [
    [session, true],
    [key, false],
  ] as const)
    for (const conflict of [
      await send(who, 'POST', 'entity/order', { ...north, number: 'scoped' }),
      await send(who, 'POST', at(other), { number: 'scoped' }),
    ]) {
      expect(conflict.status, conflict.text).toBe(409);
      expect(conflict.text.includes(`Its key is ${row.key}.`)).toBe(isNamed);
    }
});

test('201 and 422 — the action label is enough to refer to an entity, and nothing is not', async () => {
  const { body: customer } = await send(root, 'POST', 'entity/customer', { company: 'a' });
  const create: RuleGrant = { entity: 'order', actions: ['create'] };
  const labelled = await caller(create, { entity: 'customer', actions: ['label'] });
  expect((await send(labelled, 'POST', 'entity/order', { customer: customer.key })).status).toBe(201);
  const explained = async (who: Call) => {
    const json = { entity: 'customer', action: 'label', key: customer.key };
    const { body } = await service().call<{ allowed: boolean; status: number }>('POST', '/auth/permissions/check', { ...who, json });
    return [body.allowed, body.status];
  };
  expect(await explained(labelled)).toEqual([true, 200]);
  expect(await explained(await caller(create))).toEqual([false, 403]);
  const refused = await send(await caller(create), 'POST', 'entity/order', { customer: customer.key });
  expect([refused.status, (refused.body.errors ?? []).map(({ code }) => code)]).toEqual([422, ['reference-not-found']]);
});

test('403 — a grant whose check does not bind covers nothing, though its filter does (rule 170)', async () => {
  const row = await order(north);
  const rule = { filter: north, write: ['note'] };
  const bound = await caller(reader, { entity: 'order', actions: ['update'], rule });
  expect((await send(bound, 'POST', at(row), { note: 'a' })).status).toBe(200);
  const partly = await caller(reader, { entity: 'order', actions: ['update'], rule: { ...rule, check: { nosuch: 'a' } } });
  const refused = await send(partly, 'POST', at(row), { note: 'b' });
  expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
  expect((await stored(row)).version).toBe(2);
});

test('201 — the filter of a grant of create covers no row of a repeat, which the check alone judges', async () => {
  const who = await caller({ entity: 'order', actions: ['create'], rule: { filter: north, check: { region: 'south' } } });
  const create = () => send(who, 'POST', 'entity/order', { region: 'south' }, { headers: { 'idempotency-key': '"repeat"' } });
  const [once, again] = [await create(), await create()];
  expect([once.status, again.status, again.body.key]).toEqual([201, 201, once.body.key]);
});

test('200 — a replacement of a row that the caller may not read keeps all fields that it does not name (rule 171)', async () => {
  const who = await caller(
    reader,
    { entity: 'order', actions: ['create'] },
    {
      entity: 'order',
      actions: ['update'],
      rule: { filter: { region: 'south' }, write: ['note'] },
    },
  );
  const row = await order({ region: 'south', note: 'a', margin: '5' });
  const csv: Call = { raw: `$key,note\n${row.key},b\n`, headers: { 'content-type': 'text/csv' } };
  const { status, text } = await send(who, 'POST', 'entity/order/import?by=$key&mode=replace', undefined, csv);
  expect(status, text).toBe(200);
  expect((await stored(row)).fields).toEqual({ region: 'south', note: 'b', margin: '5' });
});

test('the filter of a rule is about rows that exist: a grant of create has none', () => {
  const noUser = { user: { id: '', name: '', displayName: '', attributes: {} }, profile: undefined, timeZone: null };
  const bound = (action: Action) =>
    bindRule({ filter: north, check: {} }, action, { fields: undeclaredFields, variables: variablesOf(noUser) });
  const isOfAll = (action: Action) => {
    const rule = bound(action);
    return 'grant' in rule && isEveryEntity(rule.grant.filter);
  };
  expect(isOfAll('create')).toBe(true);
  for (const action of ['read', 'update', 'delete', 'label'] as const) expect([action, isOfAll(action)]).toEqual([action, false]);
});

test('a rule fixes fields if all of its tests are equalities of fields', () => {
  const equal = (field: string): Filter => ({
    kind: 'compare',
    field: [field],
    type: 'string',
    operator: '=',
    operand: { kind: 'value', value: 'north' },
  });
  const caller = callerVariables(
    'ada',
    variablesOf({ user: { id: '', name: 'ada', displayName: '', attributes: {} }, profile: undefined, timeZone: null }),
  );
  const fixedBy = (...of: Filter[]) => {
    const grant: Grant = { ...anyGrant, kind: 'rule', filter: { kind: 'all', of } };
    const coverage = coverageOf([grant], caller);
    return coverage?.kind === 'rule' ? coverage.fixed.map(({ field }) => field) : undefined;
  };
  expect(fixedBy(equal('region'))).toEqual([['region']]);
  expect(fixedBy(equal('region'), equal('state'))).toEqual([['region'], ['state']]);
  expect(fixedBy(equal('region'), { kind: 'exists', field: ['note'] })).toEqual([]);
});
