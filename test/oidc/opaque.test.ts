/** Opaque access tokens: the service introspects them at the issuer (rule 50). */
import { cookieOf, useService, type Answer, type ProblemBody, type TestService } from '../support/service.ts';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AuditQuota } from '../../src/audit/quota.ts';
import { audience, TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock, { opaque: true });
const other = await TestIssuer.start('other', clock, { opaque: true });
const partner = await TestIssuer.start('partner', clock);
const scopes = { read: 'entities:read', write: 'entities:write' };
const entry = await corp.loginEntry({ tokenType: 'opaque', scopes });
const service = useService({ ISSUERS_FILE: await writeIssuers(entry, partner.entry()) }, clock);
const path = '/token/introspection';

type Told = ProblemBody & { user: { name: string } };

beforeAll(async () => {
  await service().createUser('ada');
  for (const issuer of [corp, other, partner]) await service().link(issuer, 'alice', 'ada');
});
beforeEach(() => {
  // The quota would leave out repeated refusals within a minute.
  service().context.auditQuota = new AuditQuota();
  corp.behaviour = 'up';
  corp.answers.clear();
});

function bear(token: string, by: TestService = service()): Promise<Answer<Told>> {
  return by.call('GET', '/auth', { headers: { authorization: `Bearer ${token}` } });
}

function exchange(token: string, by: TestService = service(), oidcIssuer = 'corp'): Promise<Answer<Told>> {
  return by.call('POST', '/auth', { form: { oidcIssuer, access_token: token } });
}

async function lastRefusal(): Promise<unknown> {
  const query = service().db.selectFrom('audit_event').where('event', '=', 'token.refused').orderBy('id', 'desc').select('detail');
  return (await query.executeTakeFirst())?.detail['reason'];
}

/** Sets the issuer's introspection answer, with claims that no provider would send, and returns a token for it. */
let made = 0;
async function told(change: Record<string, unknown>): Promise<{ token: string; asked: number }> {
  const now = Math.floor(clock.wall() / 1_000);
  const good = {
    active: true,
    token_type: 'Bearer',
    iss: corp.url,
    aud: audience,
    sub: 'alice',
    client_id: 'web',
    iat: now,
    exp: now + 300,
  };
  corp.answers.set(path, () => ({ ...good, ...change }));
  return { token: `made-${made++}`, asked: corp.introspections };
}

describe('an active token', () => {
  test('200 — is accepted by GET and POST /auth, and its scopes limit it (rules 47, 48 and 50)', async () => {
    const { accessToken } = await corp.signIn('alice', 'openid entities:read');
    expect(accessToken).not.toContain('.');
    expect(await bear(accessToken)).toMatchObject({ status: 200, body: { user: { name: 'ada' } } });
    const opened = await exchange(accessToken);
    expect(opened).toMatchObject({ status: 200, body: { user: { name: 'ada' } } });
    const cookie = cookieOf(opened);
    expect((await service().call('GET', '/rest/entity/customer/1', { cookie })).status).toBe(404);
    expect(await service().call('POST', '/rest/entity/customer', { cookie, json: {} })).toMatchObject({
      status: 403,
      body: { code: 'insufficient-scope' },
    });
  });

  test('403 — of a client without a user makes no user, although provisioning is on', async () => {
    const making = await service().replica({
      ISSUERS_FILE: await writeIssuers({ ...entry, provision: { enabled: true, profile: 'ada' } }),
    });
    const users = async () =>
      (await service().db.selectFrom('user_account').select('name').orderBy('name').execute()).map(({ name }) => name);
    try {
      const token = await corp.machineToken('entities:read');
      const before = await users();
      for (const answer of [await bear(token, making), await exchange(token, making)]) {
        expect(answer).toMatchObject({ status: 403, body: { code: 'identity-not-linked' } });
        expect(await lastRefusal()).toBe('client-not-linked');
      }
      // An answer without sub belongs to the client as well.
      expect((await bear((await told({ sub: undefined })).token, making)).status).toBe(403);
      expect(await users()).toEqual(before);
      expect((await bear((await told({ sub: 'newcomer' })).token, making)).status).toBe(200);
      expect(await users()).toHaveLength(before.length + 1);
    } finally {
      await making.close();
    }
  });

  test('403, then 200 — of a client without a user acts as the user linked to the client, or not at all', async () => {
    const token = await corp.machineToken('entities:read');
    expect(await bear(token)).toMatchObject({ status: 403, body: { code: 'identity-not-linked' } });
    expect(await lastRefusal()).toBe('client-not-linked');
    await service().createUser('robot');
    await service().link(corp, 'web', 'robot');
    expect(await bear(token)).toMatchObject({ status: 200, body: { user: { name: 'robot' } } });
  });

  test('200 — is introspected once in thirty seconds, and once for concurrent requests (rule 50)', async () => {
    const { token, asked } = await told({});
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    clock.advance(29);
    expect((await exchange(token)).status).toBe(200);
    expect(corp.introspections).toBe(asked + 1);
    corp.answers.set(path, () => ({ active: false }));
    clock.advance(2);
    expect((await exchange(token)).status).toBe(401);
    expect(corp.introspections).toBe(asked + 2);
  });
});

describe('an inactive or faulty token', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['not active', { active: false }, 'inactive'],
    ['a refresh token, which has no type', { token_type: undefined }, 'incomplete'],
    ['a refresh token that says so', { token_use: 'refresh_token' }, 'wrong-type'],
    ['another type', { token_type: 'DPoP' }, 'wrong-type'],
    ['another issuer', { iss: 'https://elsewhere.example' }, 'wrong-issuer'],
    ['no issuer', { iss: undefined }, 'incomplete'],
    ['another audience', { aud: ['another', `${audience}2`] }, 'wrong-audience'],
    ['another audience as text that begins like ours', { aud: `${audience}2` }, 'wrong-audience'],
    ['another audience as text that ends like ours', { aud: `another-${audience}` }, 'wrong-audience'],
    ['no audience', { aud: undefined }, 'incomplete'],
    ['expired', { exp: 1 }, 'expired'],
    ['without an end', { exp: undefined }, 'incomplete'],
    ['an end that is text', { exp: '9999999999' }, 'incomplete'],
    ['not yet valid', { nbf: 9_999_999_999 }, 'not-yet-valid'],
    ['issued in the future', { iat: 9_999_999_999 }, 'not-yet-valid'],
    ['without iat', { iat: undefined }, 'incomplete'],
    ['a subject that is a number', { sub: 7 }, 'incomplete'],
    ['no client', { client_id: undefined }, 'incomplete'],
    ['a list of scopes with a number', { scope: ['entities:read', 7] }, 'incomplete'],
    ['bound to a key', { cnf: { jkt: 'x' } }, 'sender-constrained'],
  ])(
    '401 — %s, as a bearer token and at POST /auth, while the same without the fault is accepted (rule 50)',
    async (_what, change, reason) => {
      expect((await exchange((await told({})).token)).status).toBe(200);
      for (const way of [bear, exchange]) {
        const { token } = await told(change);
        expect(await way(token)).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
        expect(await lastRefusal()).toBe(reason);
      }
    },
  );

  test.each([
    [200, 'ended 55 s ago', -55, {}],
    [401, 'ended 65 s ago', -65, {}],
    [200, 'begins in 55 s', 300, { nbf: 55 }],
    [401, 'begins in 65 s', 300, { nbf: 65 }],
    [200, 'was issued in 55 s', 300, { iat: 55 }],
    [401, 'was issued in 65 s', 300, { iat: 65 }],
  ])('%d — %s, with 60 s of leeway (rules 45 and 50)', async (status, _what, exp, times) => {
    const now = Math.floor(clock.wall() / 1_000);
    const moved = Object.fromEntries(Object.entries({ exp, ...times }).map(([name, seconds]) => [name, now + seconds]));
    for (const way of [bear, exchange]) expect((await way((await told(moved)).token)).status).toBe(status);
  });

  test('401 — a token that was never issued, with one introspection in ten seconds (rule 50)', async () => {
    const asked = corp.introspections;
    for (let round = 0; round < 3; round++) expect((await exchange('2YotnFZFEjr1zCsicMWpAA')).status).toBe(401);
    expect(await lastRefusal()).toBe('inactive');
    expect(corp.introspections).toBe(asked + 1);
    clock.advance(11);
    expect((await bear('2YotnFZFEjr1zCsicMWpAA')).status).toBe(401);
    expect(corp.introspections).toBe(asked + 2);
  });

  test('401 — a signed token in the issuer’s name, which its introspection does not confirm', async () => {
    expect(await bear(await corp.mint())).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
    expect(await lastRefusal()).toBe('inactive');
  });

  test('401 — a client’s token without an audience, unless the file allows that for the client', async () => {
    const token = await corp.machineToken('entities:read', false);
    expect(await bear(token)).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
    expect(await lastRefusal()).toBe('incomplete');
    const lenient = async (clients: string[]) =>
      service().replica({ ISSUERS_FILE: await writeIssuers({ ...entry, allowMissingAudience: true, clients }) }, clock);
    for (const [clients, status] of [
      [['web'], 200],
      [['app'], 401],
    ] as const) {
      const replica = await lenient([...clients]);
      expect((await bear(token, replica)).status).toBe(status);
      await replica.close();
    }
  });
});

describe('the issuer that receives a token', () => {
  test('401 — none, for a token that is too long or malformed, or one of our API keys', async () => {
    const asked = corp.requests.length;
    const { id } = await service().db.selectFrom('user_account').where('name', '=', 'ada').select('id').executeTakeFirstOrThrow();
    for (const token of ['a'.repeat(8_193), 'a,b', await service().createKey(id)]) expect((await bear(token)).status).toBe(401);
    for (const token of ['ä', 'a b', await service().createKey(id)]) expect((await exchange(token)).status).toBe(401);
    expect(corp.requests).toHaveLength(asked);
  });

  test('401 — none, for a session token of this service, present, replaced or ended', async () => {
    const { id } = await service().db.selectFrom('user_account').where('name', '=', 'ada').select('id').executeTakeFirstOrThrow();
    const replaced = await service().openSession(id);
    const present = cookieOf(await service().call('POST', '/auth/refresh', { cookie: replaced }));
    const ended = await service().openSession(id);
    expect((await service().call('HEAD', '/auth?logout=1', { cookie: ended })).status).toBe(204);
    corp.answers.set(path, () => ({ active: true }));
    const asked = corp.introspections;
    for (const cookie of [replaced, present, ended]) {
      const token = cookie.slice('sid='.length);
      for (const way of [bear, exchange]) expect(await way(token)).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
    }
    expect(corp.introspections).toBe(asked);
    expect((await service().call('GET', '/auth', { cookie: present })).status).toBe(200);
    // An issuer may issue tokens with the same format.
    await told({});
    expect((await exchange('abcdefghijklmnopqrstuvwxyz_-0123')).status).toBe(200);
    expect(corp.introspections).toBe(asked + 1);
  });

  test('401 — none but the one that the token names (rule 46)', async () => {
    const asked = corp.requests.length;
    expect((await bear(await partner.mint())).status).toBe(200);
    expect((await exchange(await partner.mint())).status).toBe(401);
    expect(await lastRefusal()).toBe('wrong-issuer');
    expect((await bear(await partner.mint({ claims: { iss: 'https://elsewhere.example' } }))).status).toBe(401);
    expect(corp.requests).toHaveLength(asked);
    expect((await exchange(await corp.machineToken('entities:read'), service(), 'partner')).status).toBe(401);
    expect(await lastRefusal()).toBe('malformed');
  });

  test('401 — none of two issuers with opaque tokens, until the caller names one', async () => {
    const issuersFile = await writeIssuers(entry, await other.loginEntry({ tokenType: 'opaque' }));
    const replica = await service().replica({ ISSUERS_FILE: issuersFile }, clock);
    const { accessToken } = await other.signIn('alice');
    const asked = [corp.introspections, other.introspections];
    expect((await bear(accessToken, replica)).status).toBe(401);
    expect([corp.introspections, other.introspections]).toEqual(asked);
    expect(await exchange(accessToken, replica, 'other')).toMatchObject({ status: 200, body: { user: { name: 'ada' } } });
    expect((await exchange(accessToken, replica, 'corp')).status).toBe(401);
    await replica.close();
  });
});

describe('an issuer that does not answer', () => {
  test.each(['down', 'redirecting', 'endless', 'nonsense'] as const)(
    '503, then 200 — %s: no token is called invalid, other issuers work, and it gets no request for five seconds (rule 50)',
    async (behaviour) => {
      const { accessToken } = await corp.signIn('alice');
      corp.behaviour = behaviour;
      const asked = corp.introspections;
      for (const way of [bear, exchange]) {
        const answer = await way(accessToken);
        expect(answer).toMatchObject({ status: 503, body: { code: 'issuer-unavailable' } });
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect(corp.introspections).toBe(asked + 1);
      expect((await bear(await partner.mint())).status).toBe(200);
      corp.behaviour = 'up';
      clock.advance(6);
      expect((await bear(accessToken)).status).toBe(200);
    },
  );

  test('503 — also when the issuer refuses our client', async () => {
    const issuersFile = await writeIssuers({ ...entry, clientId: 'stranger' });
    const replica = await service().replica({ ISSUERS_FILE: issuersFile }, clock);
    expect(await bear('some-token', replica)).toMatchObject({ status: 503, body: { code: 'issuer-unavailable' } });
    await replica.close();
  });
});

describe('an issuer that refuses the introspection', () => {
  const json = (status: number, body: object) => () => Response.json(body, { status });
  const page = (status: number) => () => new Response('<p>no</p>', { status, headers: { 'content-type': 'text/html' } });

  test.each([
    ['400 invalid_request', json(400, { error: 'invalid_request' })],
    ['400 without a reason', page(400)],
    ['404', page(404)],
    ['413', json(413, { error: 'too long' })],
  ])('503 — %s concerns one token, blocks no other, and is repeated after ten seconds (rule 50)', async (_what, answer) => {
    const { token: good } = await told({});
    corp.answers.set(path, answer);
    const asked = corp.introspections;
    const weird = `weird-${made++}`;
    const refused = await Promise.all([bear(weird), exchange(weird), bear(weird)]);
    for (const { status, body, headers } of [...refused, await bear(weird)]) {
      expect([status, body.code]).toEqual([503, 'issuer-unavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(corp.introspections).toBe(asked + 1);
    await told({});
    for (const token of [good, 'not-seen-before']) expect((await bear(`${token}-${made++}`)).status).toBe(200);
    expect((await exchange(weird)).status).toBe(503);
    clock.advance(11);
    expect((await exchange(weird)).status).toBe(200);
  });

  test.each([
    ['401', page(401)],
    ['403', page(403)],
    ['429', page(429)],
    ['400 invalid_client', json(400, { error: 'invalid_client' })],
    ['500', page(500)],
    ['503', page(503)],
    ['200 with an invalid answer', json(200, { active: 'yes' })],
  ])('503 — %s concerns every token, for five seconds (rule 50)', async (_what, answer) => {
    corp.answers.set(path, answer);
    const asked = corp.introspections;
    expect((await bear(`any-${made++}`)).status).toBe(503);
    await told({});
    expect((await bear(`any-${made++}`)).status).toBe(503);
    expect(corp.introspections).toBe(asked + 1);
    clock.advance(6);
    expect((await bear(`any-${made++}`)).status).toBe(200);
  });
});

describe('an answer without members that RFC 7662 makes optional', () => {
  const replicaWith = async (mayLack: string[]) =>
    service().replica({ ISSUERS_FILE: await writeIssuers({ ...entry, introspection: { mayLack } }) }, clock);
  const lastDetail = async () =>
    (
      await service()
        .db.selectFrom('audit_event')
        .where('event', '=', 'token.refused')
        .orderBy('id', 'desc')
        .select('detail')
        .executeTakeFirst()
    )?.detail;

  test.each(['token_type', 'iss', 'exp'])('401, and 200 where the file says so — without %s (rule 50)', async (name) => {
    const lenient = await replicaWith([name]);
    try {
      const { token } = await told({ [name]: undefined });
      expect(await bear(token)).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
      expect(await lastDetail()).toMatchObject({ reason: 'incomplete', claim: name, issuer: corp.url });
      for (const way of [bear, exchange]) expect(await way(token, lenient)).toMatchObject({ status: 200, body: { user: { name: 'ada' } } });
      // What is there must be right all the same.
      for (const wrong of ['nobody', 7, null, {}]) expect((await bear((await told({ [name]: wrong })).token, lenient)).status).toBe(401);
      for (const other of ['token_type', 'iss', 'exp', 'aud', 'client_id', 'iat'].filter((member) => member !== name)) {
        expect((await bear((await told({ [other]: undefined })).token, lenient)).status, other).toBe(401);
        expect(await lastDetail()).toMatchObject({ reason: 'incomplete', claim: other });
      }
    } finally {
      await lenient.close();
    }
  });

  test('401 — a refresh token, which says so by another member (rule 50)', async () => {
    const lenient = await replicaWith(['token_type']);
    try {
      for (const change of [{ token_use: 'refresh_token' }, { typ: 'Refresh' }, { typ: 'Offline' }])
        expect((await bear((await told({ token_type: undefined, ...change })).token, lenient)).status).toBe(401);
      expect((await bear((await told({ token_type: undefined, token_use: 'access_token', typ: 'Bearer' })).token, lenient)).status).toBe(
        200,
      );
    } finally {
      await lenient.close();
    }
  });
});

test('503, then 200 — introspections that failed give back the place of their address (rule 50)', async () => {
  corp.behaviour = 'down';
  for (let round = 0; round < 22; round++) {
    clock.advance(6);
    expect((await bear(`failed-${round}`)).status).toBe(503);
  }
  corp.behaviour = 'up';
  clock.advance(6);
  expect((await bear((await told({})).token)).status).toBe(200);
});
