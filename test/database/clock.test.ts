/** Whose clock decides when something is over: the database's, since those of two processes need not agree. */
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { agingToken } from '../support/clock.ts';
import { cookieOf, useService } from '../support/service.ts';
import { sql } from 'kysely';

const service = useService();
let user: { id: string };
const day = 86_400_000;
const show = (headers: Record<string, string>) => service().call('GET', '/auth', { headers });

beforeAll(async () => {
  user = await service().createUser('ada');
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ['a day ahead', day],
  ['a day behind', -day],
])('a process whose clock is %s opens and ends nothing at another time: sessions, keys, superseded tokens (rule 4)', async (_, shift) => {
  const old = await service().openSession(user.id);
  const key = await service().createKey(user.id, { expiresInDays: 1 });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + shift });
  const refreshed = await service().call('POST', '/auth/refresh', { cookie: old });
  expect(refreshed.status, refreshed.text).toBe(200);
  const cookie = cookieOf(refreshed);
  for (const headers of [{ cookie: old }, { cookie }, { 'x-api-key': key }]) expect((await show(headers)).status).toBe(200);

  await agingToken(service(), old, 11);
  await service().settle();
  expect((await show({ cookie: old })).status).toBe(401);
  const idle = await service().openSession(user.id);
  expect((await show({ cookie: idle })).status).toBe(200);
  await sql`update session set idle_expires_at = now() - interval '1 second'`.execute(service().db);
  await sql`update api_key set expires_at = now() - interval '1 second'`.execute(service().db);
  await service().settle();
  for (const headers of [{ cookie: idle }, { 'x-api-key': key }]) expect((await show(headers)).status).toBe(401);
});
