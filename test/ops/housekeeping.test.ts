import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { deleteEndedSessions, sweep } from '../../src/ops/housekeeping.ts';
import { deleteReplacedTokens } from '../../src/sessions/store.ts';
import { cookieOf, useService } from '../support/service.ts';

const service = useService();

test('removes all that is over, however many, and nothing that is not (rule 12)', async () => {
  const { db } = service();
  const { id } = await service().createUser('ada');
  const cookie = await service().signIn('ada');
  const insert = (expiry: string) => sql`
    insert into session (token_hash, user_id, method, locale, credential_version, idle_expires_at, expires_at)
    select sha256((${expiry} || n)::bytea), ${id}, 'password', 'en', 1, now() + ${expiry}::interval, now() + interval '1 hour'
    from generate_series(1, 1500) as n`;
  await insert('-25 hours').execute(db);
  await insert('-23 hours').execute(db);
  expect(await sweep(() => deleteEndedSessions(db))).toBe(1_500);
  expect(await sweep(() => deleteEndedSessions(db))).toBe(0);
  expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
});

test('removes tokens that a profile switch has replaced, and keeps those by which reuse is recognised (rule 12)', async () => {
  const { db } = service();
  await service().createUser('grace');
  let cookie = await service().signIn('grace');
  cookie = cookieOf(await service().call('POST', '/auth/refresh', { cookie }));
  const switched = cookie;
  cookie = cookieOf(await service().call('POST', '/auth/profile', { cookie }));
  const kept = () => db.selectFrom('superseded_token').select('refreshed').orderBy('superseded_at').execute();
  expect(await deleteReplacedTokens(db, 1_000)).toBe(0);
  expect(await kept()).toEqual([{ refreshed: true }, { refreshed: false }]);
  await db
    .updateTable('superseded_token')
    .set({ superseded_at: sql`superseded_at - interval '61 minutes'` })
    .execute();
  expect(await deleteReplacedTokens(db, 1_000)).toBe(1);
  expect(await kept()).toEqual([{ refreshed: true }]);
  expect((await service().call('GET', '/auth', { cookie: switched })).status).toBe(401);
  expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
});
