/** The caller of a case, with the rights that its profile gives in a database. */
import { sql, type Kysely } from 'kysely';
import { AttributeRegistry } from '../../accounts/attribute-registry.ts';
import type { Caller } from '../../authn/caller.ts';
import { RuleBook } from '../../authn/rule-book.ts';
import type { Database } from '../../database/tables.ts';
import type { TypeRegistry } from '../../entity-types/registry.ts';
import { typesForRules } from '../../entity-types/types-for-rules.ts';
import type { Members } from '../../rights/file-faults.ts';
import { grantMap } from '../../rights/permit.ts';
import type { Principal } from '../../rights/principal.ts';
import type { GrantRow } from '../../rights/vocabulary.ts';
import { administratorAs } from '../entities.ts';

export interface CaseUser {
  name: string;
  attributes: Members;
  profile: string;
}

/** Undefined if there is no such profile. */
export async function principalOfCase(
  db: Kysely<Database>,
  types: TypeRegistry,
  { name, attributes, profile }: CaseUser,
): Promise<Principal | undefined> {
  const row = await db.selectFrom('profile').where('name', '=', profile).select(['id', 'name', 'label', 'attributes']).executeTakeFirst();
  if (!row) return undefined;
  const { rows: grants } = await sql<GrantRow>`
    select entity, action, condition from role_grant join profile_role using (role_id) where profile_id = ${row.id}`.execute(db);
  const registry = new AttributeRegistry(db, new Map());
  const book = new RuleBook({
    db,
    typeOf: typesForRules(types),
    sensitiveFields: () => types.sensitiveFields(),
    variables: (principal) => registry.variablesOf(principal),
    onUnbound: () => undefined,
  });
  return await book.complete({
    ...administratorAs(name),
    user: { id: '', name, displayName: name, attributes },
    profile: { ...row, default: true },
    grants: grantMap(grants),
  });
}

/** The sender of the requests of a case. */
export const caseCaller: Caller = {
  origin: { requestId: '00000000-0000-4000-8000-000000000000', address: 'unknown', userAgent: 'case of rights' },
  principal: undefined,
  cookies: { header: undefined, set: () => undefined },
  log: { warn: () => undefined, error: () => undefined },
  hasLeft: false,
};
