import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { sessionOf } from '../support/clock.ts';
import { useService } from '../support/service.ts';

interface Info {
  profile: { name: string } | null;
  session: { id: string; lastSeenAt: string } | null;
  authentication: { method: string };
  roles?: unknown[];
  profiles?: { name: string; active: boolean; default: boolean }[];
  server: { name: string; version: string; locales: string[]; authentication: string[]; password: { minLength: number } };
}

const service = useService();
const show = (cookie: string, query = '') => service().call<Info & { code: string; errors: unknown[] }>('GET', `/auth${query}`, { cookie });

describe('getSession', () => {
  beforeAll(async () => {
    const { id } = await service().createUser('ada', { customer: ['create', 'read'], note: { actions: ['read'], condition: 'own' } });
    await service().createProfile(id, 'stock', { part: ['read'] });
    await service().createUser('unassigned', null);
  });

  test('200 — returns the caller, the session and the server, and no roles or profiles by default', async () => {
    const { body } = await show(await service().signIn('ada'));
    expect(body).toMatchObject({
      user: { name: 'ada', displayName: 'ada' },
      profile: { name: 'ada', label: 'ada', default: true },
      authentication: { method: 'password', issuer: null },
      server: {
        name: 'Entity Service',
        locales: ['en', 'de', 'fr', 'es', 'ja'],
        authentication: ['password', 'api-key'],
        password: { minLength: 15 },
      },
    });
    expect(body).not.toHaveProperty('roles');
    expect(body).not.toHaveProperty('profiles');
  });

  test('200 — roles=1 adds the active profile’s roles with their grants, profiles=1 the user’s profiles, together both', async () => {
    const cookie = await service().signIn('ada');
    const { body } = await show(cookie, '?roles=1&profiles=1');
    expect(body.roles).toEqual([
      {
        name: 'ada',
        description: '',
        grants: [
          { entity: 'customer', actions: ['create', 'read'], condition: 'any' },
          { entity: 'note', actions: ['read'], condition: 'own' },
        ],
        rules: [],
      },
    ]);
    expect(body.profiles).toEqual([
      { name: 'ada', label: 'ada', default: true, active: true, roles: ['ada'] },
      { name: 'stock', label: 'stock', default: false, active: false, roles: ['stock'] },
    ]);
    expect((await show(cookie, '?roles=1')).body).not.toHaveProperty('profiles');
  });

  test('200 — the returned id is a public handle: not the cookie’s value, and it authenticates nothing (rule 11)', async () => {
    const cookie = await service().signIn('ada');
    const { body, text } = await show(cookie);
    expect(text).not.toContain(cookie.slice('sid='.length));
    expect((await show(`sid=${body.session?.id ?? ''}`)).status).toBe(401);
  });

  test('200 — only the hash of the token is stored (rule 11)', async () => {
    const cookie = await service().signIn('ada');
    const { rows } = await sql<{ row: string }>`select s::text as row from session s`.execute(service().db);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ row }) => row.includes(cookie.slice('sid='.length)))).toEqual([]);
  });

  test('200 — an API key receives its owner, without a session', async () => {
    const { db } = service();
    const owner = await db.selectFrom('user_account').where('name', '=', 'ada').select('id').executeTakeFirstOrThrow();
    const key = await service().createKey(owner.id);
    const { status, body } = await service().call<Info>('GET', '/auth', { headers: { 'x-api-key': key } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ authentication: { method: 'api-key' }, session: null, profile: { name: 'ada' } });
  });

  test('200 — a user without a profile can sign in and read the session', async () => {
    const { status, body } = await show(await service().signIn('unassigned'), '?roles=1&profiles=1');
    expect(status).toBe(200);
    expect(body).toMatchObject({ profile: null, roles: [], profiles: [] });
  });

  test('200 — the last use is recorded once a minute and moves no deadline (rule 12)', async () => {
    const { db } = service();
    const cookie = await service().signIn('ada');
    const before = await sessionOf(service(), cookie);
    await show(cookie);
    expect(await sessionOf(service(), cookie)).toEqual(before);
    await sql`update session set last_seen_at = last_seen_at - interval '61 seconds' where id = ${before.id}`.execute(db);
    service().context.principals.forget(`session ${before.id}`);
    await show(cookie);
    const after = await sessionOf(service(), cookie);
    expect(after.last_seen_at.getTime()).toBeGreaterThanOrEqual(before.last_seen_at.getTime());
    expect([after.idle_expires_at, after.expires_at]).toEqual([before.idle_expires_at, before.expires_at]);
  });

  test.each([
    ['the idle deadline has passed', sql`update session set idle_expires_at = now() - interval '1 second'`],
    ['the absolute deadline has passed', sql`update session set expires_at = now() - interval '1 second'`],
    ['it has been revoked', sql`update session set revoked_at = now()`],
    ['the user has been disabled', sql`update user_account set active = false`],
    ['the password has been changed', sql`update user_account set credential_version = credential_version + 1`],
  ])('401 — a session ends at once when %s, for entities too (rules 12 and 14)', async (_when, change) => {
    const cookie = await service().signIn('ada');
    const entity = () => service().call('GET', '/rest/entity/customer/1', { cookie });
    expect((await show(cookie)).status).toBe(200);
    expect((await entity()).status).toBe(404);
    await change.execute(service().db);
    await service().settle();
    expect((await show(cookie)).status).toBe(401);
    expect((await entity()).status).toBe(401);
    await sql`update user_account set active = true`.execute(service().db);
  });

  test('401 — without a credential, and the answer names the ways to get one (rule 7)', async () => {
    const answer = await service().call('GET', '/auth');
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.body.code).toBe('unauthenticated');
  });

  test('401 — a cookie of another form, of 8 KB, or sent twice with two values is no session (rule 10)', async () => {
    const cookie = await service().signIn('ada');
    expect((await show(`${cookie}; ${cookie}`)).status).toBe(200);
    for (const bad of ['sid=', 'sid=short', `${cookie}x`, `sid=${'A'.repeat(8_000)}`, `${cookie}; sid=${'A'.repeat(32)}`, 'sid=%00']) {
      expect((await show(bad)).status, bad.slice(0, 60)).toBe(401);
    }
  });

  test('400 — any other value of roles and profiles, a repeated or unknown parameter, and logout', async () => {
    const cookie = await service().signIn('ada');
    for (const [query, parameter] of [
      ['?roles=2', 'roles'],
      ['?profiles=true', 'profiles'],
      ['?roles=', 'roles'],
      ['?roles=1&roles=1', 'roles'],
      ['?role=1', 'role'],
      ['?logout=1', 'logout'],
    ]) {
      const { status, body } = await show(cookie, query);
      expect(status, query).toBe(400);
      expect(body.errors, query).toMatchObject([{ parameter }]);
    }
    expect((await show(cookie)).status).toBe(200);
  });
});
