/** Fifty concurrent refreshes with one cookie, like a page with many tabs. Each round uses the new token of the one before. */
import { expect, test } from 'vitest';
import { sessionOf } from '../support/clock.ts';
import { parallel, race, raceRounds, statuses, timeoutOf } from '../support/races.ts';
import { cookieOf, useService } from '../support/service.ts';

const service = useService();
const rounds = raceRounds();

test(
  `200 — of ${parallel} parallel refreshes with one cookie one gets a new token, and the session goes on, ${rounds} rounds (rule 19)`,
  { timeout: timeoutOf(rounds) },
  async () => {
    const { id } = await service().createUser('ada');
    let cookie = await service().openSession(id);
    const session = await sessionOf(service(), cookie);
    for (let round = 0; round < rounds; round += 1) {
      // Removes the limit of six a minute, which is another rule.
      await service().db.deleteFrom('superseded_token').where('session_id', '=', session.id).execute();
      const present = cookie;
      const answers = await race(parallel, () => service().call('POST', '/auth/refresh', { cookie: present }));
      expect(statuses(answers)).toEqual({ 200: 1, 409: parallel - 1 });
      for (const answer of answers) {
        if (answer.status === 200) cookie = cookieOf(answer);
        else expect(answer.headers.getSetCookie()).toEqual([]);
      }
      expect(cookie).not.toBe(present);
      const shown = await race(2, (index) => service().call('GET', '/auth', { cookie: index === 0 ? present : cookie }));
      expect(statuses(shown), 'the superseded token and the new one').toEqual({ 200: 2 });
    }
    expect((await sessionOf(service(), cookie)).id).toBe(session.id);
  },
);
