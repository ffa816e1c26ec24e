/** Roles and their grants: a role is a named set of them, a grant one action on one entity name under one condition. */
import { sql, type Kysely } from 'kysely';
import type { Action, Condition, Database } from '../database/tables.ts';
import type { GrantRow, RoleRow } from './profiles.ts';

/** The form of the names of roles and profiles; the tables say the same. */
export function isRoleOrProfileName(text: string): boolean {
  return /^[A-Za-z0-9 _.-]{1,64}$/.test(text);
}

/** Every role by name, or the one with `id`, with its grants. */
export function listAllRoles(db: Kysely<Database>, id?: string): Promise<RoleRow[]> {
  return db
    .selectFrom('role')
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .select([
      'name',
      'description',
      sql<GrantRow[]>`(
        select coalesce(jsonb_agg(to_jsonb(g) - 'role_id' order by g.entity, g.condition, g.action), '[]')
        from role_grant as g where g.role_id = role.id
      )`.as('grants'),
    ])
    .orderBy('name')
    .execute();
}

/** The id and name of the role called `name`; undefined when there is none. */
export function findRole(db: Kysely<Database>, name: string): Promise<{ id: string; name: string } | undefined> {
  return db.selectFrom('role').where('name', '=', name).select(['id', 'name']).executeTakeFirst();
}

/** Returns the new role's id; undefined when there is already a role of that name. */
export async function insertRole(db: Kysely<Database>, name: string, description: string): Promise<string | undefined> {
  const row = await db
    .insertInto('role')
    .values({ name, description })
    .onConflict((conflict) => conflict.constraint('role_name_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

/** Grants each of `actions` on `entity` (or `*`) under `condition`, replacing another condition; returns what was not granted so before. */
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

/** Takes `actions` on `entity` (or `*`) away; returns those that were granted. A grant on `*` is not touched by naming one entity. */
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

/** What a role grants, as it is shown: one entry for each entity and condition, its actions together. */
export function gatherGrants(rows: readonly GrantRow[]): { entity: string; actions: Action[]; condition: Condition }[] {
  const groups = Map.groupBy(rows, ({ entity, condition }) => `${entity} ${condition}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first ? [{ entity: first.entity, actions: group.map(({ action }) => action), condition: first.condition }] : [];
  });
}
