/** The return from a provider: which answers open a session, and all kinds that do not. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AuditQuota } from '../../src/audit/quota.ts';
import { failureReasons, type FailureReason } from '../../src/oidc/sign-in/sign-in-errors.ts';
import { loginClient, newKey, TestClock, TestIssuer, writeIssuers, type Minted } from '../support/issuer.ts';
import { readDocument } from '../support/markdown.ts';
import { useService, type Answer, type ProblemBody } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const partner = await TestIssuer.start('partner', clock, { alg: 'ES256', clientAuthentication: 'client_secret_post' });
const open = await TestIssuer.start('open', clock);
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry(), await partner.loginEntry()) }, clock);

let latestEvent = '0';

interface Info {
  user: { name: string };
  authentication: { method: string; issuer: string; at: string };
  server: { authentication: string[] };
  session: { id: string; createdAt: string; expiresAt: string };
}

beforeAll(async () => {
  await service().createUser('ada');
  await service().link(corp, 'alice', 'ada');
  await service().link(partner, 'alice', 'ada');
});

beforeEach(async () => {
  // The quota would leave out repeated refusals within a minute.
  service().context.auditQuota = new AuditQuota();
  latestEvent = (await service().db.selectFrom('audit_event').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst())?.id ?? '0';
});

afterEach(() => {
  for (const issuer of [corp, partner, open]) {
    issuer.behaviour = 'up';
    issuer.answers.clear();
  }
});

const visitor = () => new BrowserSession(service());
const sessions = async () => (await service().db.selectFrom('session').select('id').execute()).length;
/** The failures during this test. */
const failures = () =>
  service()
    .db.selectFrom('audit_event')
    .where('event', '=', 'oidc.failed')
    .where('id', '>', latestEvent)
    .orderBy('id', 'desc')
    .select(['detail', 'outcome'])
    .execute();

/** Expects a refusal without a session, and the reason in the audit trail. */
async function expectFailure(
  browser: BrowserSession,
  answer: Answer<ProblemBody | { code: string }>,
  reason: FailureReason,
  status = 400,
  code = 'sign-in-failed',
): Promise<void> {
  expect(answer, answer.text).toMatchObject({ status, body: { code } });
  expect(answer.headers.get('location')).toBeNull();
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(browser.cookies.has('sid')).toBe(false);
  expect((await browser.call('GET', '/auth')).status).toBe(401);
  expect((await failures()).map(({ detail }) => detail['reason'])).toContain(reason);
}

describe('a sign-in', () => {
  test.each([
    ['corp', corp],
    ['partner, with other keys and another client authentication', partner],
  ] as const)(
    '303 — at %s opens a session for the linked user, and redirects to the requested path (rules 51 and 56)',
    async (_name, issuer) => {
      const browser = visitor();
      const answer = await browser.signIn(issuer, 'alice', '?return_to=/auth%3Froles%3D1');
      expect(answer.status, answer.text).toBe(303);
      expect(answer.headers.get('location')).toBe('/auth?roles=1');
      expect([...browser.cookies.keys()]).toEqual(['sid']);
      const info = await browser.call<Info>('GET', answer.headers.get('location') ?? '');
      expect(info).toMatchObject({
        status: 200,
        body: { user: { name: 'ada' }, authentication: { method: 'openid', issuer: issuer.url } },
      });
      expect((await service().call('POST', '/rest/entity/customer', { json: {}, cookie: browser.cookie })).status).toBe(201);
      expect((await browser.call('POST', '/auth/refresh')).status).toBe(200);
      expect((await browser.call('HEAD', '/auth?logout=1')).status).toBe(204);
      expect((await browser.call('GET', '/auth')).status).toBe(401);
    },
  );

  test('303 — the session cookie has its usual attributes, and is the only cookie left (rules 9 and 52)', async () => {
    const answer = await visitor().signIn(corp, 'alice');
    const lines = answer.headers.getSetCookie();
    expect(lines).toHaveLength(2);
    expect(lines).toContainEqual(expect.stringMatching(/^sid=[\w-]{32}; Path=\/; HttpOnly; SameSite=Lax$/));
    expect(lines).toContainEqual(expect.stringMatching(/^oidc=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/));
  });

  test('303 — ends the browser’s earlier session (rule 15)', async () => {
    const before = await service().signIn('ada');
    const browser = visitor();
    browser.cookies.set('sid', before.slice(4));
    expect((await browser.signIn(corp, 'alice')).status).toBe(303);
    expect((await service().call('GET', '/auth', { cookie: before })).status).toBe(401);
    expect((await browser.call('GET', '/auth')).status).toBe(200);
  });

  test('303 — two tabs of one browser return in any order, and unknown parameters of the answer are ignored', async () => {
    const browser = visitor();
    const first = await browser.visit(corp, await browser.start(corp, '?return_to=/a'), 'alice');
    const second = await browser.visit(corp, await browser.start(corp, '?return_to=/b'), 'alice');
    expect((await browser.call('GET', `${second}&session_state=x&scope=openid`)).headers.get('location')).toBe('/b');
    expect(browser.cookies.has('oidc'), 'the other tab needs it').toBe(true);
    expect((await browser.call('GET', first)).headers.get('location')).toBe('/a');
    expect(browser.cookies.has('oidc')).toBe(false);
  });

  test('303 — a sign-in that has expired in another tab does not need the cookie (rule 52)', async () => {
    const browser = visitor();
    await browser.start(corp);
    await sql`update openid_transaction set expires_at = now()`.execute(service().db);
    expect((await browser.call('GET', await browser.visit(corp, await browser.start(corp), 'alice'))).status).toBe(303);
    expect(browser.cookies.has('oidc')).toBe(false);
  });

  test('303 — the audit trail has its start, its end and the login, with the subject (rule 85)', async () => {
    await visitor().signIn(corp, 'alice');
    const events = await service()
      .db.selectFrom('audit_event')
      .orderBy('id', 'desc')
      .limit(3)
      .select(['event', 'user_name', 'detail'])
      .execute();
    expect(events.map(({ event }) => event)).toEqual(['session.created', 'login.ok', 'oidc.completed']);
    expect(events[1]).toMatchObject({ user_name: 'ada', detail: { method: 'openid' } });
    expect(events[2]).toMatchObject({ user_name: 'ada', detail: { issuer: corp.url, subject: 'alice' } });
  });

  test('303 — makes a user for a subject without a linked user, if the issuer is configured so (rule 56)', async () => {
    const file = await writeIssuers(await open.loginEntry({ provision: { enabled: true, profile: 'ada' } }));
    const other = await service().replica({ ISSUERS_FILE: file }, clock);
    try {
      for (const browser of [new BrowserSession(other), new BrowserSession(other)]) {
        expect((await browser.signIn(open, 'newcomer')).status).toBe(303);
        const { body } = await browser.call<Info>('GET', '/auth');
        expect(body).toMatchObject({ user: { name: 'open:newcomer' }, profile: { name: 'ada' } });
      }
    } finally {
      await other.close();
    }
  });

  test('303 — stores nothing from the provider except its ids of the user and of its session (rule 55)', async () => {
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'alice');
    expect((await browser.call('GET', path)).status).toBe(303);
    const code = new URL(path, 'http://localhost').searchParams.get('code') ?? '';
    expect(code.length).toBeGreaterThan(20);
    for (const table of ['session', 'audit_event', 'openid_transaction'] as const) {
      const text = JSON.stringify(await service().db.selectFrom(table).selectAll().execute());
      expect(text).not.toContain(code);
      expect(text).not.toMatch(/eyJ[\w-]+\./);
    }
  });
});

describe('the state of an answer', () => {
  test('400 — without a state, or with a malformed one: nothing is requested or consumed (rule 52)', async () => {
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'alice');
    for (const state of [undefined, '', 'x'.repeat(42), `${'x'.repeat(42)}.`, 'x'.repeat(44)]) {
      const url = new URL(path, 'http://localhost');
      if (state === undefined) url.searchParams.delete('state');
      else url.searchParams.set('state', state);
      const answer = await browser.call<ProblemBody>('GET', url.pathname + url.search);
      expect(answer).toMatchObject({ status: 400, body: { code: 'malformed-request', errors: [{ parameter: 'state' }] } });
    }
    expect((await browser.call('GET', path)).status, 'the true one').toBe(303);
  });

  test('400 — a state that was never issued (rule 52)', async () => {
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'alice');
    const answer = await browser.call('GET', path.replace(/state=[\w-]+/, `state=${'x'.repeat(43)}`));
    await expectFailure(browser, answer, 'unknown-state');
    expect((await browser.call('GET', path)).status, 'the true one').toBe(303);
  });

  test('400 — an answer that was used before, also after its refusal (rule 52)', async () => {
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'alice');
    expect((await browser.call('GET', path)).status).toBe(303);
    const asked = corp.requests.length;
    const again = visitor();
    again.cookies.set('oidc', browser.cookies.get('oidc') ?? 'x'.repeat(43));
    await expectFailure(again, await again.call('GET', path), 'unknown-state');
    expect(corp.requests.length, 'the provider gets no request').toBe(asked);

    const other = visitor();
    const refused = await other.visit(corp, await other.start(corp), 'alice');
    const cookie = other.cookie;
    await expectFailure(other, await other.call('GET', refused.replace(/code=[^&]+/, 'code=wrong')), 'code-refused');
    expect(await service().call('GET', refused, { cookie })).toMatchObject({ status: 400, body: { code: 'sign-in-failed' } });
  });

  test('303 — of twenty concurrent copies of one answer exactly one opens a session (rule 52)', async () => {
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'alice');
    const before = await sessions();
    const { cookie } = browser;
    const answers = await Promise.all(Array.from({ length: 20 }, () => service().call('GET', path, { cookie })));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(19);
    expect(await sessions()).toBe(before + 1);
  });

  test('400 — an answer after more than ten minutes, by the database’s clock (rules 4 and 52)', async () => {
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'alice');
    await sql`update openid_transaction set expires_at = expires_at - interval '10 minutes'`.execute(service().db);
    await expectFailure(browser, await browser.call('GET', path), 'expired');
  });

  test.each([
    ['without the cookie', undefined],
    ['with the cookie of another', 'y'.repeat(43)],
    ['with a cookie of another form', 'y'],
  ])('400 — in a browser %s, as after a link of an attacker, and the answer cannot be used again (rule 52)', async (_how, cookie) => {
    const attacker = visitor();
    const path = await attacker.visit(corp, await attacker.start(corp), 'alice');
    const victim = visitor();
    if (cookie !== undefined) victim.cookies.set('oidc', cookie);
    await expectFailure(victim, await victim.call('GET', path), 'other-browser');
    await expectFailure(attacker, await attacker.call('GET', path), 'unknown-state');
  });

  test('400 — two different cookies with the name: one of them was planted (rule 52)', async () => {
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'alice');
    const answer = await service().call('GET', path, { cookie: `oidc=${'y'.repeat(43)}; ${browser.cookie}` });
    expect(answer).toMatchObject({ status: 400, body: { code: 'sign-in-failed' } });
  });
});

describe('the issuer of an answer', () => {
  test('400 — the answer of one issuer at the address of another (rule 52)', async () => {
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'alice');
    partner.requests.length = 0;
    await expectFailure(browser, await browser.call('GET', path.replace('/corp/', '/partner/')), 'other-issuer');
    expect(partner.requests, 'the code is not sent to the other issuer').toEqual([]);
    await expectFailure(browser, await browser.call('GET', path), 'unknown-state');
  });

  test.each([
    ['another issuer', () => partner.url],
    ['the same with a slash', () => `${corp.url}/`],
    ['nobody', () => ''],
  ])('400 — `iss` names %s (rules 52 and 53)', async (_name, iss) => {
    const browser = visitor();
    const url = new URL(await browser.visit(corp, await browser.start(corp), 'alice'), 'http://localhost');
    expect(url.searchParams.get('iss')).toBe(corp.url);
    url.searchParams.set('iss', iss());
    corp.requests.length = 0;
    await expectFailure(browser, await browser.call('GET', url.pathname + url.search), 'bad-answer');
    expect(corp.requests, 'the code is not sent').toEqual([]);
  });

  test('400 — `iss` is missing although the issuer announces it (rule 53)', async () => {
    const browser = visitor();
    const url = new URL(await browser.visit(corp, await browser.start(corp), 'alice'), 'http://localhost');
    url.searchParams.delete('iss');
    await expectFailure(browser, await browser.call('GET', url.pathname + url.search), 'bad-answer');
  });

  test.each(['nobody', 'constructor'])('404 — %s is no provider, and nothing is consumed', async (id) => {
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'alice');
    expect(await browser.call('GET', path.replace('/corp/', `/${id}/`))).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect((await browser.call('GET', path)).status).toBe(303);
  });
});

describe('the content of an answer', () => {
  test('400 — the user has cancelled; the provider’s description is not passed on (rule 54)', async () => {
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'alice', true);
    expect(path).toContain('error=access_denied');
    const url = new URL(path, 'http://localhost');
    url.searchParams.set('error_description', 'send your password to evil.example');
    const answer = await browser.call('GET', url.pathname + url.search);
    await expectFailure(browser, answer, 'provider-refused');
    expect((await failures()).map(({ detail }) => detail['error'])).toContain('access_denied');
    expect(answer.text + JSON.stringify([...answer.headers]) + JSON.stringify(await failures())).not.toContain('evil');
    await expectFailure(browser, await browser.call('GET', path), 'unknown-state');
  });

  test('400 — an unknown error code, which may be any text, is not logged (rule 54)', async () => {
    const browser = visitor();
    const state = (await browser.start(corp)).searchParams.get('state');
    const answer = await browser.call('GET', `/auth/oidc/corp/callback?state=${state}&iss=${corp.url}&error=evil%0d%0aX:1`);
    await expectFailure(browser, answer, 'provider-refused');
    expect(answer.text + JSON.stringify(await failures())).not.toContain('evil');
  });

  test('400 — neither a code nor an error', async () => {
    const browser = visitor();
    const state = (await browser.start(corp)).searchParams.get('state');
    await expectFailure(browser, await browser.call('GET', `/auth/oidc/corp/callback?state=${state}&iss=${corp.url}`), 'bad-answer');
  });

  test('400 — the code of another sign-in: the provider refuses our verifier for it (rule 51)', async () => {
    const [attacker, victim] = [visitor(), visitor()];
    const stolen = new URL(await victim.visit(corp, await victim.start(corp), 'alice'), 'http://localhost').searchParams.get('code') ?? '';
    const path = await attacker.visit(corp, await attacker.start(corp), 'bob');
    await expectFailure(attacker, await attacker.call('GET', path.replace(/code=[^&]+/, `code=${stolen}`)), 'code-refused');
  });

  test('400 — the stored verifier does not fit the challenge that the provider got (rule 51)', async () => {
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'alice');
    await service()
      .db.updateTable('openid_transaction')
      .set({ code_verifier: 'x'.repeat(43) })
      .execute();
    await expectFailure(browser, await browser.call('GET', path), 'code-refused');
  });
});

describe('the ID token', () => {
  const now = () => Math.floor(clock.wall() / 1_000);

  /** Signs in at corp, whose token endpoint returns this ID token: valid except for the given claims, header and key. */
  async function signInWith(
    { claims = {}, header = {}, key }: Minted,
    rest: object = {},
  ): Promise<[BrowserSession, Answer<{ code: string }>]> {
    const browser = visitor();
    const start = await browser.start(corp);
    const path = await browser.visit(corp, start, 'alice');
    const good = { aud: loginClient.id, nonce: start.searchParams.get('nonce'), client_id: undefined, scope: undefined, jti: undefined };
    corp.answers.set('/token', async () => ({
      access_token: 'opaque',
      token_type: 'Bearer',
      id_token: await corp.mint({ claims: { ...good, ...claims }, header: { typ: 'JWT', ...header }, ...(key && { key }) }),
      ...rest,
    }));
    return [browser, await browser.call('GET', path)];
  }

  test('303 — an ID token like the provider’s own, as a control', async () => {
    const [browser, answer] = await signInWith({});
    expect(answer.status, answer.text).toBe(303);
    expect((await browser.call<Info>('GET', '/auth')).body.user.name).toBe('ada');
  });

  test('303 — for several audiences, if this client is the authorized party', async () => {
    expect((await signInWith({ claims: { aud: [loginClient.id, 'other'], azp: loginClient.id } }))[1].status).toBe(303);
  });

  test.each<[string, () => Minted, FailureReason?]>([
    ['another nonce', () => ({ claims: { nonce: 'x'.repeat(43) } })],
    ['no nonce', () => ({ claims: { nonce: undefined } })],
    ['another issuer', () => ({ claims: { iss: partner.url } })],
    ['another audience', () => ({ claims: { aud: 'other' } })],
    ['the audience of access tokens', () => ({ claims: { aud: 'entity-service' } })],
    ['several audiences, without an authorized party', () => ({ claims: { aud: [loginClient.id, 'other'] } })],
    ['several audiences, and another authorized party', () => ({ claims: { aud: [loginClient.id, 'other'], azp: 'other' } })],
    ['no subject', () => ({ claims: { sub: undefined } })],
    ['an empty subject', () => ({ claims: { sub: '' } }), 'bad-id-token'],
    ['a subject that is a number', () => ({ claims: { sub: 7 } })],
    ['a subject with a NUL', () => ({ claims: { sub: 'alice\0' } }), 'bad-id-token'],
    ['a subject that is too long', () => ({ claims: { sub: 'a'.repeat(256) } }), 'bad-id-token'],
    ['an expiry an hour ago', () => ({ claims: { exp: now() - 3_600 } }), 'clock-skew'],
    ['no end', () => ({ claims: { exp: undefined } })],
    ['no time', () => ({ claims: { iat: undefined } })],
    ['a time in the future', () => ({ claims: { iat: now() + 300, exp: now() + 600 } }), 'clock-skew'],
    ['a sign-in in the future', () => ({ claims: { auth_time: now() + 300 } }), 'clock-skew'],
    ['a start of validity in the future', () => ({ claims: { nbf: now() + 300 } }), 'clock-skew'],
    ['a sign-in that is not a time', () => ({ claims: { auth_time: 'today' } })],
    ['a session that is not text', () => ({ claims: { sid: 7 } }), 'bad-id-token'],
    ['a header that must be understood', () => ({ header: { crit: ['b64'], b64: true } }), 'bad-answer'],
    ['a sign-in longer ago than a session lasts', () => ({ claims: { auth_time: now() - 28_801 } }), 'too-old'],
  ])('400 — %s (rule 53)', async (_what, minted, reason = 'bad-answer') => {
    const before = await sessions();
    const [browser, answer] = await signInWith(minted());
    await expectFailure(browser, answer, reason);
    expect(await sessions()).toBe(before);
  });

  test.each<[string, () => Record<string, unknown>]>([
    ['sub', () => ({ sub: 7 })],
    ['sub', () => ({ sub: ['alice'] })],
    ['exp', () => ({ exp: 'tomorrow' })],
    ['exp', () => ({ exp: undefined })],
    ['exp', () => ({ exp: now() - 120 })],
    ['iat', () => ({ iat: null })],
    ['iat', () => ({ iat: now() + 120 })],
    ['nbf', () => ({ nbf: true })],
    ['nbf', () => ({ nbf: now() + 120 })],
    ['auth_time', () => ({ auth_time: null })],
    ['auth_time', () => ({ auth_time: '1732550400' })],
    ['auth_time', () => ({ auth_time: now() + 120 })],
    ['nonce', () => ({ nonce: 'other' })],
    ['aud', () => ({ aud: 'other' })],
    ['iss', () => ({ iss: 'https://other.example' })],
    ['azp', () => ({ aud: [loginClient.id, 'other'], azp: 'other' })],
    ['sid', () => ({ sid: {} })],
  ])('400 — the audit trail names the claim %s that is missing or wrong (rule 53)', async (claim, claims) => {
    const [browser, answer] = await signInWith({ claims: claims() });
    expect(answer.status).toBe(400);
    expect(browser.cookies.has('sid')).toBe(false);
    expect((await failures()).map(({ detail }) => detail['claim'])).toContain(claim);
  });

  test('400 — no ID token, as from a plain OAuth 2.0 server', async () => {
    const [browser, answer] = await signInWith({}, { id_token: undefined });
    await expectFailure(browser, answer, 'bad-answer');
  });

  test('303 — the session’s lifetime starts at the sign-in at the provider, if its time is known (rule 47)', async () => {
    for (const [age, past] of [
      [3_600, { auth_time: now() - 3_600 }],
      [30, { iat: now() - 30 }],
    ] as const) {
      const [browser] = await signInWith({ claims: past });
      const { body } = await browser.call<Info>('GET', '/auth');
      const began = Date.parse(body.session.expiresAt) / 1_000 - 28_800;
      expect(Math.abs(now() - age - began)).toBeLessThan(5);
    }
  });

  test('303 — a new key of the provider is found (rule 49)', async () => {
    clock.advance(31);
    await corp.rotate();
    expect((await visitor().signIn(corp, 'alice')).status).toBe(303);
  });

  test('400 — a foreign key, also with the issuer’s key id, or an algorithm that is not configured (rule 53)', async () => {
    const forged: Minted[] = [
      { key: await newKey('RS256', corp.key.kid) },
      { key: await newKey('RS256', randomUUID()) },
      { key: partner.key },
      { key: await newKey('PS256', corp.key.kid) },
    ];
    // Keys are fetched once in 30 s.
    clock.advance(31);
    for (const minted of forged) {
      const [browser, answer] = await signInWith(minted);
      await expectFailure(browser, answer, minted.key?.alg === 'RS256' ? 'bad-id-token' : 'bad-answer');
    }
  });

  test('303 — the id of the provider’s session is stored for its logout', async () => {
    await signInWith({ claims: { sid: 'the-session' } });
    const row = await service()
      .db.selectFrom('session')
      .orderBy('created_at', 'desc')
      .select(['issuer', 'subject', 'issuer_session_id'])
      .executeTakeFirst();
    expect(row).toEqual({ issuer: corp.url, subject: 'alice', issuer_session_id: 'the-session' });
  });
});

describe('the user of an answer', () => {
  test('403 — no linked user, whatever other claims the provider sends (rule 56)', async () => {
    const browser = visitor();
    await expectFailure(browser, await browser.signIn(corp, 'ada'), 'not-linked', 403, 'identity-not-linked');
    expect((await failures()).map(({ detail }) => detail)).toContainEqual({ issuer: corp.url, reason: 'not-linked', subject: 'ada' });
  });

  test('403 — the same subject at another issuer (rule 56)', async () => {
    await service().createUser('carol');
    await service().link(partner, 'carol-1', 'carol');
    expect((await visitor().signIn(partner, 'carol-1')).status).toBe(303);
    const browser = visitor();
    await expectFailure(browser, await browser.signIn(corp, 'carol-1'), 'not-linked', 403, 'identity-not-linked');
  });

  test('403 — a disabled user, also if disabled during the sign-in', async () => {
    const { id } = await service().createUser('eve');
    await service().link(corp, 'eve-1', 'eve');
    const browser = visitor();
    const path = await browser.visit(corp, await browser.start(corp), 'eve-1');
    await service().db.updateTable('user_account').set({ active: false }).where('id', '=', id).execute();
    await expectFailure(browser, await browser.call('GET', path), 'user-disabled', 403, 'identity-not-linked');
    await expectFailure(browser, await browser.signIn(corp, 'eve-1'), 'user-disabled', 403, 'identity-not-linked');
  });
});

describe('a provider that does not answer', () => {
  test.each(['down', 'redirecting', 'endless'] as const)(
    '503 — %s at the browser’s return; passwords work, and the browser can start again (rule 49)',
    async (behaviour) => {
      const browser = visitor();
      const path = await browser.visit(corp, await browser.start(corp), 'alice');
      corp.behaviour = behaviour;
      const answer = await browser.call('GET', path);
      expect(answer).toMatchObject({ status: 503, body: { code: 'issuer-unavailable' } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(browser.cookies.has('sid')).toBe(false);
      expect((await failures())[0]).toMatchObject({ outcome: 'failed', detail: { reason: 'issuer-unavailable' } });
      await service().signIn('ada');
      corp.behaviour = 'up';
      expect((await browser.call('GET', path)).status, 'the answer was consumed anyway').toBe(400);
      expect((await browser.signIn(corp, 'alice')).status).toBe(303);
    },
  );

  test.each(['server_error', 'temporarily_unavailable'])('503 — the error %s', async (error) => {
    const browser = visitor();
    const state = (await browser.start(corp)).searchParams.get('state');
    const answer = await browser.call('GET', `/auth/oidc/corp/callback?state=${state}&iss=${corp.url}&error=${error}`);
    expect(answer).toMatchObject({ status: 503, body: { code: 'issuer-unavailable' } });
  });

  test('503 — it refuses our client secret, which a user cannot correct', async () => {
    const issuers = await writeIssuers(await corp.loginEntry({ clientSecretFile: undefined }));
    const other = await service().replica({ ISSUERS_FILE: issuers }, clock);
    try {
      const browser = new BrowserSession(other);
      expect(await browser.signIn(corp, 'alice')).toMatchObject({ status: 503, body: { code: 'issuer-unavailable' } });
    } finally {
      await other.close();
    }
  });
});

test('400 — docs/issuers.md explains every reason', () => {
  const documented = [...readDocument('docs/issuers.md').matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, reason]) => reason);
  for (const reason of failureReasons) expect(documented).toContain(reason);
});

test('400 — the answer’s query is parsed strictly, but unknown parameters are ignored (rule 69)', async () => {
  const browser = visitor();
  const path = await browser.visit(corp, await browser.start(corp), 'alice');
  for (const more of ['&code=x', '&x=%zz', '&x=1&x=2']) expect((await browser.call('GET', path + more)).status, more).toBe(400);
  expect((await browser.call('GET', path)).status).toBe(303);
});
