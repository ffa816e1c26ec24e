/** User accounts. Names arrive in their normal form (`name.ts`). */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';

/** What signing in needs to know of a user. */
export interface Account {
  id: string;
  name: string;
  displayName: string;
  locale: string | null;
  passwordHash: string | null;
  credentialVersion: number;
  active: boolean;
}

const accounts = (db: Kysely<Database>) =>
  db
    .selectFrom('user_account')
    .select([
      'id',
      'name',
      'display_name as displayName',
      'locale',
      'password_hash as passwordHash',
      'credential_version as credentialVersion',
      'active',
    ]);

/** The account called `name`, active or not; undefined when there is none. */
export function findAccount(db: Kysely<Database>, name: string): Promise<Account | undefined> {
  return accounts(db).where('name', '=', name).executeTakeFirst();
}

/** The account with this id. Throws when there is none, which cannot be: users are never deleted. */
export function getAccount(db: Kysely<Database>, id: string): Promise<Account> {
  return accounts(db).where('id', '=', id).executeTakeFirstOrThrow();
}

/** Stores the same password hashed anew; changes nothing when the password has been changed meanwhile. */
export async function updateHash(db: Kysely<Database>, id: string, credentialVersion: number, passwordHash: string): Promise<void> {
  await db
    .updateTable('user_account')
    .set({ password_hash: passwordHash, updated_at: sql`now()` })
    .where('id', '=', id)
    .where('credential_version', '=', credentialVersion)
    .execute();
}

/**
 * Locks the user's row until the transaction ends; false when the user has been disabled, or the password changed, since
 * `credentialVersion` was read (rule 44).
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

/** Sets a new password and raises the credential version by one, so that no session opened before is live. The row must be locked. */
export async function updatePassword(trx: Transaction<Database>, id: string, passwordHash: string): Promise<void> {
  await trx
    .updateTable('user_account')
    .set({ password_hash: passwordHash, credential_version: sql`credential_version + 1`, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute();
}
