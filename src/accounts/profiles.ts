/** Profiles, roles and grants in the database: the profiles of a user, and the grants of a profile. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { RuleDocument } from '../rights/rule.ts';
import type { GrantRow } from '../rights/vocabulary.ts';

export interface ProfileRow {
  id: string;
  name: string;
  label: string;
  locale: string | null;
  isDefault: boolean;
  roles: string[];
}

/** A grant of a role. Without a rule both are null. */
export interface RoleGrantRow extends GrantRow {
  name: string | null;
  rule: RuleDocument | null;
}

export interface RoleRow {
  name: string;
  description: string;
  grants: RoleGrantRow[];
}

/** SQL: the grants of a row of `role`, by entity, condition or name, and action. */
export const grantsOfRole = sql<RoleGrantRow[]>`(
  select coalesce(
    jsonb_agg(to_jsonb(g) - 'role_id' || jsonb_build_object('rule', document) order by g.entity, g.name, g.condition, g.action), '[]')
  from role_grant as g left join grant_rule on digest = condition where g.role_id = role.id
)`;

/** The profiles of a user, by name, each with the names of its roles. */
export function listProfiles(db: Kysely<Database>, userId: string): Promise<ProfileRow[]> {
  return db
    .selectFrom('user_profile')
    .innerJoin('profile', 'profile.id', 'user_profile.profile_id')
    .where('user_profile.user_id', '=', userId)
    .select((eb) => [
      'profile.id',
      'profile.name',
      'profile.label',
      'profile.locale',
      'user_profile.is_default as isDefault',
      eb
        .selectFrom('profile_role')
        .innerJoin('role', 'role.id', 'profile_role.role_id')
        .whereRef('profile_role.profile_id', '=', 'profile.id')
        .select(sql<string[]>`coalesce(array_agg(role.name order by role.name), '{}')`.as('names'))
        .as('roles'),
    ])
    .orderBy('profile.name')
    .execute() as Promise<ProfileRow[]>;
}

/** The roles of a profile, by name, with their grants. */
export function listRoles(db: Kysely<Database>, profileId: string): Promise<RoleRow[]> {
  return db
    .selectFrom('profile_role')
    .innerJoin('role', 'role.id', 'profile_role.role_id')
    .where('profile_role.profile_id', '=', profileId)
    .select(['role.name', 'role.description', grantsOfRole.as('grants')])
    .orderBy('role.name')
    .execute();
}

/** The user's profile called `name`, or the default one for undefined; undefined if the user has no such profile (rule 63). */
export async function findProfile(db: Kysely<Database>, userId: string, name: string | undefined): Promise<ProfileRow | undefined> {
  const profiles = await listProfiles(db, userId);
  return profiles.find((profile) => (name === undefined ? profile.isDefault : profile.name === name));
}
