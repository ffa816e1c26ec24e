/** Gives users rules without a role, for tests of what rules mean. */
import { vi } from 'vitest';
import { PrincipalCache } from '../../src/authn/principal-cache.ts';
import type { EntityType } from '../../src/entity-types/types.ts';
import { undeclaredFields } from '../../src/filter/fields.ts';
import { bindRule, unboundGrant, type RuleDocument } from '../../src/rights/rule.ts';
import type { Principal } from '../../src/rights/principal.ts';
import { variablesOf } from '../../src/rights/variables.ts';
import type { Action } from '../../src/rights/vocabulary.ts';
import type { Call, TestService } from './service.ts';

export interface RuleGrant {
  entity: string;
  actions: Action[];
  rule?: RuleDocument;
  condition?: 'any' | 'own';
}

const rulesOf = new Map<string, readonly RuleGrant[]>();
const types = new Map<string, EntityType | undefined>();

const store = PrincipalCache.prototype.store;
vi.spyOn(PrincipalCache.prototype, 'store').mockImplementation(function (this: PrincipalCache, ...[hash, subject, principal, ...rest]) {
  const grants = rulesOf.get(principal.user.name);
  if (grants) Object.assign(principal, withRules(principal, grants));
  store.call(this, hash, subject, principal, ...rest);
});

function withRules(principal: Principal, grants: readonly RuleGrant[]): Principal {
  const conditions = new Map<string, Map<Action, string[]>>();
  const documents = new Map<string, RuleDocument>();
  for (const [index, { entity, actions, rule, condition = 'any' }] of grants.entries()) {
    const digest = rule ? `rule${index}` : condition;
    if (rule) documents.set(digest, rule);
    const ofName = conditions.get(entity) ?? new Map<Action, string[]>();
    for (const action of actions) ofName.set(action, [...(ofName.get(action) ?? []), digest]);
    conditions.set(entity, ofName);
  }
  return {
    ...principal,
    grants: conditions,
    rules: {
      grantOf(digest, entity, action) {
        const fields = types.get(entity)?.fields ?? undeclaredFields;
        const bound = bindRule(documents.get(digest) ?? {}, action, { fields, variables: variablesOf(principal) });
        if ('faults' in bound) throw new Error(JSON.stringify(bound.faults));
        return bound.grant ?? unboundGrant;
      },
      sensitiveOf: () => new Set(),
      variables: variablesOf(principal),
    },
  };
}

/** A caller with these grants and no others. */
export async function callerWith(service: TestService, name: string, grants: readonly RuleGrant[]): Promise<Call> {
  for (const { entity } of grants) if (entity !== '*') types.set(entity, await service.context.entityTypes.find(entity));
  const caller = { cookie: await service.openSession((await service.createUser(name)).id) };
  rulesOf.set(name, grants);
  return caller;
}
