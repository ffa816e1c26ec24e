/**
 * What an administrator does to accounts: each a transaction that also writes its audit event, so that there is never one without the
 * other (rule 85). Passwords arrive as hashes, since hashing inside a transaction would hold its locks for long.
 */
import type { Store } from '../database/port.ts';
import { resetAttempts } from '../credentials/attempts.ts';
import { revokeOthers } from '../sessions/revoke.ts';
import { insertUser, replacePassword, updateActive, type Account, type NewUser } from '../accounts/users.ts';
import { recordChange, type Actor } from './actor.ts';

type User = Pick<Account, 'id' | 'name'>;

/** Returns the id; undefined when there is already a user of that name. */
export function createUser(store: Store, actor: Actor, user: NewUser): Promise<string | undefined> {
  return store.transaction(async (trx) => {
    const id = await insertUser(trx, user);
    if (id !== undefined) await recordChange(trx, actor, { event: 'user.created', userName: user.name });
    return id;
  });
}

/** Ends all sessions of the user and keeps them out; undefined when the user was disabled already, else how many sessions have ended. */
export function disableUser(store: Store, actor: Actor, { id, name }: User): Promise<number | undefined> {
  return store.transaction(async (trx) => {
    if (!(await updateActive(trx, id, false))) return undefined;
    const endedSessions = (await revokeOthers(trx, id, undefined, 'disabled')).length;
    await recordChange(trx, actor, { event: 'user.disabled', userName: name, detail: { endedSessions } });
    return endedSessions;
  });
}

/** False when the user was not disabled. Sessions from before stay dead; API keys that have not been revoked work again. */
export function enableUser(store: Store, actor: Actor, { id, name }: User): Promise<boolean> {
  return store.transaction(async (trx) => {
    const changed = await updateActive(trx, id, true);
    if (changed) await recordChange(trx, actor, { event: 'user.enabled', userName: name });
    return changed;
  });
}

/** Forgets the user's failed sign-ins; false when there were none. */
export function unlockUser(store: Store, actor: Actor, { name }: User): Promise<boolean> {
  return store.transaction(async (trx) => {
    const changed = await resetAttempts(trx, name);
    if (changed) await recordChange(trx, actor, { event: 'user.unlocked', userName: name });
    return changed;
  });
}

/** Sets a new password and ends all sessions of the user; returns how many. Failed sign-ins stay counted, see {@link unlockUser}. */
export function resetPassword(store: Store, actor: Actor, { id, name }: User, passwordHash: string): Promise<number> {
  return store.transaction(async (trx) => {
    await replacePassword(trx, id, passwordHash);
    const endedSessions = (await revokeOthers(trx, id, undefined, 'password-changed')).length;
    await recordChange(trx, actor, { event: 'password.changed', userName: name, detail: { endedSessions } });
    return endedSessions;
  });
}
