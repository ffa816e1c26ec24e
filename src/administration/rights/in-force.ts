/** The roles, profiles and attributes in the database as documents. */
import type { Kysely } from 'kysely';
import { listAllProfiles } from '../../accounts/assignments.ts';
import { listAttributes } from '../../accounts/attributes.ts';
import { listAllRoles, type RoleState } from '../../accounts/roles.ts';
import type { Database } from '../../database/tables.ts';
import { ownRule, type GrantDocument, type RightsDocuments, type RoleDocument } from '../../rights/documents.ts';
import type { AttributeOwner } from '../../rights/vocabulary.ts';

export async function readRightsInForce(db: Kysely<Database>): Promise<RightsDocuments> {
  const declared = await listAttributes(db);
  const ofOwner = (owner: AttributeOwner) =>
    new Map(declared.filter((each) => each.owner === owner).map(({ name, schema }) => [name, schema]));
  return {
    attributes: { user: ofOwner('user'), profile: ofOwner('profile') },
    roles: new Map((await listAllRoles(db)).map((role) => [role.name, roleDocument(role)])),
    profiles: new Map(
      (await listAllProfiles(db)).map(({ name, label, locale, roles, attributes }) => [name, { label, locale, roles, attributes }]),
    ),
  };
}

function roleDocument({ description, grants, rules }: RoleState): RoleDocument {
  const plain = grants.map(({ entity, actions, condition }): GrantDocument => ({ entity, actions, ...(condition === 'own' && ownRule) }));
  const ruled = rules.map(({ name, entity, actions, ...rule }): GrantDocument => ({ entity, name, actions, ...rule }));
  return {
    description,
    grants: [...plain, ...ruled].toSorted((one, other) => (one.entity < other.entity ? -1 : one.entity > other.entity ? 1 : 0)),
  };
}
