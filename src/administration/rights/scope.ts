/** The types and claims to which the rules of files are bound. */
import type { Kysely } from 'kysely';
import type { RuledType } from '../../authn/rule-book.ts';
import type { Database } from '../../database/tables.ts';
import { TypeRegistry } from '../../entity-types/registry.ts';
import { typesForRules } from '../../entity-types/types-for-rules.ts';
import type { VariableTypes } from '../../filter/variables.ts';
import { readAttributeType, type AttributeType, type DeclaredTypes } from '../../rights/attribute-types.ts';
import { ruleOf, type GrantDocument, type RightsDocuments } from '../../rights/documents.ts';
import { envelopeFields, type RuleScope } from '../../rights/rule.ts';
import { variablesOf } from '../../rights/variables.ts';

/** The type of each grant with a rule, as the database has it now. */
export async function readTypes(db: Kysely<Database>, rights: RightsDocuments): Promise<ReadonlyMap<GrantDocument, RuledType>> {
  const typeOf = typesForRules(new TypeRegistry(db, { entityTypes: 'open' }));
  const types = new Map<GrantDocument, RuledType>();
  for (const grant of [...rights.roles.values()].flatMap(({ grants }) => grants)) {
    const rule = ruleOf(grant);
    if (rule && grant.entity !== '*') types.set(grant, await typeOf(grant.entity, rule));
  }
  return types;
}

export function scopeOf(grant: GrantDocument, types: ReadonlyMap<GrantDocument, RuledType>, variables: VariableTypes): RuleScope {
  return { ...(types.get(grant) ?? { fields: envelopeFields }), variables };
}

/** The variables that rules may name with the declarations of `rights`. */
export function variableTypes({ attributes: { user, profile } }: RightsDocuments, claims: DeclaredTypes): VariableTypes {
  const noUser = { user: { id: '', name: '', displayName: '', attributes: {} }, profile: undefined, timeZone: null };
  const types = { user: declaredTypes(user), profile: declaredTypes(profile), claims };
  return variablesOf(noUser, { types, values: { user: {}, profile: {}, claims: {} } });
}

/** The declared types by name. A declaration that this version cannot read is left out. */
export function declaredTypes(schemas: ReadonlyMap<string, unknown>): DeclaredTypes {
  return new Map(
    [...schemas].flatMap(([name, schema]): [string, AttributeType][] => {
      const type = readAttributeType(schema);
      return 'scalar' in type ? [[name, type]] : [];
    }),
  );
}
