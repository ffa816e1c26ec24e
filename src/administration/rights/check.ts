/** Finds the rights of files that cannot be put in force, each with its document and its pointer. */
import { assertFew } from '../../accounts/role-rules.ts';
import type { RuledType } from '../../authn/rule-book.ts';
import { nearName } from '../../config/near-name.ts';
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';
import { pointerTo } from '../../problems/pointer.ts';
import { faultsOfValue, type DeclaredTypes } from '../../rights/attribute-types.ts';
import { ruleOf, singleGrants, type GrantDocument, type RightsDocuments } from '../../rights/documents.ts';
import { faultsOfBinding } from '../../rights/rule-document.ts';
import { rolesThatUse } from '../../rights/used-variables.ts';
import type { AttributeOwner } from '../../rights/vocabulary.ts';
import type { ProfileHolders } from './holders.ts';
import { declaredTypes, scopeOf, variableTypes } from './scope.ts';

/** A fault of a document, such as `roles/clerk`. */
export interface DocumentFault {
  path: string;
  fault: Fault;
}

/** The rights cannot be put in force. */
export class RefusedRights extends Error {
  readonly faults: readonly DocumentFault[];
  constructor(faults: readonly DocumentFault[]) {
    super('rights are refused');
    this.faults = faults;
  }
}

export interface CheckedRights {
  before: RightsDocuments;
  after: RightsDocuments;
  /** Those of `after` that have a file. */
  files: RightsDocuments;
  types: ReadonlyMap<GrantDocument, RuledType>;
  claims: DeclaredTypes;
  holders: ReadonlyMap<string, ProfileHolders>;
}

/** Throws {@link RefusedRights} with each fault. */
export function assertRights(rights: CheckedRights): void {
  const faults = [...faultsOfRules(rights), ...faultsOfProfiles(rights), ...faultsOfRemoval(rights), ...faultsOfCounts(rights.after)];
  if (faults.length > 0) throw new RefusedRights(faults);
}

function faultsOfRules({ files, after, types, claims }: CheckedRights): DocumentFault[] {
  const variables = variableTypes(after, claims);
  return [...files.roles].flatMap(([name, { grants }]) =>
    grants.flatMap((grant, index) => {
      const rule = ruleOf(grant);
      const faults = rule ? faultsOfBinding(rule, grant, scopeOf(grant, types, variables)) : [];
      const placed = new Problem('validation-failed', { faults }).under(`/grants/${index}`);
      return placed.faults.map((fault) => ({ path: `roles/${name}`, fault }));
    }),
  );
}

function faultsOfProfiles({ files, after }: CheckedRights): DocumentFault[] {
  const declared = declaredTypes(after.attributes.profile);
  return [...files.profiles].flatMap(([name, { roles, attributes }]) => {
    const path = `profiles/${name}`;
    const absent = roles.flatMap((role, index): Fault[] =>
      after.roles.has(role) ? [] : [{ code: 'absent', pointer: pointerTo(['roles', index]), values: { role } }],
    );
    const values = Object.entries(attributes).flatMap(([attribute, value]): Fault[] => {
      const type = declared.get(attribute);
      const pointer = pointerTo(['attributes', attribute]);
      const instead = nearName(attribute, [...declared.keys()]);
      if (!type) return [{ code: 'unknown', pointer, ...(instead !== undefined && { values: { instead } }) }];
      return new Problem('validation-failed', { faults: faultsOfValue(type, value) }).under(pointer).faults.slice();
    });
    return [...absent, ...values].map((fault) => ({ path, fault }));
  });
}

const owners: readonly AttributeOwner[] = ['user', 'profile'];

/** Attributes that rules name, and profiles of users, are not removed. */
function faultsOfRemoval({ before, after, holders }: CheckedRights): DocumentFault[] {
  const removed = owners.flatMap((owner) =>
    [...before.attributes[owner].keys()].filter((name) => !after.attributes[owner].has(name)).map((name) => ({ owner, name })),
  );
  const inUse = removed.flatMap(({ owner, name }): DocumentFault[] => {
    const roles = rolesThatUse(`${owner}.${name}`, after);
    return roles.length === 0
      ? []
      : [{ path: `attributes/${owner}/${name}`, fault: { code: 'used-by', values: { role: roles.join(', ') } } }];
  });
  const had = [...before.profiles.keys()].flatMap((profile): DocumentFault[] => {
    const { users = [], keys = [] } = holders.get(profile) ?? {};
    if (after.profiles.has(profile) || users.length + keys.length === 0) return [];
    const values = {
      ...(users.length > 0 && { users: users.join(', ') }),
      ...(keys.length > 0 && { keys: keys.map(({ name }) => name).join(', ') }),
    };
    return [{ path: `profiles/${profile}`, fault: { code: 'used-by', values } }];
  });
  return [...inUse, ...had];
}

/** No role and no profile has more rules than one caller may have. */
function faultsOfCounts({ roles, profiles }: RightsDocuments): DocumentFault[] {
  const ruledOf = (holder: string, names: readonly string[]) =>
    names.flatMap((name) => {
      const role = roles.get(name);
      return (role ? singleGrants(role) : []).flatMap(({ entity, action, name: rule, condition }) =>
        rule === undefined ? [] : [{ holder, entity, action, condition }],
      );
    });
  const of = (path: string, kind: 'role' | 'profile', holder: string, names: readonly string[]): DocumentFault[] => {
    try {
      assertFew(kind, ruledOf(holder, names));
      return [];
    } catch (error) {
      if (error instanceof Problem) return error.faults.map((fault) => ({ path, fault }));
      throw error;
    }
  };
  return [
    ...[...roles.keys()].flatMap((name) => of(`roles/${name}`, 'role', name, [name])),
    ...[...profiles].flatMap(([name, profile]) => of(`profiles/${name}`, 'profile', name, profile.roles)),
  ];
}
