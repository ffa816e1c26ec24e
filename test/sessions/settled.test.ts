/**
 * An operation that ends a session, a token or a key is answered after every process has removed it from its cache (rules 14, 15 and 17).
 * The answer waits for a process that has not yet confirmed.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Actions, nextPassword } from '../support/actions.ts';
import { sessionOf } from '../support/clock.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService } from '../support/service.ts';
import { SilentProcess } from '../support/silent-process.ts';

const corp = await TestIssuer.start('corp');
const issuersFile = await writeIssuers(await corp.loginEntry());
const service = useService({ ISSUERS_FILE: issuersFile });
const act = new Actions(service);
let silent: SilentProcess;
let users = 0;
let caller: Caller;

interface Caller {
  user: string;
  cookie: string;
  sessionId: string;
  otherId: string;
  keyId: string;
  identityId: string;
}

beforeAll(async () => {
  silent = await SilentProcess.start(service().databaseUrl);
});
afterAll(() => silent.stop());
afterEach(() => silent.answer());

beforeEach(async () => {
  const user = `user${users++}`;
  const { id } = await service().createUser(user);
  await service().link(corp, user, user);
  await act.signInByToken(corp, user);
  const [cookie, other] = [await service().openSession(id), await service().openSession(id)];
  caller = {
    user,
    cookie,
    sessionId: (await sessionOf(service(), cookie)).id,
    otherId: (await sessionOf(service(), other)).id,
    keyId: (await service().createKey(id)).slice(4, 16),
    identityId: await act.identityOf(cookie),
  };
});

type Act = (caller: Caller) => Promise<unknown>;
const status = async (answer: Promise<{ status: number }>) => (await answer).status;
const code = async (run: Promise<{ code: number | null }>) => (await run).code;

test.each<[unknown, string, Act]>([
  [204, 'changePassword', ({ cookie }) => status(act.changePassword(cookie))],
  [200, 'selectProfile', ({ cookie, user }) => status(act.selectProfile(cookie, user))],
  [200, 'selectDefaultProfile', ({ cookie }) => status(act.selectProfile(cookie))],
  [204, 'endSession', ({ cookie }) => status(act.logOut(cookie))],
  [204, 'revokeSession of another session', ({ cookie, otherId }) => status(act.revokeSession(cookie, otherId))],
  [204, 'revokeSession of the caller’s session', ({ cookie, sessionId }) => status(act.revokeSession(cookie, sessionId))],
  [200, 'revokeOtherSessions', ({ cookie }) => status(act.revokeOtherSessions(cookie))],
  [200, 'createSession with the cookie of a session, which it ends', ({ cookie, user }) => status(act.signIn(user, cookie))],
  [204, 'revokeKey', ({ cookie, keyId }) => status(act.revokeKey(cookie, keyId))],
  [201, 'rotateKey', ({ cookie, keyId }) => status(act.rotateKey(cookie, keyId))],
  [204, 'unlinkIdentity', ({ cookie, identityId }) => status(act.unlinkIdentity(cookie, identityId))],
  [200, 'logoutFromProvider', ({ user }) => status(act.logOutByProvider(corp, user))],
  [0, 'user disable', ({ user }) => code(act.administer(['user', 'disable', user]))],
  [0, 'user set-password', ({ user }) => code(act.administer(['user', 'set-password', user, '--password-stdin'], nextPassword))],
  [0, 'identity unlink', ({ user }) => code(act.administer(['identity', 'unlink', user, '--issuer', corp.url, '--subject', user]))],
  [0, 'key revoke', ({ keyId }) => code(act.administer(['key', 'revoke', keyId]))],
  [0, 'role revoke', ({ user }) => code(act.administer(['role', 'revoke', user, '--entity', '*', '--actions', 'read']))],
  [0, 'user profile remove', ({ user }) => code(act.administer(['user', 'profile', 'remove', user, user]))],
])('%s — %s waits for a process that has not yet confirmed (rules 14, 15 and 17)', async (result, _operation, run) => {
  let isAnswered = false;
  const answer = run(caller).finally(() => {
    isAnswered = true;
  });
  await Promise.race([silent.asked, answer]);
  // An answer that does not wait would arrive within this time.
  for (let count = 0; count < 20; count++) expect((await service().call('GET', '/health/ready')).status).toBe(200);
  expect(isAnswered, 'answered before the other process has confirmed').toBe(false);
  await silent.answer();
  expect(await answer).toBe(result);
});
