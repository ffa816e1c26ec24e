/** The rules of a plan that people could make cover more for themselves. */
import type { RuledType } from '../../authn/rule-book.ts';
import { allTestsOf } from '../../filter/syntax.ts';
import type { DeclaredTypes } from '../../rights/attribute-types.ts';
import { conditionOf, pathOfGrant, ruleOf, type GrantDocument, type RightsDocuments } from '../../rights/documents.ts';
import type { RightsStep } from '../../rights/plan.ts';
import { bindRule } from '../../rights/rule.ts';
import { scopeOf, variableTypes } from './scope.ts';

/** A rule reads entities that people of the profile may create as they like. So they could make the rule cover what they want. */
export interface RightsWarning {
  profile: string;
  /** Of the grant with the rule: `roles/clerk/order/region/read`. */
  path: string;
  /** The name of the entities that the rule reads. */
  reads: string;
}

export interface WarnedRights {
  after: RightsDocuments;
  steps: readonly RightsStep[];
  /** The types of the grants of files. */
  types: ReadonlyMap<GrantDocument, RuledType>;
  claims: DeclaredTypes;
}

/** The warnings of each profile that changes, by its name, or one of whose roles does. */
export function warningsOf({ after, steps, types, claims }: WarnedRights): RightsWarning[] {
  const changed = new Set(steps.map(({ path }) => path));
  const variables = variableTypes(after, claims);
  return [...after.profiles.keys()].toSorted().flatMap((profile) => {
    const { roles = [] } = after.profiles.get(profile) ?? {};
    if (!changed.has(`profiles/${profile}`) && !roles.some((role) => changed.has(`roles/${role}`))) return [];
    const grants = roles.flatMap((role) => (after.roles.get(role)?.grants ?? []).map((grant) => ({ role, grant })));
    const created = grants.filter(({ grant }) => grant.actions.includes('create') && isUnchecked(grant)).map(({ grant }) => grant.entity);
    return grants.flatMap(({ role, grant }) =>
      namesReadBy(grant, types, variables)
        .filter((name) => created.includes(name) || created.includes('*'))
        .flatMap((reads) =>
          grant.actions.map((action) => ({ profile, path: `roles/${role}/${pathOfGrant({ ...grant, name: grant.name, action })}`, reads })),
        ),
    );
  });
}

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
