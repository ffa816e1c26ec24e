import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../support/service.ts';
import { sessionOf } from '../support/clock.ts';

const service = useService();
const status = async (cookie: string) => (await service().call('GET', '/auth', { cookie })).status;
const revokeOthers = (cookie: string) => service().call<{ ended: number }>('DELETE', '/auth/sessions', { cookie });

describe('revokeOtherSessions', () => {
  beforeAll(async () => {
    for (const name of ['ada', 'bob', 'eve']) await service().createUser(name);
  });

  test('200 — ends all other live sessions of the user, returns their number, and leaves other users alone', async () => {
    const [mine, phone, tablet] = [await service().signIn('ada'), await service().signIn('ada'), await service().signIn('ada')];
    const foreign = await service().signIn('bob');
    const expired = await sessionOf(service(), await service().signIn('ada'));
    await service()
      .db.updateTable('session')
      .set({ expires_at: sql`now()` })
      .where('id', '=', expired.id)
      .execute();
    const answer = await revokeOthers(mine);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toEqual({ ended: 2 });
    expect(await Promise.all([mine, phone, tablet, foreign].map(status))).toEqual([200, 401, 401, 200]);
    const events = await service().db.selectFrom('audit_event').where('event', '=', 'session.revoked').selectAll().execute();
    const { id } = await sessionOf(service(), mine);
    expect(events).toHaveLength(2);
    expect(events.every((event) => event.user_name === 'ada' && event.detail['bySession'] === id)).toBe(true);
  });

  test('200 — without other sessions', async () => {
    const cookie = await service().signIn('eve');
    expect((await revokeOthers(cookie)).body).toEqual({ ended: 0 });
    expect(await status(cookie)).toBe(200);
  });

  test('401 — of several sessions that end each other concurrently exactly one stays', async () => {
    for (let round = 0; round < 5; round++) {
      await revokeOthers(await service().signIn('eve'));
      const cookies = [];
      for (let n = 0; n < 5; n++) cookies.push(await service().signIn('eve'));
      const answers = await Promise.all(cookies.map(revokeOthers));
      expect(answers.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([200, 401, 401, 401, 401]);
      expect((await Promise.all(cookies.map(status))).sort((a, b) => a - b)).toEqual([200, 401, 401, 401, 401]);
    }
  });
});
