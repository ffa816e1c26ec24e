import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { sessionOf } from '../support/clock.ts';
import { useService } from '../support/service.ts';

const service = useService();
const paths = ['/auth', '/rest/entity/note/1'];
const statuses = async (cookie: string) => {
  const seen = [];
  for (const path of paths) seen.push((await service().call('GET', path, { cookie })).status);
  return seen;
};
const eventsOf = async (id: string) => {
  const rows = service().db.selectFrom('audit_event').where('session_id', '=', id).select(['event', 'user_name']).orderBy('id');
  return (await rows.execute()).filter(({ event }) => event !== 'login.ok' && event !== 'session.created');
};

describe('the cookie of an ended session', () => {
  beforeAll(async () => {
    await service().createUser('ada');
  });

  test.each(['idle_expires_at', 'expires_at'] as const)(
    '401 — past its deadline (%s) it is audited as expired at its first use (rule 85)',
    async (deadline) => {
      const cookie = await service().signIn('ada');
      expect(await statuses(cookie)).toEqual([200, 404]);
      const { id } = await sessionOf(service(), cookie);
      await service()
        .db.updateTable('session')
        .set({ [deadline]: sql`now()` })
        .where('id', '=', id)
        .execute();
      await service().settle();
      expect(await Promise.all(Array.from({ length: 10 }, () => statuses(cookie)))).toEqual(Array.from({ length: 10 }, () => [401, 401]));
      expect(await eventsOf(id)).toEqual([{ event: 'session.expired', user_name: 'ada' }]);
      expect((await sessionOf(service(), cookie)).revoked_reason).toBe('expired');
    },
  );

  test('401 — after a logout it is never audited as expired, even past its deadlines', async () => {
    const cookie = await service().signIn('ada');
    const { id } = await sessionOf(service(), cookie);
    expect((await service().call('HEAD', '/auth?logout=1', { cookie })).status).toBe(204);
    await service()
      .db.updateTable('session')
      .set({ expires_at: sql`now()` })
      .where('id', '=', id)
      .execute();
    expect(await statuses(cookie)).toEqual([401, 401]);
    expect(await eventsOf(id)).toEqual([{ event: 'logout', user_name: 'ada' }]);
  });

  test('401 — a token that was never issued leaves no event', async () => {
    const before = await service().db.selectFrom('audit_event').select('id').execute();
    expect(await statuses(`sid=${'a'.repeat(32)}`)).toEqual([401, 401]);
    expect(await service().db.selectFrom('audit_event').select('id').execute()).toHaveLength(before.length);
  });
});
