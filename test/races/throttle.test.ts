/** Fifty concurrent guesses do not exceed the limit, and fifty concurrent right passwords are not limited. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import { parallel, race, raceRounds, statuses, timeoutOf } from '../support/races.ts';
import { password, useService } from '../support/service.ts';

const service = useService();
const rounds = raceRounds();
/** Each round compares all its passwords with argon2id, 1.5 s of processor time; a round does not differ from the next. */
const acceptedRounds = Math.ceil(rounds / 5);
const login = (secret: string) => service().call('POST', '/auth', { form: { user: 'ada', password: secret } });
const forget = () => service().db.deleteFrom('login_attempt').execute();

beforeAll(async () => {
  service().waitPatiently();
  await service().createUser('ada');
});
afterEach(forget);

test(
  `429 — of ${parallel} parallel guesses at most five are verified, then the right password is refused, ${rounds} rounds (rule 41)`,
  { timeout: timeoutOf(rounds) },
  async () => {
    for (let round = 0; round < rounds; round += 1) {
      const answers = await race(parallel, (index) => login(`wrong guess number ${index}`));
      const { 401: evaluated = 0, ...others } = statuses(answers);
      expect(others).toEqual({ 429: parallel - evaluated });
      expect(evaluated).toBeGreaterThan(0);
      expect(evaluated).toBeLessThanOrEqual(5);
      for (const { status, headers } of answers) expect(Number(headers.get('retry-after')) > 0).toBe(status === 429);
      await service()
        .db.updateTable('login_attempt')
        .set({ blocked_until: new Date(Date.now() + 60_000) })
        .execute();
      expect((await login(password)).status).toBe(429);
      await forget();
    }
  },
);

test(
  `200 — ${parallel} parallel logins with the right password all succeed, ${acceptedRounds} rounds (rule 41)`,
  { timeout: timeoutOf(acceptedRounds) },
  async () => {
    for (let round = 0; round < acceptedRounds; round += 1) {
      expect(statuses(await race(parallel, () => login(password)))).toEqual({ 200: parallel });
    }
  },
);
