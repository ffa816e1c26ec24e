/** The rows that a plan gives to people or takes from them. */
import { sql, type Kysely } from 'kysely';
import type { Store } from '../../database/port.ts';
import type { Database } from '../../database/tables.ts';
import { listUsedNames } from '../../entities/companion/scan.ts';
import { exceededStatementTime } from '../../database/failure.ts';
import type { VariableTypes } from '../../filter/variables.ts';
import { fittingValues, type DeclaredTypes } from '../../rights/attribute-types.ts';
import { conditionOf, ruleOf, type GrantDocument, type RightsDocuments } from '../../rights/documents.ts';
import { anyGrant, ownGrant, type Grant } from '../../rights/grant.ts';
import { canonicalText } from '../../rights/rule-document.ts';
import { bindRule, unboundGrant } from '../../rights/rule.ts';
import { variablesIn } from '../../rights/used-variables.ts';
import { callerVariables, type CallerVariables } from '../../rights/variable-columns.ts';
import { variablesOf } from '../../rights/variables.ts';
import type { PlannedRights } from './plan.ts';
import { countRows, type CountedPerson, type RowGroup } from './row-counts.ts';
import { declaredTypes, readTypes, scopeOf, variableTypes } from './scope.ts';

/** The rows of one name that the people of a profile gain and lose. */
export interface RowEffect {
  profile: string;
  entity: string;
  /** `label` counts the rows whose names are shown, those that may be read among them. */
  action: 'read' | 'label';
  /** Those of most people first. */
  groups: readonly RowGroup[];
}

export interface RowPlan {
  rows: readonly RowEffect[];
  /** Names whose rows were not counted: the time was over, or a rule names a claim, which people have at a sign-in alone. */
  uncounted: readonly string[];
}

/** The rights before or after, with what binds their rules. */
interface RightsSide {
  rights: RightsDocuments;
  types: Awaited<ReturnType<typeof readTypes>>;
  variables: VariableTypes;
  claims: DeclaredTypes;
}

/** A person as the database has it. */
interface Person {
  id: string;
  name: string;
  displayName: string;
  attributes: Record<string, unknown>;
  timeZone: string | null;
}

/** Names that a grant on every name is counted for. */
const maximumNames = 200;

const grantedBy = { read: ['read'], label: ['label', 'read'] } as const;

/** Counts for at most `limitMs` milliseconds. The people of a profile are its active users, each under this profile alone. */
export async function countRowsOfPlan(
  store: Store,
  { before, after, plan }: PlannedRights,
  { claims, limitMs }: { claims: DeclaredTypes; limitMs: number },
): Promise<RowPlan> {
  if (plan.steps.length === 0) return { rows: [], uncounted: [] };
  const end = performance.now() + limitMs;
  const [old, next] = [await sideOf(store.db, before, claims), await sideOf(store.db, after, claims)];
  const rows: RowEffect[] = [];
  const uncounted = new Set<string>();
  await store.runLong(async (db) => {
    for (const profile of [...before.profiles.keys()].toSorted()) {
      const changed = await changedNames(db, profile, old, next);
      const people = changed.length === 0 ? [] : await readPeople(db, profile);
      if (people.length === 0) continue;
      const counted = people.map((person) => ({ before: callerOf(person, profile, old), after: callerOf(person, profile, next) }));
      for (const { entity, action } of changed) {
        const groups = await countWithin(db, { entity, action, profile, end }, [old, next], counted);
        if (groups === undefined) uncounted.add(entity);
        else rows.push({ profile, entity, action, groups });
      }
    }
  });
  return { rows, uncounted: [...uncounted].toSorted() };
}

async function sideOf(db: Kysely<Database>, rights: RightsDocuments, claims: DeclaredTypes): Promise<RightsSide> {
  return { rights, types: await readTypes(db, rights), variables: variableTypes(rights, claims), claims };
}

interface RowTarget {
  profile: string;
  entity: string;
  action: 'read' | 'label';
}

/** Undefined if the rows cannot be counted in the time that is left. */
async function countWithin(
  db: Kysely<Database>,
  { end, ...target }: RowTarget & { end: number },
  [old, next]: readonly [RightsSide, RightsSide],
  people: readonly CountedPerson[],
): Promise<RowGroup[] | undefined> {
  const documents = [old, next].map((side) => documentsFor(side.rights, target));
  const left = Math.floor(end - performance.now());
  if (left <= 0 || documents.flat().some((grant) => variablesIn(ruleOf(grant)).some((name) => name.startsWith('claims.'))))
    return undefined;
  const [before = [], after = []] = [old, next].map((side, index) => (documents[index] ?? []).map((grant) => bound(grant, side)));
  await limitStatements(db, left);
  try {
    return await countRows(db, { entity: target.entity, before, after }, people);
  } catch (error) {
    if (exceededStatementTime(error)) return undefined;
    throw error;
  } finally {
    // The people of the next profile are read whatever time is left.
    await limitStatements(db, 0);
  }
}

/** `limitMs` of 0 is no limit. */
async function limitStatements(db: Kysely<Database>, limitMs: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(limitMs)}, false)`.execute(db);
}

/** The grants of the profile by which rows of the name are listed, or their names are shown. */
function documentsFor({ roles, profiles }: RightsDocuments, { profile, entity, action }: RowTarget): GrantDocument[] {
  const wanted: readonly string[] = grantedBy[action];
  const grants = (profiles.get(profile)?.roles ?? []).flatMap((role) => roles.get(role)?.grants ?? []);
  return grants.filter((grant) => [entity, '*'].includes(grant.entity) && grant.actions.some((each) => wanted.includes(each)));
}

function bound(grant: GrantDocument, { types, variables }: RightsSide): Grant {
  const condition = conditionOf(grant);
  if (condition === 'any') return anyGrant;
  if (condition === 'own') return ownGrant;
  const rule = bindRule(ruleOf(grant) ?? {}, 'read', scopeOf(grant, types, variables));
  return 'grant' in rule ? rule.grant : unboundGrant;
}

/** The names for which the grants of the profile differ, or the values of variables in them. A grant on every name counts for each that has entities. */
async function changedNames(
  db: Kysely<Database>,
  profile: string,
  old: RightsSide,
  next: RightsSide,
): Promise<Omit<RowTarget, 'profile'>[]> {
  const changed: Omit<RowTarget, 'profile'>[] = [];
  for (const action of ['read', 'label'] as const) {
    const [was, is] = [grantTexts(old.rights, profile, action), grantTexts(next.rights, profile, action)];
    const names = [...new Set([...was.keys(), ...is.keys()])].filter((name) => was.get(name)?.join() !== is.get(name)?.join());
    const all = names.includes('*') ? await listUsedNames(db, maximumNames) : [];
    changed.push(...[...new Set([...names.filter((name) => name !== '*'), ...all])].toSorted().map((entity) => ({ entity, action })));
  }
  return changed;
}

/** The texts of the grants of the action, by their names. */
function grantTexts({ roles, profiles, attributes }: RightsDocuments, profile: string, action: RowTarget['action']): Map<string, string[]> {
  const { roles: names = [], attributes: values = {} } = profiles.get(profile) ?? {};
  const valueOf = (variable: string) => {
    const [owner, name = ''] = variable.split('.');
    if (owner === 'profile') return [attributes.profile.get(name), values[name]];
    return owner === 'user' ? [attributes.user.get(name)] : [];
  };
  const texts = new Map<string, string[]>();
  for (const grant of names.flatMap((role) => roles.get(role)?.grants ?? [])) {
    if (!grant.actions.includes(action)) continue;
    const text = canonicalText([conditionOf(grant), variablesIn(ruleOf(grant)).map(valueOf)]);
    texts.set(grant.entity, [...new Set([...(texts.get(grant.entity) ?? []), text])].toSorted());
  }
  return texts;
}

function readPeople(db: Kysely<Database>, profile: string): Promise<Person[]> {
  return db
    .selectFrom('user_profile')
    .innerJoin('user_account', 'user_account.id', 'user_profile.user_id')
    .innerJoin('profile', 'profile.id', 'user_profile.profile_id')
    .where('profile.name', '=', profile)
    .where('user_account.active', '=', true)
    .select([
      'user_account.id',
      'user_account.name',
      'user_account.display_name as displayName',
      'user_account.attributes',
      'user_account.time_zone as timeZone',
    ])
    .execute();
}

function callerOf({ timeZone, ...user }: Person, name: string, { rights, claims }: RightsSide): CallerVariables {
  const { label = '', attributes = {} } = rights.profiles.get(name) ?? {};
  const types = { user: declaredTypes(rights.attributes.user), profile: declaredTypes(rights.attributes.profile), claims };
  const profile = { id: '', name, label, default: true, attributes };
  const values = { user: fittingValues(types.user, user.attributes), profile: fittingValues(types.profile, attributes), claims: {} };
  return callerVariables(user.name, variablesOf({ user, profile, timeZone }, { types, values }));
}
