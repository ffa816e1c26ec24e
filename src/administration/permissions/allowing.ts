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

/** The roles by name. It ends after two seconds. */
export async function listAllowing(
  view: DecisionView,
  rules: Pick<RuleBook, 'complete'>,
  question: EntityQuestion,
): Promise<AllowingRole[]> {
  const end = performance.now() + maximumMs;
  const holders = await listHolders(view.trx, await profilesFor(view.trx, question));
  const likeness = new Likeness(view.trx);
  const explained = new Map<string, PermissionExplanation>();
  const allowing = new Map<string, { profiles: Set<string>; users: Set<string> }>();
  let isWhole = true;
  for (const holder of holders) {
    if (performance.now() > end) {
      isWhole = false;
      break;
    }
    const alike = await likeness.of(holder);
    const explanation = explained.get(alike) ?? (await explainPermission(view, await rules.complete(holder), question, 'administrator'));
    explained.set(alike, explanation);
    if (!explanation.allowed) continue;
    for (const { role, covers = true, check = true } of explanation.grants) {
      if (!covers || !check) continue;
      const found = allowing.get(role) ?? { profiles: new Set(), users: new Set() };
      found.profiles.add(holder.profile?.name ?? '');
      found.users.add(holder.user.name);
      allowing.set(role, found);
    }
  }
  return [...allowing].map(([role, { profiles, users }]) => ({
    role,
    profiles: [...profiles].toSorted(),
    users: [...users].slice(0, maximumUsers),
    more: !isWhole || users.size > maximumUsers,
  }));
}

/** The profiles that have a grant for the action on the name. */
async function profilesFor(db: Kysely<Database>, { entity, action }: EntityQuestion): Promise<string[]> {
  const rows = await db
    .selectFrom('profile')
    .innerJoin('profile_role', 'profile_role.profile_id', 'profile.id')
    .innerJoin('role_grant', 'role_grant.role_id', 'profile_role.role_id')
    .where('entity', 'in', [entity, '*'])
    .where('action', 'in', action === 'label' ? ['label', 'read'] : [action])
    .select('profile.name')
    .distinct()
    .execute();
  return rows.map(({ name }) => name);
}

/** Finds users who get the same answer, so that one of them is asked for all: those of a profile with equal values of what its rules compare with. */
class Likeness {
  readonly #db: Kysely<Database>;
  readonly #compared = new Map<string, Promise<{ attributes: string[]; isPersonal: boolean }>>();

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Equal texts for users who are alike. */
  async of({ user, profile, timeZone }: Principal): Promise<string> {
    if (!profile) return user.name;
    const compared = this.#compared.get(profile.id) ?? this.#read(profile.id);
    this.#compared.set(profile.id, compared);
    const { attributes, isPersonal } = await compared;
    return isPersonal ? user.name : JSON.stringify([profile.id, timeZone, attributes.map((name) => user.attributes[name] ?? null)]);
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
