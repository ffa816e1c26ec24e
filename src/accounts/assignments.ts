/**
 * The existing profiles, and their assignments to users. A user with profiles has exactly one default profile, under which a session
 * starts.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import { Problem } from '../problems/errors.ts';
import { getNamedRow, takenProblem, usedByProblem, type NamedRow } from './named-rows.ts';

/** A profile as administrators see it. */
export interface ProfileState {
  name: string;
  label: string;
  locale: string | null;
  /** The names of its roles, in order. */
  roles: string[];
  attributes: Record<string, unknown>;
}

const selectProfiles = (db: Kysely<Database>) =>
  db
    .selectFrom('profile')
    .select([
      'name',
      'label',
      'locale',
      sql<string[]>`array(
        select role.name from profile_role join role on role.id = profile_role.role_id
        where profile_role.profile_id = profile.id order by role.name
      )`.as('roles'),
      'attributes',
    ])
    .orderBy('name');

/** All profiles by name. */
export function listAllProfiles(db: Kysely<Database>): Promise<ProfileState[]> {
  return selectProfiles(db).execute();
}

/** The profile with this id. Throws if there is none. */
export function getProfileState(db: Kysely<Database>, id: string): Promise<ProfileState> {
  return selectProfiles(db).where('id', '=', id).executeTakeFirstOrThrow();
}

/** The profiles called `names`, in that order, without those that do not exist. */
export async function findAnyProfiles(db: Kysely<Database>, names: readonly string[]): Promise<{ id: string; name: string }[]> {
  if (names.length === 0) return [];
  return inOrderOf(names, await profilesCalled(db, names).execute());
}

/** The same, none of which is deleted before the transaction ends. */
export async function lockAnyProfiles(trx: Transaction<Database>, names: readonly string[]): Promise<{ id: string; name: string }[]> {
  if (names.length === 0) return [];
  return inOrderOf(names, await profilesCalled(trx, names).orderBy('id').forKeyShare().execute());
}

const profilesCalled = (db: Kysely<Database>, names: readonly string[]) =>
  db.selectFrom('profile').where('name', 'in', names).select(['id', 'name']);

const inOrderOf = <T extends { name: string }>(names: readonly string[], rows: readonly T[]): T[] =>
  names.flatMap((name) => rows.find((row) => row.name === name) ?? []);

export interface Assignment {
  profileId: string;
  name: string;
  isDefault: boolean;
}

/** The profiles that a user has, by name. */
function listAssignments(db: Kysely<Database>, userId: string): Promise<Assignment[]> {
  return db
    .selectFrom('user_profile')
    .innerJoin('profile', 'profile.id', 'user_profile.profile_id')
    .where('user_profile.user_id', '=', userId)
    .select(['user_profile.profile_id as profileId', 'profile.name', 'user_profile.is_default as isDefault'])
    .orderBy('profile.name')
    .execute();
}

export interface NewProfile {
  name: string;
  label: string;
  /** The locale of a session that switches to the profile; null leaves the session's own. */
  locale: string | null;
  roleIds: readonly string[];
}

/** Returns the new profile's id. Throws 409 `conflict` if a profile of that name exists already. */
export async function insertProfile(trx: Transaction<Database>, { name, label, locale, roleIds }: NewProfile): Promise<string> {
  const { id } = await trx
    .insertInto('profile')
    .values({ name, label, locale })
    .onConflict((conflict) => conflict.constraint('profile_name_key').doNothing())
    .returning('id')
    .executeTakeFirstOrThrow(() => takenProblem('profile', name));
  await replaceRoles(trx, id, roleIds);
  return id;
}

/** The members of a profile that an administrator changes; undefined stays as it is. */
export interface ProfileChange {
  label: string | undefined;
  /** As {@link NewProfile.locale}. */
  locale: string | null | undefined;
  /** In place of the present ones; at least one. */
  roleIds: readonly string[] | undefined;
  /** In place of the present ones. */
  attributes: Record<string, unknown> | undefined;
}

/** False if the profile has these values already. The caller must have locked the row. */
export async function updateProfile(
  trx: Transaction<Database>,
  id: string,
  { label, locale, roleIds, attributes }: ProfileChange,
): Promise<boolean> {
  const json = attributes && sql<string>`${JSON.stringify(attributes)}::jsonb`;
  const row = await trx
    .updateTable('profile')
    .set((eb) => ({
      label: label ?? eb.ref('label'),
      locale: locale === undefined ? eb.ref('locale') : locale,
      attributes: json ?? sql<string>`attributes`,
    }))
    .where('id', '=', id)
    .where((eb) =>
      eb.or([
        eb('label', '<>', label ?? eb.ref('label')),
        eb('locale', 'is distinct from', locale === undefined ? eb.ref('locale') : locale),
        ...(json ? [sql<boolean>`attributes <> ${json}`] : []),
      ]),
    )
    .returning('id')
    .executeTakeFirst();
  return (roleIds !== undefined && (await replaceRoles(trx, id, roleIds))) || row !== undefined;
}

/** False if the profile has exactly these roles already. */
async function replaceRoles(trx: Transaction<Database>, id: string, wanted: readonly string[]): Promise<boolean> {
  const roleIds = [...new Set(wanted)];
  const present = await trx.selectFrom('profile_role').where('profile_id', '=', id).select('role_id').execute();
  const had = new Set(present.map((row) => row.role_id));
  if (had.size === roleIds.length && roleIds.every((roleId) => had.has(roleId))) return false;
  await trx.deleteFrom('profile_role').where('profile_id', '=', id).where('role_id', 'not in', roleIds).execute();
  const added = roleIds.filter((roleId) => !had.has(roleId)).map((roleId) => ({ profile_id: id, role_id: roleId }));
  if (added.length > 0) await trx.insertInto('profile_role').values(added).execute();
  return true;
}

/**
 * Deletes the profile called `name`. Throws 404 `not-found`, and 409 `conflict` while users have it or live keys are bound to it. Sessions that a user
 * opened under it, before it was removed from the user, had no rights any more; from then on they have no profile.
 */
export async function deleteUnusedProfile(trx: Transaction<Database>, name: string): Promise<void> {
  // Waits for transactions that give the profile to a user or a key; later ones wait for this transaction.
  const { id } = await getNamedRow(trx, 'profile', name, 'update');
  const users = await trx
    .selectFrom('user_profile')
    .innerJoin('user_account', 'user_account.id', 'user_profile.user_id')
    .where('user_profile.profile_id', '=', id)
    .select('user_account.name')
    .orderBy('user_account.name')
    .execute();
  if (users.length > 0)
    throw usedByProblem(
      'profile',
      name,
      'users',
      users.map((user) => user.name),
    );
  const keys = await trx
    .selectFrom('api_key')
    .where('profile_id', '=', id)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .select('id')
    .orderBy('id')
    .execute();
  if (keys.length > 0)
    throw usedByProblem(
      'profile',
      name,
      'keys',
      keys.map((key) => key.id),
    );
  await trx.deleteFrom('profile').where('id', '=', id).execute();
}

/** A user's assignments. Locks the user's row, so that only one transaction changes the default one. */
export async function lockAssignments(trx: Transaction<Database>, userId: string): Promise<Assignment[]> {
  await trx.selectFrom('user_account').where('id', '=', userId).select('id').forNoKeyUpdate().executeTakeFirstOrThrow();
  return await listAssignments(trx, userId);
}

/**
 * Assigns a profile to a user, as the default one on request or if it is the first. Returns whether it is the default now; undefined if
 * nothing changed.
 */
export async function insertAssignment(
  trx: Transaction<Database>,
  userId: string,
  profileId: string,
  makeDefault: boolean,
): Promise<{ isDefault: boolean } | undefined> {
  const present = await lockAssignments(trx, userId);
  const own = present.find((assignment) => assignment.profileId === profileId);
  const isDefault = makeDefault || !present.some((assignment) => assignment.isDefault);
  if (own && (own.isDefault || !isDefault)) return undefined;
  if (isDefault)
    await trx.updateTable('user_profile').set({ is_default: false }).where('user_id', '=', userId).where('is_default', '=', true).execute();
  await trx
    .insertInto('user_profile')
    .values({ user_id: userId, profile_id: profileId, is_default: isDefault })
    .onConflict((conflict) => conflict.columns(['user_id', 'profile_id']).doUpdateSet({ is_default: isDefault }))
    .execute();
  return { isDefault };
}

/**
 * Removes a profile from a user; false if the user did not have it. Throws 409 `conflict` if it is the default one and the user has others.
 */
export async function deleteAssignment(trx: Transaction<Database>, user: NamedRow, profileId: string): Promise<boolean> {
  const present = await lockAssignments(trx, user.id);
  const own = present.find((assignment) => assignment.profileId === profileId);
  if (own?.isDefault && present.length > 1)
    throw new Problem('conflict', { faults: [{ code: 'used-by', values: { profile: own.name, defaultOf: user.name } }] });
  await trx.deleteFrom('user_profile').where('user_id', '=', user.id).where('profile_id', '=', profileId).execute();
  return own !== undefined;
}
