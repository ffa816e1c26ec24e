/** Use cases of administration: what comes between their first statement and their last, and what a refusal leaves. The commands are in test/cli. */
import { sql, type RawBuilder } from 'kysely';
import { expect, test } from 'vitest';
import { linkUserIdentity } from '../../src/administration/identities/use-cases.ts';
import { createUserKey } from '../../src/administration/keys/use-cases.ts';
import { changeProfile, createProfile, deleteProfile } from '../../src/administration/profiles/use-cases.ts';
import { createRole, deleteRole, grantActions } from '../../src/administration/roles/use-cases.ts';
import { assignProfile, createUser, disableUser } from '../../src/administration/users/use-cases.ts';
import { refusalText } from '../../src/cli/refusals.ts';
import { Problem } from '../../src/problems/errors.ts';
import { whileWaiting } from '../support/entities.ts';
import { owner, useService } from '../support/service.ts';

const service = useService();

/** The problem with which the work ends. Fails the test if it ends with anything else. */
async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
}

/** The code of a problem and its faults without their places. */
const factsOf = ({ code, faults }: Problem) => [code, ...faults.map((fault) => [fault.code, fault.values])];

/** The result of `work` whose first statement has to wait for another transaction, which makes the change. */
const behind = <T>(change: RawBuilder<unknown>, work: () => Promise<T>): Promise<T> =>
  whileWaiting(service(), change, work, async () => undefined);

/** The names of the events about the user, role or profile. */
async function eventsOf(name: string): Promise<string[]> {
  const { rows } = await sql<{ event: string }>`
    select event from audit_event where ${name} in (user_name, detail ->> 'role', detail ->> 'profile') order by id`.execute(service().db);
  return rows.map(({ event }) => event);
}

const newUser = (name: string) => ({ name, displayName: name, locale: null, passwordHash: null });
const newProfile = (name: string, roles: string[]) => ({ name, label: name, locale: null, roles });

test('a user is created once by two callers at once, and the other is refused', async () => {
  const { store } = service();
  const both = await Promise.allSettled([createUser(store, owner, newUser('twin')), createUser(store, owner, newUser('twin'))]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const refused = both.flatMap((each) => (each.status === 'rejected' ? [factsOf(each.reason as Problem)] : []));
  expect(refused).toEqual([['conflict', ['taken', { user: 'twin' }]]]);
  expect(await eventsOf('twin')).toEqual(['user.created']);
});

test('a user whom two callers disable at once is disabled once, with the sessions', async () => {
  const { id } = await service().createUser('fading', null);
  await service().openSession(id);
  const both = await Promise.all([1, 2].map(() => disableUser(service().store, owner, 'fading')));
  const outcomes = both.map(({ changed, endedSessions, state }) => ({ changed, endedSessions, active: state.active }));
  expect(outcomes.toSorted((a, b) => a.endedSessions - b.endedSessions)).toEqual([
    { changed: false, endedSessions: 0, active: false },
    { changed: true, endedSessions: 1, active: false },
  ]);
  expect(await eventsOf('fading')).toEqual(['user.disabled']);
});

test('a change of a profile waits for another one, and undoes nothing of it', async () => {
  const { store } = service();
  for (const name of ['first', 'second']) await createRole(store, owner, { name, description: '' });
  await createProfile(store, owner, newProfile('pair', ['first']));
  const relabelled = await behind(sql`update profile set locale = 'de' where name = 'pair'`, () =>
    changeProfile(store, owner, 'pair', { label: 'Both', locale: undefined, roles: ['second'] }),
  );
  expect(relabelled).toEqual({ state: { name: 'pair', label: 'Both', locale: 'de', roles: ['second'], attributes: {} }, changed: true });
});

test('a role or profile that is given away while its deletion waits is not deleted, and the refusal names who has it', async () => {
  const { store } = service();
  await service().createUser('receiver', { note: ['read'] });
  await createRole(store, owner, { name: 'late', description: '' });
  await createProfile(store, owner, newProfile('late', ['receiver']));
  const giveRole = sql`insert into profile_role (profile_id, role_id) select profile.id, role.id from profile, role where profile.name = 'receiver' and role.name = 'late'`;
  const roleRefused = await behind(giveRole, () => problemOf(deleteRole(store, owner, 'late')));
  expect(factsOf(roleRefused)).toEqual(['conflict', ['used-by', { role: 'late', profiles: 'receiver' }]]);
  const giveProfile = sql`insert into user_profile (user_id, profile_id, is_default) select user_account.id, profile.id, false from user_account, profile
    where user_account.name = 'receiver' and profile.name = 'late'`;
  const profileRefused = await behind(giveProfile, () => problemOf(deleteProfile(store, owner, 'late')));
  expect(factsOf(profileRefused)).toEqual(['conflict', ['used-by', { profile: 'late', users: 'receiver' }]]);
  expect(await eventsOf('late')).toEqual(['role.created', 'profile.created']);
});

test('a profile that is deleted while it is assigned is not found, and the user stays without', async () => {
  const { store, db } = service();
  const { id } = await service().createUser('empty', null);
  await createProfile(store, owner, newProfile('leaving', []));
  const assigning = () => assignProfile(store, owner, 'empty', { profile: 'leaving', makeDefault: true });
  const refused = await behind(sql`delete from profile where name = 'leaving'`, () => problemOf(assigning()));
  expect(factsOf(refused)).toEqual(['not-found', ['absent', { profile: 'leaving' }]]);
  expect(await db.selectFrom('user_profile').where('user_id', '=', id).selectAll().execute()).toEqual([]);
  expect(await eventsOf('empty')).toEqual([]);
});

test('a role that is deleted while a profile is created with it is not found, and there is no profile', async () => {
  const { store, db } = service();
  for (const name of ['staying', 'leaving']) await createRole(store, owner, { name, description: '' });
  const creating = () => createProfile(store, owner, newProfile('half', ['staying', 'leaving']));
  const refused = await behind(sql`delete from role where name = 'leaving'`, () => problemOf(creating()));
  expect(factsOf(refused)).toEqual(['not-found', ['absent', { role: 'leaving' }]]);
  expect(await db.selectFrom('profile').where('name', '=', 'half').selectAll().execute()).toEqual([]);
});

test('a role that is deleted while actions are granted to it is not found', async () => {
  const { store } = service();
  await createRole(store, owner, { name: 'gone', description: '' });
  const granting = () => grantActions(store, owner, 'gone', { entities: ['note'], actions: ['read'], condition: 'any' });
  const refused = await behind(sql`delete from role where name = 'gone'`, () => problemOf(granting()));
  expect(factsOf(refused)).toEqual(['not-found', ['absent', { role: 'gone' }]]);
  expect(await eventsOf('gone')).toEqual(['role.created']);
});

test('a user who is disabled while a key is created has no key', async () => {
  const { store, db } = service();
  const { id } = await service().createUser('quick', null);
  const creating = () => createUserKey(store, owner, 'quick', { name: 'x', expiresInDays: 1 });
  const refused = await behind(sql`update user_account set active = false where name = 'quick'`, () => problemOf(creating()));
  expect(factsOf(refused)).toEqual(['conflict', ['disabled', { user: 'quick' }]]);
  expect(await db.selectFrom('api_key').where('user_id', '=', id).selectAll().execute()).toEqual([]);
});

test('an identity that two callers link at once has one user', async () => {
  const { store, db } = service();
  const identity = { issuer: 'https://login.example.com', subject: 's-1' };
  for (const name of ['left', 'right']) await service().createUser(name, null);
  const both = await Promise.allSettled(['left', 'right'].map((name) => linkUserIdentity(store, owner, name, identity)));
  const refused = both.flatMap((each) => (each.status === 'rejected' ? [factsOf(each.reason as Problem)] : []));
  expect(refused).toEqual([['conflict', ['taken', { subject: 's-1', issuer: identity.issuer }]]]);
  expect(await db.selectFrom('identity').where('subject', '=', 's-1').select('issuer').execute()).toEqual([{ issuer: identity.issuer }]);
});

test('a refusal shows ten names and counts the others', async () => {
  const { store, db } = service();
  await createRole(store, owner, { name: 'popular', description: '' });
  await sql`with made as (insert into profile (name, label) select 'p' || n, 'x' from generate_series(10, 21) as n returning id)
    insert into profile_role (profile_id, role_id) select made.id, role.id from made, role where role.name = 'popular'`.execute(db);
  const refused = await problemOf(deleteRole(store, owner, 'popular'));
  const profiles = 'p10, p11, p12, p13, p14, p15, p16, p17, p18, p19';
  expect(factsOf(refused)).toEqual(['conflict', ['used-by', { role: 'popular', profiles, more: 2 }]]);
  expect(refusalText(refused)).toBe(
    `profiles have the role "popular": ${profiles} and 2 more; give them other roles first, with "profile update … --roles"`,
  );
});
