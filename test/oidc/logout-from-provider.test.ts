/** Logout in both directions: the provider reports the end of its session, and the service returns the URL to end the provider's. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AuditQuota } from '../../src/audit/quota.ts';
import { loginClient, newKey, TestClock, TestIssuer, writeIssuers, type Minted } from '../support/issuer.ts';
import { useService, type Answer } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const partner = await TestIssuer.start('partner', clock);
const tokens = await TestIssuer.start('tokens', clock);
const issuersFile = await writeIssuers(await corp.loginEntry(), await partner.loginEntry(), tokens.entry());
const service = useService({ ISSUERS_FILE: issuersFile }, clock);
const event = 'http://schemas.openid.net/event/backchannel-logout';

interface Info {
  authentication: { endSessionUrl: string | null };
}

beforeAll(async () => {
  await service().createUser('ada');
  for (const issuer of [corp, partner]) {
    await service().link(issuer, 'alice', 'ada');
    await service().link(issuer, 'anna', 'ada');
  }
});

beforeEach(async () => {
  service().context.auditQuota = new AuditQuota();
  await service()
    .db.updateTable('session')
    .set({ revoked_at: sql`now()` })
    .where('revoked_at', 'is', null)
    .execute();
  await service().settle();
});

afterEach(() => {
  for (const issuer of [corp, partner]) issuer.behaviour = 'up';
});

/** A logout token for all sessions of the subject `alice`, except for the given claims, header and key. */
const mintLogout = ({ claims = {}, header = {}, key }: Minted = {}, issuer = corp) =>
  issuer.mint({
    claims: { aud: loginClient.id, events: { [event]: {} }, client_id: undefined, scope: undefined, ...claims },
    header: { typ: 'logout+jwt', ...header },
    ...(key && { key }),
  });

const send = (logout_token: string, issuer = corp, headers: Record<string, string> = {}): Promise<Answer<{ code: string }>> =>
  service().call('POST', `/auth/oidc/${issuer.id}/backchannel-logout`, { form: { logout_token }, headers });

/** A browser that has signed in. */
async function signedIn(issuer = corp, subject = 'alice'): Promise<BrowserSession> {
  const browser = new BrowserSession(service());
  const answer = await browser.signIn(issuer, subject);
  expect(answer.status, answer.text).toBe(303);
  return browser;
}

const statusOf = async (browser: BrowserSession) => (await browser.call('GET', '/auth')).status;

/** Sets the provider's session id in the row. */
async function nameLatest(sid: string): Promise<void> {
  await sql`
    update session set issuer_session_id = ${sid} where id = (select id from session order by created_at desc limit 1)`.execute(
    service().db,
  );
}

describe('a logout ends', () => {
  test('200 — all sessions of the issuer and subject, and no others: of another subject, issuer, or by password (rule 14)', async () => {
    const ended = [await signedIn(), await signedIn()];
    const others = [await signedIn(corp, 'anna'), await signedIn(partner)];
    const byPassword = await service().signIn('ada');
    const answer = await send(await mintLogout());
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).toBe('');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    for (const browser of ended) expect(await statusOf(browser)).toBe(401);
    for (const browser of others) expect(await statusOf(browser)).toBe(200);
    expect((await service().call('GET', '/auth', { cookie: byPassword })).status).toBe(200);
    const events = await service()
      .db.selectFrom('audit_event')
      .where('event', '=', 'session.revoked')
      .select(['user_name', 'detail'])
      .execute();
    expect(events).toEqual(Array.from({ length: 2 }, () => ({ user_name: 'ada', detail: { by: 'issuer', issuer: corp.url } })));
  });

  test('200 — with `sid` only the sessions opened through that session, also when `sub` is there', async () => {
    for (const claims of [{ sid: 'one', sub: undefined }, { sid: 'one' }]) {
      const one = await signedIn();
      await nameLatest('one');
      const two = await signedIn();
      await nameLatest('two');
      expect((await send(await mintLogout({ claims }))).status).toBe(200);
      expect([await statusOf(one), await statusOf(two)]).toEqual([401, 200]);
    }
  });

  test('200 — with `sub` and `sid` no session that another subject has opened through a session of that name', async () => {
    const [ended, other] = [await signedIn(), await signedIn(corp, 'anna')];
    await service().db.updateTable('session').set({ issuer_session_id: 'shared' }).where('revoked_at', 'is', null).execute();
    expect((await send(await mintLogout({ claims: { sid: 'shared' } }))).status).toBe(200);
    expect([await statusOf(ended), await statusOf(other)]).toEqual([401, 200]);
    expect((await send(await mintLogout({ claims: { sid: 'shared', sub: undefined } }))).status).toBe(200);
    expect(await statusOf(other)).toBe(401);
  });

  test('200 — sessions opened by a token of the subject, too', async () => {
    const form = { oidcIssuer: 'corp', access_token: await corp.mint() };
    const opened = await service().call('POST', '/auth', { form });
    const [cookie = ''] = (opened.headers.getSetCookie()[0] ?? '').split(';');
    expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
    expect((await send(await mintLogout())).status).toBe(200);
    expect((await service().call('GET', '/auth', { cookie })).status).toBe(401);
  });

  test('200 — the sessions on every replica, before its answer (rule 21)', async () => {
    const replica = await service().replica({ ISSUERS_FILE: issuersFile }, clock);
    try {
      for (let round = 0; round < 5; round++) {
        const { cookie } = await signedIn();
        const there = () => replica.call('GET', '/rest/entity/customer/999', { cookie });
        expect((await there()).status).toBe(404);
        expect((await send(await mintLogout())).status).toBe(200);
        expect((await there()).status).toBe(401);
      }
    } finally {
      await replica.close();
    }
  });

  test('200 — nothing for an unknown session: the answer is no oracle', async () => {
    const browser = await signedIn();
    for (const claims of [{ sub: 'nobody' }, { sid: 'nothing' }, { sub: undefined, sid: 'nothing' }]) {
      expect((await send(await mintLogout({ claims }))).status).toBe(200);
    }
    expect(await statusOf(browser)).toBe(200);
  });

  test('200 — nothing that was opened since, when the same token is repeated', async () => {
    const token = await mintLogout({ claims: { iat: Math.floor(clock.wall() / 1_000) - 100 } });
    const later = await signedIn();
    for (let round = 0; round < 2; round++) expect((await send(token)).status).toBe(200);
    expect(await statusOf(later)).toBe(200);
  });

  test('200 — the sessions also with unknown fields and claims, and without a type of the token', async () => {
    for (const typ of [undefined, 'JWT', 'application/logout+jwt', 'LOGOUT+JWT']) {
      const browser = await signedIn();
      const logout_token = await mintLogout({ header: { typ }, claims: { more: 1 } });
      const answer = await service().call('POST', '/auth/oidc/corp/backchannel-logout', { form: { logout_token, more: '1' } });
      expect(answer.status, answer.text).toBe(200);
      expect(await statusOf(browser), typ).toBe(401);
    }
  });

  test('200 — the sessions whatever cookies and site it has: it carries no credential of a user (rule 27)', async () => {
    const browser = await signedIn();
    const { cookie } = await signedIn(partner);
    const headers = { cookie, 'sec-fetch-site': 'cross-site', origin: 'https://login.example.com' };
    expect((await send(await mintLogout(), corp, headers)).status).toBe(200);
    expect(await statusOf(browser)).toBe(401);
    expect((await service().call('GET', '/auth', { cookie })).status, 'the cookie that was sent along').toBe(200);
  });

  test('200 — the sessions when the user signs out at the provider', async () => {
    const told = await TestIssuer.start('told', clock);
    const other = await service().replica({ ISSUERS_FILE: await writeIssuers(await told.loginEntry()) }, clock);
    told.options.backchannelLogoutUri = `${other.url}/auth/oidc/told/backchannel-logout`;
    told.publish([told.key]);
    try {
      await service().link(told, 'alice', 'ada');
      const [here, elsewhere] = [new BrowserSession(other), new BrowserSession(other)];
      for (const browser of [here, elsewhere]) expect((await browser.signIn(told, 'alice')).status).toBe(303);
      const { body } = await here.call<Info>('GET', '/auth');
      const { href } = await told.signOut(body.authentication.endSessionUrl ?? '', here.jar);
      expect(href).toBe('http://localhost:3000/');
      expect([await statusOf(here), await statusOf(elsewhere)], 'only the session opened through the provider’s session').toEqual([
        401, 200,
      ]);
    } finally {
      await other.close();
    }
  });
});

describe('an invalid logout token', () => {
  const now = () => Math.floor(clock.wall() / 1_000);
  const refused: [string, () => Minted | Promise<Minted>][] = [
    ['of another issuer', () => ({ claims: { iss: partner.url } })],
    ['for another audience', () => ({ claims: { aud: 'other' } })],
    ['for the audience of access tokens', () => ({ claims: { aud: 'entity-service' } })],
    ['without an audience', () => ({ claims: { aud: undefined } })],
    ['without a time', () => ({ claims: { iat: undefined } })],
    ['from the future', () => ({ claims: { iat: now() + 300 } })],
    ['without an end', () => ({ claims: { exp: undefined } })],
    ['that is too old', () => ({ claims: { exp: now() - 100 } })],
    ['without an id', () => ({ claims: { jti: undefined } })],
    ['with an empty id', () => ({ claims: { jti: '' } })],
    ['with a nonce, as ID tokens have', () => ({ claims: { nonce: 'x' } })],
    ['without events', () => ({ claims: { events: undefined } })],
    ['with another event', () => ({ claims: { events: { 'http://schemas.openid.net/event/other': {} } } })],
    ['whose event is not an object', () => ({ claims: { events: { [event]: true } } })],
    ['whose events are a list', () => ({ claims: { events: [event] } })],
    ['that names neither a subject nor a session', () => ({ claims: { sub: undefined } })],
    ['whose subject is a number', () => ({ claims: { sub: 7 } })],
    ['whose session is a list', () => ({ claims: { sid: ['x'] } })],
    ['with the type of an access token', () => ({ header: { typ: 'at+jwt' } })],
    ['with a header that must be understood', () => ({ header: { crit: ['b64'], b64: true } })],
    ['signed by another key with the same id', async () => ({ key: await newKey('RS256', corp.key.kid) })],
    ['signed by a key that the issuer does not publish', async () => ({ key: await newKey('RS256', randomUUID()) })],
    ['signed with an algorithm that is not configured', async () => ({ key: await newKey('PS256', corp.key.kid) })],
  ];

  test('200 — the same, unchanged, as a control', async () => {
    const browser = await signedIn();
    expect((await send(await mintLogout())).status).toBe(200);
    expect(await statusOf(browser)).toBe(401);
  });

  test.each(refused)('400 — one %s', async (what, minted) => {
    // Keys are fetched once in 30 s.
    if (what.includes('does not publish')) clock.advance(31);
    const browser = await signedIn();
    const answer = await send(await mintLogout(await minted()));
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'malformed-request', errors: [{ pointer: '/logout_token', code: 'invalid-value' }] },
    });
    expect(await statusOf(browser)).toBe(200);
  });

  test('400 — no token, or another text', async () => {
    const { idToken, accessToken } = await corp.signIn('alice');
    for (const text of ['', 'x', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', idToken, accessToken])
      expect((await send(text)).status, text).toBe(400);
    expect((await service().call('POST', '/auth/oidc/corp/backchannel-logout', { form: { token: 'x' } })).status).toBe(400);
  });

  test('400 — a valid one at the path of another issuer', async () => {
    clock.advance(31);
    const browser = await signedIn();
    expect((await send(await mintLogout(), partner)).status).toBe(400);
    expect(await statusOf(browser)).toBe(200);
  });

  test('400 — with an audit event (rule 85)', async () => {
    const failed = await service().db.selectFrom('audit_event').where('event', '=', 'oidc.failed').select('detail').execute();
    expect(failed.map(({ detail }) => detail)).toContainEqual(expect.objectContaining({ issuer: corp.url, reason: 'bad-logout-token' }));
  });

  test.each(['nobody', 'tokens'])('404 — for %s, which is not for sign-in', async (id) => {
    const answer = await service().call('POST', `/auth/oidc/${id}/backchannel-logout`, { form: { logout_token: await mintLogout() } });
    expect(answer).toMatchObject({ status: 404, body: { code: 'not-found' } });
  });
});

describe('signing out at the provider too', () => {
  test('200 and 204 — session info and the logout return the URL at the provider, which leads back to this service', async () => {
    const browser = await signedIn(partner);
    const { body } = await browser.call<Info>('GET', '/auth');
    const url = new URL(body.authentication.endSessionUrl ?? '');
    expect(url.origin).toBe(partner.url);
    expect(Object.fromEntries(url.searchParams)).toEqual({ client_id: loginClient.id, post_logout_redirect_uri: 'http://localhost:3000/' });
    const answer = await browser.call('HEAD', '/auth?logout=1');
    expect(answer.status).toBe(204);
    expect(answer.headers.get('link')).toBe(`<${url.href}>; rel="https://openid.net/specs/openid-connect-rpinitiated-1_0.html"`);
    expect((await partner.signOut(url.href, browser.jar)).href).toBe('http://localhost:3000/');
    const anew = await partner.visit((await browser.start(partner)).href, 'anna', { jar: browser.jar });
    await browser.call('GET', anew.pathname + anew.search);
    const row = await service().db.selectFrom('session').orderBy('created_at', 'desc').select('subject').executeTakeFirst();
    expect(row?.subject, 'the provider has shown its login page').toBe('anna');
  });

  test('200 and 204 — without a URL, for a session that was not opened at a provider', async () => {
    const cookie = await service().signIn('ada');
    expect((await service().call<Info>('GET', '/auth', { cookie })).body.authentication.endSessionUrl).toBeNull();
    expect((await service().call('HEAD', '/auth?logout=1', { cookie })).headers.get('link')).toBeNull();
    expect((await service().call('HEAD', '/auth?logout=1', { cookie })).headers.get('link'), 'of no session').toBeNull();
  });
});

test('503 and 200 — without the issuer’s keys the token cannot be checked, and the provider repeats it (rule 49)', async () => {
  const browser = await signedIn();
  clock.advance(3_601);
  corp.behaviour = 'down';
  const token = await mintLogout();
  const answer = await send(token);
  expect(answer).toMatchObject({ status: 503, body: { code: 'issuer-unavailable' } });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await statusOf(browser)).toBe(200);
  const failed = await service().db.selectFrom('audit_event').where('event', '=', 'oidc.failed').select('detail').execute();
  expect(failed.map(({ detail }) => detail)).toContainEqual({ issuer: corp.url, reason: 'issuer-unavailable' });
  corp.behaviour = 'up';
  clock.advance(31);
  expect((await send(token)).status).toBe(200);
  expect(await statusOf(browser)).toBe(401);
});

test.each<[string, Record<string, unknown>]>([
  ['exp', { exp: undefined }],
  ['iat', { iat: 'now' }],
  ['jti', { jti: undefined }],
  ['events', { events: [] }],
  ['sub', { sub: 7 }],
  ['sid', { sid: 7 }],
  ['nonce', { nonce: 'x' }],
  ['aud', { aud: 'other' }],
])('400 — the audit trail names the claim %s of a refused logout token', async (claim, claims) => {
  service().context.auditQuota = new AuditQuota();
  expect((await send(await mintLogout({ claims }))).status).toBe(400);
  const failed = await service()
    .db.selectFrom('audit_event')
    .where('event', '=', 'oidc.failed')
    .orderBy('id', 'desc')
    .select('detail')
    .executeTakeFirst();
  expect(failed?.detail).toMatchObject({ reason: 'bad-logout-token', claim });
});

test('200 — a logout token without exp, as of Hydra, where the file says so, for five minutes', async () => {
  const hydra = await TestIssuer.start('hydra', clock);
  const file = await writeIssuers(await hydra.loginEntry({ logout: { allowMissingExpiry: true } }));
  const other = await service().replica({ ISSUERS_FILE: file }, clock);
  try {
    const now = Math.floor(clock.wall() / 1_000);
    const answerTo = async (iat: number) => {
      const claims = { aud: loginClient.id, exp: undefined, iat, client_id: undefined, scope: undefined, events: { [event]: {} } };
      const token = await hydra.mint({ claims, header: { typ: 'logout+jwt' } });
      return (await other.call('POST', '/auth/oidc/hydra/backchannel-logout', { form: { logout_token: token } })).status;
    };
    expect([await answerTo(now), await answerTo(now - 290), await answerTo(now - 310)]).toEqual([200, 200, 400]);
  } finally {
    await other.close();
  }
});
