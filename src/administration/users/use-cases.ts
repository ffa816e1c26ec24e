/**
 * Changes of users. Each is one transaction with its audit event, so that neither exists without the other (rule 85). Names of users have the normal
 * form. Each function that takes the name of an existing user throws 404 `not-found`.
 */
import type { Transaction } from 'kysely';
import { deleteAssignment, insertAssignment } from '../../accounts/assignments.ts';
import { getNamedRow, takenProblem, type NamedRow } from '../../accounts/named-rows.ts';
import { findTimeZone } from '../../accounts/time-zones.ts';
import {
  findAccount,
  getUserState,
  insertUser,
  updateActive,
  updatePassword,
  updateUser,
  type NewUser,
  type UserChange,
  type UserState,
} from '../../accounts/users.ts';
import { listKeys } from '../../api-keys/store.ts';
import { recordChange } from '../../audit/actor.ts';
import type { AuditEvent } from '../../audit/store.ts';
import { resetAttempts } from '../../credentials/attempts.ts';
import type { Store } from '../../database/port.ts';
import type { Database } from '../../database/tables.ts';
import { Problem } from '../../problems/errors.ts';
import type { Owner } from '../../rights/administration.ts';
import { revokeOthers } from '../../sessions/revoke.ts';
import { changeAttributes, type AttributeChanges } from '../attributes/change.ts';
import type { Changed } from '../changed.ts';

/** Creates a user. Throws 409 `conflict` if there is a user of that name. The hash is made before, so that no lock waits for it. */
export function createUser(store: Store, by: Owner, user: NewUser): Promise<UserState> {
  return store.transaction(async (trx) => {
    const id = await insertUser(trx, user);
    if (id === undefined) throw takenProblem('user', user.name);
    return (await recordUserChange(trx, by, { id, name: user.name }, { event: 'user.created' })).state;
  });
}

/** The members of a user that change; undefined stays as it is. Of `attributes` those that are named change. */
export type UserChanges = Partial<Omit<UserChange, 'attributes'>> & { attributes?: AttributeChanges | undefined };

/**
 * Changes the display name, the locale of new sessions, the time zone and attributes. Throws 422 `validation-failed` for an unknown time zone, and for
 * attributes as `changeAttributes` does.
 */
export function changeUser(
  store: Store,
  by: Owner,
  name: string,
  { displayName, locale, timeZone, attributes }: UserChanges,
): Promise<Changed<UserState>> {
  return store.transaction(async (trx) => {
    const user = await lockUser(trx, name);
    const values = attributes && (await changeAttributes(trx, 'user', (await getUserState(trx, user.id)).attributes, attributes));
    const zone = timeZone ? await getTimeZone(trx, timeZone) : timeZone;
    const changed = await updateUser(trx, user.id, { displayName, locale, timeZone: zone, attributes: values?.attributes });
    const ofAttributes = values && { attributes: values.names, before: values.before, after: values.after };
    const detail = { displayName, locale, timeZone: zone, ...ofAttributes };
    return await recordUserChange(trx, by, user, changed && { event: 'user.updated', detail });
  });
}

async function getTimeZone(trx: Transaction<Database>, text: string): Promise<string> {
  const zone = await findTimeZone(trx, text);
  if (zone === undefined) throw new Problem('validation-failed', { faults: [{ code: 'invalid-value', pointer: '/timeZone' }] });
  return zone;
}

/** Disables the user and ends all sessions. */
export function disableUser(store: Store, by: Owner, name: string): Promise<Changed<UserState> & { endedSessions: number }> {
  return store.transaction(async (trx) => {
    const user = await lockUser(trx, name);
    const changed = await updateActive(trx, user.id, false);
    const endedSessions = changed ? (await revokeOthers(trx, user.id, undefined, 'disabled')).length : 0;
    const outcome = await recordUserChange(trx, by, user, changed && { event: 'user.disabled', detail: { endedSessions } });
    return { ...outcome, endedSessions };
  });
}

/** Enables the user. Earlier sessions stay dead; the API keys of `revivedKeys`, which have not been revoked, work again. */
export function enableUser(store: Store, by: Owner, name: string): Promise<Changed<UserState> & { revivedKeys: string[] }> {
  return store.transaction(async (trx) => {
    const user = await lockUser(trx, name);
    const changed = await updateActive(trx, user.id, true);
    const live = changed ? (await listKeys(trx, user.id)).filter((key) => !key.expired) : [];
    const outcome = await recordUserChange(trx, by, user, changed && { event: 'user.enabled' });
    return { ...outcome, revivedKeys: live.map((key) => key.id) };
  });
}

/** Deletes the user's failed sign-ins. It waits for no sign-in, which locks the user's row behind them. */
export function unlockUser(store: Store, by: Owner, name: string): Promise<Changed<UserState>> {
  return store.transaction(async (trx) => {
    const user = await getNamedRow(trx, 'user', name, 'key share');
    const changed = await resetAttempts(trx, user.name);
    return await recordUserChange(trx, by, user, changed && { event: 'user.unlocked' });
  });
}

/** Sets a new password and ends all sessions of the user. Failed sign-ins stay counted, see {@link unlockUser}. */
export function setPassword(
  store: Store,
  by: Owner,
  name: string,
  passwordHash: string,
): Promise<Changed<UserState> & { endedSessions: number }> {
  return store.transaction(async (trx) => {
    const user = await lockUser(trx, name);
    await updatePassword(trx, user.id, passwordHash);
    const endedSessions = (await revokeOthers(trx, user.id, undefined, 'password-changed')).length;
    return { ...(await recordUserChange(trx, by, user, { event: 'password.changed', detail: { endedSessions } })), endedSessions };
  });
}

/** Assigns a profile, as the default one with `makeDefault` or if it is the first. Throws 404 `not-found` for the profile too. */
export function assignProfile(
  store: Store,
  by: Owner,
  name: string,
  { profile, makeDefault }: { profile: string; makeDefault: boolean },
): Promise<Changed<UserState>> {
  return store.transaction(async (trx) => {
    const user = await lockUser(trx, name);
    const { id } = await getNamedRow(trx, 'profile', profile, 'key share');
    const assigned = await insertAssignment(trx, user.id, id, makeDefault);
    const event = assigned && { event: 'profile.assigned' as const, detail: { profile, default: assigned.isDefault } };
    return await recordUserChange(trx, by, user, event ?? false);
  });
}

/** Removes a profile. Throws 404 `not-found` for the profile too, and 409 `conflict` if it is the default one of a user who has others. */
export function removeProfile(store: Store, by: Owner, name: string, profile: string): Promise<Changed<UserState>> {
  return store.transaction(async (trx) => {
    const user = await lockUser(trx, name);
    const { id } = await getNamedRow(trx, 'profile', profile, 'key share');
    const changed = await deleteAssignment(trx, user, id);
    return await recordUserChange(trx, by, user, changed && { event: 'profile.removed', detail: { profile } });
  });
}

/** The user as it is now. */
export async function getUser({ db }: Store, _by: Owner, name: string): Promise<UserState> {
  return await getUserState(db, (await getNamedRow(db, 'user', name)).id);
}

/** Throws 409 `conflict` if there is a user of that name, for a face that reads the password of a new user before it creates one. */
export async function requireFreeUserName({ db }: Store, _by: Owner, name: string): Promise<void> {
  if (await findAccount(db, name)) throw takenProblem('user', name);
}

const lockUser = (trx: Transaction<Database>, name: string): Promise<NamedRow> => getNamedRow(trx, 'user', name, 'no key update');

/** Writes the event, false for a change that was none, and returns the state behind it. */
async function recordUserChange(
  trx: Transaction<Database>,
  { actor }: Owner,
  { id, name: userName }: NamedRow,
  event: Pick<AuditEvent, 'event' | 'detail'> | false,
): Promise<Changed<UserState>> {
  if (event) await recordChange(trx, actor, { ...event, userName });
  return { state: await getUserState(trx, id), changed: event !== false };
}
