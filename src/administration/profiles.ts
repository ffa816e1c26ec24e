/**
 * An administrator's changes of rights, each in one transaction with its audit event. The database notifies the services at commit
 * (`0005-principal-notices.sql`), so a change affects the next request (rule 62).
 */
import type { Store } from '../database/port.ts';
import type { Action, Condition } from '../database/tables.ts';
import { deleteAssignment, insertAssignment, insertProfile } from '../accounts/assignments.ts';
import { deleteGrants, insertGrants, insertRole } from '../accounts/roles.ts';
import { recordChange, type Actor } from './actor.ts';

interface Named {
  id: string;
  name: string;
}

/** Returns the id; undefined if a role of that name exists already. */
export function createRole(store: Store, actor: Actor, name: string, description: string): Promise<string | undefined> {
  return store.transaction(async (trx) => {
    const id = await insertRole(trx, name, description);
    if (id !== undefined) await recordChange(trx, actor, { event: 'role.created', detail: { role: name } });
    return id;
  });
}

/** Returns the actions that the role did not grant on `entity` under this condition before. */
export function grantActions(
  store: Store,
  actor: Actor,
  role: Named,
  { entity, actions, condition }: { entity: string; actions: readonly Action[]; condition: Condition },
): Promise<Action[]> {
  return store.transaction(async (trx) => {
    const changed = await insertGrants(trx, role.id, entity, actions, condition);
    const detail = { role: role.name, entity, actions: changed, condition };
    if (changed.length > 0) await recordChange(trx, actor, { event: 'role.granted', detail });
    return changed;
  });
}

/** Returns the actions that the role granted on exactly `entity` before. */
export function revokeActions(store: Store, actor: Actor, role: Named, entity: string, actions: readonly Action[]): Promise<Action[]> {
  return store.transaction(async (trx) => {
    const changed = await deleteGrants(trx, role.id, entity, actions);
    const detail = { role: role.name, entity, actions: changed };
    if (changed.length > 0) await recordChange(trx, actor, { event: 'role.revoked', detail });
    return changed;
  });
}

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
