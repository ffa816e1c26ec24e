/** Forty-nine refreshes race one logout with the same cookie: after the acknowledgement the session must be over. */
import { expect, test } from 'vitest';
import { parallel, race, raceRounds, timeoutOf } from '../support/races.ts';
import { cookieOf, useService } from '../support/service.ts';

const service = useService();
const rounds = raceRounds();

test(
  `401 — after an acknowledged logout no token works, also not of ${parallel - 1} parallel refreshes, ${rounds} rounds (rule 21)`,
  { timeout: timeoutOf(rounds) },
  async () => {
    const { id } = await service().createUser('ada');
    let refreshed = 0;
    for (let round = 0; round < rounds; round += 1) {
      const cookie = await service().openSession(id);
      expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
      const tokens = new Set([cookie]);
      const first = Promise.withResolvers<void>();
      const refreshes = race(parallel - 1, async () => {
        const answer = await service().call('POST', '/auth/refresh', { cookie });
        expect([200, 401, 409]).toContain(answer.status);
        if (answer.status === 200) tokens.add(cookieOf(answer));
        first.resolve();
      });
      // In every other round the logout waits until a refresh has been answered, while the others are in progress. It may carry either
      // token.
      if (round % 2 === 1) await first.promise;
      const logout = await service().call('HEAD', '/auth?logout=1', { cookie: round % 4 === 3 ? ([...tokens].at(-1) ?? cookie) : cookie });
      expect(logout.status).toBe(204);
      const early = [...tokens].map((token) => service().call('GET', '/auth', { cookie: token }));
      expect(new Set((await Promise.all(early)).map(({ status }) => status)), 'before the last refresh is answered').toEqual(
        new Set([401]),
      );
      await refreshes;
      expect(tokens.size).toBeLessThanOrEqual(2);
      refreshed += tokens.size - 1;
      for (const token of tokens) {
        expect((await service().call('GET', '/auth', { cookie: token })).status).toBe(401);
        expect((await service().call('GET', '/rest/entity/note/1', { cookie: token })).status).toBe(401);
        expect((await service().call('POST', '/auth/refresh', { cookie: token })).status).toBe(401);
      }
    }
    expect(refreshed, 'rounds in which a refresh was first').toBeGreaterThan(0);
  },
);
