/** Roles, profiles and attributes as documents: what files of rights say, and what is in force. */
import { canonicalText, digestOfRule, ruleMembers } from './rule-document.ts';
import type { RuleDocument } from './rule.ts';
import type { Action, AttributeOwner, Condition } from './vocabulary.ts';

/** A grant. Without a member of a rule it is about any row. */
export interface GrantDocument extends RuleDocument {
  /** A name of entities, or `*`. */
  entity: string;
  actions: readonly Action[];
  /** The name of the rule, unique within the role and the name of the entities. */
  name?: string;
}

export interface RoleDocument {
  description: string;
  grants: readonly GrantDocument[];
}

export interface ProfileDocument {
  label: string;
  locale: string | null;
  /** Names of roles. */
  roles: readonly string[];
  attributes: Readonly<Record<string, unknown>>;
}

export interface RightsDocuments {
  /** The schemas of attributes by name. */
  attributes: Readonly<Record<AttributeOwner, ReadonlyMap<string, unknown>>>;
  roles: ReadonlyMap<string, RoleDocument>;
  profiles: ReadonlyMap<string, ProfileDocument>;
}

/** The rule of the grants on own rows. A role stores such a grant without a name as the condition `own`. */
export const ownRule: RuleDocument = { filter: { $createdBy: { $var: 'user.name' } } };
const ownText = canonicalText(ownRule);

/** The rule of the grant; undefined for a grant on any row. */
export function ruleOf(grant: GrantDocument): RuleDocument | undefined {
  const members = ruleMembers.flatMap((member) => (grant[member] === undefined ? [] : [[member, grant[member]]]));
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** The condition under which a role stores the grant. */
export function conditionOf(grant: GrantDocument): Condition {
  const rule = ruleOf(grant);
  if (rule === undefined) return 'any';
  return grant.name === undefined && canonicalText(rule) === ownText ? 'own' : digestOfRule(rule);
}

/** A grant of one action. */
export interface SingleGrant {
  entity: string;
  action: Action;
  /** Of the rule; undefined without one. */
  name: string | undefined;
  condition: Condition;
  /** Undefined for a grant on any row. */
  rule: RuleDocument | undefined;
}

/** The grants of a role, each action by itself. */
export function singleGrants({ grants }: RoleDocument): SingleGrant[] {
  return grants.flatMap((grant) => {
    const { entity, actions, name } = grant;
    const [rule, condition] = [ruleOf(grant), conditionOf(grant)];
    return actions.map((action) => ({ entity, action, name, condition, rule }));
  });
}

/** The name by which plans call a grant within its role: `order/region/read`. */
export function pathOfGrant({ entity, name, action }: Pick<SingleGrant, 'entity' | 'name' | 'action'>): string {
  return [entity, ...(name === undefined ? [] : [name]), action].join('/');
}
