/**
 * The access tokens that are refused, for every rule of RFC 9068: each as a bearer token and at POST /auth, and each with the expected
 * reason.
 */
import { TestService, useService, type Answer } from '../support/service.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { AuditQuota } from '../../src/audit/quota.ts';
import { createHmac } from 'node:crypto';
import { exportSPKI, importJWK } from 'jose';
import { newKey, TestClock, TestIssuer, writeIssuers, type Minted } from '../support/issuer.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const partner = await TestIssuer.start('partner', clock);
const issuersFile = await writeIssuers(
  corp.entry({ clients: ['web', 'app'] }),
  partner.entry({ tokenType: 'jwt', clientId: 'entity-login', algorithms: ['RS256', 'ES256', 'EdDSA'] }),
);
const service = useService({ ISSUERS_FILE: issuersFile }, clock);

beforeAll(async () => {
  await service().createUser('ada');
  for (const issuer of [corp, partner]) {
    await service().link(issuer, 'alice', 'ada');
    await service().link(issuer, 'a'.repeat(255), 'ada');
  }
});

const now = () => Math.floor(clock.wall() / 1_000);

async function present(token: string, issuer: TestIssuer, by: TestService = service()): Promise<{ bearer: Answer; login: Answer }> {
  // The quota would leave out repeated refusals within a minute.
  by.context.auditQuota = new AuditQuota();
  const bearer = await by.call('GET', '/auth', { headers: { authorization: `Bearer ${token}` } });
  by.context.auditQuota = new AuditQuota();
  const login = await by.call('POST', '/auth', { headers: { authorization: `Bearer ${token}` }, form: { oidcIssuer: issuer.id } });
  return { bearer, login };
}

async function expectTaken(token: string, issuer = corp): Promise<void> {
  const { bearer, login } = await present(token, issuer);
  expect(bearer.status, bearer.text).toBe(200);
  expect(login.status, login.text).toBe(200);
}

/** All tokens that {@link expectRefused} has presented. */
const refused = new Set<string>();

/** Both answers are 401, no session is opened, and the audit trail has the reason. */
async function expectRefused(token: string, reason: string, issuer = corp): Promise<void> {
  refused.add(token);
  const before = await lastEvent();
  const { bearer, login } = await present(token, issuer);
  for (const answer of [bearer, login]) {
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    expect(answer.headers.getSetCookie()).toEqual([]);
  }
  const events = await service().db.selectFrom('audit_event').where('id', '>', before).orderBy('id').selectAll().execute();
  expect(events.map(({ event, detail }) => [event, detail['reason']])).toEqual([
    ['token.refused', reason],
    ['token.refused', reason],
  ]);
  expect(JSON.stringify(events)).not.toContain(token.split('.')[2] || token);
}

/**
 * The answer is 401 after a fetch of the keys, and 503 while no fetch is due, since the key could be new (rule 49). The audit trail has the
 * refusal.
 */
async function expectUnknownKey(token: string): Promise<void> {
  clock.advance(31);
  const before = await lastEvent();
  const { bearer, login } = await present(token, corp);
  expect(bearer).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
  expect(login).toMatchObject({ status: 503, body: { code: 'issuer-unavailable' } });
  expect(Number(login.headers.get('retry-after'))).toBeGreaterThan(0);
  const events = await service()
    .db.selectFrom('audit_event')
    .where('id', '>', before)
    .where('event', '=', 'token.refused')
    .select('detail')
    .execute();
  expect(events.map(({ detail }) => detail['reason'])).toEqual(['unknown-key']);
}

async function lastEvent(): Promise<string> {
  const row = await service().db.selectFrom('audit_event').select('id').orderBy('id', 'desc').executeTakeFirst();
  return row?.id ?? '0';
}

describe('the claims of a token (rule 45)', () => {
  test('200 — the token from which all others here differ in one thing', async () => {
    await expectTaken(await corp.mint());
    await expectTaken(await corp.mint({ header: { typ: 'application/at+jwt' } }));
    await expectTaken(await corp.mint({ claims: { aud: ['another', 'entity-service'] } }));
    await expectTaken(await corp.mint({ claims: { sub: 'a'.repeat(255) } }));
    await expectTaken(await corp.mint({ claims: { nbf: now() + 50 } }));
    await expectTaken(await corp.mint({ claims: { exp: now() - 50 } }));
    await expectTaken(await corp.mint({ claims: { iat: now() + 50, auth_time: now() - 50 } }));
  });

  test.each<[string, Minted, string]>([
    ['another audience', { claims: { aud: 'another' } }, 'wrong-audience'],
    ['our audience as part of another', { claims: { aud: ['entity-service2', 'x entity-service'] } }, 'wrong-audience'],
    ['no audience', { claims: { aud: undefined } }, 'incomplete'],
    ['no exp', { claims: { exp: undefined } }, 'incomplete'],
    ['an exp that is text', { claims: { exp: '9999999999' } }, 'incomplete'],
    ['no iat', { claims: { iat: undefined } }, 'incomplete'],
    ['an iat beyond all calendars', { claims: { iat: -1 } }, 'incomplete'],
    ['no sub', { claims: { sub: undefined } }, 'incomplete'],
    ['an empty sub', { claims: { sub: '' } }, 'incomplete'],
    ['a sub that is a number', { claims: { sub: 7 } }, 'incomplete'],
    ['a sub with U+0000, which the database cannot store', { claims: { sub: 'a\u0000' } }, 'incomplete'],
    ['a sub of 256 characters', { claims: { sub: 'a'.repeat(256) } }, 'incomplete'],
    ['no client_id', { claims: { client_id: undefined } }, 'incomplete'],
    ['no jti', { claims: { jti: undefined } }, 'incomplete'],
    ['an auth_time that is text', { claims: { auth_time: 'yesterday' } }, 'incomplete'],
    ['scopes that are an object', { claims: { scope: { read: true } } }, 'incomplete'],
    ['an nbf that is text', { claims: { nbf: 'now' } }, 'incomplete'],
    ['no iss', { claims: { iss: undefined } }, 'unknown-issuer'],
    ['a client that is not on the list (rule 48)', { claims: { client_id: 'stranger' } }, 'client-not-allowed'],
    ['a token bound to a key of its bearer', { claims: { cnf: { jkt: 'x' } } }, 'sender-constrained'],
  ])('401 — %s', async (what, minted, reason) => {
    // The token names no issuer. POST /auth then finds that the token does not belong to the named issuer.
    if (what !== 'no iss') return await expectRefused(await corp.mint(minted), reason);
    const { bearer, login } = await present(await corp.mint(minted), corp);
    expect([bearer.status, login.status]).toEqual([401, 401]);
  });

  test('401 — over 8 KiB, while 8 KiB is accepted', async () => {
    const sized = async (bytes: number) => {
      const empty = (await corp.mint({ claims: { pad: '' } })).length;
      const token = await corp.mint({ claims: { pad: 'x'.repeat(Math.floor(((bytes - empty) * 3) / 4)) } });
      expect(Math.abs(token.length - bytes)).toBeLessThan(4);
      return token;
    };
    await expectTaken(await sized(8_188));
    await expectRefused(await sized(8_200), 'too-long');
  });
});

describe('the times of a token (rule 45)', () => {
  test('401 — more than 60 seconds after its expiry, although nothing else has changed', async () => {
    const token = await corp.mint({ claims: { exp: now() + 100 } });
    await expectTaken(token);
    clock.advance(150);
    await expectTaken(await corp.mint({ claims: { exp: now() - 50 } }));
    clock.advance(20);
    await expectRefused(await corp.mint({ claims: { exp: now() - 70 } }), 'expired');
  });

  test.each([
    ['nbf', { nbf: 90 }],
    ['iat', { iat: 90 }],
    ['auth_time', { auth_time: 90 }],
  ])('401 — more than 60 seconds before its %s', async (name, later) => {
    const claims = Object.fromEntries(Object.entries(later).map(([claim, seconds]) => [claim, now() + seconds]));
    await expectRefused(await corp.mint({ claims: { exp: now() + 500, ...claims } }), 'not-yet-valid');
    clock.advance(40);
    await expectTaken(await corp.mint({ claims: { exp: now() + 500, [name]: claims[name] } }));
  });
});

describe('the signature of a token (rule 45)', () => {
  test('401 — without a signature', async () => {
    const [, payload] = (await corp.mint()).split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url');
    await expectRefused(`${header}.${payload}.`, 'malformed');
    await expectRefused(`${header}.${payload}.AA`, 'wrong-algorithm');
  });

  test('401 — HS256 with the public key as the secret', async () => {
    const { kid, alg, jwk } = corp.key;
    const { kty, n, e } = jwk;
    const publicKey = await importJWK({ kty, n, e } as typeof jwk, alg);
    const pem = await exportSPKI(publicKey as Exclude<typeof publicKey, Uint8Array>);
    const [, payload] = (await corp.mint()).split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'at+jwt', kid })).toString('base64url');
    const signature = createHmac('sha256', pem).update(`${header}.${payload}`).digest('base64url');
    await expectRefused(`${header}.${payload}.${signature}`, 'wrong-algorithm');
  });

  test('401 — a secure algorithm that is not configured for this issuer', async () => {
    await expectRefused(await corp.mint({ key: await newKey('ES256') }), 'wrong-algorithm');
  });

  test('401 — with a byte changed in the payload or in the signature', async () => {
    const [header = '', payload = '', signature = ''] = (await corp.mint()).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, scope: 'everything' })).toString('base64url');
    await expectRefused(`${header}.${forged}.${signature}`, 'bad-signature');
    await expectRefused(`${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`, 'bad-signature');
  });

  test('401 — with a foreign key, under an unknown key id and under the issuer’s own', async () => {
    await expectUnknownKey(await corp.mint({ key: await newKey() }));
    await expectRefused(await corp.mint({ key: await newKey('RS256', corp.key.kid) }), 'bad-signature');
    await expectUnknownKey(await corp.mint({ key: partner.key }));
  });

  test('401 — keys that the token contains or refers to are never used', async () => {
    const thief = await newKey('RS256', corp.key.kid);
    const { kty, n, e } = thief.jwk;
    const asked = partner.requests.length;
    const header = { jwk: { kty, n, e }, jku: `${partner.url}/jwks`, x5u: `${partner.url}/cert` };
    await expectRefused(await corp.mint({ key: thief, header }), 'bad-signature');
    expect(partner.requests).toHaveLength(asked);
    await expectTaken(await corp.mint({ header }));
  });

  test('401 — with critical headers, none of which is supported', async () => {
    const [, payload = '', signature = ''] = (await corp.mint()).split('.');
    const fields = { alg: 'RS256', typ: 'at+jwt', kid: corp.key.kid, crit: ['b64'], b64: true };
    await expectRefused(`${Buffer.from(JSON.stringify(fields)).toString('base64url')}.${payload}.${signature}`, 'critical-header');
  });

  test('200 — a token without a key id is verified with all fitting keys, and 401 if none verifies it', async () => {
    const [first, second] = [await newKey(), await newKey()];
    partner.publish([first, second]);
    clock.advance(601);
    for (const key of [first, second]) await expectTaken(await partner.mint({ key, header: { kid: undefined } }), partner);
    await expectRefused(await partner.mint({ key: await newKey(), header: { kid: undefined } }), 'bad-signature', partner);
    partner.key = first;
  });

  test.each(['ES256', 'EdDSA'])('200 — %s, where it is configured for the issuer', async (alg) => {
    const key = await newKey(alg);
    partner.publish([partner.key, key]);
    clock.advance(601);
    await expectTaken(await partner.mint({ key }), partner);
  });
});

describe('the issuer of a token (rule 46)', () => {
  test('401 — of an issuer that is not in the file, and no request is sent there', async () => {
    const stranger = `http://127.0.0.1:${new URL(partner.url).port}/elsewhere`;
    const asked = partner.requests.length;
    const token = await partner.mint({ claims: { iss: stranger } });
    expect((await present(token, partner)).bearer.status).toBe(401);
    for (const oidcIssuer of [stranger, `${corp.url}/`, corp.url.toUpperCase(), 'CORP', 'constructor']) {
      const answer = await service().call('POST', '/auth', { form: { oidcIssuer, access_token: token } });
      expect(answer).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
    }
    expect(partner.requests).toHaveLength(asked);
  });

  test('401 — signed by one trusted issuer in the name of another', async () => {
    await expectUnknownKey(await partner.mint({ claims: { iss: corp.url } }));
  });

  test('401 — a valid token, exchanged under the name of another issuer', async () => {
    const token = await partner.mint();
    await expectTaken(token, partner);
    const answer = await service().call('POST', '/auth', { form: { oidcIssuer: 'corp', access_token: token } });
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
  });
});

describe('ID tokens are not access tokens (rules 45 and 47)', () => {
  test.each([['JWT'], ['logout+jwt'], ['at'], [undefined], [7]])('401 — typ %s', async (typ) => {
    await expectRefused(await corp.mint({ header: { typ } }), 'wrong-type');
  });

  test('200 — typ JWT and no typ, from an issuer configured with tokenType: jwt', async () => {
    await expectTaken(await partner.mint({ header: { typ: 'JWT' } }), partner);
    await expectTaken(await partner.mint({ header: { typ: undefined } }), partner);
    await expectRefused(await partner.mint({ header: { typ: 'logout+jwt' } }), 'wrong-type', partner);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['a nonce', { nonce: 'n' }, 'id-token'],
    ['at_hash', { at_hash: 'h' }, 'id-token'],
    ['c_hash', { c_hash: 'h' }, 'id-token'],
    ['the client id as the only audience', { aud: 'entity-login' }, 'wrong-audience'],
  ])('401 — from that issuer, an apparent ID token by %s', async (_what, claims, reason) => {
    await expectRefused(await partner.mint({ header: { typ: 'JWT' }, claims }), reason, partner);
  });
});

test('401 — a flood of refused tokens writes one audit event a minute for each address and reason', async () => {
  const crowded = await service().replica({ ISSUERS_FILE: issuersFile });
  try {
    const before = await lastEvent();
    const answers = await Promise.all(
      Array.from({ length: 120 }, () => crowded.call('GET', '/auth', { headers: { authorization: 'Bearer a' } })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    const events = await service().db.selectFrom('audit_event').where('id', '>', before).select('id').execute();
    expect(events).toHaveLength(1);
  } finally {
    await crowded.close();
  }
});

test('401 — to at least forty different tokens in all; the token that they are made from is still accepted', async () => {
  expect(refused.size).toBeGreaterThanOrEqual(40);
  await expectTaken(await corp.mint());
});
