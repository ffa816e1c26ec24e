import { beforeAll, describe, expect, test } from 'vitest';
import { sessionOf } from '../support/clock.ts';
import { TestService, useService } from '../support/service.ts';

const service = useService({ TRUSTED_ORIGINS: 'https://app.example.com' });
const head = (query: string, cookie?: string, headers: Record<string, string> = {}) =>
  service().call('HEAD', `/auth${query}`, { cookie, headers });
const alive = async (cookie: string) => (await service().call('GET', '/auth', { cookie })).status === 200;

describe('endSession', () => {
  beforeAll(async () => {
    await service().createUser('ada');
  });

  test('204 — ends the session and clears its cookie, and none of its tokens is accepted any more (rule 25)', async () => {
    const cookie = await service().signIn('ada');
    expect((await service().call('GET', '/rest/entity/note/1', { cookie })).status).toBe(404);
    const answer = await head('?logout=1', cookie);
    expect(answer.status).toBe(204);
    expect(answer.headers.getSetCookie()).toEqual(['sid=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('vary')).toBe('Cookie, Sec-Fetch-Site, Origin');
    expect(await alive(cookie)).toBe(false);
    expect((await service().call('GET', '/rest/entity/note/1', { cookie })).status).toBe(401);
  });

  test('204 — the row is revoked and the logout audited, in one transaction (rule 85)', async () => {
    const cookie = await service().signIn('ada');
    const { id } = await sessionOf(service(), cookie);
    await head('?logout=1', cookie);
    const row = await sessionOf(service(), cookie);
    expect(row).toMatchObject({ revoked_reason: 'logout' });
    const events = await service()
      .db.selectFrom('audit_event')
      .where('session_id', '=', id)
      .select(['event', 'at'])
      .orderBy('id')
      .execute();
    expect(events.map(({ event }) => event)).toEqual(['login.ok', 'session.created', 'logout']);
  });

  test('204 — the event names the user of the session, also with two users (rule 85)', async () => {
    await service().createUser('grace');
    for (const user of ['ada', 'grace']) {
      const cookie = await service().signIn(user);
      const { id } = await sessionOf(service(), cookie);
      expect((await head('?logout=1', cookie)).status).toBe(204);
      const events = service().db.selectFrom('audit_event').where('session_id', '=', id).where('event', '=', 'logout');
      expect(await events.select('user_name as user').execute()).toEqual([{ user }]);
    }
  });

  test('204 — without a session and with an ended one alike (rule 25)', async () => {
    const cookie = await service().signIn('ada');
    const first = await head('?logout=1', cookie);
    for (const answer of [await head('?logout=1', cookie), await head('?logout=1'), await head('?logout=1', 'sid=rubbish')]) {
      expect(answer.status).toBe(204);
      expect(answer.headers.getSetCookie()).toEqual(first.headers.getSetCookie());
    }
  });

  test('204 — on every replica and across a restart (rule 17)', async () => {
    const replica = await service().replica();
    try {
      const cookie = await service().signIn('ada');
      const there = () => replica.call('GET', '/rest/entity/note/1', { cookie });
      expect((await there()).status).toBe(404);
      expect((await head('?logout=1', cookie)).status).toBe(204);
      expect((await there()).status).toBe(401);
      const restarted = await service().replica();
      expect((await restarted.call('GET', '/auth', { cookie })).status).toBe(401);
      await restarted.close();
    } finally {
      await replica.close();
    }
  });

  test('204 — requests in flight during the logout do not bring the session back', async () => {
    for (let round = 0; round < 10; round++) {
      const cookie = await service().signIn('ada');
      const requests = Array.from({ length: 10 }, () => service().call('GET', '/auth', { cookie }));
      const [logout] = await Promise.all([head('?logout=1', cookie), ...requests]);
      expect(logout.status).toBe(204);
      expect(await alive(cookie)).toBe(false);
    }
  });

  test('200 — without logout nothing changes (rule 22)', async () => {
    const cookie = await service().signIn('ada');
    const answer = await head('', cookie);
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await alive(cookie)).toBe(true);
  });

  test('401 — without logout and without a session, as GET would', async () => {
    const answer = await head('');
    expect(answer.status).toBe(401);
    expect(answer.headers.get('problem-code')).toBe('unauthenticated');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('400 — any other value of logout, or two values, does not end the session (rule 22)', async () => {
    const cookie = await service().signIn('ada');
    for (const query of ['?logout=0', '?logout=true', '?logout=', '?logout', '?logout=1&logout=1', '?logout=1&force=1']) {
      const answer = await head(query, cookie);
      expect(answer.status, query).toBe(400);
      expect(answer.headers.get('problem-code')).toBe('malformed-request');
    }
    expect(await alive(cookie)).toBe(true);
  });

  test('403 — no foreign page, trusted page or prefetch can sign its visitor out (rules 23 and 24)', async () => {
    const cookie = await service().signIn('ada');
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin', 'sec-purpose': 'prefetch' },
      { origin: 'https://evil.example' },
      { referer: 'https://evil.example/page' },
    ];
    for (const headers of foreign) {
      const answer = await head('?logout=1', cookie, headers);
      expect(answer.status, JSON.stringify(headers)).toBe(403);
      expect(answer.headers.get('problem-code')).toBe('csrf-rejected');
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(await alive(cookie)).toBe(true);
    expect((await head('?logout=1', cookie, { 'sec-fetch-site': 'same-origin' })).status).toBe(204);
  });

  test('204 — of two different cookies, one of them planted, both sessions end (rules 10 and 25)', async () => {
    const [own, planted, other] = [await service().signIn('ada'), await service().signIn('ada'), await service().signIn('ada')];
    const both = `${own}; ${planted}; sid=rubbish; sid=${'A'.repeat(32)}`;
    expect((await service().call('GET', '/auth', { cookie: both })).status).toBe(401);
    expect((await head('?logout=1', both)).status).toBe(204);
    expect([await alive(own), await alive(planted), await alive(other)]).toEqual([false, false, true]);
    for (const cookie of [own, planted]) expect(await sessionOf(service(), cookie)).toMatchObject({ revoked_reason: 'logout' });
  });

  test('204 — over https the cleared cookie has the attributes of the original (rules 9 and 25)', async () => {
    const secure = await TestService.start({ PUBLIC_URL: 'https://api.example.com' });
    try {
      await secure.createUser('ada');
      const cookie = await secure.signIn('ada');
      expect(cookie).toMatch(/^__Host-sid=/);
      const answer = await secure.call('HEAD', '/auth?logout=1', { cookie });
      expect(answer.headers.getSetCookie()).toEqual(['__Host-sid=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax']);
    } finally {
      await secure.close();
    }
  });
});
