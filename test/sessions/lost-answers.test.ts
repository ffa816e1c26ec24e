/**
 * The answer of a transition may be lost, so that the client has the former token only. It goes on until the new token is used (rules 15 and 20).
 * RFC 9700, section 4.14.2, describes the reuse of a token that was replaced.
 */
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Actions } from '../support/actions.ts';
import { agingToken, sessionOf } from '../support/clock.ts';
import { whileWaiting } from '../support/entities.ts';
import { cookieOf, TestService, useService } from '../support/service.ts';

const service = useService();
const act = new Actions(service);
let replica: TestService;
let users = 0;

beforeAll(async () => {
  replica = await service().replica();
});
afterAll(() => replica.close());

/** A new session, whose user has a second profile. */
async function opened(): Promise<{ user: string; cookie: string; sessionId: string }> {
  const user = `user${users++}`;
  const { id } = await service().createUser(user);
  await service().createProfile(id, `${user}-second`, { note: ['read'] });
  const cookie = await service().openSession(id);
  return { user, cookie, sessionId: (await sessionOf(service(), cookie)).id };
}

const read = async (at: TestService, cookie: string) => (await at.call('GET', '/rest/entity/note/1', { cookie })).status;
const everywhere = async (cookie: string) => [await read(service(), cookie), await read(replica, cookie)];
const show = async (cookie: string) => (await replica.call('GET', '/auth', { cookie })).status;
const eventsOf = async (sessionId: string) =>
  (await service().db.selectFrom('audit_event').where('session_id', '=', sessionId).select('event').execute()).map(({ event }) => event);

/** Each transition that hands out another token of the same session. */
const transitions: Record<string, (cookie: string, user: string) => ReturnType<typeof act.refresh>> = {
  'a refresh': (cookie) => act.refresh(cookie),
  'a switch to another profile': (cookie, user) => act.selectProfile(cookie, `${user}-second`),
  'a switch to the default profile': (cookie) => act.selectProfile(cookie),
};

describe.for(Object.entries(transitions))('%s whose answer is lost', ([, transition]) => {
  test('200 — the former token goes on, in each replica, and may do the same again after ten seconds (rule 20)', async () => {
    const { user, cookie, sessionId } = await opened();
    expect((await transition(cookie, user)).status).toBe(200);
    expect((await transition(cookie, user)).status, 'the answer may be under way').toBe(409);
    await agingToken(service(), cookie, 11);
    for (const at of [service(), replica]) expect((await at.call('GET', '/auth', { cookie })).status).toBe(200);
    expect(await everywhere(cookie)).toEqual([404, 404]);

    const again = await transition(cookie, user);
    expect(again.status, again.text).toBe(200);
    await agingToken(service(), cookie, 11);
    expect(await everywhere(cookie), 'the second answer is lost as well').toEqual([404, 404]);
    const third = await transition(cookie, user);
    expect(await everywhere(cookieOf(third))).toEqual([404, 404]);
    expect(await eventsOf(sessionId)).not.toContain('session.reuse_detected');
  });

  test('401 — the former token, once the new one was used on another replica (rules 15 and 20)', async () => {
    const { user, cookie } = await opened();
    const next = cookieOf(await transition(cookie, user));
    expect(await read(service(), cookie)).toBe(404);
    expect(await read(replica, next)).toBe(404);
    await agingToken(service(), cookie, 11);
    expect(await everywhere(cookie)).toEqual([401, 401]);
  });

  test('204 — a logout with the former token ends the session, and no token works (rule 21)', async () => {
    const { user, cookie } = await opened();
    const next = cookieOf(await transition(cookie, user));
    await agingToken(service(), cookie, 11);
    expect((await act.logOut(cookie)).status).toBe(204);
    for (const token of [cookie, next]) expect(await everywhere(token)).toEqual([401, 401]);
  });

  test('204 — a new password ends the former token, also if its own answer is lost (rules 15 and 44)', async () => {
    const { user, cookie } = await opened();
    const next = cookieOf(await transition(cookie, user));
    await agingToken(service(), cookie, 11);
    const changed = await act.changePassword(cookie);
    expect(changed.status, changed.text).toBe(204);
    for (const token of [cookie, next]) expect(await everywhere(token)).toEqual([401, 401]);
    expect(await everywhere(cookieOf(changed))).toEqual([404, 404]);
  });
});

test('200 and 401 — requests in flight with the former token, when the answer of a refresh arrives late: they have ten seconds from then (rule 20)', async () => {
  const { cookie, sessionId } = await opened();
  const late = cookieOf(await act.refresh(cookie));
  await agingToken(service(), cookie, 12);
  expect(await show(late)).toBe(200);
  expect(await everywhere(cookie)).toEqual([404, 404]);
  expect(await eventsOf(sessionId)).not.toContain('session.reuse_detected');
  await agingToken(service(), cookie, 11);
  expect(await show(cookie)).toBe(401);
  await service().settle();
  expect(await everywhere(late)).toEqual([401, 401]);
  expect(await eventsOf(sessionId)).toContain('session.reuse_detected');
});

test('200 — each token of several refreshes whose answers come late goes on until one of them is used (rule 20)', async () => {
  const { cookie, sessionId } = await opened();
  const late: string[] = [];
  for (let count = 0; count < 3; count++) {
    const refreshed = await act.refresh(cookie);
    expect(refreshed.status, refreshed.text).toBe(200);
    late.push(cookieOf(refreshed));
    await agingToken(service(), undefined, 11, sessionId);
  }
  for (const token of [cookie, ...late.slice(0, 2)]) expect(await everywhere(token)).toEqual([404, 404]);
  const [first = ''] = late;
  const next = await act.refresh(first);
  expect(next.status, next.text).toBe(200);
  expect(await everywhere(cookieOf(next))).toEqual([404, 404]);
  expect(await eventsOf(sessionId)).not.toContain('session.reuse_detected');
  await agingToken(service(), undefined, 11, sessionId);
  expect(await show(late[2] ?? '')).toBe(401);
  await service().settle();
  expect(await everywhere(cookieOf(next))).toEqual([401, 401]);
});

test('409 and 429 — the token before the sixth refresh of a minute: its client waits for the answer, then for the limit (rules 18 and 20)', async () => {
  const { cookie, sessionId } = await opened();
  let former = cookie;
  for (let count = 0; count < 5; count++) former = cookieOf(await act.refresh(former));
  expect((await act.refresh(former)).status).toBe(200);
  const early = await act.refresh(former);
  expect([early.status, early.headers.get('retry-after')]).toEqual([409, null]);

  await agingToken(service(), former, 11);
  const refused = await act.refresh(former);
  expect(refused.status, refused.text).toBe(429);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(1);
  expect(seconds).toBeLessThanOrEqual(60);
  expect((await act.selectProfile(former)).status, 'the limit is one of refreshes').toBe(200);

  await agingToken(service(), undefined, 61, sessionId);
  expect((await act.refresh(former)).status).toBe(200);
});

/** Moves the times of all tokens of the session back. */
const passSeconds = (seconds: number, sessionId: string) =>
  sql`update superseded_token set superseded_at = superseded_at - make_interval(secs => ${seconds}),
    refreshed_at = refreshed_at - make_interval(secs => ${seconds}) where session_id = ${sessionId}`.execute(service().db);

test('200 — a refresh each 15 seconds whose answers are lost, for minutes: each counts at its own time (rules 18 and 20)', async () => {
  const { cookie, sessionId } = await opened();
  for (let count = 0; count < 12; count++) {
    const refreshed = await act.refresh(cookie);
    expect(refreshed.status, `${count}: ${refreshed.text}`).toBe(200);
    await passSeconds(15, sessionId);
  }
  expect(await eventsOf(sessionId)).not.toContain('session.reuse_detected');
});

test('429 and 200 — the seventh refresh, of which the last four answers were lost, before and after a minute since the first one (rules 18 and 20)', async () => {
  const { user, cookie, sessionId } = await opened();
  // A switch to another profile is no refresh.
  const switched = cookieOf(await act.selectProfile(cookie, `${user}-second`));
  const former = cookieOf(await act.refresh(cookieOf(await act.refresh(switched))));
  expect((await act.refresh(former)).status).toBe(200);
  for (let count = 0; count < 3; count++) {
    await passSeconds(10.5, sessionId);
    expect((await act.refresh(former)).status).toBe(200);
  }
  await passSeconds(10.5, sessionId);
  const early = await act.refresh(former);
  expect(early.status, early.text).toBe(429);
  const seconds = Number(early.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(8);
  expect(seconds).toBeLessThanOrEqual(18);
  await passSeconds(14, sessionId);
  expect((await act.refresh(former)).status).toBe(429);
  await passSeconds(5, sessionId);
  expect((await act.refresh(former)).status).toBe(200);
});

test('401 — a stolen token that refreshes while the user has the newer one, which ends the session (rule 20)', async () => {
  const { cookie: stolen, sessionId } = await opened();
  const ofUser = cookieOf(await act.refresh(stolen));
  await agingToken(service(), stolen, 11);
  const ofThief = cookieOf(await act.refresh(stolen));
  expect(await show(ofThief)).toBe(200);
  await agingToken(service(), undefined, 11, sessionId);
  expect(await show(ofUser)).toBe(401);
  await service().settle();
  expect(await everywhere(ofThief)).toEqual([401, 401]);
  expect(await eventsOf(sessionId)).toContain('session.reuse_detected');
});

test.each([
  [200, 'becomes the predecessor of an unused token again', true],
  [401, 'stays as it is', false],
])(
  '%s for the present token — a reused token %s between the look at it and the end of its session (rule 20)',
  async (status, _what, revived) => {
    const { cookie, sessionId } = await opened();
    const present = cookieOf(await act.refresh(cookie));
    expect(await show(present)).toBe(200);
    const { predecessor_hash: before } = await sessionOf(service(), present);
    expect(before).toBeNull();
    await agingToken(service(), cookie, 11);
    const reused = await whileWaiting(
      service(),
      sql`select from session where id = ${sessionId} for update`,
      () => service().call('GET', '/auth', { cookie }),
      async (trx) => {
        if (!revived) return;
        await sql`update session set unused_token_hash = token_hash, predecessor_hash = (
        select token_hash from superseded_token where session_id = ${sessionId}) where id = ${sessionId}`.execute(trx);
      },
    );
    expect(reused.status).toBe(401);
    await service().settle();
    expect(await eventsOf(sessionId)).toEqual(
      revived ? expect.not.arrayContaining(['session.reuse_detected']) : expect.arrayContaining(['session.reuse_detected']),
    );
    expect(await show(present)).toBe(status);
  },
);

test('401 — the token before a profile switch or a new password, used late: the present token still works (rule 20)', async () => {
  const { user, cookie, sessionId } = await opened();
  const switched = cookieOf(await act.selectProfile(cookie, `${user}-second`));
  expect(await show(switched)).toBe(200);
  const changed = cookieOf(await act.changePassword(switched));
  await agingToken(service(), undefined, 11, sessionId);
  for (const old of [cookie, switched]) expect(await show(old)).toBe(401);
  expect(await show(changed)).toBe(200);
  expect(await eventsOf(sessionId)).not.toContain('session.reuse_detected');
});

test('200 — the first use of a token writes one row, and its further uses none', async () => {
  const { cookie } = await opened();
  const next = cookieOf(await act.refresh(cookie));
  const version = async () =>
    (await sql<{ xmin: string }>`select xmin::text from session where id = ${(await sessionOf(service(), next)).id}`.execute(service().db))
      .rows[0]?.xmin;
  const before = await version();
  expect(await show(next)).toBe(200);
  const first = await version();
  expect(first).not.toBe(before);
  expect(await show(next)).toBe(200);
  expect(await version()).toBe(first);
});

test('200 — a superseded token is not cached, so it ends at the first use of its successor elsewhere (rule 17)', async () => {
  const { user, cookie } = await opened();
  const next = cookieOf(await act.selectProfile(cookie, `${user}-second`));
  for (let count = 0; count < 2; count++) expect(await everywhere(cookie)).toEqual([404, 404]);
  expect(await show(next)).toBe(200);
  expect(await everywhere(cookie)).toEqual([401, 401]);
});

test('200 — a client whose connection breaks at any moment of a refresh stays signed in (rule 20)', async () => {
  const { hostname, port } = new URL(service().url);
  for (const delayMs of [0, 1, 2, 4, 8, 16]) {
    const { cookie } = await opened();
    const socket = connect(Number(port), hostname);
    socket.write(`POST /auth/refresh HTTP/1.1\r\nHost: localhost:3000\r\nCookie: ${cookie}\r\nContent-Length: 0\r\n\r\n`);
    await setTimeout(delayMs);
    socket.destroy();
    const signedIn = async () => {
      await agingToken(service(), cookie, 11);
      expect(await show(cookie), `${delayMs} ms`).toBe(200);
      return (await act.refresh(cookie)).status;
    };
    // The refresh of the broken connection may end meanwhile.
    await expect.poll(signedIn).toBe(200);
  }
});
