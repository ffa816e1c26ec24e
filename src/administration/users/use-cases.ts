/**
 * An administrator's changes of accounts. Each is one transaction with its audit event, so that neither exists without the other (rule 85).
 * Callers pass hashes of passwords, because hashing inside a transaction would hold its locks for long.
 */
import type { Store } from '../../database/port.ts';
import { resetAttempts } from '../../credentials/attempts.ts';
import { revokeOthers } from '../../sessions/revoke.ts';
import {
  insertUser,
  replacePassword,
  updateActive,
  updateUser,
  type Account,
  type NewUser,
  type UserChange,
} from '../../accounts/users.ts';
import { recordChange } from '../../audit/actor.ts';
import type { Actor } from '../../rights/administration.ts';

export type NamedUser = Pick<Account, 'id' | 'name'>;

/** Returns the id; undefined if a user of that name exists already. */
export function createUser(store: Store, actor: Actor, user: NewUser): Promise<string | undefined> {
  return store.transaction(async (trx) => {
    const id = await insertUser(trx, user);
    if (id !== undefined) await recordChange(trx, actor, { event: 'user.created', userName: user.name });
    return id;
  });
}

/** Changes the display name and the locale of new sessions. False if the user has these values already. */
export function changeUser(store: Store, actor: Actor, { id, name }: NamedUser, change: UserChange): Promise<boolean> {
  return store.transaction(async (trx) => {
    const changed = await updateUser(trx, id, change);
    if (changed) await recordChange(trx, actor, { event: 'user.updated', userName: name, detail: { ...change } });
    return changed;
  });
}

/** Disables the user and ends all sessions. Returns the number of ended sessions; undefined if the user was disabled already. */
export function disableUser(store: Store, actor: Actor, { id, name }: NamedUser): Promise<number | undefined> {
  return store.transaction(async (trx) => {
    if (!(await updateActive(trx, id, false))) return undefined;
    const endedSessions = (await revokeOthers(trx, id, undefined, 'disabled')).length;
    await recordChange(trx, actor, { event: 'user.disabled', userName: name, detail: { endedSessions } });
    return endedSessions;
  });
}

/** False if the user was not disabled. Earlier sessions stay dead; API keys that have not been revoked work again. */
export function enableUser(store: Store, actor: Actor, { id, name }: NamedUser): Promise<boolean> {
  return store.transaction(async (trx) => {
    const changed = await updateActive(trx, id, true);
    if (changed) await recordChange(trx, actor, { event: 'user.enabled', userName: name });
    return changed;
  });
}

/** Deletes the user's failed sign-ins; false if there were none. */
export function unlockUser(store: Store, actor: Actor, { name }: NamedUser): Promise<boolean> {
  return store.transaction(async (trx) => {
    const changed = await resetAttempts(trx, name);
    if (changed) await recordChange(trx, actor, { event: 'user.unlocked', userName: name });
    return changed;
  });
}

/** Sets a new password and ends all sessions of the user; returns their number. Failed sign-ins stay counted, see {@link unlockUser}. */
export function resetPassword(store: Store, actor: Actor, { id, name }: NamedUser, passwordHash: string): Promise<number> {
  return store.transaction(async (trx) => {
    await replacePassword(trx, id, passwordHash);
    const endedSessions = (await revokeOthers(trx, id, undefined, 'password-changed')).length;
    await recordChange(trx, actor, { event: 'password.changed', userName: name, detail: { endedSessions } });
    return endedSessions;
  });
}
