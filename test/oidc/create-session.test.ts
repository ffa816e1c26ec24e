/** POST /auth with `oidcIssuer`: an access token opens a session. Which tokens are valid is in refusals.test.ts. */
import { cookieOf, password, useService, type Answer, type Call } from '../support/service.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { findAccount, getAccount, type Account } from '../../src/accounts/users.ts';
import type { Caller } from '../../src/authn/caller.ts';
import { openSession } from '../../src/sessions/open.ts';
import { TestClock, TestIssuer, writeIssuers } from '../support/issuer.ts';

const clock = new TestClock();
const corp = await TestIssuer.start('corp', clock);
const partner = await TestIssuer.start('partner', clock);
const service = useService(
  { ISSUERS_FILE: await writeIssuers(corp.entry(), partner.entry({ scopes: { read: 'entities:read', write: 'entities:write' } })) },
  clock,
);

interface Info {
  user: { name: string };
  locale: string;
  authentication: { method: string; issuer: string; at: string };
  session: { id: string; createdAt: string; expiresAt: string };
}

const now = () => Math.floor(clock.wall() / 1_000);

/** Exchanges a token of `issuer`, in the form field by default. */
async function exchange(
  issuer: TestIssuer,
  claims: Record<string, unknown> = {},
  call: Call = {},
): Promise<Answer<Info & { code: string }>> {
  const access_token = await issuer.mint({ claims });
  return await service().call('POST', '/auth', { form: { oidcIssuer: issuer.id, access_token, ...(call.form as object) }, ...call });
}

beforeAll(async () => {
  await service().createUser('ada');
  await service().link(corp, 'alice', 'ada');
  await service().link(partner, 'alice', 'ada');
});

describe('opening a session', () => {
  test('403 — for the user of an identity that has been linked to another one since the user was read, or to none', async () => {
    const { id } = await service().createUser('moved');
    const { db, context } = service();
    const [ada, moved] = [await findAccount(db, 'ada'), await getAccount(db, id)];
    if (!ada) throw new Error('there is no user ada');
    const origin = { requestId: 'urn:uuid:00000000-0000-0000-0000-000000000000', address: '127.0.0.1', userAgent: undefined };
    const caller = { origin, cookies: { header: undefined } } as Caller;
    const open = (account: Account, subject: string) =>
      openSession(context, caller, { account, method: 'token', locale: undefined, identity: { issuer: corp.url, subject } });
    expect(await open(ada, 'alice')).toHaveProperty('token');
    expect([await open(moved, 'alice'), await open(moved, 'nobody')]).toEqual([{ refused: 'unlinked' }, { refused: 'unlinked' }]);
    expect(await db.selectFrom('session').where('user_id', '=', id).select('id').execute()).toEqual([]);
  });

  test('200 — with a token from a sign-in at the issuer; all operations accept the cookie', async () => {
    const { accessToken } = await corp.signIn('alice');
    const opened = await service().call<Info>('POST', '/auth', { form: { oidcIssuer: 'corp', access_token: accessToken, locale: 'de' } });
    expect(opened).toMatchObject({
      status: 200,
      body: { user: { name: 'ada' }, locale: 'de', authentication: { method: 'token', issuer: corp.url } },
    });
    const cookie = cookieOf(opened);
    expect((await service().call('POST', '/rest/entity/customer', { json: {}, cookie })).status).toBe(201);
    const refreshed = await service().call('POST', '/auth/refresh', { cookie });
    expect(refreshed.status).toBe(200);
    expect((await service().call('HEAD', '/auth?logout=1', { cookie: cookieOf(refreshed) })).status).toBe(204);
  });

  test.each([
    ['its id, the token in the form', (): string => 'corp', 'form'],
    ['its URL, the token in the form', (): string => corp.url, 'form'],
    ['its id, the token in the header', (): string => 'corp', 'header'],
    ['its URL, the token in the header', (): string => corp.url, 'header'],
  ] as const)('200 — the issuer named by %s (rule 46)', async (_what, name, carrier) => {
    const token = await corp.mint();
    const answer = await service().call<Info>('POST', '/auth', {
      form: { oidcIssuer: name(), ...(carrier === 'form' && { access_token: token }) },
      ...(carrier === 'header' && { headers: { authorization: `Bearer ${token}` } }),
    });
    expect(answer).toMatchObject({ status: 200, body: { user: { name: 'ada' } } });
    cookieOf(answer);
  });

  test('200 — a token may be exchanged again, each time for another session', async () => {
    const form = { oidcIssuer: 'corp', access_token: await corp.mint() };
    const [first, second] = [await service().call<Info>('POST', '/auth', { form }), await service().call<Info>('POST', '/auth', { form })];
    expect(first.body.session.id).not.toBe(second.body.session.id);
  });

  test('200 — the session that the request carries is ended (rule 15)', async () => {
    const before = await service().signIn('ada');
    const opened = await service().call('POST', '/auth', { form: { oidcIssuer: 'corp', access_token: await corp.mint() }, cookie: before });
    expect(opened.status).toBe(200);
    expect((await service().call('GET', '/auth', { cookie: before })).status).toBe(401);
    expect((await service().call('GET', '/auth', { cookie: cookieOf(opened) })).status).toBe(200);
  });
});

describe('the allowed combinations', () => {
  test.each<[string, () => Promise<Call>, string[]]>([
    [
      'a token in the header and in the form',
      async () => ({ form: { oidcIssuer: 'corp', access_token: 'a.b.c' }, headers: await bearer() }),
      ['/access_token'],
    ],
    ['no token', async () => ({ form: { oidcIssuer: 'corp' } }), ['/access_token']],
    ['a token without its issuer', async () => ({ form: { access_token: await corp.mint() } }), ['/user', '/password', '/oidcIssuer']],
    ['a user name too', async () => ({ form: { oidcIssuer: 'corp', access_token: await corp.mint(), user: 'ada' } }), ['/user']],
    [
      'a user name and a password too',
      async () => ({ form: { oidcIssuer: 'corp', user: 'ada', password }, headers: await bearer() }),
      ['/user', '/password'],
    ],
  ])('400 — %s (rule 46)', async (_what, call, pointers) => {
    const answer = await service().call('POST', '/auth', await call());
    expect(answer).toMatchObject({ status: 400, body: { code: 'malformed-request' } });
    expect(answer.body.errors?.map(({ pointer }) => pointer)).toEqual(pointers);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test('413 — a form over 8 KiB (rule 46)', async () => {
    const answer = await service().call('POST', '/auth', { form: { oidcIssuer: 'corp', access_token: 'x'.repeat(8_193) } });
    expect(answer).toMatchObject({ status: 413, body: { code: 'content-too-large' } });
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test('403 — a form of another site cannot sign its visitor in with a token of its choice (rule 27)', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect(await exchange(corp, {}, { headers })).toMatchObject({ status: 403, body: { code: 'csrf-rejected' } });
  });
});

describe('the limits of a session', () => {
  test('403 — the session has only the scopes of its token, also after a refresh (rule 47)', async () => {
    const opened = await exchange(partner, { scope: 'entities:read' });
    const refreshed = await service().call('POST', '/auth/refresh', { cookie: cookieOf(opened) });
    const cookie = cookieOf(refreshed);
    expect((await service().call('GET', '/rest/entity/customer/999', { cookie })).status).toBe(404);
    const refused = await service().call('POST', '/rest/entity/customer', { json: {}, cookie });
    expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient-scope' } });
  });

  test('201 — and without configured scopes only the roles limit it (rule 48)', async () => {
    const cookie = cookieOf(await exchange(corp, { scope: '' }));
    expect((await service().call('POST', '/rest/entity/customer', { json: {}, cookie })).status).toBe(201);
  });

  test.each([
    ['auth_time', 3_600, { auth_time: -3_600, iat: -60 }],
    ['iat, without auth_time', 60, { iat: -60 }],
  ])('200 — the absolute lifetime starts at %s (rule 47)', async (_what, age, past) => {
    const claims = Object.fromEntries(Object.entries(past).map(([name, seconds]) => [name, now() + seconds]));
    const { status, body } = await exchange(corp, claims);
    expect(status).toBe(200);
    const left = Date.parse(body.session.expiresAt) - Date.parse(body.session.createdAt);
    expect(Math.abs(left / 1_000 - (28_800 - age))).toBeLessThan(5);
    expect(Math.abs(Date.parse(body.authentication.at) / 1_000 - (now() - age))).toBeLessThan(5);
  });

  test('200 — the idle deadline is never after the absolute one', async () => {
    const { body } = await exchange(corp, { auth_time: now() - 28_700 });
    const left = Date.parse(body.session.expiresAt) - Date.now();
    expect(left).toBeGreaterThan(60_000);
    expect(left).toBeLessThanOrEqual(100_000);
  });

  test('200 — a sign-in slightly in the future, by the issuer’s clock, counts as now', async () => {
    const { status, body } = await exchange(corp, { iat: now() + 50, auth_time: now() + 50 });
    expect(status).toBe(200);
    expect(Date.parse(body.authentication.at)).toBeLessThanOrEqual(Date.parse(body.session.createdAt));
  });

  test('401 — a sign-in longer ago than the maximum lifetime opens no session (rule 47)', async () => {
    const answer = await exchange(corp, { auth_time: now() - 28_801 });
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
    expect(answer.headers.getSetCookie()).toEqual([]);
    const event = await service()
      .db.selectFrom('audit_event')
      .orderBy('id', 'desc')
      .select(['event', 'detail', 'user_name'])
      .executeTakeFirst();
    expect(event).toMatchObject({ event: 'token.refused', detail: { reason: 'too-old' }, user_name: 'ada' });
  });
});

describe('the user of the token', () => {
  test('403 — no linked user (rule 56)', async () => {
    const answer = await exchange(corp, { sub: 'bob', email: 'ada@example.com', preferred_username: 'ada' });
    expect(answer).toMatchObject({ status: 403, body: { code: 'identity-not-linked' } });
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test('401 — a disabled user', async () => {
    const { id } = await service().createUser('eve');
    await service().link(corp, 'eve-1', 'eve');
    expect((await exchange(corp, { sub: 'eve-1' })).status).toBe(200);
    await service().db.updateTable('user_account').set({ active: false }).where('id', '=', id).execute();
    expect(await exchange(corp, { sub: 'eve-1' })).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
  });

  test('401 — unlinking an identity ends the sessions that were opened through it, and no others of the user', async () => {
    await service().createUser('dora');
    await service().link(corp, 'dora-1', 'dora');
    await service().link(partner, 'dora-1', 'dora');
    const byCorp = cookieOf(await exchange(corp, { sub: 'dora-1' }));
    const byPartner = cookieOf(await exchange(partner, { sub: 'dora-1' }));
    const byPassword = await service().signIn('dora');
    await service().unlink(corp, 'dora-1', 'dora');
    expect((await service().call('GET', '/auth', { cookie: byCorp })).status).toBe(401);
    expect((await service().call('GET', '/auth', { cookie: byPartner })).status).toBe(200);
    expect((await service().call('GET', '/auth', { cookie: byPassword })).status).toBe(200);
  });

  test('403 — a sign-in in progress while its identity is unlinked leaves no session', async () => {
    await service().createUser('finn');
    for (let round = 0; round < 10; round++) {
      const subject = `finn-${round}`;
      await service().link(corp, subject, 'finn');
      const logins = Array.from({ length: 4 }, () => exchange(corp, { sub: subject }));
      const unlinked = service().unlink(corp, subject, 'finn');
      const answers = await Promise.all(logins);
      await unlinked;
      for (const answer of answers) {
        expect([200, 401, 403]).toContain(answer.status);
        if (answer.status === 200) expect((await service().call('GET', '/auth', { cookie: cookieOf(answer) })).status).toBe(401);
      }
    }
    const live = await service()
      .db.selectFrom('session')
      .innerJoin('user_account', 'user_account.id', 'session.user_id')
      .where('user_account.name', '=', 'finn')
      .where('session.revoked_at', 'is', null)
      .select('session.id')
      .execute();
    expect(live).toEqual([]);
  });
});

test('503, then 200 — no token is called invalid while the issuer is unreachable, and the service recovers (rule 49)', async () => {
  clock.advance(3_601);
  corp.behaviour = 'down';
  const headers = { authorization: `Bearer ${await corp.mint()}` };
  for (const answer of [await exchange(corp), await service().call('GET', '/auth', { headers })]) {
    expect(answer).toMatchObject({ status: 503, body: { code: 'issuer-unavailable' } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.headers.getSetCookie()).toEqual([]);
  }
  expect((await exchange(partner)).status).toBe(200);
  corp.behaviour = 'up';
  clock.advance(31);
  expect((await exchange(corp)).status).toBe(200);
  corp.behaviour = 'down';
  clock.advance(1_800);
  expect((await exchange(corp)).status).toBe(200);
});

test('nothing of a token is stored', async () => {
  const token = await corp.mint();
  corp.behaviour = 'up';
  expect((await service().call('POST', '/auth', { form: { oidcIssuer: 'corp', access_token: token } })).status).toBe(200);
  const [, , signature = ''] = token.split('.');
  for (const table of ['session', 'audit_event', 'identity'] as const) {
    const rows = await service().db.selectFrom(table).selectAll().execute();
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(signature);
  }
});

async function bearer(): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await corp.mint()}` };
}
