/** Roles and their grants. A role is a named set of grants; a grant is one action on one entity name under one condition. */
import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { Action, Condition } from '../rights/vocabulary.ts';
import { getNamedRow, takenProblem, usedByProblem } from './named-rows.ts';
import { grantsOfRole, type RoleRow } from './profiles.ts';

/** Whether the text can be the name of a role or profile; the tables have the same check. */
export function isRoleOrProfileName(text: string): boolean {
  return /^[A-Za-z0-9 _.-]{1,64}$/.test(text);
}

/** A role as administrators and session info see it. */
export interface RoleState {
  name: string;
  description: string;
  grants: { entity: string; actions: Action[]; condition: Condition }[];
}

const selectRoles = (db: Kysely<Database>) =>
  db
    .selectFrom('role')
    .select(['name', 'description', grantsOfRole.as('grants')])
    .orderBy('name');

/** All roles by name, with their grants. */
export async function listAllRoles(db: Kysely<Database>): Promise<RoleState[]> {
  return (await selectRoles(db).execute()).map(roleState);
}

/** The role with this id. Throws if there is none. */
export async function getRoleState(db: Kysely<Database>, id: string): Promise<RoleState> {
  return roleState(await selectRoles(db).where('id', '=', id).executeTakeFirstOrThrow());
}

/** Returns the new role's id. Throws 409 `conflict` if a role of that name exists already. */
export async function insertRole(db: Kysely<Database>, name: string, description: string): Promise<string> {
  const { id } = await db
    .insertInto('role')
    .values({ name, description })
    .onConflict((conflict) => conflict.constraint('role_name_key').doNothing())
    .returning('id')
    .executeTakeFirstOrThrow(() => takenProblem('role', name));
  return id;
}

/** Deletes the role called `name` with its grants. Throws 404 `not-found`, and 409 `conflict` while profiles have it. */
export async function deleteUnusedRole(trx: Transaction<Database>, name: string): Promise<void> {
  // Waits for transactions that give the role to a profile; later ones wait for this transaction.
  const { id } = await getNamedRow(trx, 'role', name, 'update');
  const profiles = await trx
    .selectFrom('profile_role')
    .innerJoin('profile', 'profile.id', 'profile_role.profile_id')
    .where('profile_role.role_id', '=', id)
    .select('profile.name')
    .orderBy('profile.name')
    .execute();
  if (profiles.length > 0)
    throw usedByProblem(
      'role',
      name,
      'profiles',
      profiles.map((profile) => profile.name),
    );
  await trx.deleteFrom('role').where('id', '=', id).execute();
}

/**
 * Grants each of `actions` on `entity` (or `*`) under `condition`, replacing another condition. Returns the actions that were not granted
 * so before.
 */
export async function insertGrants(
  db: Kysely<Database>,
  roleId: string,
  { entity, actions, condition }: { entity: string; actions: readonly Action[]; condition: Condition },
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

/** The role with one entry for each entity and condition of its grants, which has all its actions. */
export function roleState({ name, description, grants }: RoleRow): RoleState {
  const groups = Map.groupBy(grants, ({ entity, condition }) => `${entity} ${condition}`);
  return {
    name,
    description,
    grants: [...groups.values()].flatMap((group) => {
      const [first] = group;
      return first ? [{ entity: first.entity, actions: group.map(({ action }) => action), condition: first.condition }] : [];
    }),
  };
}
