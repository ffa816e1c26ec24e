/** Finds who would have a right: the roles whose grants allow a request, with their profiles and users. */
import type { Kysely } from 'kysely';
import { listRoles } from '../../accounts/profiles.ts';
import type { RuleBook } from '../../authn/rule-book.ts';
import type { Database } from '../../database/tables.ts';
import type { DecisionView, EntityQuestion } from '../../permissions/decide.ts';
import { explainPermission, type PermissionExplanation } from '../../permissions/explain.ts';
import type { Principal } from '../../rights/principal.ts';
import { variablesIn } from '../../rights/rule-text.ts';
import { listHolders } from './holders.ts';

/** A role whose grants allow the request. */
export interface AllowingRole {
  role: string;
  profiles: string[];
  /** At most 20. */
  users: string[];
  /** Whether there are further users, or users that were not asked in time. */
  more: boolean;
}

const maximumUsers = 20;
const maximumMs = 2_000;

/** The roles by name. It ends after two seconds; then `more` is true of each role whose users are not all known. */
export async function listAllowing(
  view: DecisionView,
  rules: Pick<RuleBook, 'complete'>,
  question: EntityQuestion,
): Promise<AllowingRole[]> {
  const end = performance.now() + maximumMs;
  const granting = await rolesFor(view.trx, question);
  const likeness = new Likeness(view.trx);
  const holders = await likeness.ordered(await listHolders(view.trx, [...granting.keys()]));
  const explained = new Map<string, PermissionExplanation>();
  const found = new Map<string, { profiles: Set<string>; users: Set<string>; isWhole: boolean }>();
  const foundOf = (role: string) => {
    const known = found.get(role) ?? { profiles: new Set(), users: new Set(), isWhole: true };
    found.set(role, known);
    return known;
  };
  for (const { holder, alike } of holders) {
    const profile = holder.profile?.name ?? '';
    if (performance.now() > end && !explained.has(alike)) {
      for (const role of granting.get(profile) ?? []) foundOf(role).isWhole = false;
      continue;
    }
    const explanation = explained.get(alike) ?? (await explainPermission(view, await rules.complete(holder), question, 'administrator'));
    explained.set(alike, explanation);
    if (!explanation.allowed) continue;
    for (const { role, covers = true, check = true } of explanation.grants) {
      if (!covers || !check) continue;
      foundOf(role).profiles.add(profile);
      foundOf(role).users.add(holder.user.name);
    }
  }
  const names = [...found.keys()].toSorted();
  return names.map((role) => {
    const { profiles, users, isWhole } = foundOf(role);
    const more = !isWhole || users.size > maximumUsers;
    return { role, profiles: [...profiles].toSorted(), users: [...users].toSorted().slice(0, maximumUsers), more };
  });
}

/** By profile, the roles that have a grant for the action on the name. */
async function rolesFor(db: Kysely<Database>, { entity, action }: EntityQuestion): Promise<ReadonlyMap<string, string[]>> {
  const rows = await db
    .selectFrom('profile')
    .innerJoin('profile_role', 'profile_role.profile_id', 'profile.id')
    .innerJoin('role', 'role.id', 'profile_role.role_id')
    .innerJoin('role_grant', 'role_grant.role_id', 'role.id')
    .where('entity', 'in', [entity, '*'])
    .where('action', 'in', action === 'label' ? ['label', 'read'] : [action])
    .select(['profile.name as profile', 'role.name as role'])
    .distinct()
    .execute();
  const roles = new Map<string, string[]>();
  for (const { profile, role } of rows) roles.set(profile, [...(roles.get(profile) ?? []), role]);
  return roles;
}

/** Finds users who get the same answer, so that one of them is asked for all: those of a profile with equal values of what its rules compare with. */
class Likeness {
  readonly #db: Kysely<Database>;
  readonly #compared = new Map<string, Promise<{ attributes: string[]; isPersonal: boolean }>>();

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** The users with equal texts for those who are alike. Those without an equal come last. */
  async ordered(holders: readonly Principal[]): Promise<{ holder: Principal; alike: string }[]> {
    const found: { holder: Principal; alike: string; isPersonal: boolean }[] = [];
    for (const holder of holders) {
      const { attributes, isPersonal } = await this.#comparedBy(holder.profile?.id ?? '');
      const { user, profile, timeZone } = holder;
      const values = isPersonal ? [user.name] : [timeZone, attributes.map((name) => user.attributes[name] ?? null)];
      found.push({ holder, alike: JSON.stringify([profile?.id, values]), isPersonal });
    }
    return found.toSorted((one, other) => Number(one.isPersonal) - Number(other.isPersonal));
  }

  #comparedBy(profileId: string) {
    const known = this.#compared.get(profileId) ?? this.#read(profileId);
    this.#compared.set(profileId, known);
    return known;
  }

  async #read(profileId: string) {
    const grants = (await listRoles(this.#db, profileId)).flatMap((role) => role.grants);
    const names = grants.flatMap(({ rule }) => (rule ? variablesIn(rule) : []));
    const isPersonal = ({ condition, rule }: (typeof grants)[number]) =>
      condition === 'own' || /\$createdBy|\$updatedBy|user\.name/.test(JSON.stringify(rule));
    const attributes = names.flatMap((name) => (name.startsWith('user.') ? [name.slice('user.'.length)] : []));
    return { attributes: [...new Set(attributes)].toSorted(), isPersonal: grants.some(isPersonal) };
  }
}
