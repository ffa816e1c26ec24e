/**
 * A change and its audit events are one transaction (rule 85). A change that cannot be committed leaves no event, and an event that cannot
 * be committed leaves no change. Triggers that PostgreSQL runs at COMMIT fail one or the other.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditEvents, type AuditEventName } from '../../src/audit/store.ts';
import type { Database } from '../../src/database/tables.ts';
import { Actions, nextPassword } from '../support/actions.ts';
import { agingToken, sessionOf } from '../support/clock.ts';
import { TestIssuer, writeIssuers } from '../support/issuer.ts';
import { RefusedCommits } from '../support/refused-commits.ts';
import { rightsDirectory } from '../support/rights-directory.ts';
import { cookieOf, useService, type TestService } from '../support/service.ts';
import { BrowserSession } from '../support/browser-session.ts';

const corp = await TestIssuer.start('corp');
const entry = await corp.loginEntry({
  provision: { enabled: true, profile: 'member' },
  profiles: { claim: 'groups', map: { admins: 'claimed' } },
});
const home = useService();
const typeFiles = await mkdtemp(join(tmpdir(), 'entity-types-'));
let started: TestService;
let commits: RefusedCommits;
const service = () => started;
const act = new Actions(service);
let names = 0;

/** A user with a session, another session, a key, an identity and an entity. */
interface Caller {
  user: string;
  userId: string;
  cookie: string;
  other: string;
  sessionId: string;
  otherId: string;
  key: string;
  keyId: string;
  path: string;
}

async function newCaller(): Promise<Caller> {
  const user = `user${names++}`;
  const { id: userId } = await service().createUser(user);
  await service().createProfile(userId, `${user}-second`, {});
  await service().link(corp, user, user);
  const [cookie, other] = [await service().openSession(userId), await service().openSession(userId)];
  const key = await service().createKey(userId);
  const made = await service().call('POST', '/rest/entity/note', { cookie, json: { text: 'first' } });
  const [{ id: sessionId }, { id: otherId }] = [await sessionOf(service(), cookie), await sessionOf(service(), other)];
  return { user, userId, cookie, other, sessionId, otherId, key, keyId: key.slice(4, 16), path: made.headers.get('location') ?? '' };
}

/** The status of a request, and the exit code of a command, when the database does not commit. */
const failures: readonly unknown[] = [503, 1];

/** Makes the change, and is called again after a failure. Returns the status or the exit code of the command. */
type Make = (caller: Caller) => Promise<unknown>;
type Row = [
  what: string,
  done: unknown,
  table: keyof Database,
  events: AuditEventName[],
  make: Make,
  prepare?: (caller: Caller) => Promise<unknown>,
];

const status = async (answer: Promise<{ status: number }>) => (await answer).status;
const admin =
  (words: (caller: Caller) => string[], input?: string): Make =>
  async (caller) =>
    (await act.administer(words(caller), input)).code;
const bear = async (sub: string, claims: Record<string, unknown>) =>
  status(service().call('GET', '/auth', { headers: { authorization: `Bearer ${await corp.mint({ claims: { sub, ...claims } })}` } }));

/** Applies a document as the type of the caller's own name. */
const applyType =
  (document: object): Make =>
  async ({ user }) => {
    const path = join(typeFiles, `${user}.json`);
    await writeFile(path, JSON.stringify(document));
    return (await act.administer(['types', 'apply', path])).code;
  };

async function deleteType({ user }: Caller): Promise<unknown> {
  const { stderr } = await act.administer(['types', 'delete', user]);
  const [, digest = ''] = /--confirm ([0-9a-f]{64})/.exec(stderr) ?? [];
  return (await act.administer(['types', 'delete', user, '--confirm', digest])).code;
}

const changes: Row[] = [
  ['a sign-in by password', 200, 'session', ['login.ok', 'session.created'], ({ user }) => status(act.signIn(user))],
  [
    'a sign-in in place of another session',
    200,
    'session',
    ['session.created', 'session.revoked'],
    ({ user, cookie }) => status(act.signIn(user, cookie)),
  ],
  ['a sign-in by token', 200, 'session', ['login.ok', 'session.created'], ({ user }) => status(act.signInByToken(corp, user))],
  [
    'a sign-in that evicts a session',
    200,
    'session',
    ['session.created', 'session.evicted'],
    ({ user }) => status(act.signIn(user)),
    fillSessions,
  ],
  [
    'a sign-in at a provider',
    303,
    'session',
    ['oidc.completed', 'login.ok', 'session.created'],
    ({ user }) => status(new BrowserSession(service()).signIn(corp, user)),
  ],
  ['a link by the user', 303, 'identity', ['oidc.completed', 'identity.linked'], linkAnother],
  [
    'the end of a link by the user',
    204,
    'identity',
    ['identity.unlinked', 'session.revoked'],
    async ({ cookie }) => status(act.unlinkIdentity(cookie, await act.identityOf(cookie))),
    ({ user }) => act.signInByToken(corp, user),
  ],
  [
    'a new user by a token',
    200,
    'user_account',
    ['user.created', 'identity.linked', 'profile.assigned'],
    ({ user }) => bear(`${user}-new`, {}),
  ],
  ['a profile assigned by a claim', 200, 'user_profile', ['profile.assigned'], ({ user }) => bear(user, { groups: ['admins'] })],
  [
    'a profile removed by a claim',
    200,
    'user_profile',
    ['profile.removed'],
    ({ user }) => bear(user, {}),
    ({ user }) => bear(user, { groups: ['admins'] }),
  ],
  ['a refresh', 200, 'session', ['session.rotated'], ({ cookie }) => status(act.refresh(cookie))],
  ['a profile switch', 200, 'session', ['profile.changed'], ({ cookie, user }) => status(act.selectProfile(cookie, `${user}-second`))],
  ['a password change', 204, 'user_account', ['password.changed'], ({ cookie }) => status(act.changePassword(cookie))],
  ['a logout', 204, 'session', ['logout'], ({ cookie }) => status(act.logOut(cookie))],
  ['the end of another session', 204, 'session', ['session.revoked'], ({ cookie, otherId }) => status(act.revokeSession(cookie, otherId))],
  ['the end of the caller’s session', 204, 'session', ['logout'], ({ cookie, sessionId }) => status(act.revokeSession(cookie, sessionId))],
  ['the end of all other sessions', 200, 'session', ['session.revoked'], ({ cookie }) => status(act.revokeOtherSessions(cookie))],
  [
    'a logout at the provider',
    200,
    'session',
    ['session.revoked'],
    ({ user }) => status(act.logOutByProvider(corp, user)),
    ({ user }) => act.signInByToken(corp, user),
  ],
  ['the reuse of a token', 401, 'session', ['session.reuse_detected'], ({ cookie }) => show(cookie), replaceLongAgo],
  ['the first use of an expired session', 401, 'session', ['session.expired'], ({ cookie }) => show(cookie), expire],
  ['a new key', 201, 'api_key', ['api_key.created'], ({ cookie }) => status(act.createKey(cookie))],
  ['the end of a key', 204, 'api_key', ['api_key.revoked'], ({ cookie, keyId }) => status(act.revokeKey(cookie, keyId))],
  [
    'the replacement of a key',
    201,
    'api_key',
    ['api_key.created', 'api_key.rotated'],
    ({ cookie, keyId }) => status(act.rotateKey(cookie, keyId)),
  ],
  [
    'the first use of a key',
    200,
    'api_key',
    ['api_key.first_used'],
    ({ key }) => status(service().call('GET', '/auth', { headers: { 'x-api-key': key } })),
  ],
  ['a new entity', 201, 'entity', ['entity.created'], ({ cookie }) => create(cookie)],
  [
    'a new entity with an Idempotency-Key',
    201,
    'entity',
    ['entity.created'],
    ({ cookie }) => create(cookie, { 'idempotency-key': 'once' }),
  ],
  [
    'a changed entity',
    200,
    'entity',
    ['entity.updated'],
    ({ cookie, path }) => status(service().call('POST', path, { cookie, json: { text: 'second' } })),
  ],
  [
    'a restored entity',
    200,
    'entity',
    ['entity.restored'],
    ({ cookie, path }) => status(service().call('POST', `${path}/restore?version=1`, { cookie })),
    async ({ cookie, path }) => void (await service().call('POST', path, { cookie, json: { text: 'second' } })),
  ],
  ['a deleted entity', 204, 'entity', ['entity.deleted'], ({ cookie, path }) => status(service().call('DELETE', path, { cookie }))],
  [
    'a purged entity',
    204,
    'entity_change',
    ['entity.purged'],
    async ({ user, path }) => {
      const { id } = await service()
        .db.selectFrom('user_account')
        .where('name', '=', `${user}-eraser`)
        .select('id')
        .executeTakeFirstOrThrow();
      return await status(service().call('DELETE', `${path}?purge=1`, { cookie: await service().openSession(id) }));
    },
    async ({ user, cookie, path }) => {
      await service().createUser(`${user}-eraser`, { note: ['purge'] });
      await service().call('DELETE', path, { cookie });
    },
  ],
  [
    'user create',
    0,
    'user_account',
    ['user.created'],
    admin(({ user }) => ['user', 'create', `${user}-made`, '--password-stdin'], nextPassword),
  ],
  ['user update', 0, 'user_account', ['user.updated'], admin(({ user }) => ['user', 'update', user, '--display-name', 'Other'])],
  ['user disable', 0, 'user_account', ['user.disabled'], admin(({ user }) => ['user', 'disable', user])],
  [
    'user enable',
    0,
    'user_account',
    ['user.enabled'],
    admin(({ user }) => ['user', 'enable', user]),
    admin(({ user }) => ['user', 'disable', user]),
  ],
  ['user unlock', 0, 'login_attempt', ['user.unlocked'], admin(({ user }) => ['user', 'unlock', user]), failOnce],
  [
    'user set-password',
    0,
    'user_account',
    ['password.changed'],
    admin(({ user }) => ['user', 'set-password', user, '--password-stdin'], nextPassword),
  ],
  ['user profile add', 0, 'user_profile', ['profile.assigned'], admin(({ user }) => ['user', 'profile', 'add', user, 'member'])],
  [
    'user profile remove',
    0,
    'user_profile',
    ['profile.removed'],
    admin(({ user }) => ['user', 'profile', 'remove', user, `${user}-second`]),
  ],
  ['role create', 0, 'role', ['role.created'], admin(({ user }) => ['role', 'create', `${user}-made`])],
  [
    'rights apply',
    0,
    'role_grant',
    ['role.updated', 'rights.applied'],
    async (caller) => {
      const files = { [`roles/${caller.user}-filed.yaml`]: { grants: [{ entity: 'order', actions: ['read'] }] } };
      const directory = await rightsDirectory(files);
      return await admin(() => ['rights', 'apply', directory])(caller);
    },
    admin(({ user }) => ['role', 'create', `${user}-filed`]),
  ],
  ['role grant', 0, 'role_grant', ['role.granted'], admin(({ user }) => ['role', 'grant', user, '--entity', 'order', '--actions', 'read'])],
  ['role revoke', 0, 'role_grant', ['role.revoked'], admin(({ user }) => ['role', 'revoke', user, '--entity', '*', '--actions', 'read'])],
  [
    'role delete',
    0,
    'role',
    ['role.deleted'],
    admin(({ user }) => ['role', 'delete', `${user}-unused`]),
    admin(({ user }) => ['role', 'create', `${user}-unused`]),
  ],
  [
    'profile create',
    0,
    'profile',
    ['profile.created'],
    admin(({ user }) => ['profile', 'create', `${user}-made`, '--label', 'Made', '--roles', user]),
  ],
  ['profile update', 0, 'profile', ['profile.updated'], admin(({ user }) => ['profile', 'update', user, '--label', 'Other'])],
  [
    'attribute set',
    0,
    'attribute',
    ['attribute.declared'],
    admin(({ user }) => ['attribute', 'set', 'user', user, '--schema', '{"type":"string"}']),
  ],
  [
    'attribute remove',
    0,
    'attribute',
    ['attribute.removed'],
    admin(({ user }) => ['attribute', 'remove', 'user', `${user}-old`]),
    admin(({ user }) => ['attribute', 'set', 'user', `${user}-old`, '--schema', '{"type":"string"}']),
  ],
  [
    'profile delete',
    0,
    'profile',
    ['profile.deleted'],
    admin(({ user }) => ['profile', 'delete', `${user}-unused`]),
    admin(({ user }) => ['profile', 'create', `${user}-unused`, '--label', 'Unused', '--roles', user]),
  ],
  ['key create', 0, 'api_key', ['api_key.created'], admin(({ user }) => ['key', 'create', user, '--name', 'made'])],
  ['key revoke', 0, 'api_key', ['api_key.revoked'], admin(({ keyId }) => ['key', 'revoke', keyId])],
  [
    'identity link',
    0,
    'identity',
    ['identity.linked'],
    admin(({ user }) => ['identity', 'link', user, '--issuer', corp.url, '--subject', `${user}-more`]),
  ],
  [
    'identity unlink',
    0,
    'identity',
    ['identity.unlinked'],
    admin(({ user }) => ['identity', 'unlink', user, '--issuer', corp.url, '--subject', user]),
  ],
  ['audit keep', 0, 'audit_retention', ['retention.changed'], admin(() => ['audit', 'keep', 'P2Y'])],
  ['service-secret rotate', 0, 'service_secret', ['secret.rotated'], admin(() => ['service-secret', 'rotate'])],
  ['a new entity type', 0, 'entity_type', ['type.declared'], applyType({ type: 'object' })],
  [
    'another document of a type',
    0,
    'entity_type',
    ['type.changed'],
    applyType({ type: 'object', title: 'Other' }),
    applyType({ type: 'object' }),
  ],
  ['the end of a type', 0, 'entity_type', ['type.deleted'], deleteType, applyType({ type: 'object' })],
];

afterAll(async () => {
  await started.close();
  await rm(typeFiles, { recursive: true });
});

/** Events without a change: refusals, which any client can cause, and the events of a process; of transfers, see test/cli/transfer.test.ts; and of retention, see retention.test.ts. */
const alone: readonly AuditEventName[] = [
  'login.failed',
  'login.throttled',
  'login.locked',
  'password.refused',
  'csrf.refused',
  'permission.denied',
  'rate.limited',
  'api_key.refused',
  'token.refused',
  'profile.unknown',
  'oidc.started',
  'oidc.failed',
  'entity.exported',
  'database.copied',
  'database.backed_up',
  'database.restored',
  'retention.applied',
  'configuration.loaded',
  'service.start',
  'service.stop',
  'fault',
];

beforeAll(async () => {
  const { id } = await home().createUser('keeper', null);
  for (const profile of ['member', 'claimed']) await home().createProfile(id, profile, { note: ['read'] });
  started = await home().replica({ ISSUERS_FILE: await writeIssuers(entry) });
  commits = await RefusedCommits.prepare(started.db);
});

test.each(changes)('%s and its audit events, or neither (rule 85)', async (_what, done, table, events, make, prepare) => {
  const caller = await newCaller();
  await prepare?.(caller);
  await service().settle();
  const before = await commits.stateOf(table, events);
  await commits.ofTable(table, async () => expect(failures).toContain(await make(caller)));
  expect(await commits.stateOf(table, events), 'the change could not be committed').toEqual(before);
  for (const event of events) {
    await commits.ofEvent(event, async () => expect(failures).toContain(await make(caller)));
    expect(await commits.stateOf(table, events), `${event} could not be committed`).toEqual(before);
  }
  expect(await make(caller)).toBe(done);
  const after = await commits.stateOf(table, events);
  expect(after.rows).not.toBe(before.rows);
  for (const event of events) expect(after.events[event], event).toBeGreaterThan(before.events[event] ?? 0);
});

describe('the table of changes', () => {
  test('has every event that belongs to a change', () => {
    const covered = new Set(changes.flatMap(([, , , events]) => events));
    expect(auditEvents.filter((event) => !covered.has(event))).toEqual(auditEvents.filter((event) => alone.includes(event)));
  });
});

const show = (cookie: string) => status(service().call('GET', '/rest/entity/note/1', { cookie }));
const create = (cookie: string, headers: Record<string, string> = {}) =>
  status(service().call('POST', '/rest/entity/note', { cookie, headers, json: { text: 'new' } }));

async function linkAnother({ user, cookie }: Caller): Promise<number> {
  const browser = new BrowserSession(service());
  browser.cookies.set('sid', cookie.slice('sid='.length));
  const { body } = await browser.call<{ url: string }>('POST', '/auth/oidc/corp/link');
  return await status(browser.call('GET', await browser.visit(corp, new URL(body.url), `${user}-own`)));
}

async function fillSessions({ userId }: Caller): Promise<void> {
  for (let count = 2; count < 50; count++) await service().openSession(userId);
}

async function failOnce({ user }: Caller): Promise<void> {
  const answer = await service().call('POST', '/auth', { form: { user, password: 'a wrong password of this user' } });
  expect(answer.status).toBe(401);
}

async function replaceLongAgo({ cookie }: Caller): Promise<void> {
  // The first use of the new token ends its predecessor.
  await service().call('GET', '/auth', { cookie: cookieOf(await act.refresh(cookie)) });
  await agingToken(service(), cookie, 11);
}

async function expire({ sessionId }: Caller): Promise<void> {
  await sql`update session set idle_expires_at = now() - interval '1 second' where id = ${sessionId}`.execute(service().db);
}
