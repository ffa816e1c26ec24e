/** Finds the user, role or profile that a command names. */
import type { Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import { findAnyProfile } from '../accounts/assignments.ts';
import { findRole } from '../accounts/roles.ts';
import { findAccount, type Account } from '../accounts/users.ts';
import { printableText, Refusal } from './output.ts';

/** The user called `name`, which has the normal form. Throws {@link Refusal} if there is none. */
export async function userCalled(db: Kysely<Database>, name: string): Promise<Account> {
  const user = await findAccount(db, name);
  if (!user) throw new Refusal(`there is no user called "${printableText(name)}"`);
  return user;
}

/** The role called `name`. Throws {@link Refusal} if there is none. */
export async function roleCalled(db: Kysely<Database>, name: string): Promise<{ id: string; name: string }> {
  const role = await findRole(db, name);
  if (!role) throw new Refusal(`there is no role called "${name}"`);
  return role;
}

/** The profile called `name`. Throws {@link Refusal} if there is none. */
export async function profileCalled(db: Kysely<Database>, name: string): Promise<{ id: string; name: string }> {
  const profile = await findAnyProfile(db, name);
  if (!profile) throw new Refusal(`there is no profile called "${name}"`);
  return profile;
}
