/**
 * Changes of roles, each in one transaction with its audit event (rule 85). The database notifies the services at commit (`0005-principal-notices.sql`), so
 * a change affects the next request (rule 62). Each function that takes the name of an existing role throws 404 `not-found`.
 */
import { getNamedRow } from '../../accounts/named-rows.ts';
import { deleteGrants, deleteUnusedRole, getRoleState, insertGrants, insertRole, type RoleState } from '../../accounts/roles.ts';
import { recordChange } from '../../audit/actor.ts';
import type { Store } from '../../database/port.ts';
import type { Owner } from '../../rights/administration.ts';
import type { Action, Condition } from '../../rights/vocabulary.ts';
import type { Changed } from '../changed.ts';

/** Creates a role without grants. Throws 409 `conflict` if there is a role of that name. */
export function createRole(
  store: Store,
  { actor }: Owner,
  { name, description }: Pick<RoleState, 'name' | 'description'>,
): Promise<RoleState> {
  return store.transaction(async (trx) => {
    const id = await insertRole(trx, name, description);
    await recordChange(trx, actor, { event: 'role.created', detail: { role: name } });
    return await getRoleState(trx, id);
  });
}

/** Grants the actions on each of `entities` (or `*`). Each entity's change is an event of its own. */
export function grantActions(
  store: Store,
  { actor }: Owner,
  name: string,
  { entities, actions, condition }: { entities: readonly string[]; actions: readonly Action[]; condition: Condition },
): Promise<Changed<RoleState>> {
  return store.transaction(async (trx) => {
    const { id } = await getNamedRow(trx, 'role', name, 'no key update');
    let changed = false;
    for (const entity of entities) {
      const granted = await insertGrants(trx, id, { entity, actions, condition });
      if (granted.length === 0) continue;
      changed = true;
      await recordChange(trx, actor, { event: 'role.granted', detail: { role: name, entity, actions: granted, condition } });
    }
    return { state: await getRoleState(trx, id), changed };
  });
}

/** Revokes the actions on exactly each of `entities`, each with an event of its own. Returns with each, in their order, the actions that the role granted on it. */
export function revokeActions(
  store: Store,
  { actor }: Owner,
  name: string,
  { entities, actions }: { entities: readonly string[]; actions: readonly Action[] },
): Promise<Changed<RoleState> & { revoked: { entity: string; actions: Action[] }[] }> {
  return store.transaction(async (trx) => {
    const { id } = await getNamedRow(trx, 'role', name, 'no key update');
    const revoked: { entity: string; actions: Action[] }[] = [];
    for (const entity of entities) revoked.push({ entity, actions: await deleteGrants(trx, id, entity, actions) });
    const taken = revoked.filter((each) => each.actions.length > 0);
    for (const each of taken) await recordChange(trx, actor, { event: 'role.revoked', detail: { role: name, ...each } });
    return { state: await getRoleState(trx, id), changed: taken.length > 0, revoked };
  });
}

/** Deletes the role with its grants. Throws 409 `conflict` while profiles have it. */
export function deleteRole(store: Store, { actor }: Owner, name: string): Promise<void> {
  return store.transaction(async (trx) => {
    await deleteUnusedRole(trx, name);
    await recordChange(trx, actor, { event: 'role.deleted', detail: { role: name } });
  });
}
