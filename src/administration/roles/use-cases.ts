/**
 * An administrator's changes of roles, each in one transaction with its audit event. The database notifies the services at commit
 * (`0005-principal-notices.sql`), so a change affects the next request (rule 62).
 */
import type { Store } from '../../database/port.ts';
import type { Action, Condition } from '../../rights/vocabulary.ts';
import { deleteGrants, deleteRole, insertGrants, insertRole } from '../../accounts/roles.ts';
import { recordChange } from '../../audit/actor.ts';
import type { Actor } from '../../rights/administration.ts';

export interface Named {
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

/** Each entity's change is an event of its own. False if the role granted all of it already. */
export function grantActions(
  store: Store,
  actor: Actor,
  role: Named,
  { entities, actions, condition }: { entities: readonly string[]; actions: readonly Action[]; condition: Condition },
): Promise<boolean> {
  return store.transaction(async (trx) => {
    let isChanged = false;
    for (const entity of entities) {
      const changed = await insertGrants(trx, role.id, entity, actions, condition);
      if (changed.length === 0) continue;
      isChanged = true;
      await recordChange(trx, actor, { event: 'role.granted', detail: { role: role.name, entity, actions: changed, condition } });
    }
    return isChanged;
  });
}

/** Each entity's change is an event of its own. Returns for each of `entities`, in their order, the actions that the role granted on exactly it. */
export function revokeActions(
  store: Store,
  actor: Actor,
  role: Named,
  entities: readonly string[],
  actions: readonly Action[],
): Promise<{ entity: string; revoked: Action[] }[]> {
  return store.transaction(async (trx) => {
    const outcome: { entity: string; revoked: Action[] }[] = [];
    for (const entity of entities) {
      const revoked = await deleteGrants(trx, role.id, entity, actions);
      outcome.push({ entity, revoked });
      if (revoked.length === 0) continue;
      await recordChange(trx, actor, { event: 'role.revoked', detail: { role: role.name, entity, actions: revoked } });
    }
    return outcome;
  });
}

/** Deletes the role; as {@link deleteRole} of the store. */
export function removeUnusedRole(store: Store, actor: Actor, role: Named): Promise<string[]> {
  return store.transaction(async (trx) => {
    const profiles = await deleteRole(trx, role.id);
    if (profiles.length === 0) await recordChange(trx, actor, { event: 'role.deleted', detail: { role: role.name } });
    return profiles;
  });
}
