/** Users who are made with their first token, and profiles that follow a claim (rule 56). */
import { cookieOf, password, TestService, useService, type Answer, type ProblemBody } from '../support/service.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import { whileWaiting } from '../support/entities.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';

const corp = await TestIssuer.start('corp');
const partner = await TestIssuer.start('partner');
const closed = await TestIssuer.start('closed');
const issuersFile = await writeIssuers(
  corp.entry({
    provision: { enabled: true, profile: 'member' },
    profiles: { claim: 'groups', map: { 'sales-team': 'sales', 'field-team': 'sales', helpdesk: 'support', temps: 'temp' } },
  }),
  partner.entry({
    provision: { enabled: true, profile: 'member' },
    profiles: { claim: ['realm_access', 'roles'], map: { auditor: 'audit' } },
  }),
  closed.entry({ provision: { enabled: false, profile: 'member' } }),
);
const home = useService();
let service: TestService;

beforeAll(async () => {
  const { id } = await home().createUser('keeper', null);
  await home().createProfile(id, 'member', { note: ['create', 'read'] });
  await home().createProfile(id, 'sales', { order: ['create', 'read'] });
  await home().createProfile(id, 'support', { ticket: ['read'] });
  await home().createProfile(id, 'audit', { '*': ['read'] });
  await home().createProfile(id, 'temp', {});
  service = await home().replica({ ISSUERS_FILE: issuersFile });
});
afterAll(() => service.close());

interface Info extends ProblemBody {
  user: { name: string; displayName: string };
  profile: { name: string } | null;
  profiles: { name: string; default: boolean }[];
}

async function present(issuer: TestIssuer, claims: Record<string, unknown>): Promise<Answer<Info>> {
  const headers = { authorization: `Bearer ${await issuer.mint({ claims })}` };
  return await service.call<Info>('GET', '/auth?profiles=1', { headers });
}

async function signIn(issuer: TestIssuer, claims: Record<string, unknown>): Promise<Answer<Info>> {
  const form = { oidcIssuer: issuer.id, access_token: await issuer.mint({ claims }) };
  return await service.call<Info>('POST', '/auth', { form });
}

const profilesOf = ({ body }: Answer<Info>) =>
  body.profiles.map(({ name, default: isDefault }) => (isDefault ? `${name} (default)` : name));

const countUsers = async () =>
  (
    await service.db
      .selectFrom('user_account')
      .select((eb) => eb.fn.countAll<string>().as('count'))
      .executeTakeFirstOrThrow()
  ).count;

async function eventsOf(user: string): Promise<unknown[]> {
  const rows = await service.db.selectFrom('audit_event').where('user_name', '=', user).orderBy('id').select(['event', 'detail']).execute();
  return rows.map(({ event, detail }) => [event, detail]);
}

async function lastRefusal(): Promise<unknown> {
  const row = await service.db
    .selectFrom('audit_event')
    .where('event', '=', 'token.refused')
    .orderBy('id', 'desc')
    .select('detail')
    .executeTakeFirst();
  return row?.detail['reason'];
}

describe('a subject without a linked user', () => {
  test('200 — becomes a user with the profile of the file, once, and the audit trail has all three steps', async () => {
    const identity = { by: 'issuer', issuer: corp.url, subject: 'bob-1' };
    const claims = { sub: 'bob-1', preferred_username: 'Bob', name: 'Bob Stone' };
    const first = await present(corp, claims);
    expect(first).toMatchObject({ status: 200, body: { user: { name: 'bob', displayName: 'Bob Stone' }, profile: { name: 'member' } } });
    expect(await eventsOf('bob')).toEqual([
      ['user.created', identity],
      ['identity.linked', identity],
      ['profile.assigned', { ...identity, profile: 'member', default: true }],
    ]);
    const users = await countUsers();
    expect(await present(corp, { sub: 'bob-1', preferred_username: 'robert' })).toMatchObject({
      status: 200,
      body: { user: { name: 'bob' } },
    });
    expect(await countUsers()).toBe(users);
  });

  test('200 — by POST /auth as well, without a password', async () => {
    const opened = await signIn(corp, { sub: 'carl-1', preferred_username: 'carl' });
    expect(opened).toMatchObject({ status: 200, body: { user: { name: 'carl', displayName: 'carl' } } });
    expect((await service.call('POST', '/rest/entity/note', { json: {}, cookie: cookieOf(opened) })).status).toBe(201);
    expect(await service.call('POST', '/auth', { form: { user: 'carl', password } })).toMatchObject({
      status: 401,
      body: { code: 'invalid-credentials' },
    });
  });

  test('200 — never becomes an existing user, whatever name and address the token claims (rule 56)', async () => {
    const { id } = await home().createUser('ada');
    const claims = { sub: 'mallory-1', preferred_username: 'ADA', email: 'ada@example.com', email_verified: true };
    expect(await present(corp, claims)).toMatchObject({
      status: 200,
      body: { user: { name: 'corp:mallory-1' }, profile: { name: 'member' } },
    });
    expect(await service.db.selectFrom('identity').where('user_id', '=', id).selectAll().execute()).toEqual([]);
  });

  test.each([
    ['plain letters, in lower case', 'dora-1', 'Dora.Smith@example.com', 'dora.smith@example.com'],
    ['nothing', 'dora-2', undefined, 'corp:dora-2'],
    ['a number', 'dora-3', 7, 'corp:dora-3'],
    ['letters that look like others', 'dora-4', 'аdmin', 'corp:dora-4'],
    ['a name in the format of made names', 'dora-5', 'corp:dora-6', 'corp:dora-5'],
    ['control characters', 'dora-7', 'dora\u0007', 'corp:dora-7'],
    ['a name that is too long', 'dora-8', 'd'.repeat(65), 'corp:dora-8'],
  ])('200 — has the name preferred_username, or one of issuer and subject: %s', async (_what, sub, preferred, name) => {
    const answer = await present(corp, { sub, preferred_username: preferred });
    expect(answer).toMatchObject({ status: 200, body: { user: { name } } });
  });

  test('200 — two subjects that differ only in case, and one too long for a name, become different users', async () => {
    const names = [];
    for (const sub of ['eve', 'EVE', 'e'.repeat(200)]) names.push((await present(corp, { sub })).body.user.name);
    expect(names).toEqual(['corp:eve', expect.stringMatching(/^corp#[0-9a-f]{32}$/), expect.stringMatching(/^corp#[0-9a-f]{32}$/)]);
    expect(new Set(names).size).toBe(3);
    expect((await present(corp, { sub: 'EVE' })).body.user.name).toBe(names[1]);
  });

  test('200 — the same subject at another issuer is another user (rule 56)', async () => {
    const here = await present(corp, { sub: 'fred-1' });
    const there = await present(partner, { sub: 'fred-1' });
    expect([here.body.user.name, there.body.user.name]).toEqual(['corp:fred-1', 'partner:fred-1']);
  });

  test('200 — fifty concurrent first tokens, half of them at sign-in, make one user', async () => {
    const before = Number(await countUsers());
    const claims = { sub: 'gina-1', preferred_username: 'gina' };
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => (index % 2 ? present : signIn)(corp, claims)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.user.name))).toEqual(new Set(['gina']));
    expect(Number(await countUsers())).toBe(before + 1);
    const events = (await eventsOf('gina')) as [string][];
    expect(events.filter(([event]) => event === 'user.created')).toHaveLength(1);
  });

  test('200, then 401 — is disabled like any other user, and stays disabled', async () => {
    expect((await present(corp, { sub: 'hal-1', preferred_username: 'hal' })).status).toBe(200);
    await service.db.updateTable('user_account').set({ active: false }).where('name', '=', 'hal').execute();
    await service.settle();
    expect(await present(corp, { sub: 'hal-1', groups: ['helpdesk'] })).toMatchObject({ status: 401, body: { code: 'invalid-token' } });
    expect((await eventsOf('hal')).length).toBe(4);
  });

  test('403 — stays without a user when provisioning is off', async () => {
    const users = await countUsers();
    expect(await present(closed, { sub: 'ida-1' })).toMatchObject({ status: 403, body: { code: 'identity-not-linked' } });
    expect(await lastRefusal()).toBe('not-linked');
    expect(await countUsers()).toBe(users);
  });

  test('403 — becomes no user when its profile is missing, and the audit trail has the reason', async () => {
    await service.db.updateTable('profile').set({ name: 'gone' }).where('name', '=', 'member').execute();
    const users = await countUsers();
    expect(await present(corp, { sub: 'jon-1' })).toMatchObject({ status: 403, body: { code: 'identity-not-linked' } });
    expect(await lastRefusal()).toBe('no-profile');
    expect(await countUsers()).toBe(users);
    await expect(home().replica({ ISSUERS_FILE: issuersFile })).rejects.toThrow(
      'issuer "corp" gives the profile "member", which does not exist',
    );
    await service.db.updateTable('profile').set({ name: 'member' }).where('name', '=', 'gone').execute();
    expect((await present(corp, { sub: 'jon-1' })).status).toBe(200);
  });
});

describe('a client without a user', () => {
  test('403, then 200 — never becomes a user; when an administrator links it to one, it acts as that user', async () => {
    const users = await countUsers();
    const headers = { authorization: `Bearer ${await corp.machineToken('entities:read')}` };
    expect(await service.call('GET', '/auth', { headers })).toMatchObject({ status: 403, body: { code: 'identity-not-linked' } });
    expect(await lastRefusal()).toBe('client-not-linked');
    expect(await countUsers()).toBe(users);
    await home().createUser('robot', { log: ['create'] });
    await home().link(corp, 'web', 'robot');
    expect(await service.call('GET', '/auth', { headers })).toMatchObject({ status: 200, body: { user: { name: 'robot' } } });
  });

  test('403 — also when provisioning is off', async () => {
    const headers = { authorization: `Bearer ${await closed.machineToken('entities:read')}` };
    expect((await service.call('GET', '/auth', { headers })).status).toBe(403);
    expect(await lastRefusal()).toBe('client-not-linked');
  });

  test('200 — has only the profiles from an administrator: its tokens have no groups', async () => {
    const { id } = await home().createUser('agent', null);
    await home().link(corp, 'agent', 'agent');
    await assign(id, 'sales');
    expect(profilesOf(await present(corp, { sub: 'agent', client_id: 'agent' }))).toEqual(['sales (default)']);
  });

  test.each([
    ['Auth0 by subject', { sub: 'web@clients' }],
    ['Auth0 by grant', { sub: 'x-1', gty: 'client-credentials' }],
    ['Entra ID by idtyp', { sub: 'x-2', idtyp: 'app' }],
    ['Entra ID by oid', { sub: 'x-3', oid: 'x-3' }],
    ['Keycloak', { sub: 'x-4', preferred_username: 'service-account-web', clientHost: '192.0.2.1', clientAddress: '192.0.2.1' }],
  ])('403 — in the form of %s', async (_what, claims) => {
    const users = await countUsers();
    expect((await present(corp, claims)).status).toBe(403);
    expect(await lastRefusal()).toBe('client-not-linked');
    expect(await countUsers()).toBe(users);
  });
});

describe('a person with the name of a service account', () => {
  test.each([
    ['of no client', 'service-account-bob'],
    ['of another client', 'service-account-webshop'],
    ['of the client that the token was given to', 'service-account-web'],
  ])('200 — %s becomes a user, and loses the profile that the claim removes (rule 62)', async (what, preferred_username) => {
    const claims = { sub: `chosen ${what}`, preferred_username };
    expect(profilesOf(await present(corp, { ...claims, groups: ['sales-team'] }))).toEqual(['member', 'sales (default)']);
    expect(profilesOf(await present(corp, { ...claims, groups: [] }))).toEqual(['member (default)']);
  });

  test('200 — linked to a user by an administrator, loses it as well (rule 62)', async () => {
    const { id } = await home().createUser('chosen', null);
    await home().link(corp, 'chosen', 'chosen');
    await assign(id, 'sales');
    expect(profilesOf(await present(corp, { sub: 'chosen', preferred_username: 'service-account-web' }))).toEqual([]);
  });

  test('200 — while a client of Keycloak has the profiles from an administrator: its tokens have no groups', async () => {
    const { id } = await home().createUser('exporter', null);
    await home().link(corp, 'exporter-1', 'exporter');
    await assign(id, 'sales');
    const claims = { sub: 'exporter-1', client_id: 'Exporter', preferred_username: 'service-account-exporter', clientAddress: '192.0.2.1' };
    expect(profilesOf(await present(corp, claims))).toEqual(['sales (default)']);
  });
});

describe('profiles that follow a claim', () => {
  test('200 — a new user has the profiles of the claim, the first of the file as the default, and the profile of the file', async () => {
    const groups = ['helpdesk', 'unknown', 'sales-team', 'field-team'];
    expect(profilesOf(await present(corp, { sub: 'kim-1', groups }))).toEqual(['member', 'sales (default)', 'support']);
    expect(profilesOf(await present(corp, { sub: 'kim-2', groups: 'helpdesk' }))).toEqual(['member', 'support (default)']);
  });

  test('200 — a later token adds and removes them with the claim, at both interfaces; others stay (rule 62)', async () => {
    const sub = 'lea-1';
    expect(profilesOf(await present(corp, { sub, preferred_username: 'lea', groups: ['sales-team'] }))).toEqual([
      'member',
      'sales (default)',
    ]);
    const gained = await signIn(corp, { sub, groups: ['sales-team', 'helpdesk'] });
    expect(gained.status).toBe(200);
    const cookie = cookieOf(gained);
    expect(profilesOf(await service.call<Info>('GET', '/auth?profiles=1', { cookie }))).toEqual(['member', 'sales (default)', 'support']);
    expect(profilesOf(await present(corp, { sub, groups: ['helpdesk'] }))).toEqual(['member', 'support (default)']);
    expect(profilesOf(await present(corp, { sub }))).toEqual(['member (default)']);
    const { id } = await service.db.selectFrom('user_account').where('name', '=', 'lea').select('id').executeTakeFirstOrThrow();
    await assign(id, 'audit');
    expect(profilesOf(await present(corp, { sub, groups: [] }))).toEqual(['audit', 'member (default)']);
    const events = (await eventsOf('lea')) as [string, { profile?: string }][];
    expect(events.filter(([event]) => event.startsWith('profile.')).map(([event, { profile }]) => `${event} ${profile}`)).toEqual([
      'profile.assigned sales',
      'profile.assigned member',
      'profile.assigned support',
      'profile.assigned support',
      'profile.removed sales',
      'profile.assigned member',
      'profile.removed support',
    ]);
  });

  test('200 — a user with no other profiles loses all of them with the claim, the default one too (rule 62)', async () => {
    await home().createUser('noa', null);
    await home().link(corp, 'noa-1', 'noa');
    const both = ['sales-team', 'helpdesk'];
    expect(profilesOf(await present(corp, { sub: 'noa-1', groups: both }))).toEqual(['sales (default)', 'support']);
    expect(profilesOf(await present(corp, { sub: 'noa-1', groups: [] }))).toEqual([]);
  });

  test('200 — without a profile that is deleted while the claim assigns it', async () => {
    await home().createUser('tess');
    await home().link(corp, 'tess-1', 'tess');
    await sql`delete from user_profile using profile where profile.id = profile_id and profile.name = 'temp'`.execute(home().db);
    const deleting = sql`delete from profile where name = 'temp'`;
    const answer = await whileWaiting(
      home(),
      deleting,
      () => present(corp, { sub: 'tess-1', groups: ['temps'] }),
      async () => undefined,
    );
    expect([answer.status, profilesOf(answer)]).toEqual([200, ['tess (default)']]);
  });

  test('200 — from a claim inside another, and only from members of the token itself', async () => {
    expect(profilesOf(await present(partner, { sub: 'max-1', realm_access: { roles: ['auditor'] } }))).toEqual([
      'audit (default)',
      'member',
    ]);
    for (const realm_access of [undefined, null, 'auditor', ['auditor'], { roles: { auditor: true } }, { roles: [['auditor']] }]) {
      expect(profilesOf(await present(partner, { sub: 'max-1', realm_access }))).toEqual(['member (default)']);
    }
  });

  test('200 — twenty concurrent tokens with different claims leave exactly one default', async () => {
    const sub = 'nan-1';
    await present(corp, { sub, preferred_username: 'nan', groups: ['sales-team'] });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => present(corp, { sub, groups: index % 2 ? ['sales-team'] : ['helpdesk'] })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const settled = profilesOf(await present(corp, { sub, groups: ['helpdesk'] }));
    expect(settled.filter((name) => name.endsWith('(default)'))).toHaveLength(1);
    expect(settled.map((name) => name.replace(' (default)', ''))).toEqual(['member', 'support']);
  });
});

async function assign(userId: string, profile: string): Promise<void> {
  const { id } = await service.db.selectFrom('profile').where('name', '=', profile).select('id').executeTakeFirstOrThrow();
  const present = await service.db.selectFrom('user_profile').where('user_id', '=', userId).select('profile_id').execute();
  await service.db
    .insertInto('user_profile')
    .values({ user_id: userId, profile_id: id, is_default: present.length === 0 })
    .execute();
  await service.settle();
}
