import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { sessionOf } from '../support/clock.ts';
import { cookieOf, useService } from '../support/service.ts';

interface Info {
  profile: { name: string; default: boolean };
  locale: string;
  session: { id: string; idleExpiresAt: string; expiresAt: string };
  code: string;
}

const service = useService();
const select = (cookie: string, name: string) => service().call<Info>('POST', `/auth/profile/${encodeURIComponent(name)}`, { cookie });
const create = async (cookie: string, entity: string) =>
  (await service().call('POST', `/rest/entity/${entity}`, { cookie, json: {} })).status;

describe('selectProfile', () => {
  beforeAll(async () => {
    const { id } = await service().createUser('ada', { customer: ['create'] });
    await service().createProfile(id, 'Stock keeping', { part: ['create'] });
    await service().createUser('grace');
  });

  test('200 — from the next request on only the roles of the selected profile grant rights (rule 61)', async () => {
    const cookie = await service().signIn('ada');
    expect([await create(cookie, 'customer'), await create(cookie, 'part')]).toEqual([201, 403]);
    const answer = await select(cookie, 'Stock keeping');
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.profile).toEqual({ name: 'Stock keeping', label: 'Stock keeping', default: false, attributes: {} });
    const switched = cookieOf(answer);
    expect([await create(switched, 'customer'), await create(switched, 'part')]).toEqual([403, 201]);
  });

  test('200 — the token is replaced, the old one is refused after its first use, the deadlines stay (rules 15 and 63)', async () => {
    const cookie = await service().signIn('ada');
    const before = await sessionOf(service(), cookie);
    const answer = await select(cookie, 'Stock keeping');
    const after = await sessionOf(service(), cookieOf(answer));
    expect(after).toMatchObject({ id: before.id, idle_expires_at: before.idle_expires_at, expires_at: before.expires_at });
    expect((await service().call('GET', '/auth', { cookie: cookieOf(answer) })).status).toBe(200);
    expect((await service().call('GET', '/auth', { cookie })).status).toBe(401);
    expect(await create(cookie, 'part')).toBe(401);
    const events = await service().db.selectFrom('audit_event').where('session_id', '=', before.id).select('event').orderBy('id').execute();
    expect(events.map(({ event }) => event)).toEqual(['login.ok', 'session.created', 'profile.changed']);
  });

  test('200 — a profile with a locale changes the session’s locale', async () => {
    await sql`update profile set locale = 'fr' where name = 'Stock keeping'`.execute(service().db);
    const answer = await select(await service().signIn('ada'), 'Stock keeping');
    expect(answer.body.locale).toBe('fr');
    await sql`update profile set locale = null`.execute(service().db);
  });

  test('404 — another user’s profile and an unknown one get the same answer, and the session does not change (rule 63)', async () => {
    const cookie = await service().signIn('ada');
    const foreign = await select(cookie, 'grace');
    const unknown = await select(cookie, 'constructor');
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.body, instance: '' }).toEqual({ ...unknown.body, instance: '' });
    expect(foreign.headers.getSetCookie()).toEqual([]);
    expect((await service().call<Info>('GET', '/auth', { cookie })).body.profile.name).toBe('ada');
  });

  test('400 — an invalid profile name', async () => {
    const cookie = await service().signIn('ada');
    for (const name of ['a/b', 'a'.repeat(65), 'a\u0000b', 'ü']) expect((await select(cookie, name)).status, name).toBe(400);
  });

  test('403 — an API key or a bearer token has no session to switch (rule 59)', async () => {
    const cookie = await service().signIn('ada');
    const answer = await service().call('POST', '/auth/profile/ada', { cookie, headers: { 'sec-fetch-site': 'cross-site' } });
    expect([answer.status, answer.body.code]).toEqual([403, 'csrf-rejected']);
  });

  test('409 — a token that a refresh has just replaced switches nothing', async () => {
    const cookie = await service().signIn('ada');
    const fresh = cookieOf(await service().call('POST', '/auth/refresh', { cookie }));
    const answer = await select(cookie, 'Stock keeping');
    expect([answer.status, answer.body.code]).toEqual([409, 'refresh-conflict']);
    expect((await service().call<Info>('GET', '/auth', { cookie: fresh })).body.profile.name).toBe('ada');
  });

  test('401 — a switch that races a logout cannot outlive it', async () => {
    for (let round = 0; round < 20; round++) {
      const cookie = await service().signIn('ada');
      const [logout, switched] = await Promise.all([service().call('HEAD', '/auth?logout=1', { cookie }), select(cookie, 'Stock keeping')]);
      expect(logout.status).toBe(204);
      expect([200, 401]).toContain(switched.status);
      if (switched.status === 200) expect((await service().call('GET', '/auth', { cookie: cookieOf(switched) })).status).toBe(401);
    }
  });
});
