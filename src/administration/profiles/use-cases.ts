/**
 * An administrator's changes of profiles, each in one transaction with its audit event. The database notifies the services at commit
 * (`0005-principal-notices.sql`), so a change affects the next request (rule 62).
 */
import type { Store } from '../../database/port.ts';
import {
  deleteAssignment,
  deleteProfile,
  insertAssignment,
  insertProfile,
  updateProfile,
  type ProfileUse,
} from '../../accounts/assignments.ts';
import { recordChange } from '../../audit/actor.ts';
import type { Actor } from '../../rights/administration.ts';
import type { Named } from '../roles/use-cases.ts';

/** Returns the id; undefined if a profile of that name exists already. */
export function createProfile(
  store: Store,
  actor: Actor,
  { name, label, locale, roles }: { name: string; label: string; locale: string | null; roles: readonly Named[] },
): Promise<string | undefined> {
  return store.transaction(async (trx) => {
    const id = await insertProfile(trx, { name, label, locale, roleIds: roles.map((role) => role.id) });
    const detail = { profile: name, roles: roles.map((role) => role.name) };
    if (id !== undefined) await recordChange(trx, actor, { event: 'profile.created', detail });
    return id;
  });
}

/** Changes a profile; as {@link updateProfile}. */
export function changeProfile(
  store: Store,
  actor: Actor,
  profile: Named,
  { label, locale, roles }: { label: string | undefined; locale: string | null | undefined; roles: readonly Named[] | undefined },
): Promise<boolean> {
  return store.transaction(async (trx) => {
    const changed = await updateProfile(trx, profile.id, { label, locale, roleIds: roles?.map((role) => role.id) });
    const detail = { profile: profile.name, label, locale, roles: roles?.map((role) => role.name) };
    if (changed) await recordChange(trx, actor, { event: 'profile.updated', detail });
    return changed;
  });
}

/** Deletes a profile; as {@link deleteProfile}. */
export function removeUnusedProfile(store: Store, actor: Actor, profile: Named): Promise<ProfileUse | undefined> {
  return store.transaction(async (trx) => {
    const use = await deleteProfile(trx, profile.id);
    if (!use) await recordChange(trx, actor, { event: 'profile.deleted', detail: { profile: profile.name } });
    return use;
  });
}

/** Assigns the profile to the user; as {@link insertAssignment}. */
export function assignProfile(
  store: Store,
  actor: Actor,
  user: Named,
  profile: Named,
  makeDefault: boolean,
): Promise<{ isDefault: boolean } | undefined> {
  return store.transaction(async (trx) => {
    const changed = await insertAssignment(trx, user.id, profile.id, makeDefault);
    const detail = { profile: profile.name, default: changed?.isDefault };
    if (changed) await recordChange(trx, actor, { event: 'profile.assigned', userName: user.name, detail });
    return changed;
  });
}

/** Removes the profile from the user; as {@link deleteAssignment}. */
export function removeProfile(store: Store, actor: Actor, user: Named, profile: Named): Promise<'removed' | 'absent' | 'default'> {
  return store.transaction(async (trx) => {
    const result = await deleteAssignment(trx, user.id, profile.id);
    const detail = { profile: profile.name };
    if (result === 'removed') await recordChange(trx, actor, { event: 'profile.removed', userName: user.name, detail });
    return result;
  });
}
