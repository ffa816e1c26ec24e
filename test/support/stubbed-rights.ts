/** Gives users rules without a role, for tests of what rules mean. */
import { vi } from 'vitest';
import { PrincipalCache } from '../../src/authn/principal-cache.ts';
import type { RuledType } from '../../src/authn/rule-book.ts';
import { typesForRules } from '../../src/entity-types/types-for-rules.ts';
import { bindRule, envelopeFields, unboundGrant, type RuleDocument } from '../../src/rights/rule.ts';
import type { Principal } from '../../src/rights/principal.ts';
import { variablesOf, type DeclaredVariables } from '../../src/rights/variables.ts';
import type { Action } from '../../src/rights/vocabulary.ts';
import type { Call, TestService } from './service.ts';

export interface RuleGrant {
  entity: string;
  actions: readonly Action[];
  rule?: RuleDocument;
  condition?: 'any' | 'own';
  /** Whether the rule does not fit the present type. */
  isUnbound?: boolean;
}

/** The facts of a caller besides its grants. */
export interface CallerFacts {
  declared?: DeclaredVariables;
  /** The sensitive fields of every name. */
  sensitive?: readonly string[];
}

const rulesOf = new Map<string, { grants: readonly RuleGrant[]; facts: CallerFacts }>();
/** The type of each rule. */
const types = new Map<object, RuledType>();

// eslint-disable-next-line typescript/unbound-method -- It is called with its object below.
const store = PrincipalCache.prototype.store;
vi.spyOn(PrincipalCache.prototype, 'store').mockImplementation(function (this: PrincipalCache, ...[hash, subject, principal, ...rest]) {
  const rights = rulesOf.get(principal.user.name);
  if (rights) Object.assign(principal, withRules(principal, rights.grants, rights.facts));
  store.call(this, hash, subject, principal, ...rest);
});

function withRules(principal: Principal, grants: readonly RuleGrant[], { declared, sensitive = [] }: CallerFacts): Principal {
  const conditions = new Map<string, Map<Action, string[]>>();
  const documents = new Map<string, RuleDocument>();
  const unbound = new Set<string>();
  const variables = variablesOf(principal, declared);
  for (const [index, { entity, actions, rule, condition = 'any', isUnbound = false }] of grants.entries()) {
    const digest = rule ? `rule${index}` : condition;
    if (rule) documents.set(digest, rule);
    if (isUnbound) unbound.add(digest);
    const ofName = conditions.get(entity) ?? new Map<Action, string[]>();
    for (const action of actions) ofName.set(action, [...(ofName.get(action) ?? []), digest]);
    conditions.set(entity, ofName);
  }
  return {
    ...principal,
    grants: conditions,
    rules: {
      grantOf(digest, entity, action) {
        if (unbound.has(digest)) return unboundGrant;
        const document = documents.get(digest) ?? {};
        const type = entity === '*' ? { fields: envelopeFields } : types.get(document);
        const bound = bindRule(document, action, { ...(type ?? { fields: envelopeFields }), variables });
        if ('faults' in bound) throw new Error(JSON.stringify(bound.faults));
        return bound.grant;
      },
      sensitiveOf: () => new Set(sensitive),
      variables,
    },
  };
}

/** A caller with these grants and no others. */
export async function callerWith(service: TestService, name: string, grants: readonly RuleGrant[], facts: CallerFacts = {}): Promise<Call> {
  const typeOf = typesForRules(service.context.entityTypes);
  for (const { entity, rule } of grants) if (rule && entity !== '*') types.set(rule, await typeOf(entity, rule));
  // A request under way looks its session up again, beside the cache. It verifies a key as each request does.
  const caller = { headers: { 'x-api-key': await service.createKey((await service.createUser(name)).id) } };
  rulesOf.set(name, { grants, facts });
  return caller;
}
