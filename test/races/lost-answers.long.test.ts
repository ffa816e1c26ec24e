/**
 * Each transition that issues a token, while another process uses the former one and has its principal in the cache. The answer is lost, or the client gets
 * it: the former token goes on until the new one is used, and at no process for longer (rules 15, 17 and 20). `test/sessions/lost-answers.test.ts` has an
 * example of each.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Actions, nextPassword } from '../support/actions.ts';
import { agingToken, sessionOf } from '../support/clock.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { race, raceRounds, timeoutOf } from '../support/races.ts';
import { cookieOf, useService, type Answer, type TestService } from '../support/service.ts';

const corp = await TestIssuer.start('corp');
const issuersFile = await writeIssuers(await corp.loginEntry());
const service = useService({ ISSUERS_FILE: issuersFile });
const act = new Actions(service);
const rounds = raceRounds();
let replica: TestService;
let users = 0;

beforeAll(async () => {
  replica = await service().replica();
});
afterAll(() => replica.close());

const read = async (at: TestService, cookie: string) => (await at.call('GET', '/rest/entity/note/1', { cookie })).status;
const everywhere = (cookie: string) => Promise.all([read(service(), cookie), read(replica, cookie)]);

async function opened(): Promise<{ user: string; cookie: string; sessionId: string }> {
  const user = `user${users++}`;
  const { id } = await service().createUser(user);
  await service().createProfile(id, `${user}-second`, { note: ['read'] });
  const cookie = await service().openSession(id);
  return { user, cookie, sessionId: (await sessionOf(service(), cookie)).id };
}

/** Sends the transition, while the other process reads with the former token, which it has in its cache. */
async function racing(cookie: string, transition: () => Promise<Answer>): Promise<Answer> {
  expect(await everywhere(cookie)).toEqual([404, 404]);
  const [answer] = await Promise.all([transition(), race(8, () => read(replica, cookie))]);
  return answer;
}

const transitions: Record<string, (cookie: string, user: string) => Promise<Answer>> = {
  'a refresh': (cookie) => act.refresh(cookie),
  'a switch to another profile': (cookie, user) => act.selectProfile(cookie, `${user}-second`),
  'a switch to the default profile': (cookie) => act.selectProfile(cookie),
};

describe.for(Object.entries(transitions))('%s', ([, transition]) => {
  test(
    `200 — the former token goes on after a lost answer, and may do the same again, ${rounds} rounds (rule 20)`,
    { timeout: timeoutOf(rounds) },
    async () => {
      const { user, cookie, sessionId } = await opened();
      for (let round = 0; round < rounds; round += 1) {
        expect((await racing(cookie, () => transition(cookie, user))).status).toBe(200);
        await agingToken(service(), undefined, 61, sessionId);
        expect(await everywhere(cookie), 'a lost answer').toEqual([404, 404]);
      }
    },
  );

  test(
    `401 — the former token ends with the first use of the new one, at each process, ${rounds} rounds (rules 15 and 20)`,
    { timeout: timeoutOf(rounds) },
    async () => {
      for (let round = 0; round < rounds; round += 1) {
        const { user, cookie, sessionId } = await opened();
        const next = cookieOf(await racing(cookie, () => transition(cookie, user)));
        const [first, second] = round % 2 === 0 ? [service(), replica] : [replica, service()];
        expect(await read(first, next)).toBe(404);
        await agingToken(service(), undefined, 11, sessionId);
        expect([await read(second, cookie), await read(first, cookie)]).toEqual([401, 401]);
      }
    },
  );
});

test(
  `401 — a new password ends the former token at each process, although its answer is lost; the user signs in again, ${rounds} rounds (rule 44)`,
  { timeout: timeoutOf(rounds) },
  async () => {
    for (let round = 0; round < rounds; round += 1) {
      const { user, cookie } = await opened();
      expect((await racing(cookie, () => act.changePassword(cookie))).status).toBe(204);
      expect(await everywhere(cookie)).toEqual([401, 401]);
      expect((await service().call('POST', '/auth', { form: { user, password: nextPassword }, cookie })).status).toBe(200);
    }
  },
);

test(
  `200 — a sign-in whose answer is lost has ended the session of its cookie; the same sign-in succeeds again, ${rounds} rounds (rule 15)`,
  { timeout: timeoutOf(rounds) },
  async () => {
    for (let round = 0; round < rounds; round += 1) {
      const { user, cookie } = await opened();
      expect((await racing(cookie, () => act.signIn(user, cookie))).status).toBe(200);
      expect(await everywhere(cookie)).toEqual([401, 401]);
      const again = await act.signIn(user, cookie);
      expect([again.status, await everywhere(cookieOf(again))]).toEqual([200, [404, 404]]);
    }
  },
);

describe('the return from a provider whose answer is lost', () => {
  /** A browser with the cookie of an opened session. */
  const browserWith = (cookie: string) => {
    const browser = new BrowserSession(service());
    browser.cookies.set('sid', cookie.slice('sid='.length));
    return browser;
  };

  test('303 — of a sign-in: the session of the cookie has ended, the code is used up, and another sign-in succeeds (rules 15 and 52)', async () => {
    const { user, cookie } = await opened();
    await service().link(corp, user, user);
    const browser = browserWith(cookie);
    const path = await browser.visit(corp, await browser.start(corp), user);
    expect((await racing(cookie, () => service().call('GET', path, { cookie: browser.cookie }))).status).toBe(303);
    expect(await everywhere(cookie)).toEqual([401, 401]);
    const again = await browser.call('GET', path);
    expect([again.status, again.body.code]).toEqual([400, 'sign-in-failed']);
    expect((await browser.signIn(corp, user)).status).toBe(303);
    expect((await browser.call('GET', '/auth')).status).toBe(200);
  });

  test('303 — of a link: the session goes on with its token, and the identity is linked (rule 56)', async () => {
    const { user, cookie } = await opened();
    const browser = browserWith(cookie);
    const { url } = (await browser.call<{ url: string }>('POST', '/auth/oidc/corp/link')).body;
    const path = await browser.visit(corp, new URL(url), `${user}-identity`);
    expect((await racing(cookie, () => service().call('GET', path, { cookie: browser.cookie }))).status).toBe(303);
    expect(await everywhere(cookie)).toEqual([404, 404]);
    expect((await browser.call('GET', path)).status).toBe(400);
    expect(await everywhere(cookie)).toEqual([404, 404]);
    expect((await new BrowserSession(service()).signIn(corp, `${user}-identity`)).status).toBe(303);
  });
});
