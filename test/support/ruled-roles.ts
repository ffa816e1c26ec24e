/** Users whose roles have rules, as administrators grant them. */
import { grantActions, grantByRule } from '../../src/administration/roles/use-cases.ts';
import { typesForRules } from '../../src/entity-types/types-for-rules.ts';
import type { RuleDocument } from '../../src/rights/rule.ts';
import type { Action } from '../../src/rights/vocabulary.ts';
import { owner, type Call, type TestService } from './service.ts';

export interface RoleGrant {
  entity: string;
  actions: Action[];
  /** Of the rule. */
  name?: string;
  rule?: RuleDocument;
  condition?: 'any' | 'own';
}

/** Grants the role what is listed. */
export async function grantAll(service: TestService, role: string, grants: readonly RoleGrant[]): Promise<void> {
  const { store, context } = service;
  const sources = {
    typeOf: typesForRules(context.entityTypes),
    variableTypes: () => context.attributes.variableTypes(),
    companionOf: async () => undefined,
    variablesOfUsers: async () => [],
  };
  for (const { entity, actions, name, rule, condition = 'any' } of grants) {
    const wanted = { entities: [entity], actions };
    if (rule) await grantByRule(store, owner, role, { ...wanted, name, document: rule, sources });
    else await grantActions(store, owner, role, { ...wanted, condition });
  }
  await service.settle();
}

/** A new user with a default profile and a role of the same name, and an API key. */
export async function userWith(service: TestService, name: string, ...grants: RoleGrant[]): Promise<Call> {
  const { id } = await service.createUser(name, {});
  await grantAll(service, name, grants);
  return { headers: { 'x-api-key': await service.createKey(id) } };
}
