/**
 * The process that served a request refuses at once what the request ended (rules 14 and 17). In these tests PostgreSQL sends no
 * notification, so the process must remove the session from its cache itself.
 */
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { Actions } from '../support/actions.ts';
import { sessionOf } from '../support/clock.ts';
import { cookieOf, useService } from '../support/service.ts';

const service = useService();
const act = new Actions(service);
let users = 0;

interface Ending {
  user: string;
  userId: string;
  cookie: string;
  /** The public id of another session of the user. */
  other: string;
}

beforeAll(async () => {
  await sql`alter table session disable trigger session_changed`.execute(service().db);
});

/** A session whose principal this process has cached. */
async function remembered(): Promise<Ending> {
  const user = `user${users++}`;
  const { id: userId } = await service().createUser(user);
  const [cookie, other] = [await service().openSession(userId), await service().openSession(userId)];
  expect(await status(cookie)).toBe(404);
  return { user, userId, cookie, other };
}

const status = async (cookie: string) => (await service().call('GET', '/rest/entity/note/1', { cookie })).status;

test('a session that another process ends stays cached if no notification comes', async () => {
  const { userId } = await remembered();
  const { principals } = service().context;
  const before = principals.size;
  await sql`update session set revoked_at = now(), revoked_reason = 'revoked' where user_id = ${userId}`.execute(service().db);
  await service().settle();
  expect([before, principals.size]).toEqual([1, 1]);
});

const show = (cookie: string) => service().call('GET', '/auth', { cookie });

test.each<[string, (ending: Ending) => Promise<{ status: number }>]>([
  ['a sign-in that evicts it', evict],
  ['a sign-in with its cookie', ({ user, cookie }) => act.signIn(user, cookie)],
  ['a logout', ({ cookie }) => act.logOut(cookie)],
  ['a switch of the profile and a request with its token', async ({ cookie }) => show(cookieOf(await act.selectProfile(cookie)))],
  ['a new password', ({ cookie }) => act.changePassword(cookie)],
  ['its revocation', async ({ cookie, other }) => act.revokeSession(other, (await sessionOf(service(), cookie)).id)],
  ['the revocation of all other sessions', ({ other }) => act.revokeOtherSessions(other)],
])('401 — after %s, without a notification (rules 14 and 17)', async (_what, end) => {
  const ending = await remembered();
  expect((await end(ending)).status).toBeLessThan(300);
  expect(await status(ending.cookie)).toBe(401);
});

/** Makes the session the longest idle of fifty, caches it again, and signs in (rule 13). */
async function evict({ user, userId, cookie }: Ending): Promise<{ status: number }> {
  for (let count = 0; count < 48; count++) await service().openSession(userId);
  expect(await status(cookie)).toBe(404);
  const { id } = await sessionOf(service(), cookie);
  await sql`update session set last_seen_at = now() - interval '10 minutes' where id = ${id}`.execute(service().db);
  const answer = await act.signIn(user);
  expect(await sessionOf(service(), cookie)).toMatchObject({ revoked_reason: 'evicted' });
  return answer;
}
