import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { cookieOf, useService } from '../support/service.ts';
import { agingToken, sessionOf } from '../support/clock.ts';

interface Info {
  session: { id: string; createdAt: string; idleExpiresAt: string; expiresAt: string };
}

const service = useService();
const show = (cookie: string) => service().call<Info>('GET', '/auth', { cookie });
const refresh = (cookie: string) => service().call<Info & { code: string }>('POST', '/auth/refresh', { cookie });

describe('refreshSession', () => {
  beforeAll(async () => {
    await service().createUser('ada');
    await service().createUser('grace');
  });

  test('200 — returns a new token of the same session, and replaces the old one in the database (rule 15)', async () => {
    const old = await service().signIn('ada');
    const before = await show(old);
    const answer = await refresh(old);
    expect(answer.status, answer.text).toBe(200);
    const fresh = cookieOf(answer);
    expect(fresh).not.toBe(old);
    expect(answer.body.session.id).toBe(before.body.session.id);
    expect((await show(fresh)).status).toBe(200);
  });

  test('200 — moves the idle deadline and never the absolute one (rule 18)', async () => {
    const { db } = service();
    const old = await service().signIn('ada');
    const { id } = await sessionOf(service(), old);
    await sql`update session set idle_expires_at = now() + interval '1 minute' where id = ${id}`.execute(db);
    const before = await show(old);
    const after = await refresh(old);
    expect(Date.parse(after.body.session.idleExpiresAt)).toBeGreaterThan(Date.parse(before.body.session.idleExpiresAt) + 1_000_000);
    expect(after.body.session.expiresAt).toBe(before.body.session.expiresAt);
  });

  test('200 — the idle deadline stops at the absolute one (rule 18)', async () => {
    const { db } = service();
    const old = await service().signIn('ada');
    const { id } = await sessionOf(service(), old);
    await sql`update session set expires_at = now() + interval '5 minutes', idle_expires_at = now() + interval '1 minute' where id = ${id}`.execute(
      db,
    );
    const { body } = await refresh(old);
    expect(body.session.idleExpiresAt).toBe(body.session.expiresAt);
  });

  test('200 — the replaced token serves requests in flight for ten seconds, and sets no cookie (rule 20)', async () => {
    const old = await service().signIn('ada');
    expect((await refresh(old)).status).toBe(200);
    const inFlight = await service().call('POST', '/rest/entity/note', { cookie: old, json: { text: 'in flight' } });
    expect(inFlight.status, inFlight.text).toBe(201);
    const shown = await show(old);
    expect(shown.status).toBe(200);
    expect(shown.headers.getSetCookie()).toEqual([]);
  });

  test('409 — the replaced token cannot refresh again; the session stays and no cookie is set (rule 20)', async () => {
    const old = await service().signIn('ada');
    const fresh = cookieOf(await refresh(old));
    const again = await refresh(old);
    expect(again.status).toBe(409);
    expect(again.body.code).toBe('refresh-conflict');
    expect(again.headers.getSetCookie()).toEqual([]);
    expect((await show(fresh)).status).toBe(200);
  });

  test('401 — the replaced token used after ten seconds ends the whole session, which is audited (rule 20)', async () => {
    const { db } = service();
    const old = await service().signIn('ada');
    const fresh = cookieOf(await refresh(old));
    const { id } = await sessionOf(service(), fresh);
    expect((await show(fresh)).status).toBe(200);
    await agingToken(service(), old, 11);
    expect((await show(old)).status).toBe(401);
    expect((await show(fresh)).status).toBe(401);
    const entity = await service().call('POST', '/rest/entity/note', { cookie: fresh, json: {} });
    expect(entity.status).toBe(401);
    const events = await db
      .selectFrom('audit_event')
      .where('session_id', '=', id)
      .where('event', '=', 'session.reuse_detected')
      .selectAll()
      .execute();
    expect(events).toMatchObject([{ outcome: 'refused', user_name: 'ada' }]);
  });

  test('401 — no refresh succeeds after a logout, not even a concurrent one (rule 21)', async () => {
    for (let round = 0; round < 20; round++) {
      const cookie = await service().signIn('grace');
      const [logout, refreshed] = await Promise.all([service().call('HEAD', '/auth?logout=1', { cookie }), refresh(cookie)]);
      expect(logout.status).toBe(204);
      expect([200, 401]).toContain(refreshed.status);
      expect((await show(cookie)).status).toBe(401);
      if (refreshed.status === 200) expect((await show(cookieOf(refreshed))).status).toBe(401);
    }
  });

  test('429 — after six refreshes a minute of one session (rule 18)', async () => {
    let cookie = await service().signIn('grace');
    for (let count = 0; count < 6; count++) cookie = cookieOf(await refresh(cookie));
    const seventh = await refresh(cookie);
    expect(seventh.status).toBe(429);
    expect(Number(seventh.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await show(cookie)).status).toBe(200);
    await agingToken(service(), undefined, 61, (await sessionOf(service(), cookie)).id);
    expect((await refresh(cookie)).status).toBe(200);
  });

  test('429 — Retry-After is the time until the oldest of the last six refreshes is a minute old (rule 18)', async () => {
    let cookie = await service().signIn('grace');
    const { id } = await sessionOf(service(), cookie);
    for (const seconds of [600, 30]) {
      for (let count = 0; count < 6; count++) cookie = cookieOf(await refresh(cookie));
      await sql`update superseded_token
        set superseded_at = superseded_at - make_interval(secs => ${seconds}), refreshed_at = refreshed_at - make_interval(secs => ${seconds})
        where session_id = ${id} and superseded_at > now() - interval '5 minutes'`.execute(service().db);
    }
    const { status, headers } = await refresh(cookie);
    expect(status).toBe(429);
    // 30 seconds, less the time that has passed since.
    const seconds = Number(headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(1);
    expect(seconds).toBeLessThanOrEqual(30);
  });
});
