import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { sessionOf } from '../support/clock.ts';
import { cookieOf, password, TestService, useService, type Call, type ProblemBody } from '../support/service.ts';

interface Info extends ProblemBody {
  session: { id: string };
  locale: string;
}

const service = useService();
const login = (user: string, secret = password, more: Call = {}) =>
  service().call<Info>('POST', '/auth', { form: { user, password: secret }, ...more });

describe('createSession', () => {
  beforeAll(async () => {
    service().waitPatiently();
    await service().createUser('ada');
    await service().createUser('grace');
    await service().createUser('unassigned', null);
  });

  test('200 — opens a session and returns the user', async () => {
    const answer = await login('ada');
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      user: { name: 'ada', displayName: 'ada' },
      profile: { name: 'ada', default: true },
      authentication: { method: 'password', issuer: null },
    });
    const again = await service().call<Info>('GET', '/auth', { cookie: cookieOf(answer) });
    expect(again.body.session.id).toBe(answer.body.session.id);
  });

  test('200 — the cookie has the fixed attributes, 192 random bits, and no lifetime of its own (rules 9 and 10)', async () => {
    const [cookie] = (await login('ada')).headers.getSetCookie();
    expect(cookie).toMatch(/^sid=[A-Za-z0-9_-]{32}; Path=\/; HttpOnly; SameSite=Lax$/);
    const secure = await TestService.start({ PUBLIC_URL: 'https://api.example.com', SESSION_SAME_SITE: 'strict' });
    await secure.createUser('ada');
    const answer = await secure.call('POST', '/auth', { form: { user: 'ada', password } });
    expect(answer.headers.getSetCookie()[0]).toMatch(/^__Host-sid=[A-Za-z0-9_-]{32}; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
    await secure.close();
  });

  test('200 — the deadlines are half an hour and eight hours by the database’s clock (rule 12)', async () => {
    const { id } = await sessionOf(service(), await service().signIn('ada'));
    const { rows } = await sql<{ idle: string; absolute: string }>`
      select (idle_expires_at - created_at)::text as idle, (expires_at - created_at)::text as absolute from session where id = ${id}`.execute(
      service().db,
    );
    expect(rows).toEqual([{ idle: '00:30:00', absolute: '08:00:00' }]);
  });

  test('200 — ends the live session whose cookie the login carries, in the same transaction (rule 15)', async () => {
    const old = await service().signIn('ada');
    const answer = await login('grace', password, { cookie: old });
    expect(answer.status).toBe(200);
    expect(await sessionOf(service(), old)).toMatchObject({ revoked_reason: 'login' });
    expect((await service().call('GET', '/auth', { cookie: old })).status).toBe(401);
    expect((await service().call('GET', '/auth', { cookie: cookieOf(answer) })).status).toBe(200);
  });

  test('200 — never adopts a token that the server did not issue (rule 16)', async () => {
    const planted = `sid=${'A'.repeat(32)}`;
    const answer = await login('ada', password, { cookie: planted });
    expect(cookieOf(answer)).not.toBe(planted);
    expect((await service().call('GET', '/auth', { cookie: planted })).status).toBe(401);
  });

  test('200 — the fifty-first session ends the longest idle one, with an audit event (rule 13)', async () => {
    const { db } = service();
    const { id } = await service().createUser('crowd');
    const first = await service().signIn('crowd');
    const { id: firstId } = await sessionOf(service(), first);
    await sql`update session set last_seen_at = last_seen_at - interval '1 hour' where id = ${firstId}`.execute(db);
    await sql`insert into session (token_hash, user_id, method, locale, credential_version, idle_expires_at, expires_at)
      select sha256(('token ' || n)::bytea), ${id}, 'password', 'en', 1, now() + interval '1 hour', now() + interval '1 hour'
      from generate_series(1, 49) as n`.execute(db);
    expect((await service().call('GET', '/auth', { cookie: first })).status).toBe(200);
    await sql`update session set last_seen_at = last_seen_at - interval '1 hour' where id = ${firstId}`.execute(db);
    await service().signIn('crowd');
    expect(await sessionOf(service(), first)).toMatchObject({ revoked_reason: 'evicted' });
    const live = await db.selectFrom('session').where('user_id', '=', id).where('revoked_at', 'is', null).select('id').execute();
    expect(live).toHaveLength(50);
    const events = await db.selectFrom('audit_event').where('event', '=', 'session.evicted').select('session_id').execute();
    expect(events).toEqual([{ session_id: firstId }]);
  });

  test('200 — the evicted session is the longest idle one, not the oldest, the newest or the next to expire (rule 13)', async () => {
    const { db } = service();
    const { id } = await service().createUser('idle');
    await sql`insert into session (token_hash, user_id, method, locale, credential_version, created_at, last_seen_at, idle_expires_at, expires_at)
      select sha256(('idle ' || n)::bytea), ${id}, 'password', 'en', 1,
        now() - (60 - n) * interval '1 minute',
        case n when 20 then now() - interval '39 minutes' else now() - n * interval '1 second' end,
        now() + (case n when 30 then 1 else 60 end) * interval '1 minute',
        now() + (case n when 40 then 1 else 60 end) * interval '1 minute'
      from generate_series(1, 50) as n`.execute(db);
    const idle = () =>
      db
        .selectFrom('session')
        .where(sql<boolean>`token_hash = sha256('idle 20')`)
        .select(['id', 'revoked_reason'])
        .executeTakeFirstOrThrow();
    expect((await idle()).revoked_reason).toBeNull();
    await service().signIn('idle');
    expect((await idle()).revoked_reason).toBe('evicted');
    const ended = await db.selectFrom('session').where('user_id', '=', id).where('revoked_at', 'is not', null).select('id').execute();
    expect(ended).toEqual([{ id: (await idle()).id }]);
  });

  test('200 — the fiftieth live session ends none, and ended sessions do not count (rule 13)', async () => {
    const { db } = service();
    const { id } = await service().createUser('forty-nine');
    await sql`insert into session (token_hash, user_id, method, locale, credential_version, idle_expires_at, expires_at, revoked_at, revoked_reason)
      select sha256(('forty-nine ' || n)::bytea), ${id}, 'password', 'en', 1,
        now() + (case n when 50 then -1 else 60 end) * interval '1 minute',
        now() + (case n when 51 then -1 else 60 end) * interval '1 minute',
        case n when 52 then now() end, case n when 52 then 'logout' end
      from generate_series(1, 52) as n`.execute(db);
    await service().signIn('forty-nine');
    const evicted = () => db.selectFrom('session').where('user_id', '=', id).where('revoked_reason', '=', 'evicted').select('id').execute();
    expect(await evicted()).toHaveLength(0);
    await service().signIn('forty-nine');
    expect(await evicted()).toHaveLength(1);
  });

  test.each([
    ['de-at', 'de-AT'],
    ['EN', 'en'],
    ['zh-hant-tw', 'zh-Hant-TW'],
  ])('200 — the locale %s is stored as %s', async (locale, canonical) => {
    const answer = await service().call<Info>('POST', '/auth', { form: { user: 'ada', password, locale } });
    expect(answer.body.locale).toBe(canonical);
    expect((await service().call<Info>('GET', '/auth', { cookie: cookieOf(answer) })).body.locale).toBe(canonical);
  });

  test('200 — without a locale in the request: the default profile’s, then the user’s, then English', async () => {
    const { db } = service();
    await service().createUser('polyglot');
    const localeOf = async () => (await login('polyglot')).body.locale;
    expect(await localeOf()).toBe('en');
    await db.updateTable('user_account').set({ locale: 'ja' }).where('name', '=', 'polyglot').execute();
    expect(await localeOf()).toBe('ja');
    await db.updateTable('profile').set({ locale: 'fr-CH' }).where('name', '=', 'polyglot').execute();
    expect(await localeOf()).toBe('fr-CH');
  });

  test('200 — problems are in the session’s locale, without one by Accept-Language; codes never change', async () => {
    const answer = await service().call('POST', '/auth', { form: { user: 'ada', password, locale: 'de-AT' } });
    const german = await service().call('GET', '/rest/entity/note/1', { cookie: cookieOf(answer), headers: { 'accept-language': 'fr' } });
    const french = await service().call('GET', '/auth', { headers: { 'accept-language': 'fr;q=0.9, ja;q=0.1' } });
    expect([german.headers.get('content-language'), french.headers.get('content-language')]).toEqual(['de', 'fr']);
    expect([german.body.code, french.body.code]).toEqual(['not-found', 'unauthenticated']);
  });

  test('200 — user names are compared without case and in one Unicode form (rule 35)', async () => {
    expect((await login('ADA')).status).toBe(200);
    expect((await login('ａｄａ')).status).toBe(200);
  });

  test('200 — 50 parallel correct logins all succeed (rule 41)', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => login('grace')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('200 — an outdated hash is replaced at the next login (rule 36)', async () => {
    const { db } = service();
    await service().createUser('dated');
    const { argon2id, hash } = await import('argon2');
    const weak = await hash(password, { type: argon2id, memoryCost: 8_192, timeCost: 2, parallelism: 1 });
    await db.updateTable('user_account').set({ password_hash: weak }).where('name', '=', 'dated').execute();
    await service().signIn('dated');
    const { password_hash } = await db
      .selectFrom('user_account')
      .where('name', '=', 'dated')
      .select('password_hash')
      .executeTakeFirstOrThrow();
    expect(password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await service().signIn('dated');
  });

  test('401 — a wrong password and an unknown, a disabled and a passwordless user get the same answer (rule 42)', async () => {
    const { db } = service();
    await service().createUser('gone');
    await service().createUser('tokens-only');
    await db.updateTable('user_account').set({ active: false }).where('name', '=', 'gone').execute();
    await db.updateTable('user_account').set({ password_hash: null }).where('name', '=', 'tokens-only').execute();
    const answers = [await login('ada', 'not the password at all'), await login('nobody'), await login('gone'), await login('tokens-only')];
    const shown = answers.map(({ status, headers, body }) => ({
      status,
      headers: [...headers].filter(([name]) => name !== 'date'),
      body: { ...body, instance: '' },
    }));
    expect(shown[0]?.status).toBe(401);
    expect(shown[0]?.body.code).toBe('invalid-credentials');
    for (const other of shown) expect(other).toEqual(shown[0]);
  });

  test('401 — a failed login is audited with the name only if the user exists: people type passwords as names (rule 84)', async () => {
    await login('ada', 'not the password at all');
    await login('hunter2-is-my-password', 'x');
    const { rows } = await sql<{ line: string }>`select a::text as line from audit_event a`.execute(service().db);
    expect(rows.filter(({ line }) => line.includes('login.failed') && line.includes('ada'))).not.toEqual([]);
    expect(rows.filter(({ line }) => line.includes('hunter2'))).toEqual([]);
    await login('ada');
  });

  test('401 — a poisoned hash is refused without the computation that it demands (rule 37)', async () => {
    await service().createUser('poisoned');
    const poison = '$argon2id$v=19$m=4194304,t=100,p=64$c29tZXNhbHRzb21lc2FsdA$MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE';
    await service().db.updateTable('user_account').set({ password_hash: poison }).where('name', '=', 'poisoned').execute();
    expect((await login('poisoned')).status).toBe(401);
  });

  test('401 — a token of an untrusted issuer is refused like any bad token, and the issuer is never contacted (rule 46)', async () => {
    const answer = await service().call('POST', '/auth', { form: { oidcIssuer: 'http://127.0.0.1:9', access_token: 'x.y.z' } });
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe('invalid-token');
  });

  test.each<[string, Call, string[]]>([
    ['an empty form', { form: {} }, ['']],
    ['only a user', { form: { user: 'ada' } }, ['/password']],
    ['an unknown field', { form: { user: 'ada', password, remember: '1' } }, ['/remember']],
    [
      'a repeated field',
      {
        form: [
          ['user', 'ada'],
          ['user', 'grace'],
          ['password', password],
        ],
      },
      ['/user'],
    ],
    ['a password and an issuer', { form: { user: 'ada', password, oidcIssuer: 'corp', access_token: 't' } }, ['/user', '/password']],
    ['an issuer without a token', { form: { oidcIssuer: 'corp' } }, ['/access_token']],
    ['a token without an issuer', { form: { access_token: 't' } }, ['/user', '/password', '/oidcIssuer']],
    ['an invalid locale', { form: { user: 'ada', password, locale: 'not_a_locale' } }, ['/locale']],
    [
      'bad percent-encoding',
      { raw: 'user=ada&password=%E0%A4', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      ['/password'],
    ],
    ['an empty password', { form: { user: 'ada', password: '' } }, ['/password']],
  ])('400 — %s is refused, with pointers', async (_what, call, pointers) => {
    const { status, body, text } = await service().call('POST', '/auth', call);
    expect(status, text).toBe(400);
    expect((body.errors ?? []).map(({ pointer }) => pointer)).toEqual(pointers);
  });

  test('400 — the token in both places, or a header credential beside a password', async () => {
    const authorization = 'Bearer x.y.z';
    const both = await service().call('POST', '/auth', { form: { oidcIssuer: 'corp', access_token: 't' }, headers: { authorization } });
    expect(both.status).toBe(400);
    const mixed = await login('ada', password, { headers: { authorization } });
    expect([mixed.status, mixed.body.code]).toEqual([400, 'ambiguous-credentials']);
  });

  test('403 — another site cannot sign its visitor in: login CSRF (rule 27)', async () => {
    const foreign = await login('ada', password, { headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' } });
    expect([foreign.status, foreign.body.code]).toEqual([403, 'csrf-rejected']);
    expect(foreign.headers.getSetCookie()).toEqual([]);
    expect((await login('ada', password, { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200);
  });

  test('429 — of 200 parallel guesses five are verified, and the right password waits with them (rules 39 and 41)', async () => {
    await service().createUser('target');
    const began = performance.now();
    const guesses = Array.from({ length: 200 }, (_, n) => login('target', `wrong password number ${n}`));
    const statuses = Map.groupBy(await Promise.all(guesses), ({ status }) => status);
    const seconds = (performance.now() - began) / 1_000;
    // On a busy machine the waits of 1, 2, 4 … seconds may have passed by then, and each allows one more.
    const later = [1, 3, 7, 15].filter((wait) => wait <= seconds).length;
    const evaluated = statuses.get(401)?.length ?? 0;
    expect(evaluated).toBeGreaterThanOrEqual(5);
    expect(evaluated).toBeLessThanOrEqual(5 + later);
    expect(statuses.get(429)?.length).toBe(200 - evaluated);
    await sql`update login_attempt set blocked_until = now() + interval '1 minute' where kind = 'account'`.execute(service().db);
    const right = await login('target');
    expect([right.status, right.body.code]).toEqual([429, 'rate-limited']);
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(
      (await service().db.selectFrom('audit_event').where('event', '=', 'login.throttled').select('id').execute()).length,
    ).toBeGreaterThan(0);
    await service().db.deleteFrom('login_attempt').execute();
    expect((await login('target')).status).toBe(200);
  });
});
