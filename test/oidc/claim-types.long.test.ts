/**
 * Each claim with a value of each wrong type, in every kind of token: an access token that is signed or introspected, an ID token and a logout token.
 * `refusals.test.ts`, `opaque.test.ts` and `finish-open-id-sign-in.test.ts` have examples of them.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { AuditQuota } from '../../src/audit/quota.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { audience, loginClient, TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';
import { useService, type Answer, type TestService } from '../support/service.ts';

vi.setConfig({ testTimeout: 60_000 });

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const opaque = await TestIssuer.start('opaque', clock, { opaque: true });
const profiles = { claim: 'groups', map: { staff: 'ada' } };
const opaqueProfiles = { claim: 'groups', map: { staff: 'second' } };
const home = useService();
let entities: TestService;
const service = () => entities;

beforeAll(async () => {
  const { id } = await home().createUser('ada');
  await home().createProfile(id, 'second', {});
  const entries = [await corp.loginEntry({ profiles }), await opaque.loginEntry({ tokenType: 'opaque', profiles: opaqueProfiles })];
  entities = await home().replica({ ISSUERS_FILE: await writeIssuers(...entries) }, clock);
  for (const issuer of [corp, opaque]) await service().link(issuer, 'alice', 'ada');
});
afterAll(() => entities.close());
beforeEach(() => {
  // The quota would leave out repeated refusals within a minute.
  service().context.auditQuota = new AuditQuota();
});

const now = () => Math.floor(clock.wall() / 1_000);

/** A value of each type of JSON, and those of a type that come near to another one. */
const values: Record<string, unknown> = {
  'a number': 7,
  'a negative number': -7,
  'a fraction': 0.5,
  'a huge number': 1e308,
  null: null,
  'an empty list': [],
  'a list of a number': [7],
  'a list of lists': [['alice']],
  'a list of null': [null],
  'an empty object': {},
  'an object': { alice: true },
  true: true,
  false: false,
  'an empty text': '',
  'a text of digits': '7',
  'a text with U+0000': 'a\u0000',
};

const times = ['iat', 'exp', 'nbf', 'auth_time'];
/** The claims that each token is checked for. Any value of the others leaves it valid, or is refused with 401. */
const checked = ['iss', 'aud', 'sub', 'client_id', 'jti', ...times];
const others = [
  'scope',
  'groups',
  '_claim_names',
  'cnf',
  'azp',
  'nonce',
  'gty',
  'oid',
  'idtyp',
  'preferred_username',
  'name',
  'token_use',
  'typ',
  'sid',
];

/** Whether the value is of the type of the claim, so that the token may be valid, or be refused for what it says. */
const fits = (claim: string, value: unknown): boolean => {
  // Of exp and nbf alone any number is a time (RFC 7519, section 2): nothing but a comparison depends on them.
  if (['exp', 'nbf'].includes(claim) && typeof value === 'number') return true;
  if (times.includes(claim)) return typeof value === 'number' && value >= 0 && value < 253_402_300_800;
  return ['sub', 'client_id', 'jti'].includes(claim) && typeof value === 'string' && /^\d+$/.test(value);
};

const optionalOfIdTokens = ['azp', 'groups', '_claim_names', 'preferred_username', 'name'];
const huge = 1e308;

/** The status of `GET /auth` with an access token whose claim has this value. */
function statusOfAccess(claim: string, value: unknown, isIntrospected: boolean): number {
  if (claim === 'cnf') return 401;
  if (claim === 'scope') return typeof value === 'string' || (Array.isArray(value) && value.length === 0) ? 200 : 401;
  if (others.includes(claim)) return 200;
  // The values that fit `exp` are in the past, or beyond all times.
  if (!fits(claim, value) || claim === 'exp') return 401;
  if (claim === 'sub') return 403;
  return claim === 'nbf' && (value === huge || (isIntrospected && Number(value) < 0)) ? 401 : 200;
}

/** Whether a logout token with this value is valid. Its `exp` may be far away. */
const isValidLogout = (claim: string, value: unknown): boolean =>
  ['azp', 'typ'].includes(claim) || (claim === 'exp' ? value === huge : fits(claim, value)) || (claim === 'sid' && value === '7');

/** The status of the return from the provider with an ID token whose claim has this value. */
function statusOfSignIn(claim: string, value: unknown): number {
  if (claim === 'sub' && value === '7') return 403;
  const isTime =
    claim === 'exp' ? value === huge : claim === 'nbf' ? value !== huge && fits(claim, value) : claim === 'iat' && fits(claim, value);
  return isTime || optionalOfIdTokens.includes(claim) || (claim === 'sid' && value === '7') ? 303 : 400;
}

const cases = (claims: readonly string[]) =>
  claims.flatMap((claim) => Object.entries(values).map(([what, value]): [string, string, unknown] => [claim, what, value]));

async function lastRefusal(event: 'token.refused' | 'oidc.failed'): Promise<Record<string, unknown> | undefined> {
  const found = await service()
    .db.selectFrom('audit_event')
    .where('event', '=', event)
    .orderBy('id', 'desc')
    .select('detail')
    .executeTakeFirst();
  return found?.detail;
}

/** 401 with its code; the audit trail names the claim, unless no issuer is known that has signed it. */
async function expectRefused(answer: Answer, claim: string, known: boolean): Promise<void> {
  expect(answer, answer.text).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
  if (known) expect((await lastRefusal('token.refused'))?.['claim']).toBe(claim);
}

const bear = (token: string) => service().call('GET', '/auth', { headers: { authorization: `Bearer ${token}` } });

describe('a signed access token', () => {
  test.each(cases(checked))('401 — whose %s is %s', async (claim, _what, value) => {
    const answer = await bear(await corp.mint({ claims: { [claim]: value } }));
    if (fits(claim, value)) expect(answer.status, answer.text).toBe(statusOfAccess(claim, value, false));
    else await expectRefused(answer, claim, claim !== 'iss');
  });

  test.each(cases(others))('200 or 401 — whose %s is %s', async (claim, _what, value) => {
    const answer = await bear(await corp.mint({ claims: { [claim]: value } }));
    expect(answer.status, answer.text).toBe(statusOfAccess(claim, value, false));
  });
});

let made = 0;
const introspected = async (change: Record<string, unknown>) => {
  const good = {
    active: true,
    token_type: 'Bearer',
    iss: opaque.url,
    aud: audience,
    sub: 'alice',
    client_id: 'web',
    iat: now(),
    exp: now() + 300,
  };
  opaque.answers.set('/token/introspection', () => ({ ...good, ...change }));
  return await bear(`made-${made++}`);
};

describe('an introspected access token', () => {
  test('200 — the answer from which all others here differ in one thing', async () => {
    expect((await introspected({})).status).toBe(200);
  });

  test.each(cases(['token_type', ...checked.filter((claim) => claim !== 'jti'), ...others]))(
    '200 or 401 — whose %s is %s',
    async (claim, _what, value) => {
      const answer = await introspected({ [claim]: value });
      const isChecked = ['token_type', ...checked].includes(claim) && !fits(claim, value);
      if (isChecked) expect(answer, answer.text).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
      else expect(answer.status, answer.text).toBe(statusOfAccess(claim, value, true));
    },
  );
});

test.each(Object.entries(values))('200, 401 or 503 — an introspected access token whose active is %s', async (_what, value) => {
  // An answer that violates RFC 7662 is a failure of the issuer, which is asked again after five seconds.
  const expected = value === true ? 200 : value === false ? 401 : 503;
  expect((await introspected({ active: value })).status).toBe(expected);
  clock.advance(6);
  expect((await introspected({})).status).toBe(200);
});

describe('a logout token', () => {
  const event = 'http://schemas.openid.net/event/backchannel-logout';

  test.each(cases(['iss', 'aud', 'sub', 'sid', 'iat', 'exp', 'jti', 'events', 'nonce', 'azp', 'typ']))(
    '200 or 400 — whose %s is %s',
    async (claim, _what, value) => {
      const claims = { sub: 'alice', aud: loginClient.id, events: { [event]: {} }, client_id: undefined, scope: undefined, [claim]: value };
      const logout_token = await corp.mint({ claims, header: { typ: 'logout+jwt' } });
      const answer = await service().call('POST', '/auth/oidc/corp/backchannel-logout', { form: { logout_token } });
      expect(answer.status, answer.text).toBe(isValidLogout(claim, value) ? 200 : 400);
    },
  );
});

describe('an ID token', () => {
  test.each([
    'iss',
    'aud',
    'sub',
    'iat',
    'exp',
    'nbf',
    'auth_time',
    'nonce',
    'azp',
    'sid',
    'groups',
    '_claim_names',
    'preferred_username',
    'name',
  ])('303, 400 or 403 — whose %s is of each type', async (claim) => {
    for (const [what, value] of Object.entries(values)) {
      const browser = new BrowserSession(service());
      const address = await browser.start(corp);
      const callback = await browser.visit(corp, address, 'alice');
      const id_token = await corp.mint({
        claims: {
          sub: 'alice',
          aud: loginClient.id,
          nonce: address.searchParams.get('nonce'),
          auth_time: now(),
          client_id: undefined,
          scope: undefined,
          jti: undefined,
          [claim]: value,
        },
        header: { typ: 'JWT' },
      });
      corp.answers.set('/token', () => ({ access_token: 'opaque', token_type: 'Bearer', id_token }));
      const answer = await browser.call('GET', callback);
      expect(answer.status, `${what}: ${answer.text}`).toBe(statusOfSignIn(claim, value));
      corp.answers.clear();
    }
  });
});
