/** The check of `doctor` that finds rules of roles which the present types or the declared variables do not fit. */
import type { Kysely } from 'kysely';
import { AttributeRegistry } from '../accounts/attribute-registry.ts';
import type { Config } from '../config/settings.ts';
import type { Database } from '../database/tables.ts';
import { TypeRegistry } from '../entity-types/registry.ts';
import { typesForRules } from '../entity-types/types-for-rules.ts';
import type { Issuer } from '../oidc/issuers-file/read.ts';
import { claimTypes } from '../oidc/provisioning/claimed-rights.ts';
import { bindRule, envelopeFields, type RuleDocument, type RuleScope } from '../rights/rule.ts';
import type { Action } from '../rights/vocabulary.ts';
import { okCheck, warningCheck, type CheckFinding } from './check.ts';

interface StoredRule {
  role: string;
  name: string | null;
  entity: string;
  action: Action;
  document: RuleDocument | null;
}

/** Rules of a finding at most; the message says how many there are besides. */
const shownRules = 20;

/** Whether each rule of a role fits the type of its entities and the declared variables. One that does not allows nothing (rule 170). */
export async function checkRules(
  db: Kysely<Database>,
  config: Pick<Config, 'entityTypes'>,
  issuers: readonly Issuer[],
): Promise<CheckFinding> {
  const rules: StoredRule[] = await db
    .selectFrom('role_grant')
    .innerJoin('role', 'role.id', 'role_grant.role_id')
    .leftJoin('grant_rule', 'grant_rule.digest', 'role_grant.condition')
    .where('role_grant.name', 'is not', null)
    .select(['role.name as role', 'role_grant.name', 'entity', 'action', 'document'])
    .orderBy('role')
    .orderBy('entity')
    .orderBy('role_grant.name')
    .execute();
  const typeOf = typesForRules(new TypeRegistry(db, config));
  const variables = await new AttributeRegistry(db, claimTypes(issuers)).variableTypes();
  const unbound = new Set<string>();
  for (const { role, name, entity, action, document } of rules) {
    const type = entity === '*' || !document ? { fields: envelopeFields } : await typeOf(entity, document);
    const places = placesOf(document, action, { ...type, variables });
    if (places) unbound.add(`the rule ${name} of ${role} for ${entity} (${places})`);
  }
  if (unbound.size === 0) return okCheck('the rules of roles fit the types and the declared attributes');
  const more = unbound.size > shownRules ? `; and ${unbound.size - shownRules} more` : '';
  const shown = [...unbound].slice(0, shownRules).join('; ');
  return warningCheck(
    `${shown}${more}. Such a rule allows nothing; grant it anew with "role grant ROLE --name NAME --rule FILE", or revoke it`,
  );
}

/** The places that do not fit; undefined if the rule fits. */
function placesOf(document: RuleDocument | null, action: Action, scope: RuleScope): string | undefined {
  if (!document) return 'it is not in the database';
  const bound = bindRule(document, action, scope);
  return 'faults' in bound ? bound.faults.map(({ pointer = '', code }) => `${pointer} ${code}`).join(', ') : undefined;
}
