/**
 * An access token in the wrong hands: an OAuth client with `entities:read`, or a thief of its token, tries to stay. Nothing that it does
 * may outlast the token's session, or exceed the token's rights (rules 47, 48, 56, 59 and 60).
 */
import { beforeAll, expect, test } from 'vitest';
import { sessionOf } from '../support/clock.ts';
import { createHolder, holdingsOf, requests, send, type Holder } from '../support/holdings.ts';
import { loginClient, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { cookieOf, useService } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

/** The configuration of docs/sign-in.md: a provider for sign-in whose tokens have scopes. */
const corp = await TestIssuer.start('corp');
/** A provider whose tokens have no scopes, so that only roles decide. */
const plain = await TestIssuer.start('plain');
const scopes = { read: 'entities:read', write: 'entities:write' };
const service = useService({ ISSUERS_FILE: await writeIssuers(await corp.loginEntry({ scopes }), plain.entry()) });
const now = () => Math.floor(Date.now() / 1_000);

let ada: Omit<Holder, 'cookie' | 'sessionId'>;
beforeAll(async () => {
  ada = await createHolder(service(), [corp, plain], 'ada');
});

/** Opens a session with an access token. */
async function exchange(issuer: TestIssuer, claims: Record<string, unknown>): Promise<Holder> {
  const access_token = await issuer.mint({ claims: { sub: 'ada', ...claims } });
  const cookie = cookieOf(await service().call('POST', '/auth', { form: { oidcIssuer: issuer.id, access_token } }));
  return { ...ada, cookie, sessionId: (await sessionOf(service(), cookie)).id };
}

/** The operations whose effect would outlast the session or exceed its rights; the link first, as its effect would last longest. */
const others = Object.keys(requests).filter((name) => !/^(get|list|check|link)|^refreshSession$|^selectDefaultProfile$/.test(name));
const attempts = ['linkIdentity', ...others];

async function expectNothingDone(thief: Holder): Promise<void> {
  const before = await holdingsOf(service(), ada.userId);
  for (const operationId of attempts) {
    const answer = await send(service(), operationId, thief);
    expect([operationId, answer.status, answer.body.code]).toEqual([operationId, 403, 'forbidden']);
  }
  expect(await holdingsOf(service(), ada.userId)).toEqual(before);
}

test('a read-only token’s session cannot link a stranger’s identity, and the stranger cannot sign in', async () => {
  // Ada herself can, with the password.
  const browser = new BrowserSession(service());
  browser.cookies.set('sid', (await service().signIn('ada')).slice('sid='.length));
  const began = await browser.call<{ url: string }>('POST', '/auth/oidc/corp/link');
  expect(began.status, began.text).toBe(200);
  expect((await browser.call('GET', await browser.visit(corp, new URL(began.body.url), 'ada-at-home'))).status).toBe(303);

  const thief = await exchange(corp, { scope: 'entities:read', auth_time: now() });
  expect((await service().call('GET', '/rest/entity/note/1', { cookie: thief.cookie })).status).toBe(404);
  expect(await service().call('POST', '/rest/entity/note', { cookie: thief.cookie, json: {} })).toMatchObject({
    body: { code: 'insufficient-scope' },
  });
  await expectNothingDone(thief);
  expect(await new BrowserSession(service()).signIn(corp, 'mallory')).toMatchObject({ status: 403, body: { code: 'identity-not-linked' } });
  expect((await new BrowserSession(service()).signIn(corp, 'ada-at-home')).status).toBe(303);
});

test('a token of five minutes without auth_time creates no key and no link, however recent it is', async () => {
  const refreshed = { iat: now(), exp: now() + 300, auth_time: undefined };
  for (const claims of [refreshed, { ...refreshed, auth_time: now() }]) {
    const thief = await exchange(plain, claims);
    expect((await service().call('POST', '/rest/entity/note', { cookie: thief.cookie, json: {} })).status).toBe(201);
    await expectNothingDone(thief);
  }
});

test('a token that opens many sessions ends none that the user opened (rule 13)', async () => {
  const { id } = await service().createUser('bob');
  await service().link(plain, 'bob', 'bob');
  const own = await service().openSession(id);
  const access_token = await plain.mint({ claims: { sub: 'bob' } });
  for (let count = 0; count < 51; count++) {
    expect((await service().call('POST', '/auth', { form: { oidcIssuer: 'plain', access_token } })).status).toBe(200);
  }
  expect((await service().call('GET', '/auth', { cookie: own })).status).toBe(200);
  const live = service().db.selectFrom('session').where('user_id', '=', id).where('revoked_at', 'is', null).select('id');
  expect(await live.execute()).toHaveLength(50);
});

test('only auth_time makes a sign-in at a provider recent, never the time of its token', async () => {
  const keyAfter = async (auth_time: number | undefined) => {
    const browser = new BrowserSession(service());
    const url = await browser.start(corp);
    const path = await browser.visit(corp, url, 'ada');
    const claims = {
      sub: 'ada',
      aud: loginClient.id,
      nonce: url.searchParams.get('nonce'),
      auth_time,
      client_id: undefined,
      scope: undefined,
    };
    const id_token = await corp.mint({ claims, header: { typ: 'JWT' } });
    corp.answers.set('/token', () => ({ access_token: 'opaque', token_type: 'Bearer', id_token }));
    expect((await browser.call('GET', path)).status).toBe(303);
    corp.answers.clear();
    const { status, body } = await service().call('POST', '/auth/keys', { cookie: browser.cookie, json: { name: 'made' } });
    return status === 201 ? status : body.code;
  };
  expect(await keyAfter(now())).toBe(201);
  expect(await keyAfter(now() - 901)).toBe('fresh-login-required');
  expect(await keyAfter(undefined)).toBe('fresh-login-required');
});

test('a cookie older than 15 minutes makes no key and no link, and a refresh or a switch does not make it recent', async () => {
  const cookie = await service().signIn('ada');
  await service()
    .db.updateTable('session')
    .set({ signed_in_at: new Date(Date.now() - 901_000) })
    .where('user_id', '=', ada.userId)
    .execute();
  const refreshed = cookieOf(await service().call('POST', '/auth/refresh', { cookie }));
  const switched = cookieOf(await service().call('POST', '/auth/profile', { cookie: refreshed }));
  const thief = { ...ada, cookie: switched, sessionId: (await sessionOf(service(), switched)).id };
  for (const operationId of ['createKey', 'rotateKey', 'revokeKey', 'linkIdentity', 'unlinkIdentity']) {
    expect(await send(service(), operationId, thief)).toMatchObject({ status: 403, body: { code: 'fresh-login-required' } });
  }
});
