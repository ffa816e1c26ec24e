/**
 * What an administrator does to rights: each a transaction that also writes its audit event. The services hear of a change at commit
 * (`0002-sessions-and-keys.sql`), so it acts on the next request (rule 62).
 */
import type { Kysely } from 'kysely';
import { insertEvent } from '../audit/store.ts';
import { inTransaction } from '../database/failure.ts';
import type { Action, Condition, Database } from '../database/tables.ts';
import { deleteAssignment, insertAssignment, insertProfile } from '../accounts/assignments.ts';
import { deleteGrants, insertGrants, insertRole } from '../accounts/roles.ts';

interface Named {
  id: string;
  name: string;
}

const by = 'administrator';

/** Returns the id; undefined when there is already a role of that name. */
export function createRole(db: Kysely<Database>, name: string, description: string): Promise<string | undefined> {
  return inTransaction(db, async (trx) => {
    const id = await insertRole(trx, name, description);
    if (id !== undefined) await insertEvent(trx, undefined, { event: 'role.created', outcome: 'ok', detail: { by, role: name } });
    return id;
  });
}

/** Returns the actions that the role did not grant on `entity` under this condition before. */
export function grantActions(
  db: Kysely<Database>,
  role: Named,
  { entity, actions, condition }: { entity: string; actions: readonly Action[]; condition: Condition },
): Promise<Action[]> {
  return inTransaction(db, async (trx) => {
    const changed = await insertGrants(trx, role.id, entity, actions, condition);
    const detail = { by, role: role.name, entity, actions: changed, condition };
    if (changed.length > 0) await insertEvent(trx, undefined, { event: 'role.granted', outcome: 'ok', detail });
    return changed;
  });
}

/** Returns the actions that the role has granted on exactly `entity` until now. */
export function revokeActions(db: Kysely<Database>, role: Named, entity: string, actions: readonly Action[]): Promise<Action[]> {
  return inTransaction(db, async (trx) => {
    const changed = await deleteGrants(trx, role.id, entity, actions);
    const detail = { by, role: role.name, entity, actions: changed };
    if (changed.length > 0) await insertEvent(trx, undefined, { event: 'role.revoked', outcome: 'ok', detail });
    return changed;
  });
}

/** Returns the id; undefined when there is already a profile of that name. */
export function createProfile(
  db: Kysely<Database>,
  { name, label, locale, roles }: { name: string; label: string; locale: string | null; roles: readonly Named[] },
): Promise<string | undefined> {
  return inTransaction(db, async (trx) => {
    const id = await insertProfile(trx, { name, label, locale, roleIds: roles.map((role) => role.id) });
    const detail = { by, profile: name, roles: roles.map((role) => role.name) };
    if (id !== undefined) await insertEvent(trx, undefined, { event: 'profile.created', outcome: 'ok', detail });
    return id;
  });
}

/** Gives the user the profile; as {@link insertAssignment}. */
export function assignProfile(
  db: Kysely<Database>,
  user: Named,
  profile: Named,
  makeDefault: boolean,
): Promise<{ isDefault: boolean } | undefined> {
  return inTransaction(db, async (trx) => {
    const changed = await insertAssignment(trx, user.id, profile.id, makeDefault);
    const detail = { by, profile: profile.name, default: changed?.isDefault };
    if (changed) await insertEvent(trx, undefined, { event: 'profile.assigned', outcome: 'ok', userName: user.name, detail });
    return changed;
  });
}

/** Takes the profile from the user; as {@link deleteAssignment}. */
export function removeProfile(db: Kysely<Database>, user: Named, profile: Named): Promise<'removed' | 'absent' | 'default'> {
  return inTransaction(db, async (trx) => {
    const result = await deleteAssignment(trx, user.id, profile.id);
    const detail = { by, profile: profile.name };
    if (result === 'removed') await insertEvent(trx, undefined, { event: 'profile.removed', outcome: 'ok', userName: user.name, detail });
    return result;
  });
}
