/** A team's day, through the client that its programs use. */
import { password, useService } from '../support/service.ts';
import { expect, test } from 'vitest';
import { resultOf } from '../../src/client/index.ts';
import { clientOf } from '../support/client.ts';

interface Order {
  customer: string;
  lines: { article: string; pieces: number }[];
  note?: string;
}

const service = useService();

test('orders are taken, shipped under another profile, reported by a program and closed, each within the caller’s rights', async () => {
  const ada = await service().createUser('ada', { order: ['create', 'read', 'update'] });
  await service().createProfile(ada.id, 'stock', { order: ['read', 'delete'] });
  await service().createUser('grace', { order: ['read', 'update'] });

  // Ada takes an order. Grace may not, but adds a note to it, and Ada's change of the old version conflicts.
  const desk = clientOf(service());
  await desk.createSession({ user: 'ada', password });
  const orders = desk.entities<Order>('order');
  const order = await orders.create({ customer: '42', lines: [{ article: 'gear', pieces: 12 }] });

  const other = clientOf(service());
  await other.createSession({ user: 'grace', password });
  const hers = other.entities<Order>('order');
  expect(await resultOf(hers.create(order.fields))).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  await hers.update(await hers.get(order.key), { note: 'urgent' });
  expect(await resultOf(orders.update(order, { customer: '43' }))).toMatchObject({ ok: false, error: { code: 'precondition-failed' } });
  const settled = await orders.change(order.key, ({ lines }) => ({ lines: [...lines, { article: 'shaft', pieces: 1 }] }));
  expect(settled).toMatchObject({
    version: 3,
    updatedBy: 'ada',
    fields: { note: 'urgent', lines: [{ article: 'gear' }, { article: 'shaft' }] },
  });

  // A program of Ada's reads with a key that only allows that.
  const { key } = await desk.createKey({ name: 'report', scopes: [{ entity: 'order', actions: ['read'] }] });
  const report = clientOf(service(), { credential: { apiKey: key } }).entities<Order>('order');
  expect(await report.get(order.key)).toEqual(settled);
  expect(await resultOf(report.update(settled, { note: null }))).toMatchObject({ ok: false, error: { status: 403 } });

  // Under the profile of the stock room Ada may delete orders, but not change them.
  expect((await desk.selectProfile('stock')).profile).toMatchObject({ name: 'stock' });
  expect(await resultOf(orders.update(settled, { note: null }))).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  await orders.delete(await orders.reload(settled));
  expect(await resultOf(hers.get(order.key))).toMatchObject({ ok: false, error: { code: 'not-found' } });

  // A refresh preserves the profile. A new password ends the session at home, but not this one.
  const home = clientOf(service());
  await home.createSession({ user: 'ada', password });
  expect(await desk.refreshSession()).toMatchObject({ profile: { name: 'stock' } });
  await desk.changePassword({ current: password, next: 'seven quiet lanterns drift north' });
  expect(await resultOf(home.getSession())).toMatchObject({ ok: false, error: { code: 'unauthenticated' } });
  expect((await desk.listSessions()).sessions).toHaveLength(1);
  await desk.endSession();
  expect(await resultOf(desk.getSession())).toMatchObject({ ok: false, error: { code: 'unauthenticated' } });
});
