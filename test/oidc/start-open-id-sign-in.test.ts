/** The start of a sign-in at a provider: the request to the provider, what is stored, and a provider that is unreachable. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { deleteExpiredTransactions } from '../../src/oidc/sign-in/store.ts';
import { deleteInBatches } from '../../src/background/batches.ts';
import { loginClient, TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { TestService, useService } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const tokens = await TestIssuer.start('tokens', clock);
const issuersFile = await writeIssuers(await corp.loginEntry(), tokens.entry());
const service = useService({ ISSUERS_FILE: issuersFile }, clock);

const sha256 = (text: string) => createHash('sha256').update(text).digest();
const transactions = () => service().db.selectFrom('openid_transaction').selectAll().execute();

beforeEach(async () => {
  await service().db.deleteFrom('openid_transaction').execute();
  corp.behaviour = 'up';
});

describe('the request to the provider', () => {
  test('303 — for a code, with S256 PKCE and 256 bits of state and nonce, and for no lasting access (rules 51 and 55)', async () => {
    const { origin, pathname, searchParams } = await new BrowserSession(service()).start(corp);
    expect(origin + pathname).toBe(`${corp.url}/auth`);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: loginClient.id,
      redirect_uri: 'http://localhost:3000/auth/oidc/corp/callback',
      response_type: 'code',
      scope: 'openid',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      max_age: '28800',
    });
    const [row] = await transactions();
    expect(row?.nonce).toBe(searchParams.get('nonce'));
    expect(sha256(row?.code_verifier ?? '').toString('base64url')).toBe(searchParams.get('code_challenge'));
  });

  test('303 — all of it new each time (rule 51)', async () => {
    const asked = [await new BrowserSession(service()).start(corp), await new BrowserSession(service()).start(corp)];
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(new Set(asked.map(({ searchParams }) => searchParams.get(name))).size, name).toBe(2);
    }
  });

  test('303 — for a new sign-in, where the page requires one', async () => {
    expect((await new BrowserSession(service()).start(corp, '?fresh=1')).searchParams.get('prompt')).toBe('login');
  });

  test('303 — discovery is fetched once, not for each browser (rule 49)', async () => {
    await new BrowserSession(service()).start(corp);
    corp.requests.length = 0;
    await Promise.all(Array.from({ length: 10 }, () => new BrowserSession(service()).start(corp)));
    expect(corp.requests).toEqual([]);
  });
});

describe('the stored state', () => {
  test('303 — a cookie for the return only; the database has hashes of it and of the state (rule 52)', async () => {
    const answer = await service().call('GET', '/auth/oidc/corp/start');
    const [cookie = '', ...others] = answer.headers.getSetCookie();
    expect(others).toEqual([]);
    const [, value = ''] = /^oidc=([\w-]{43}); Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/.exec(cookie) ?? [];
    expect(value).not.toBe('');
    const state = new URL(answer.headers.get('location') ?? '').searchParams.get('state') ?? '';
    const [row] = await transactions();
    expect(row).toMatchObject({
      state_hash: sha256(state),
      browser_hash: sha256(value),
      issuer: corp.url,
      return_path: '/',
      session_id: null,
    });
    expect(JSON.stringify(row)).not.toContain(value);
    expect(JSON.stringify(row)).not.toContain(state);
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from expires_at - now())::float8 as seconds from openid_transaction`.execute(service().db);
    expect(rows[0]?.seconds).toBeGreaterThan(590);
    expect(rows[0]?.seconds).toBeLessThanOrEqual(600);
  });

  test('303 — over https the cookie is __Host-oidc and Secure (rule 52)', async () => {
    const secure = await TestService.start({
      ISSUERS_FILE: issuersFile,
      PUBLIC_URL: 'https://entities.example',
      SESSION_SAME_SITE: 'strict',
    });
    try {
      const answer = await secure.call('GET', '/auth/oidc/corp/start?redirected=1');
      expect(answer.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^__Host-oidc=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
      ]);
      const uri = new URL(answer.headers.get('location') ?? '').searchParams.get('redirect_uri');
      expect(uri).toBe('https://entities.example/auth/oidc/corp/callback');
    } finally {
      await secure.close();
    }
  });

  test('303 — tabs of one browser share the cookie, so that each can return; a malformed one is replaced', async () => {
    const browser = new BrowserSession(service());
    await browser.start(corp);
    const before = browser.cookie;
    await browser.start(corp);
    expect(browser.cookie).toBe(before);
    browser.cookies.set('oidc', 'x');
    await browser.start(corp);
    expect(browser.cookie).toMatch(/^oidc=[\w-]{43}$/);
  });

  test('303 — all unused states are deleted after ten minutes, and nothing else (rule 52)', async () => {
    await new BrowserSession(service()).start(corp);
    await sql`
      insert into openid_transaction (state_hash, browser_hash, issuer, nonce, code_verifier, return_path, expires_at)
      select sha256(n::text::bytea), sha256(''), 'x', 'x', 'x', '/', now() - interval '1 second' from generate_series(1, 2500) as n
    `.execute(service().db);
    expect(await deleteInBatches((limit) => deleteExpiredTransactions(service().db, limit))).toBe(2_500);
    expect(await transactions()).toHaveLength(1);
  });

  test('303 — the audit trail has the start, once a minute for one address (rule 85)', async () => {
    const events = await service().db.selectFrom('audit_event').where('event', '=', 'oidc.started').select(['outcome', 'detail']).execute();
    expect(events).toEqual([{ outcome: 'ok', detail: { issuer: corp.url } }]);
  });
});

describe('the path after the sign-in', () => {
  const good = ['/', '/app', '/app/a.b~c/?q=1&r=%20#part', '/auth', "/a'b(c)!*;=@:$,+-_", `/${'x'.repeat(1_999)}`];
  test.each(good)('303 — %s is stored unchanged (rule 54)', async (path) => {
    await new BrowserSession(service()).start(corp, `?return_to=${encodeURIComponent(path)}`);
    expect(await transactions()).toMatchObject([{ return_path: path }]);
  });

  const bad = [
    '',
    'app',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '\\/evil.example',
    '/%2fevil.example',
    '/%2Fevil.example',
    '/%5cevil.example',
    '/%5Cevil.example',
    '/a//evil.example',
    '/a/..//evil.example',
    'https://evil.example',
    'HTTPS:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    ' /app',
    '/ app',
    '/\tevil.example',
    '/a\r\nSet-Cookie: sid=x',
    '/a%0d%0aSet-Cookie:sid=x',
    '/%00',
    '/\u007f',
    '/é',
    '/／evil.example',
    '/\u202e',
    '@evil.example',
    '?a',
    '.evil.example',
  ];
  test.each(bad)('303 — %j is replaced by / (rule 54)', async (path) => {
    await new BrowserSession(service()).start(corp, `?return_to=${encodeURIComponent(path)}`);
    expect(await transactions()).toMatchObject([{ return_path: '/' }]);
  });

  test('400 — repeated, undecodable, or too long: it is refused (rule 69)', async () => {
    for (const query of ['return_to=/a&return_to=/b', 'return_to=%ff', `return_to=/${'x'.repeat(2_000)}`, 'fresh=yes']) {
      expect((await service().call('GET', `/auth/oidc/corp/start?${query}`)).status, query).toBe(400);
    }
    expect(await transactions()).toEqual([]);
  });
});

describe('another host than that of PUBLIC_URL', () => {
  const startAt = (host: string, query = '', id = 'corp') =>
    service().inject({ method: 'GET', url: `/auth/oidc/${id}/start${query}`, headers: { host } });

  test('307 — the browser begins at PUBLIC_URL, with what it has asked for, and returns with its cookie (rule 140)', async () => {
    const query = `?return_to=${encodeURIComponent('/app?a=1&b=2')}&fresh=1`;
    for (const host of ['127.0.0.1:3000', '[::1]:3000', 'other.example', 'LOCALHOST.example:3000']) {
      const { statusCode, headers } = await startAt(host, query);
      expect([statusCode, headers['set-cookie']], host).toEqual([307, undefined]);
      const there = new URL(String(headers.location));
      expect([there.origin, there.pathname]).toEqual(['http://localhost:3000', '/auth/oidc/corp/start']);
      expect(Object.fromEntries(there.searchParams)).toEqual({ return_to: '/app?a=1&b=2', fresh: '1', redirected: '1' });
      expect(await transactions()).toEqual([]);
      const browser = new BrowserSession(service());
      expect((await browser.call('GET', there.pathname + there.search)).status).toBe(303);
      expect(browser.cookies.has('oidc')).toBe(true);
      expect(await transactions()).toMatchObject([{ return_path: '/app?a=1&b=2' }]);
      await service().db.deleteFrom('openid_transaction').execute();
    }
  });

  test('303 — never a second time, as behind a proxy that replaces Host (rule 140)', async () => {
    const first = await startAt('entity-service.internal:8080');
    const { search } = new URL(String(first.headers.location));
    const second = await startAt('entity-service.internal:8080', search);
    expect([second.statusCode, new URL(String(second.headers.location)).origin]).toEqual([303, new URL(corp.url).origin]);
  });

  test('303 — another port of the host, as cookies do not depend on it, and a host that is no name', async () => {
    for (const host of ['localhost:5173', 'LOCALHOST:3000', 'localhost', 'a b']) expect((await startAt(host)).statusCode, host).toBe(303);
  });

  test('400 and 404 — a faulty request is refused where it is', async () => {
    expect((await startAt('127.0.0.1:3000', '?retrun_to=/')).statusCode).toBe(400);
    expect((await startAt('127.0.0.1:3000', '?iss=https://evil.example')).statusCode).toBe(400);
    expect((await startAt('127.0.0.1:3000', '', 'nobody')).statusCode).toBe(404);
  });
});

describe('a provider that is missing or unreachable', () => {
  test.each(['nobody', 'tokens', 'constructor'])('404 — %s is no provider', async (id) => {
    const answer = await service().call('GET', `/auth/oidc/${id}/start`);
    expect(answer).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test('503 and 303 — the provider does not answer: the service starts without it, and passwords work (rule 49)', async () => {
    corp.behaviour = 'down';
    const other = await service().replica({ ISSUERS_FILE: issuersFile }, clock);
    try {
      const answer = await other.call('GET', '/auth/oidc/corp/start');
      expect(answer).toMatchObject({ status: 503, body: { code: 'issuer-unavailable' } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.headers.getSetCookie()).toEqual([]);
      await other.createUser('ada');
      await other.signIn('ada');
      expect((await other.call('GET', '/auth/issuers')).status).toBe(200);
      corp.behaviour = 'up';
      clock.advance(31);
      expect((await other.call('GET', '/auth/oidc/corp/start')).status).toBe(303);
    } finally {
      await other.close();
    }
    expect(await transactions()).toHaveLength(1);
  });

  test('503 — an issuer without sign-in, although it is configured for that', async () => {
    corp.answers.set('/.well-known/openid-configuration', () => ({ issuer: corp.url, jwks_uri: `${corp.url}/jwks` }));
    const other = await service().replica({ ISSUERS_FILE: issuersFile }, clock);
    try {
      expect(await other.call('GET', '/auth/oidc/corp/start')).toMatchObject({ status: 503, body: { code: 'issuer-unavailable' } });
    } finally {
      corp.answers.clear();
      await other.close();
    }
  });
});

test('429 — strangers are limited by the rate limit, whatever cookie they send (rule 81)', async () => {
  const limited = await service().replica({ ISSUERS_FILE: issuersFile, RATE_LIMIT: 'on' }, clock);
  try {
    const start = () => limited.call('GET', '/auth/oidc/corp/start', { headers: { cookie: `sid=${'x'.repeat(32)}` } });
    const statuses = (await Promise.all(Array.from({ length: 200 }, start))).map(({ status }) => status);
    expect(statuses).toContain(429);
    expect(await transactions()).toHaveLength(statuses.filter((status) => status === 303).length);
  } finally {
    await limited.close();
  }
});
