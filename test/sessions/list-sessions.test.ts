import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../generated/api.ts';
import { cookieOf, password, useService } from '../support/service.ts';
import { sessionOf } from '../support/clock.ts';

type SessionList = components['schemas']['SessionList'];

const service = useService();
const list = (cookie: string) => service().call<SessionList>('GET', '/auth/sessions', { cookie });

describe('listSessions', () => {
  beforeAll(async () => {
    for (const name of ['ada', 'bob', 'eve']) await service().createUser(name);
    await service().createUser('plain', null);
  });

  test('200 — returns all live sessions of the user, the newest first, and marks the caller’s', async () => {
    const first = await service().signIn('ada');
    const second = cookieOf(
      await service().call('POST', '/auth', { form: { user: 'ada', password }, headers: { 'user-agent': 'Phone/1.0' } }),
    );
    const answer = await list(first);
    expect(answer.status, answer.text).toBe(200);
    const { sessions } = answer.body;
    expect(sessions.map(({ id }) => id)).toEqual([(await sessionOf(service(), second)).id, (await sessionOf(service(), first)).id]);
    expect(sessions.map(({ current }) => current)).toEqual([false, true]);
    expect(sessions[0]).toMatchObject({ userAgent: 'Phone/1.0', address: '127.0.0.1', method: 'password', issuer: null, profile: 'ada' });
    const { session } = (await service().call<{ session: object }>('GET', '/auth', { cookie: first })).body;
    expect(sessions[1]).toMatchObject(session);
  });

  test('200 — returns sessions of the same instant always in the same order', async () => {
    const { id } = await service().createUser('twins');
    const [cookie = ''] = await Promise.all(Array.from({ length: 6 }, () => service().openSession(id)));
    await sql`update session set created_at = now() where user_id = ${id}`.execute(service().db);
    const ids = (await list(cookie)).body.sessions.map((session) => session.id);
    expect(ids).toHaveLength(6);
    expect(ids).toEqual(ids.toSorted());
  });

  test('200 — the profile is null for a user without a profile', async () => {
    const { body } = await list(await service().signIn('plain'));
    expect(body.sessions).toMatchObject([{ profile: null, current: true }]);
  });

  test('200 — leaves out ended sessions and those of other users', async () => {
    const cookie = await service().signIn('bob');
    await service().signIn('eve');
    for (const column of ['revoked_at', 'idle_expires_at', 'expires_at'] as const) {
      const over = await service().signIn('bob');
      expect((await list(cookie)).body.sessions).toHaveLength(2);
      await service()
        .db.updateTable('session')
        .set({ [column]: sql`now()` })
        .where('id', '=', (await sessionOf(service(), over)).id)
        .execute();
      expect((await list(cookie)).body.sessions).toMatchObject([{ current: true }]);
    }
  });

  test('200 — contains no token and no token hash (rule 11)', async () => {
    const cookie = await service().signIn('eve');
    const { text } = await list(cookie);
    const { token_hash: hash } = await sessionOf(service(), cookie);
    const token = cookie.slice('sid='.length);
    expect(text).toContain('"current":true');
    for (const secret of [token, hash.toString('hex'), hash.toString('base64'), hash.toString('base64url')]) {
      expect(text).not.toContain(secret);
    }
  });
});
