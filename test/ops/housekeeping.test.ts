import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { deleteEndedSessions, sweep } from '../../src/ops/housekeeping.ts';
import { useService } from '../support/service.ts';

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
