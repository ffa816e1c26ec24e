/** Fifty logins with the old password race the change of the password. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { parallel, race, raceRounds, statuses, timeoutOf } from '../support/races.ts';
import { cookieOf, password, useService } from '../support/service.ts';

const service = useService();
const rounds = raceRounds();

test(
  `401 — the change ends all sessions of ${parallel} racing logins, and its own session goes on, ${rounds} rounds (rule 44)`,
  { timeout: timeoutOf(rounds) },
  async () => {
    const { db } = service();
    service().waitPatiently();
    const { id } = await service().createUser('ada');
    let own = await service().openSession(id);
    let old = password;
    let opened = 0;
    let changes = 0;
    for (let round = 0; round < rounds; round += 1) {
      // Otherwise fifty new sessions would evict this one, by another rule.
      await sql`update session set last_seen_at = now() + interval '1 hour' where user_id = ${id} and revoked_at is null`.execute(db);
      const next = changes % 2 === 0 ? 'the tide comes in at seven' : 'the tide goes out at eleven';
      const form = { 'current-password': old, 'set-password': next, 'confirm-password': next };
      const changing = service().call('POST', '/auth/password', { cookie: own, form });
      // The change starts at a different time in each round, so that it ends before, during and after the logins.
      for (let start = 0; start < round % 8; start += 1) await service().call('GET', '/health/live');
      const answers = await race(parallel, () => service().call('POST', '/auth', { form: { user: 'ada', password: old } }));
      const changed = await changing;
      // Logins after the change are wrong guesses, of which five are verified.
      const { 200: granted = 0, 401: wrong = 0, 429: throttled = 0, ...others } = statuses(answers);
      expect({ others, sum: granted + wrong + throttled }).toEqual({ others: {}, sum: parallel });
      await db.deleteFrom('login_attempt').execute();
      expect(changed.status, changed.text).toBe(204);
      own = cookieOf(changed);
      old = next;
      changes += 1;
      opened += granted;
      const tokens = answers.filter(({ status }) => status === 200).map(cookieOf);
      const shown = await Promise.all(tokens.map((cookie) => service().call('GET', '/auth', { cookie })));
      expect(statuses(shown)).toEqual(granted === 0 ? {} : { 401: granted });
      expect((await service().call('GET', '/auth', { cookie: own })).status).toBe(200);
      const live = await db.selectFrom('session').where('user_id', '=', id).where('revoked_at', 'is', null).select('id').execute();
      expect(live).toHaveLength(1);
    }
    expect(changes).toBeGreaterThan(0);
    expect(opened, 'logins before the change').toBeGreaterThan(0);
  },
);
