/** POST /auth/oidc/{issuer}/link and the return from it: a signed-in user also proves an identity at a provider (rule 56). */
import { sql } from 'kysely';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { loginClient, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

const corp = await TestIssuer.start('corp');
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry()) });
const users = { ada: '', eve: '' };

beforeAll(async () => {
  users.ada = (await service().createUser('ada')).id;
  users.eve = (await service().createUser('eve')).id;
});

afterEach(async () => {
  corp.behaviour = 'up';
  corp.answers.clear();
  await service().db.deleteFrom('identity').execute();
});

/** A browser in which the user is signed in by password. */
async function browserOf(user: keyof typeof users): Promise<BrowserSession> {
  const browser = new BrowserSession(service());
  const [name = '', value = ''] = (await service().openSession(users[user])).split('=');
  browser.cookies.set(name, value);
  return browser;
}

/** Begins to link; returns the path that the provider finally redirects the browser to. */
async function begin(browser: BrowserSession, subject: string, query = ''): Promise<string> {
  const answer = await browser.call<{ url: string }>('POST', `/auth/oidc/corp/link${query}`);
  expect(answer.status, answer.text).toBe(200);
  return await browser.visit(corp, new URL(answer.body.url), subject);
}

const links = async () =>
  (
    await service()
      .db.selectFrom('identity')
      .innerJoin('user_account', 'user_account.id', 'identity.user_id')
      .select(['identity.issuer', 'identity.subject', 'user_account.name'])
      .execute()
  ).map(({ issuer, subject, name }) => [issuer, subject, name]);

describe('linking', () => {
  test('200 and 303 — links the identity to the user, who can sign in with it, and the session goes on (rules 56 and 85)', async () => {
    const browser = await browserOf('ada');
    const before = browser.cookies.get('sid');
    const returned = await browser.call('GET', await begin(browser, 'alice', '?return_to=/auth'));
    expect(returned.status, returned.text).toBe(303);
    expect(returned.headers.get('location')).toBe('/auth');
    expect(await links()).toEqual([[corp.url, 'alice', 'ada']]);
    expect([...browser.cookies]).toEqual([['sid', before]]);
    expect((await browser.call('GET', '/auth')).status).toBe(200);
    const other = new BrowserSession(service());
    expect((await other.signIn(corp, 'alice')).status).toBe(303);
    expect((await other.call('GET', '/auth')).body.user.name).toBe('ada');
    const events = await service()
      .db.selectFrom('audit_event')
      .where('event', '=', 'identity.linked')
      .select(['user_name', 'detail', 'session_id'])
      .execute();
    expect(events).toEqual([
      { user_name: 'ada', detail: { by: 'user', issuer: corp.url, subject: 'alice' }, session_id: expect.any(String) as string },
    ]);
  });

  test('200 — requires a new sign-in at the provider (rule 56)', async () => {
    const { body } = await (await browserOf('ada')).call<{ url: string }>('POST', '/auth/oidc/corp/link');
    expect(new URL(body.url).searchParams.get('prompt')).toBe('login');
  });

  test('303 — an existing link stays; a refresh meanwhile does not matter', async () => {
    await service().link(corp, 'alice', 'ada');
    const browser = await browserOf('ada');
    const path = await begin(browser, 'alice');
    expect((await browser.call('POST', '/auth/refresh')).status).toBe(200);
    expect((await browser.call('GET', path)).status).toBe(303);
    expect(await links()).toEqual([[corp.url, 'alice', 'ada']]);
  });

  test('400 — a sign-in at the provider long ago, since the browser can change the request (rule 56)', async () => {
    for (const [age, status] of [
      [901, 400],
      [840, 303],
    ] as const) {
      const browser = await browserOf('ada');
      const { body } = await browser.call<{ url: string }>('POST', '/auth/oidc/corp/link');
      const url = new URL(body.url);
      const nonce = url.searchParams.get('nonce');
      const path = await browser.visit(corp, url, 'alice');
      const claims = {
        aud: loginClient.id,
        nonce,
        auth_time: Math.floor(Date.now() / 1_000) - age,
        client_id: undefined,
        scope: undefined,
      };
      const id_token = await corp.mint({ claims, header: { typ: 'JWT' } });
      corp.answers.set('/token', () => ({ access_token: 'opaque', token_type: 'Bearer', id_token }));
      expect((await browser.call('GET', path)).status).toBe(status);
      expect(await links()).toHaveLength(status === 303 ? 1 : 0);
    }
  });

  test('409 — the identity is linked to another user, and stays so (rule 56)', async () => {
    await service().link(corp, 'alice', 'eve');
    const browser = await browserOf('ada');
    const answer = await browser.call('GET', await begin(browser, 'alice'));
    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(answer.headers.get('location')).toBeNull();
    expect(await links()).toEqual([[corp.url, 'alice', 'eve']]);
  });

  test('303 and 409 — of two users who link one identity at once, one gets it', async () => {
    const browsers = [await browserOf('ada'), await browserOf('eve')];
    const paths = await Promise.all(browsers.map((browser) => begin(browser, 'alice')));
    const answers = await Promise.all(browsers.map((browser, index) => browser.call('GET', paths[index] ?? '')));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([303, 409]);
    expect(await links()).toHaveLength(1);
  });
});

describe('the return', () => {
  test('400 — with the session of another user: no link is made (rule 56)', async () => {
    const browser = await browserOf('ada');
    const path = await begin(browser, 'alice');
    browser.cookies.set('sid', (await browserOf('eve')).cookies.get('sid') ?? '');
    expect(await browser.call('GET', path)).toMatchObject({ status: 400, body: { code: 'sign-in-failed' } });
    expect(await links()).toEqual([]);
  });

  test('400 — with another session of the same user, which did not begin the linking', async () => {
    const browser = await browserOf('ada');
    const path = await begin(browser, 'alice');
    browser.cookies.set('sid', (await browserOf('ada')).cookies.get('sid') ?? '');
    expect((await browser.call('GET', path)).status).toBe(400);
    expect(await links()).toEqual([]);
  });

  test('403 — with a session that an access token opened, although it began the linking (rules 48 and 56)', async () => {
    for (const change of [`method = 'token'`, `scopes = '[]'`]) {
      const browser = await browserOf('ada');
      const path = await begin(browser, 'alice');
      await sql`update session set ${sql.raw(change)} where user_id = ${users.ada}`.execute(service().db);
      corp.requests.length = 0;
      expect(await browser.call('GET', path)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(corp.requests, 'the code is not redeemed').toEqual([]);
      expect(await links()).toEqual([]);
    }
    const [event] = await service()
      .db.selectFrom('audit_event')
      .where('event', '=', 'permission.denied')
      .orderBy('id', 'desc')
      .select(['user_name', 'detail'])
      .execute();
    expect(event).toMatchObject({ user_name: 'ada', detail: { operation: 'finishOpenIdSignIn', reason: 'forbidden' } });
  });

  test('401 — without a session, or with an ended one: no session is opened either (rule 56)', async () => {
    await service().link(corp, 'bob', 'eve');
    for (const end of [
      async (browser: BrowserSession) => void browser.cookies.delete('sid'),
      async (browser: BrowserSession) => void (await browser.call('HEAD', '/auth?logout=1')),
    ]) {
      const browser = await browserOf('ada');
      const path = await begin(browser, 'bob');
      await end(browser);
      corp.requests.length = 0;
      expect(await browser.call('GET', path)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
      expect(corp.requests, 'the code is not redeemed').toEqual([]);
      expect(browser.cookies.has('sid')).toBe(false);
    }
    expect(await links()).toEqual([[corp.url, 'bob', 'eve']]);
  });

  test('400 — in another browser, and twice (rule 52)', async () => {
    const attacker = await browserOf('eve');
    const path = await begin(attacker, 'mallory');
    const victim = await browserOf('ada');
    expect((await victim.call('GET', path)).status).toBe(400);
    expect((await attacker.call('GET', path)).status).toBe(400);
    expect(await links()).toEqual([]);
  });
});

describe('the start', () => {
  const begun = async () => (await service().db.selectFrom('openid_transaction').select('issuer').execute()).length;

  test('403 — a session signed in more than 15 minutes ago', async () => {
    const browser = await browserOf('ada');
    const before = await begun();
    await sql`update session set signed_in_at = now() - interval '16 minutes' where user_id = ${users.ada}`.execute(service().db);
    expect(await browser.call('POST', '/auth/oidc/corp/link')).toMatchObject({ status: 403, body: { code: 'fresh-login-required' } });
    expect(await begun()).toBe(before);
  });

  test('403 — an API key, which is not a session, and a page of another site (rules 27 and 59)', async () => {
    const key = await service().createKey(users.ada);
    const byKey = await service().call('POST', '/auth/oidc/corp/link', { headers: { 'x-api-key': key } });
    expect(byKey).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const { cookie } = await browserOf('ada');
    const foreign = await service().call('POST', '/auth/oidc/corp/link', { cookie, headers: { 'sec-fetch-site': 'cross-site' } });
    expect(foreign).toMatchObject({ status: 403, body: { code: 'csrf-rejected' } });
    expect(foreign.headers.getSetCookie()).toEqual([]);
  });

  test('404 — an unknown provider', async () => {
    const browser = await browserOf('ada');
    expect(await browser.call('POST', '/auth/oidc/nobody/link')).toMatchObject({ status: 404, body: { code: 'not-found' } });
  });

  test('503 — a provider that does not answer', async () => {
    const issuers = await writeIssuers(await corp.loginEntry());
    const other = await service().replica({ ISSUERS_FILE: issuers });
    try {
      corp.behaviour = 'down';
      const { cookie } = await browserOf('ada');
      expect(await other.call('POST', '/auth/oidc/corp/link', { cookie })).toMatchObject({
        status: 503,
        body: { code: 'issuer-unavailable' },
      });
    } finally {
      await other.close();
    }
  });
});
