/** Warnings of a plan: rules that people could make cover more for themselves, and rights to write that requests cannot use. */
import type { RuledType } from '../../authn/rule-book.ts';
import { allTestsOf } from '../../filter/syntax.ts';
import type { DeclaredTypes } from '../../rights/attribute-types.ts';
import {
  conditionOf,
  pathOfGrant,
  ruleOf,
  singleGrants,
  type GrantDocument,
  type RightsDocuments,
  type RoleDocument,
} from '../../rights/documents.ts';
import { grantMap } from '../../rights/permit.ts';
import type { RightsStep } from '../../rights/plan.ts';
import { bindRule } from '../../rights/rule.ts';
import { scopeOf, variableTypes } from './scope.ts';
import { referencesUnread, updatesUnread, type ReferencingType } from './unread.ts';

/** A rule reads entities that people of the profile may create as they like. So they could make the rule cover what they want. */
interface OpenRule {
  profile: string;
  /** Of the grant with the rule: `roles/clerk/order/region/read`. */
  path: string;
  /** The name of the entities that the rule reads. */
  reads: string;
}

/** The profile writes what it may not read, or refers to what it may neither read nor see the name of. */
interface UnreadRight {
  profile: string;
  /** A sentence whose subject is the profile. */
  lacks: string;
}

export type RightsWarning = OpenRule | UnreadRight;

export interface WarnedRights {
  after: RightsDocuments;
  steps: readonly RightsStep[];
  /** The types of the grants of files. */
  types: ReadonlyMap<GrantDocument, RuledType>;
  claims: DeclaredTypes;
  references: readonly ReferencingType[];
}

/** The warnings of each profile that changes, by its name, or one of whose roles does. */
export function warningsOf({ after, steps, types, claims, references }: WarnedRights): RightsWarning[] {
  const changed = new Set(steps.map(({ path }) => path));
  const variables = variableTypes(after, claims);
  return [...after.profiles.keys()].toSorted().flatMap((profile) => {
    const { roles = [] } = after.profiles.get(profile) ?? {};
    if (!changed.has(`profiles/${profile}`) && !roles.some((role) => changed.has(`roles/${role}`))) return [];
    const grants = roles.flatMap((role) => (after.roles.get(role)?.grants ?? []).map((grant) => ({ role, grant })));
    const created = grants.filter(({ grant }) => grant.actions.includes('create') && isUnchecked(grant)).map(({ grant }) => grant.entity);
    const granted = grantMap(roles.flatMap((role) => singleGrants(after.roles.get(role) ?? noGrants)));
    const lacking = updatesUnread(granted)
      .concat(referencesUnread(granted, references))
      .map((lacks) => ({ profile, lacks }));
    const open: RightsWarning[] = grants.flatMap(({ role, grant }) =>
      namesReadBy(grant, types, variables)
        .filter((name) => created.includes(name) || created.includes('*'))
        .flatMap((reads) =>
          grant.actions.map((action) => ({ profile, path: `roles/${role}/${pathOfGrant({ ...grant, name: grant.name, action })}`, reads })),
        ),
    );
    return open.concat(lacking);
  });
}

const noGrants: RoleDocument = { description: '', grants: [] };

/** Whether the grant of `create` allows every value. */
function isUnchecked(grant: GrantDocument): boolean {
  const { filter, check = filter } = ruleOf(grant) ?? {};
  return conditionOf(grant) === 'own' || check === undefined;
}

/** The names of the entities at the other ends of references that the rule reads. */
function namesReadBy(grant: GrantDocument, types: WarnedRights['types'], variables: ReturnType<typeof variableTypes>): string[] {
  const rule = ruleOf(grant);
  const bound = rule && types.has(grant) ? bindRule(rule, 'read', scopeOf(grant, types, variables)) : undefined;
  if (!bound || !('grant' in bound)) return [];
  const tests = [bound.grant.filter, bound.grant.check].flatMap(allTestsOf);
  return [...new Set(tests.flatMap((test) => (test.kind === 'lookup' ? [test.name] : [])))].toSorted();
}
