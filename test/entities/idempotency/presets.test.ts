/** Repeats of creates with an Idempotency-Key after the presets of a grant have changed (security rule 79). */
import { beforeAll, describe, expect, test } from 'vitest';
import { digestOfRule } from '../../../src/rights/rule-document.ts';
import type { RuleDocument } from '../../../src/rights/rule.ts';
import { declareType, type Entity } from '../../support/entities.ts';
import { callerWith } from '../../support/rules.ts';
import { useService, type Call, type ProblemBody } from '../../support/service.ts';

const service = useService();
let ada: Call;

const presetsOf = (tenant: string): RuleDocument => ({ set: { tenant } });

beforeAll(async () => {
  const properties = { number: { type: 'string' }, tenant: { type: 'string' } };
  await declareType(service(), 'order', { type: 'object', properties, 'x-unique': [{ fields: ['number'] }] });
  ada = await callerWith(service(), 'ada', [
    { entity: 'order', actions: ['create'], rule: presetsOf('first') },
    { entity: 'order', actions: ['read', 'update'] },
  ]);
});

/** Gives ada's grant of `create` another rule. */
async function setPresets(rule: RuleDocument): Promise<void> {
  const { db } = service();
  const digest = digestOfRule(rule);
  await db
    .insertInto('grant_rule')
    .values({ digest, document: JSON.stringify(rule) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db.updateTable('role_grant').set({ condition: digest }).where('entity', '=', 'order').where('action', '=', 'create').execute();
  await service().settle();
}

const send = <T = Entity>(key: string, method: string, path: string, json: object) =>
  service().call<T>(method, path, { ...ada, json, headers: { 'idempotency-key': key } });

describe('a repeat after presets have changed', () => {
  test.each([
    ['createEntity', 'POST', '/rest/entity/order', { number: 'one' }],
    ['upsertEntity', 'POST', '/rest/entity/order/upsert?by=number', { number: 'two' }],
    ['createEntities', 'POST', '/rest/entity/order/bulk', [{ number: 'three' }]],
    ['runBatch', 'POST', '/rest/batch', { operations: [{ op: 'create', name: 'order', fields: { number: 'four' } }] }],
  ])('%s answers as the first request', async (operation, method, path, body) => {
    await setPresets(presetsOf('first'));
    const first = await send<object>(operation, method, path, body);
    expect(first.status, first.text).toBeLessThan(300);
    await setPresets(presetsOf('second'));
    const again = await send<object>(operation, method, path, body);
    expect({ status: again.status, body: again.body }).toEqual({ status: first.status, body: first.body });
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('201 — a create whose presets the grants have no more answers with the values that are stored, and another body is refused', async () => {
    await setPresets(presetsOf('first'));
    const first = await send('gone', 'POST', '/rest/entity/order', { number: 'gone' });
    expect(first.body.fields).toEqual({ number: 'gone', tenant: 'first' });
    await setPresets({ write: ['number'] });
    const again = await send('gone', 'POST', '/rest/entity/order', { number: 'gone' });
    expect({ status: again.status, text: again.text }).toEqual({ status: 201, text: first.text });
    const other = await send<ProblemBody>('gone', 'POST', '/rest/entity/order', { number: 'gone', tenant: 'first' });
    expect(other.status).toBe(403);
    await setPresets(presetsOf('first'));
    const same = await send<ProblemBody>('gone', 'POST', '/rest/entity/order', { number: 'gone', tenant: 'first' });
    expect({ status: same.status, code: same.body.code }).toEqual({ status: 422, code: 'idempotency-key-reused' });
  });

  test('410 — values that grants have set are not guessed when the first version is no longer stored', async () => {
    await setPresets(presetsOf('first'));
    const first = await send('purged', 'POST', '/rest/entity/order', { number: 'purged' });
    expect(first.status, first.text).toBe(201);
    await setPresets(presetsOf('second'));
    expect((await send('purged', 'POST', '/rest/entity/order', { number: 'purged' })).body.fields).toMatchObject({ tenant: 'first' });
    expect((await send('change', 'POST', `/rest/entity/order/${first.body.key}`, { number: 'changed' })).status).toBe(200);
    await service().db.updateTable('entity_change').set({ fields: null }).where('key', '=', first.body.key).execute();
    const again = await send<ProblemBody>('purged', 'POST', '/rest/entity/order', { number: 'purged' });
    expect({ status: again.status, code: again.body.code }).toEqual({ status: 410, code: 'answer-gone' });
  });

  test('201 — a caller who may not read gets the same answer again', async () => {
    const bob = await callerWith(service(), 'bob', [{ entity: 'order', actions: ['create'], rule: presetsOf('bobs') }]);
    const create = () =>
      service().call<Entity>('POST', '/rest/entity/order', { ...bob, json: { number: 'b' }, headers: { 'idempotency-key': 'b' } });
    const [first, again] = [await create(), await create()];
    expect(first.body.fields).toEqual({ number: 'b', tenant: 'bobs' });
    expect({ text: again.text, etag: again.headers.get('etag') }).toEqual({ text: first.text, etag: first.headers.get('etag') });
  });
});
