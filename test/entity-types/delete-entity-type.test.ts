/** `DELETE /rest/entity-type/{name}`: only with the digest of its plan. */
import { beforeAll, expect, test } from 'vitest';
import { declareType, rowsOf, seed } from '../support/entities.ts';
import { useService } from '../support/service.ts';

const service = useService();
let cookie: string;
beforeAll(async () => {
  cookie = await service().openSession((await service().createUser('ada', { '*': ['type', 'create', 'read'] })).id);
});
const path = (name: string) => `/rest/entity-type/${name}`;
const digestOf = async (name: string) =>
  (await service().call<{ digest: string }>('POST', `${path(name)}/plan`, { cookie, json: {} })).body.digest;

test('204 — with the digest; the entities stay, and the next may have any fields', async () => {
  await declareType(service(), 'customer', { type: 'object', required: ['a'] });
  await seed(service(), 'customer', '7', { a: 1 }, 'ada');
  const before = await service().call('DELETE', path('customer'), { cookie });
  expect([before.status, before.body.code]).toEqual([409, 'confirmation-required']);
  expect((await service().call('POST', '/rest/entity/customer', { cookie, json: {} })).status).toBe(422);

  const deleted = await service().call('DELETE', `${path('customer')}?confirm=${await digestOf('customer')}`, { cookie });
  expect(deleted.status, deleted.text).toBe(204);
  expect((await service().call('GET', path('customer'), { cookie })).status).toBe(404);
  expect((await service().call('GET', '/rest/entity/customer/7', { cookie })).status).toBe(200);
  expect((await service().call('POST', '/rest/entity/customer', { cookie, json: {} })).status).toBe(201);
  const events = await service().db.selectFrom('audit_event').where('event', '=', 'type.deleted').select(['user_name', 'detail']).execute();
  expect(events).toEqual([{ user_name: 'ada', detail: expect.objectContaining({ type: 'customer', effect: 'loss', via: 'api' }) }]);
});

test('409 — the digest of an earlier revision confirms nothing', async () => {
  await declareType(service(), 'order', { type: 'object' });
  const digest = await digestOf('order');
  await declareType(service(), 'order', { type: 'object', title: 'Order' });
  const answer = await service().call('DELETE', `${path('order')}?confirm=${digest}`, { cookie });
  expect(answer.body.code).toBe('confirmation-required');
  expect((await service().call('GET', path('order'), { cookie })).status).toBe(200);
});

test('409 — a type that others refer to; the answer names those that the caller may declare', async () => {
  await declareType(service(), 'parent', { type: 'object' });
  const document = { properties: { parent: { type: 'string', format: 'int64' } }, 'x-references': { parent: { to: 'parent' } } };
  for (const name of ['child', 'secret']) await declareType(service(), name, document);
  const bob = await service().openSession((await service().createUser('eve', { parent: ['type'], child: ['type'] })).id);
  const confirmed = `${path('parent')}?confirm=${await digestOf('parent')}`;
  const answer = await service().call('DELETE', confirmed, { cookie: bob });
  expect([answer.status, answer.body.code]).toEqual([409, 'type-conflict']);
  expect(answer.body.errors).toEqual([
    expect.objectContaining({ pointer: '', code: 'referenced', detail: 'Other entities or types refer to this. Types: child.' }),
  ]);
  expect(answer.text).not.toContain('secret');
  for (const name of ['child', 'secret', 'parent']) {
    const deleted = await service().call('DELETE', `${path(name)}?confirm=${await digestOf(name)}`, { cookie });
    expect(deleted.status, deleted.text).toBe(204);
  }
});

test('404 — for a name without a type', async () => {
  expect((await service().call('DELETE', path('none'), { cookie })).status).toBe(404);
});

test('403 — for a caller without the action, with the right digest', async () => {
  await declareType(service(), 'line', { type: 'object' });
  const bob = await service().openSession((await service().createUser('bob')).id);
  expect((await service().call('DELETE', `${path('line')}?confirm=${await digestOf('line')}`, { cookie: bob })).status).toBe(403);
  expect((await service().call('GET', path('line'), { cookie })).status).toBe(200);
  expect(await rowsOf(service(), 'line')).toEqual([]);
});
