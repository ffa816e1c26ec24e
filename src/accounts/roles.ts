/** Roles and their grants. A role is a named set of grants; a grant is one action on one entity name under one condition. */
import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { Action, Condition, GrantRow } from '../rights/vocabulary.ts';
import { grantsOfRole, type RoleRow } from './profiles.ts';

/** Whether the text can be the name of a role or profile; the tables have the same check. */
export function isRoleOrProfileName(text: string): boolean {
  return /^[A-Za-z0-9 _.-]{1,64}$/.test(text);
}

/** All roles by name, or the one with `id`, with its grants. */
export function listAllRoles(db: Kysely<Database>, id?: string): Promise<RoleRow[]> {
  return db
    .selectFrom('role')
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .select(['name', 'description', grantsOfRole.as('grants')])
    .orderBy('name')
    .execute();
}

/** The id and name of the role called `name`; undefined if there is none. */
export function findRole(db: Kysely<Database>, name: string): Promise<{ id: string; name: string } | undefined> {
  return db.selectFrom('role').where('name', '=', name).select(['id', 'name']).executeTakeFirst();
}

/** Returns the new role's id; undefined if a role of that name exists already. */
export async function insertRole(db: Kysely<Database>, name: string, description: string): Promise<string | undefined> {
  const row = await db
    .insertInto('role')
    .values({ name, description })
    .onConflict((conflict) => conflict.constraint('role_name_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

/** Deletes a role with its grants, unless profiles have it. Returns the names of those; none if the role is deleted. */
export async function deleteRole(trx: Transaction<Database>, id: string): Promise<string[]> {
  // Waits for transactions that give the role to a profile; later ones wait for this transaction.
  await trx.selectFrom('role').where('id', '=', id).select('id').forUpdate().execute();
  const profiles = await trx
    .selectFrom('profile_role')
    .innerJoin('profile', 'profile.id', 'profile_role.profile_id')
    .where('profile_role.role_id', '=', id)
    .select('profile.name')
    .orderBy('profile.name')
    .execute();
  if (profiles.length === 0) await trx.deleteFrom('role').where('id', '=', id).execute();
  return profiles.map(({ name }) => name);
}

/**
 * Grants each of `actions` on `entity` (or `*`) under `condition`, replacing another condition. Returns the actions that were not granted
 * so before.
 */
export async function insertGrants(
  db: Kysely<Database>,
  roleId: string,
  entity: string,
  actions: readonly Action[],
  condition: Condition,
): Promise<Action[]> {
  const rows = await db
    .insertInto('role_grant')
    .values(actions.map((action) => ({ role_id: roleId, entity, action, condition })))
    .onConflict((conflict) =>
      conflict.columns(['role_id', 'entity', 'action']).doUpdateSet({ condition }).where('role_grant.condition', '<>', condition),
    )
    .returning('action')
    .execute();
  return rows.map((row) => row.action);
}

/** Revokes `actions` on `entity` (or `*`); returns those that were granted. A grant on `*` stays when one entity is named. */
export async function deleteGrants(db: Kysely<Database>, roleId: string, entity: string, actions: readonly Action[]): Promise<Action[]> {
  const rows = await db
    .deleteFrom('role_grant')
    .where('role_id', '=', roleId)
    .where('entity', '=', entity)
    .where('action', 'in', actions)
    .returning('action')
    .execute();
  return rows.map((row) => row.action);
}

/** The grants of a role for output: one entry for each entity and condition, with all its actions. */
export function gatherGrants(rows: readonly GrantRow[]): { entity: string; actions: Action[]; condition: Condition }[] {
  const groups = Map.groupBy(rows, ({ entity, condition }) => `${entity} ${condition}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first ? [{ entity: first.entity, actions: group.map(({ action }) => action), condition: first.condition }] : [];
  });
}
