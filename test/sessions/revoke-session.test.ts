import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../support/service.ts';
import { sessionOf } from '../support/clock.ts';

const service = useService();
const status = async (cookie: string) => (await service().call('GET', '/auth', { cookie })).status;
const idOf = async (cookie: string) => (await sessionOf(service(), cookie)).id;
const revoke = (cookie: string, id: string) => service().call('DELETE', `/auth/sessions/${id}`, { cookie });

describe('revokeSession', () => {
  beforeAll(async () => {
    for (const name of ['ada', 'bob']) await service().createUser(name);
  });

  test('204 — ends another session of the user, and the caller’s session stays', async () => {
    const mine = await service().signIn('ada');
    const lost = await service().signIn('ada');
    const id = await idOf(lost);
    const answer = await revoke(mine, id);
    expect(answer.status, answer.text).toBe(204);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await status(lost)).toBe(401);
    expect(await status(mine)).toBe(200);
    const events = await service().db.selectFrom('audit_event').where('session_id', '=', id).selectAll().orderBy('id', 'desc').execute();
    expect(events[0]).toMatchObject({ event: 'session.revoked', outcome: 'ok', user_name: 'ada', detail: { bySession: await idOf(mine) } });
  });

  test('204 — a replica that has just served the session refuses it at once (rule 17)', async () => {
    const replica = await service().replica();
    try {
      const mine = await service().signIn('ada');
      const lost = await service().signIn('ada');
      const read = () => replica.call('GET', '/rest/entity/note/1', { cookie: lost });
      expect((await read()).status).toBe(404);
      expect((await revoke(mine, await idOf(lost))).status).toBe(204);
      expect((await read()).status).toBe(401);
    } finally {
      await replica.close();
    }
  });

  test('204 — ending the caller’s own session is a logout: its cookie is cleared and its token is refused', async () => {
    const cookie = await service().signIn('ada');
    const id = await idOf(cookie);
    const answer = await revoke(cookie, id.toUpperCase());
    expect(answer.status, answer.text).toBe(204);
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^sid=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/)]);
    expect(await status(cookie)).toBe(401);
    const row = await service().db.selectFrom('session').where('id', '=', id).select('revoked_reason').executeTakeFirstOrThrow();
    expect(row.revoked_reason).toBe('logout');
    const last = service().db.selectFrom('audit_event').where('session_id', '=', id).select('event').orderBy('id', 'desc');
    expect(await last.executeTakeFirst()).toEqual({ event: 'logout' });
  });

  test('404 — another user’s session stays unchanged, and the answer is that for an unknown session', async () => {
    const mine = await service().signIn('ada');
    const foreign = await service().signIn('bob');
    const refused = await revoke(mine, await idOf(foreign));
    const unknown = await revoke(mine, crypto.randomUUID());
    expect(refused.status).toBe(404);
    expect({ ...refused.body, instance: '' }).toEqual({ ...unknown.body, instance: '' });
    expect(await status(foreign)).toBe(200);
    expect((await sessionOf(service(), foreign)).revoked_at).toBeNull();
  });

  test('404 — an ended session cannot be ended again', async () => {
    const mine = await service().signIn('ada');
    const other = await idOf(await service().signIn('ada'));
    expect((await revoke(mine, other)).status).toBe(204);
    expect((await revoke(mine, other)).status).toBe(404);
    const expired = await idOf(await service().signIn('ada'));
    await service()
      .db.updateTable('session')
      .set({ idle_expires_at: sql`now()` })
      .where('id', '=', expired)
      .execute();
    expect((await revoke(mine, expired)).status).toBe(404);
  });

  test.each(['9f1c2a34', 'urn:uuid:9f1c2a34-58d0-4b6e-9a71-0c5d8e3f2b17', 'current'])('400 — %s is not a handle', async (id) => {
    const answer = await revoke(await service().signIn('ada'), id);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body).toMatchObject({ code: 'malformed-request', errors: [{ parameter: 'id' }] });
  });

  test('401 — of two sessions that end each other concurrently one succeeds and the other has ended', async () => {
    for (let round = 0; round < 10; round++) {
      const pair = [await service().signIn('bob'), await service().signIn('bob')] as const;
      const [first, second] = [await idOf(pair[0]), await idOf(pair[1])];
      const answers = await Promise.all([revoke(pair[0], second), revoke(pair[1], first)]);
      expect(answers.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([204, 401]);
      expect((await Promise.all(pair.map(status))).sort((a, b) => a - b)).toEqual([200, 401]);
    }
  });
});
