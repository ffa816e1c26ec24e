/** Roles and their grants. A role is a named set of grants; a grant is one action on one entity name under one condition. `role-rules.ts` has those with rules. */
import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { RuleDocument } from '../rights/rule.ts';
import { ruleMembers } from '../rights/rule-document.ts';
import type { Action } from '../rights/vocabulary.ts';
import { getNamedRow, takenProblem, usedByProblem } from './named-rows.ts';
import { grantsOfRole, type RoleGrantRow, type RoleRow } from './profiles.ts';

/** The rows that a grant covers without a rule. */
export type PlainCondition = 'any' | 'own';

/** A rule that a role has for entities of one name, with the members of its {@link RuleDocument}. */
export interface RuleState {
  /** Unique within the role and the name of the entities. */
  name: string;
  entity: string;
  actions: Exclude<Action, 'type'>[];
  filter?: Record<string, unknown>;
  check?: Record<string, unknown>;
  read?: string[];
  write?: string[];
  set?: Record<string, unknown>;
}

/** A role as administrators and session info see it. */
export interface RoleState {
  name: string;
  description: string;
  grants: { entity: string; actions: Action[]; condition: PlainCondition }[];
  rules: RuleState[];
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

/** Gives the role another description. */
export async function updateDescription(db: Kysely<Database>, id: string, description: string): Promise<void> {
  await db.updateTable('role').set({ description }).where('id', '=', id).where('description', '<>', description).execute();
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
 * Grants each of `actions` on `entity` (or `*`) under `condition`, replacing the other one; rules stay. Returns the actions that were not granted
 * so before.
 */
export async function insertGrants(
  db: Kysely<Database>,
  roleId: string,
  { entity, actions, condition }: { entity: string; actions: readonly Action[]; condition: PlainCondition },
): Promise<Action[]> {
  const rows = await db
    .insertInto('role_grant')
    .values(actions.map((action) => ({ role_id: roleId, entity, action, condition })))
    .onConflict((conflict) =>
      conflict
        .columns(['role_id', 'entity', 'action'])
        .where('name', 'is', null)
        .doUpdateSet({ condition })
        .where('role_grant.condition', '<>', condition),
    )
    .returning('action')
    .execute();
  return rows.map((row) => row.action);
}

/** Revokes `actions` on `entity` (or `*`); returns those that were granted. A grant on `*` stays when one entity is named, and so do rules. */
export async function deleteGrants(db: Kysely<Database>, roleId: string, entity: string, actions: readonly Action[]): Promise<Action[]> {
  const rows = await db
    .deleteFrom('role_grant')
    .where('role_id', '=', roleId)
    .where('entity', '=', entity)
    .where('action', 'in', actions)
    .where('name', 'is', null)
    .returning('action')
    .execute();
  return rows.map((row) => row.action);
}

/** The role with one entry for each entity and condition of its grants, and for each rule, which has all its actions. */
export function roleState({ name, description, grants }: RoleRow): RoleState {
  const { plain = [], ruled = [] } = Object.groupBy(grants, (grant) => (grant.name === null ? 'plain' : 'ruled'));
  return {
    name,
    description,
    grants: together(plain, ({ entity, condition }) => `${entity} ${condition}`).map(({ first, actions }) => ({
      entity: first.entity,
      actions,
      condition: first.condition as PlainCondition,
    })),
    rules: together(ruled, (grant) => `${grant.entity} ${grant.name}`).map(ruleState),
  };
}

function ruleState({ first: { name, entity, rule }, actions }: { first: RoleGrantRow; actions: Action[] }): RuleState {
  // No rule is granted for the action `type`.
  return { name: name ?? '', entity, actions: actions as RuleState['actions'], ...inOrder(rule ?? {}) };
}

/** The grants with the same text, with all their actions. */
function together(grants: readonly RoleGrantRow[], textOf: (grant: RoleGrantRow) => string): { first: RoleGrantRow; actions: Action[] }[] {
  return [...Map.groupBy(grants, textOf).values()].flatMap((group) => {
    const [first] = group;
    return first ? [{ first, actions: group.map(({ action }) => action) }] : [];
  });
}

/** The members of the rule in the order in which they are shown. */
function inOrder(rule: RuleDocument): Omit<RuleState, 'name' | 'entity' | 'actions'> {
  return Object.fromEntries(ruleMembers.flatMap((member) => (rule[member] === undefined ? [] : [[member, rule[member]]])));
}
