/** After a refresh the replaced token serves requests in flight, until the session changes in any other way (rules 15, 20 and 44). */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Actions, nextPassword } from '../support/actions.ts';
import { agingToken, sessionOf } from '../support/clock.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { cookieOf, TestService, useService } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

const corp = await TestIssuer.start('corp');
const issuersFile = await writeIssuers(await corp.loginEntry());
const service = useService({ ISSUERS_FILE: issuersFile });
const act = new Actions(service);
let replica: TestService;
let users = 0;

beforeAll(async () => {
  replica = await service().replica({ ISSUERS_FILE: issuersFile });
});
afterAll(() => replica.close());

interface Refreshed {
  user: string;
  userId: string;
  /** The token that a refresh has just replaced. */
  old: string;
  /** The session's present token. */
  present: string;
  /** The token of another session of the same user. */
  other: string;
  sessionId: string;
}

/** A session that was opened at the provider and refreshed once. */
async function refreshed(): Promise<Refreshed> {
  const user = `user${users++}`;
  const { id: userId } = await service().createUser(user);
  await service().createProfile(userId, `${user}-second`, {});
  await service().link(corp, user, user);
  const browser = new BrowserSession(service());
  expect((await browser.signIn(corp, user)).status).toBe(303);
  const old = `sid=${browser.cookies.get('sid')}`;
  const present = cookieOf(await act.refresh(old));
  const { id: sessionId } = await sessionOf(service(), present);
  return { user, userId, old, present, other: await service().openSession(userId), sessionId };
}

const read = async (at: TestService, cookie: string) => (await at.call('GET', '/rest/entity/note/1', { cookie })).status;
const everywhere = async (cookie: string) => [await read(service(), cookie), await read(replica, cookie)];
const keysOf = (userId: string) => service().db.selectFrom('api_key').where('user_id', '=', userId).select('id').execute();

describe('the replaced token', () => {
  test('201 — serves requests in flight during a refresh on every replica, even one that creates a key (rule 20)', async () => {
    const { userId, old } = await refreshed();
    expect(await everywhere(old)).toEqual([404, 404]);
    expect((await act.createKey(old)).status).toBe(201);
    expect(await keysOf(userId)).toHaveLength(1);
  });

  test('404 — still serves after further refreshes, as does each token in between (rule 20)', async () => {
    const { old, present } = await refreshed();
    const third = cookieOf(await act.refresh(present));
    const fourth = cookieOf(await act.refresh(third));
    for (const cookie of [old, present, third, fourth]) expect(await everywhere(cookie)).toEqual([404, 404]);
  });

  test('404 — serves after a refresh that follows a profile switch, while the token before the switch does not (rule 20)', async () => {
    const { present } = await refreshed();
    const switched = cookieOf(await act.selectProfile(present));
    const next = cookieOf(await act.refresh(switched));
    for (const cookie of [switched, next]) expect(await everywhere(cookie)).toEqual([404, 404]);
    expect(await everywhere(present)).toEqual([401, 401]);
  });
});

type End = (session: Refreshed) => Promise<unknown>;
const status = async (answer: Promise<{ status: number }>) => (await answer).status;
const done = async (run: Promise<{ code: number | null }>) => (await run).code;

test.each<[string, End, unknown]>([
  ['a password change', ({ present }) => status(act.changePassword(present)), 204],
  ['a password change in another session', ({ other }) => status(act.changePassword(other)), 204],
  [
    'a password that an administrator sets',
    ({ user }) => done(act.administer(['user', 'set-password', user, '--password-stdin'], nextPassword)),
    0,
  ],
  ['a switch to another profile', ({ user, present }) => switchAndUse(present, `${user}-second`), 200],
  ['a switch to the profile that it has', ({ present }) => switchAndUse(present), 200],
  ['a logout', ({ present }) => status(act.logOut(present)), 204],
  ['a logout with the replaced token', ({ old }) => status(act.logOut(old)), 204],
  ['the end of the session by its user', ({ present, sessionId }) => status(act.revokeSession(present, sessionId)), 204],
  ['the end of the session from another one', ({ other, sessionId }) => status(act.revokeSession(other, sessionId)), 204],
  ['the end of all but another session', ({ other }) => status(act.revokeOtherSessions(other)), 200],
  ['a logout at the provider', ({ user }) => status(act.logOutByProvider(corp, user)), 200],
  ['a sign-in that carries the cookie', ({ user, present }) => status(act.signIn(user, present)), 200],
  ['disabling the user', ({ user }) => done(act.administer(['user', 'disable', user])), 0],
  ['unlinking the identity', ({ user }) => done(act.administer(['identity', 'unlink', user, '--issuer', corp.url, '--subject', user])), 0],
  ['the removal of its link by the user', ({ user, other }) => removeLink(user, other), 204],
  ['its eviction by fifty other sessions', evict, 'evicted'],
  ['the reuse of an older token', reuse, 401],
])('401 — after %s, at once and on every replica, and creates no key (rules 15, 20 and 44)', async (_what, change, result) => {
  const session = await refreshed();
  const { userId, old, present } = session;
  for (const cookie of [old, present]) expect(await everywhere(cookie)).toEqual([404, 404]);
  expect(await change(session)).toBe(result);
  for (const cookie of [old, present]) {
    expect(await everywhere(cookie)).toEqual([401, 401]);
    for (const at of [service(), replica]) expect((await at.call('GET', '/auth', { cookie })).status).toBe(401);
    expect((await act.createKey(cookie)).status).toBe(401);
  }
  expect(await keysOf(userId)).toEqual([]);
});

test('401 — the replaced token serves for ten seconds and no longer, although it was used a moment before (rule 20)', async () => {
  const { old, present } = await refreshed();
  expect(await everywhere(present)).toEqual([404, 404]);
  expect(await everywhere(old)).toEqual([404, 404]);
  // Only the clock moves, so no process is told of it.
  await agingToken(service(), old, 10);
  expect(await everywhere(old)).toEqual([401, 401]);
});

test('200 — the token that a profile switch replaced, used within ten seconds, does not end the new token (rule 20)', async () => {
  const { user, old, present } = await refreshed();
  const switched = cookieOf(await act.selectProfile(present, `${user}-second`));
  expect((await service().call('GET', '/auth', { cookie: old })).status).toBe(401);
  expect((await service().call('GET', '/auth', { cookie: switched })).status).toBe(200);
});

test('401 — a token that a refresh replaced before a profile switch still reveals a theft after ten seconds (rule 20)', async () => {
  const { user, old, present, sessionId } = await refreshed();
  const switched = cookieOf(await act.selectProfile(present, `${user}-second`));
  await agingToken(service(), old, 11);
  expect((await service().call('GET', '/auth', { cookie: old })).status).toBe(401);
  expect((await service().call('GET', '/auth', { cookie: switched })).status).toBe(401);
  const events = await service().db.selectFrom('audit_event').where('session_id', '=', sessionId).select('event').execute();
  expect(events).toContainEqual({ event: 'session.reuse_detected' });
});

/** The user switches the profile, and the client uses the new token once. */
async function switchAndUse(cookie: string, profile?: string): Promise<number> {
  const next = cookieOf(await act.selectProfile(cookie, profile));
  return (await replica.call('GET', '/auth', { cookie: next })).status;
}

/** The user removes the link of the identity in the session `cookie`. */
async function removeLink(subject: string, cookie: string): Promise<number> {
  const { id } = await service().db.selectFrom('identity').where('subject', '=', subject).select('id').executeTakeFirstOrThrow();
  return (await service().call('DELETE', `/auth/identities/${id}`, { cookie })).status;
}

/** Makes the session the longest idle of fifty-one. The sign-in that evicts it does not wait for the other replica. */
async function evict({ userId, sessionId }: Refreshed): Promise<unknown> {
  await sql`update session set last_seen_at = now() - interval '10 minutes' where id = ${sessionId}`.execute(service().db);
  for (let count = 0; count < 49; count++) await service().openSession(userId);
  await service().settle();
  return (await service().db.selectFrom('session').where('id', '=', sessionId).select('revoked_reason').executeTakeFirstOrThrow())
    .revoked_reason;
}

/** Uses a former token of the session, which a refresh replaced eleven seconds ago. */
async function reuse({ present }: Refreshed): Promise<unknown> {
  const next = cookieOf(await act.refresh(present));
  expect(await read(service(), next)).toBe(404);
  await agingToken(service(), present, 11);
  const answered = await read(service(), present);
  await service().settle();
  return answered;
}
