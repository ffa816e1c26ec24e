/**
 * Access tokens of trusted issuers as `Authorization: Bearer`, for all operations. The reasons for refusing a token are in
 * refusals.test.ts.
 */
import { cookieOf, password, TestService, useService, type Answer, type Call, type ProblemBody } from '../support/service.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { operationsOf, readContract } from '../../src/contract/contract.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';

const corp = await TestIssuer.start('corp');
const partner = await TestIssuer.start('partner');
const narrow = { read: 'entities:read', write: 'entities:write' };
const issuersFile = await writeIssuers(corp.entry(), partner.entry({ scopes: narrow }));
const service = useService({ ISSUERS_FILE: issuersFile });

interface Entity {
  key: string;
  createdBy: string;
}

interface Info {
  user: { name: string };
  profile: { name: string } | null;
  authentication: { method: string; issuer: string | null; at: string };
  session: object | null;
  server: { authentication: string[] };
}

function bearer<T = ProblemBody>(token: string, method: string, path: string, call: Call = {}): Promise<Answer<T>> {
  return service().call<T>(method, path, { ...call, headers: { authorization: `Bearer ${token}`, ...call.headers } });
}

beforeAll(async () => {
  await service().createUser('ada');
  await service().link(corp, 'alice', 'ada');
  await service().link(partner, 'alice', 'ada');
  await service().createUser('robot', { log: ['create'] });
  await service().link(corp, 'web', 'robot');
});

describe('a token from the issuer', () => {
  test('201, 200, 200, 204 — the token of a signed-in user creates, reads, updates and deletes, as the linked user', async () => {
    const { accessToken } = await corp.signIn('alice');
    const created = await bearer<Entity>(accessToken, 'POST', '/rest/entity/customer', { json: { city: 'London' } });
    expect(created).toMatchObject({ status: 201, body: { createdBy: 'ada' } });
    const path = `/rest/entity/customer/${created.body.key}`;
    expect((await bearer(accessToken, 'GET', path)).status).toBe(200);
    const updated = await bearer(accessToken, 'POST', path, { json: { city: 'Paris' } });
    expect(updated).toMatchObject({ status: 200, body: { fields: { city: 'Paris' }, updatedBy: 'ada' } });
    expect((await bearer(accessToken, 'DELETE', path)).status).toBe(204);
    expect((await bearer(accessToken, 'GET', path)).status).toBe(404);
  });

  test('200 — session info names the method and the issuer, with the default profile and without a session', async () => {
    const { accessToken } = await corp.signIn('alice');
    const { status, body, headers } = await bearer<Info>(accessToken, 'GET', '/auth?roles=1&profiles=1');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      user: { name: 'ada' },
      profile: { name: 'ada' },
      authentication: { method: 'bearer', issuer: corp.url },
      session: null,
      server: { authentication: ['password', 'api-key', 'oauth2'] },
    });
    expect(headers.getSetCookie()).toEqual([]);
    expect((await bearer(accessToken, 'GET', '/auth/profiles')).status).toBe(200);
    expect((await bearer(accessToken, 'HEAD', '/auth')).status).toBe(200);
  });

  test('401 — the ID token issued with it is no access token, here and at POST /auth (rules 45 and 47)', async () => {
    const { accessToken, idToken } = await corp.signIn('alice');
    expect((await bearer(accessToken, 'POST', '/auth', { form: { oidcIssuer: 'corp' } })).status).toBe(200);
    expect(await bearer(idToken, 'POST', '/auth', { form: { oidcIssuer: 'corp' } })).toMatchObject({
      status: 401,
      body: { code: 'invalid-token' },
    });
    expect(await bearer(idToken, 'GET', '/auth')).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
  });

  test('201 — the token of a client, without a user, acts as the account linked to the client’s id', async () => {
    const token = await corp.machineToken('entities:write');
    expect(await bearer(token, 'POST', '/rest/entity/log', { json: {} })).toMatchObject({ status: 201, body: { createdBy: 'robot' } });
    expect(await bearer(token, 'POST', '/rest/entity/customer', { json: {} })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });
});

describe('what a token may do', () => {
  test('403 — a right needs both a scope and a role (rule 48)', async () => {
    const created = await bearer<Entity>(await partner.mint(), 'POST', '/rest/entity/customer', { json: {} });
    expect(created.status).toBe(201);
    const path = `/rest/entity/customer/${created.body.key}`;
    const reader = await partner.mint({ claims: { scope: 'openid entities:read' } });
    expect((await bearer(reader, 'GET', path)).status).toBe(200);
    for (const [method, at, call] of [
      ['POST', '/rest/entity/customer', { json: {} }],
      ['POST', path, { json: { city: 'Rome' } }],
      ['DELETE', path, {}],
    ] as const) {
      const refused = await bearer(reader, method, at, call);
      expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient-scope' } });
      expect(refused.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"');
    }
    const writer = await partner.mint({ claims: { scope: 'entities:write' } });
    expect(await bearer(writer, 'GET', path)).toMatchObject({ status: 403, body: { code: 'insufficient-scope' } });
    expect((await bearer(writer, 'DELETE', path)).status).toBe(204);
  });

  test.each([
    ['no scope at all', undefined],
    ['an empty scope', ''],
    ['unknown scopes', 'entities:readonly xentities:read'],
  ])('403 — %s grants nothing where scopes are configured (rule 48)', async (_what, scope) => {
    expect((await bearer(await partner.mint({ claims: { scope } }), 'GET', '/auth')).status).toBe(200);
    const refused = await bearer(await partner.mint({ claims: { scope } }), 'GET', '/rest/entity/customer/1');
    expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient-scope' } });
  });

  test('404 — where the issuer has no configured scopes, only the roles decide (rule 48)', async () => {
    const token = await corp.mint({ claims: { scope: undefined } });
    expect((await bearer(token, 'GET', '/rest/entity/customer/1')).status).toBe(404);
  });

  test.each([
    ['POST', '/auth/refresh', {}],
    ['POST', '/auth/profile', {}],
    ['POST', '/auth/profile/ada', {}],
    ['POST', '/auth/password', { form: { 'current-password': password, 'set-password': 'x', 'confirm-password': 'x' } }],
  ] as const)('403 — %s %s needs a session (rule 43)', async (method, path, call) => {
    expect(await bearer(await corp.mint(), method, path, call)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });
});

describe('the user of a token', () => {
  const unlinked = { status: 403, body: { code: 'identity-not-linked' } };

  test('403 — a valid token without a linked user, for all operations, with its subject in the audit trail (rule 56)', async () => {
    const closed = operationsOf(readContract().document).filter(({ security }) => security.length > 0);
    for (const { operationId, method, path } of closed) {
      const filled = path.replace(/{(\w+)}/g, (_all, name) => (name === 'key' ? '1' : 'x'));
      const answer = await bearer(await corp.mint({ claims: { sub: 'bob' } }), method.toUpperCase(), filled);
      expect([answer.status, answer.headers.get('problem-code') ?? answer.body?.code], operationId).toEqual([403, 'identity-not-linked']);
    }
    const { detail, user_name: userName } = await service()
      .db.selectFrom('audit_event')
      .where('event', '=', 'token.refused')
      .orderBy('id', 'desc')
      .select(['detail', 'user_name'])
      .executeTakeFirstOrThrow();
    expect({ detail, userName }).toEqual({ detail: { reason: 'not-linked', issuer: corp.url, subject: 'bob' }, userName: null });
  });

  test('403 — an e-mail address, a user name and the same subject at another issuer make no link (rule 56)', async () => {
    await service().createUser('carol');
    await service().link(partner, 'carol-1', 'carol');
    expect((await bearer(await partner.mint({ claims: { sub: 'carol-1' } }), 'GET', '/auth')).status).toBe(200);
    const claims = { sub: 'carol-1', preferred_username: 'carol', email: 'carol@example.com', email_verified: true };
    expect(await bearer(await corp.mint({ claims }), 'GET', '/auth')).toMatchObject(unlinked);
    expect(await bearer(await corp.mint({ claims: { ...claims, sub: 'carol' } }), 'GET', '/auth')).toMatchObject(unlinked);
  });

  test('200, then 403 — a new link and a removed one take effect with the next request, for the same token (rule 62)', async () => {
    await service().createUser('dora');
    const token = await corp.mint({ claims: { sub: 'dora-1' } });
    expect(await bearer(token, 'GET', '/auth')).toMatchObject(unlinked);
    await service().link(corp, 'dora-1', 'dora');
    expect((await bearer(token, 'GET', '/auth')).status).toBe(200);
    expect((await bearer(token, 'GET', '/auth')).status).toBe(200);
    await service().unlink(corp, 'dora-1', 'dora');
    expect(await bearer(token, 'GET', '/auth')).toMatchObject(unlinked);
  });

  test('401 — the token of a disabled user, from the next request on (rule 14)', async () => {
    const { id } = await service().createUser('eve');
    await service().link(corp, 'eve-1', 'eve');
    const token = await corp.mint({ claims: { sub: 'eve-1' } });
    expect((await bearer(token, 'GET', '/auth')).status).toBe(200);
    await service().db.updateTable('user_account').set({ active: false }).where('id', '=', id).execute();
    await service().settle();
    expect(await bearer(token, 'GET', '/auth')).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
  });

  test('403 — a user without a profile can read session info and do nothing else (rule 62)', async () => {
    await service().createUser('fred', null);
    await service().link(corp, 'fred-1', 'fred');
    const token = await corp.mint({ claims: { sub: 'fred-1' } });
    expect(await bearer<Info>(token, 'GET', '/auth')).toMatchObject({ status: 200, body: { profile: null } });
    expect(await bearer(token, 'GET', '/rest/entity/customer/1')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });
});

describe('the header of a token', () => {
  test('200 — the word Bearer in any case', async () => {
    const authorization = `bearer ${await corp.mint()}`;
    expect((await service().call('GET', '/auth', { headers: { authorization } })).status).toBe(200);
  });

  test.each([
    ['another scheme', 'Basic YWRhOnB3'],
    ['the scheme alone', 'Bearer'],
    ['two words', 'Bearer a b'],
    ['something else', 'gibberish'],
    ['an opaque token', 'Bearer 2YotnFZFEjr1zCsicMWpAA'],
    ['an encrypted one', 'Bearer a.b.c.d.e'],
    ['text that is not JSON', 'Bearer aaaa.bbbb.cccc'],
  ])('401 — %s, and never a 500 (rule 8)', async (_what, authorization) => {
    const answer = await service().call('GET', '/auth', { headers: { authorization } });
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
    const challenge = authorization.startsWith('Bearer ') ? 'Bearer error="invalid_token"' : 'Bearer';
    expect(answer.headers.get('www-authenticate')).toBe(challenge);
  });

  test('401 — an invalid token beside a valid cookie (rule 6)', async () => {
    const cookie = await service().signIn('ada');
    expect((await service().call('GET', '/auth', { cookie })).status).toBe(200);
    expect((await bearer('a.b.c', 'GET', '/auth', { cookie })).status).toBe(401);
  });

  test('401 — a session token or an API key as an access token (rule 6)', async () => {
    const cookie = await service().signIn('ada');
    expect((await service().call('GET', '/rest/entity/customer/1', { cookie })).status).toBe(404);
    const { id: userId } = await service().db.selectFrom('user_account').where('name', '=', 'ada').select('id').executeTakeFirstOrThrow();
    const key = await service().createKey(userId);
    expect((await service().call('GET', '/rest/entity/customer/1', { headers: { 'x-api-key': key } })).status).toBe(404);
    for (const token of [cookie.replace('sid=', ''), key]) {
      expect((await bearer(token, 'GET', '/rest/entity/customer/1')).status).toBe(401);
    }
  });

  test('401 — a credential in the header of another kind: the problem names the header, and the audit trail has no key (rule 85)', async () => {
    const { id: userId } = await service().db.selectFrom('user_account').where('name', '=', 'ada').select('id').executeTakeFirstOrThrow();
    const key = await service().createKey(userId);
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const token = await corp.mint();
    const sent = [
      ['authorization', `Bearer ${key}`, 'X-API-Key'],
      ['authorization', `bearer  ${key.slice(0, 20)}`, 'X-API-Key'],
      ['authorization', key, 'X-API-Key'],
      ['authorization', `ApiKey ${key}`, 'X-API-Key'],
      ['authorization', basic(`${key}:`), 'X-API-Key'],
      ['authorization', basic(`ada:${key}`), 'X-API-Key'],
      ['x-api-key', token, 'Authorization: Bearer'],
      ['x-api-key', `Bearer ${token}`, 'Authorization: Bearer'],
    ] as const;
    for (const [name, value, right] of sent) {
      const { status, body } = await service().call('GET', '/rest/entity/customer/1', { headers: { [name]: value } });
      expect([status, body.errors?.length, body.errors?.[0]?.code], value).toEqual([401, 1, 'other-header']);
      expect(body.errors?.[0]).toMatchObject({
        parameter: expect.stringMatching(new RegExp(`^${name}$`, 'i')),
        detail: expect.stringContaining(right),
      });
    }
    for (const [name, value] of [
      ['authorization', 'Bearer abc'],
      ['authorization', basic('ada:secret')],
      ['x-api-key', key.slice(0, 20)],
    ] as const)
      expect((await service().call('GET', '/rest/entity/customer/1', { headers: { [name]: value } })).body.errors, value).toBeUndefined();
    const events = await service().db.selectFrom('audit_event').selectAll().execute();
    expect(JSON.stringify(events)).not.toContain(key.slice(20));
  });

  test('400 — a token and an API key (rule 6)', async () => {
    const token = await corp.mint();
    expect(await bearer(token, 'GET', '/auth', { headers: { 'x-api-key': 'esk_' } })).toMatchObject({
      status: 400,
      body: { code: 'ambiguous-credentials' },
    });
  });

  test('200 — a write by token requires no Origin: no form of another site can send a token (rule 27)', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect((await bearer(await corp.mint(), 'POST', '/rest/entity/customer', { json: {}, headers })).status).toBe(201);
  });
});

test('401 — without issuers no token is valid, and session info does not offer tokens (rule 67)', async () => {
  const lone = await TestService.start();
  try {
    await lone.createUser('ada');
    const cookie = cookieOf(await lone.call('POST', '/auth', { form: { user: 'ada', password } }));
    const info = await lone.call<Info>('GET', '/auth', { cookie });
    expect(info.body.server.authentication).toEqual(['password', 'api-key']);
    const asked = corp.requests.length;
    const refused = await lone.call('GET', '/auth', { headers: { authorization: `Bearer ${await corp.mint()}` } });
    expect(refused).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
    expect(corp.requests).toHaveLength(asked);
  } finally {
    await lone.close();
  }
});

test('403 — a second process no longer accepts a link that was removed through the first (rule 62)', async () => {
  await service().createUser('gina');
  await service().link(corp, 'gina-1', 'gina');
  const other = await service().replica({ ISSUERS_FILE: issuersFile });
  try {
    const headers = { authorization: `Bearer ${await corp.mint({ claims: { sub: 'gina-1' } })}` };
    expect((await other.call('GET', '/auth', { headers })).status).toBe(200);
    await service().unlink(corp, 'gina-1', 'gina');
    await other.settle();
    expect((await other.call('GET', '/auth', { headers })).status).toBe(403);
  } finally {
    await other.close();
  }
});
