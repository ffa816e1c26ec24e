/** User accounts. Callers pass names in their normal form (`user-name.ts`). */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';

/** The columns of a user that a sign-in needs. */
export interface Account {
  id: string;
  name: string;
  displayName: string;
  locale: string | null;
  passwordHash: string | null;
  credentialVersion: number;
  active: boolean;
}

export const accountColumns = [
  'user_account.id',
  'user_account.name',
  'user_account.display_name as displayName',
  'user_account.locale',
  'user_account.password_hash as passwordHash',
  'user_account.credential_version as credentialVersion',
  'user_account.active',
] as const;

/** All accounts, active or not. */
export const selectAccounts = (db: Kysely<Database>) => db.selectFrom('user_account').select(accountColumns);

/** The account called `name`, active or not; undefined if there is none. */
export function findAccount(db: Kysely<Database>, name: string): Promise<Account | undefined> {
  return selectAccounts(db).where('name', '=', name).executeTakeFirst();
}

/** The account with this id. Throws if there is none, which does not happen because users are never deleted. */
export function getAccount(db: Kysely<Database>, id: string): Promise<Account> {
  return selectAccounts(db).where('id', '=', id).executeTakeFirstOrThrow();
}

/** Stores a new hash of the same password; changes nothing if the password has been changed meanwhile. */
export async function updateHash(db: Kysely<Database>, id: string, credentialVersion: number, passwordHash: string): Promise<void> {
  await db
    .updateTable('user_account')
    .set({ password_hash: passwordHash, updated_at: sql`now()` })
    .where('id', '=', id)
    .where('credential_version', '=', credentialVersion)
    .execute();
}

/**
 * Locks the user's row until the transaction ends; false if the user has been disabled, or the password changed, since `credentialVersion`
 * was read (rule 44).
 */
export async function lockAccount(trx: Transaction<Database>, id: string, credentialVersion: number): Promise<boolean> {
  const row = await trx
    .selectFrom('user_account')
    .where('id', '=', id)
    .where('active', '=', true)
    .where('credential_version', '=', credentialVersion)
    .select('id')
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Sets a new password, for a disabled user too, and raises the credential version by one, so that sessions opened before are no longer live. The caller
 * must have locked the row.
 */
export async function updatePassword(trx: Transaction<Database>, id: string, passwordHash: string): Promise<void> {
  await trx
    .updateTable('user_account')
    .set({ password_hash: passwordHash, credential_version: sql`credential_version + 1`, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute();
}

/** A user as administrators see it: without the hash. */
export interface UserState {
  name: string;
  displayName: string;
  locale: string | null;
  active: boolean;
  /** False for a user who signs in through an issuer only. */
  hasPassword: boolean;
  /** An IANA name; null for UTC. */
  timeZone: string | null;
  attributes: Record<string, unknown>;
  /** By name; a session starts under the default one. */
  profiles: { name: string; default: boolean }[];
  createdAt: Date;
}

const selectUserStates = (db: Kysely<Database>) =>
  db
    .selectFrom('user_account')
    .select([
      'name',
      'display_name as displayName',
      'locale',
      'active',
      sql<boolean>`password_hash is not null`.as('hasPassword'),
      'time_zone as timeZone',
      'attributes',
      sql<UserState['profiles']>`(
        select coalesce(jsonb_agg(jsonb_build_object('name', profile.name, 'default', user_profile.is_default) order by profile.name), '[]')
        from user_profile join profile on profile.id = user_profile.profile_id
        where user_profile.user_id = user_account.id
      )`.as('profiles'),
      'created_at as createdAt',
    ])
    .orderBy('name');

/** All users by name. */
export function listUsers(db: Kysely<Database>): Promise<UserState[]> {
  return selectUserStates(db).execute();
}

/** The user with this id. Throws if there is none. */
export function getUserState(db: Kysely<Database>, id: string): Promise<UserState> {
  return selectUserStates(db).where('id', '=', id).executeTakeFirstOrThrow();
}

export interface NewUser {
  name: string;
  displayName: string;
  locale: string | null;
  /** Null for a user who signs in through an issuer only. */
  passwordHash: string | null;
}

/** Returns the new user's id; undefined if a user of that name exists already. */
export async function insertUser(db: Kysely<Database>, { name, displayName, locale, passwordHash }: NewUser): Promise<string | undefined> {
  const row = await db
    .insertInto('user_account')
    .values({ name, display_name: displayName, locale, password_hash: passwordHash })
    .onConflict((conflict) => conflict.constraint('user_account_name_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

/**
 * Disables or enables a user; false if nothing changed. Disabling raises the credential version, so that sessions opened before stay dead
 * after the user is enabled (rule 14). Keys of a disabled user are dead until the user is enabled (rule 59).
 */
export async function updateActive(db: Kysely<Database>, id: string, active: boolean): Promise<boolean> {
  const row = await db
    .updateTable('user_account')
    .set({ active, updated_at: sql`now()`, ...(!active && { credential_version: sql<number>`credential_version + 1` }) })
    .where('id', '=', id)
    .where('active', '=', !active)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** The members of a user that an administrator changes; undefined stays as it is. */
export interface UserChange {
  displayName: string | undefined;
  /** Null: new sessions get the locale of the profile, else English. */
  locale: string | null | undefined;
  /** An IANA name; null for UTC. */
  timeZone: string | null | undefined;
  /** In place of the present ones. */
  attributes: Record<string, unknown> | undefined;
}

/** False if the user has these values already. Sessions keep the locale in which they were opened. */
export async function updateUser(
  db: Kysely<Database>,
  id: string,
  { displayName, locale, timeZone, attributes }: UserChange,
): Promise<boolean> {
  const values = {
    ...(displayName !== undefined && { display_name: displayName }),
    ...(locale !== undefined && { locale }),
    ...(timeZone !== undefined && { time_zone: timeZone }),
    ...(attributes !== undefined && { attributes: JSON.stringify(attributes) }),
  };
  const row = await db
    .updateTable('user_account')
    .set({ updated_at: sql`now()`, ...values })
    .where('id', '=', id)
    .where((eb) =>
      eb.or([
        ...(displayName === undefined ? [] : [eb('display_name', '<>', displayName)]),
        ...(locale === undefined ? [] : [eb('locale', 'is distinct from', locale)]),
        ...(timeZone === undefined ? [] : [eb('time_zone', 'is distinct from', timeZone)]),
        ...(attributes === undefined ? [] : [sql<boolean>`attributes <> ${JSON.stringify(attributes)}::jsonb`]),
      ]),
    )
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
