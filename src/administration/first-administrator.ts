/** Creates the first user of an empty database, with every right. */
import { randomInt } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import type { Store } from '../database/port.ts';
import type { Database } from '../database/tables.ts';
import { entityActions } from '../rights/vocabulary.ts';
import { recordChange, theService } from '../audit/actor.ts';

export interface FirstAdministrator {
  name: string;
  password: string;
}

const groupLength = 6;
/** Letters and digits that are easy to tell apart. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';

/** A password of at least 27 characters, 118 bits, and of `minimumLength`, in groups that can be read aloud. */
export function generatePassword(minimumLength: number): string {
  const group = () => Array.from({ length: groupLength }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
  return Array.from({ length: Math.max(4, Math.ceil((minimumLength + 1) / (groupLength + 1))) }, group).join('-');
}

/**
 * Creates the user `name` with the role and profile `administrator`, unless there is a user already; returns whether it did. Several
 * processes may call it at once. `name` must be in normal form. If `beforeCommit` throws, no user is created.
 */
export async function createFirstAdministrator(
  store: Store,
  name: string,
  passwordHash: string,
  beforeCommit: () => Promise<void> = async () => undefined,
): Promise<boolean> {
  return await store.transaction(async (trx) => {
    // A process that starts waits for the others, on a slow machine longer than a request does.
    await sql`set local lock_timeout = '10s'`.execute(trx);
    await sql`lock table user_account in share row exclusive mode`.execute(trx);
    if (await hasUsers(trx)) return false;
    const user = await trx
      .insertInto('user_account')
      .values({ name, display_name: 'Administrator', locale: null, password_hash: passwordHash })
      .returning('id')
      .executeTakeFirstOrThrow();
    const role = await trx
      .insertInto('role')
      .values({ name: 'administrator', description: 'Every action on every entity.' })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ name: 'administrator' }))
      .returning('id')
      .executeTakeFirstOrThrow();
    await trx
      .insertInto('role_grant')
      .values(entityActions.map((action) => ({ role_id: role.id, entity: '*', action })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const profile = await trx
      .insertInto('profile')
      .values({ name: 'administrator', label: 'Administrator', locale: null })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ name: 'administrator' }))
      .returning('id')
      .executeTakeFirstOrThrow();
    await trx
      .insertInto('profile_role')
      .values({ profile_id: profile.id, role_id: role.id })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await trx.insertInto('user_profile').values({ user_id: user.id, profile_id: profile.id, is_default: true }).execute();
    await recordChange(trx, theService, { event: 'user.created', userName: name });
    await beforeCommit();
    return true;
  });
}

/** Whether there is any user. */
export async function hasUsers(db: Kysely<Database>): Promise<boolean> {
  return (await db.selectFrom('user_account').select('id').limit(1).executeTakeFirst()) !== undefined;
}
