/** The grants of a caller with their names: as rules, as conditions, and in parts whose failure can be named. */
import type { Kysely } from 'kysely';
import { listRoles } from '../accounts/profiles.ts';
import type { RuleSources } from '../authn/rule-book.ts';
import type { Database } from '../database/tables.ts';
import type { Filter } from '../filter/syntax.ts';
import { pointerTo } from '../problems/pointer.ts';
import type { Grant } from '../rights/grant.ts';
import { grantOf } from '../rights/permit.ts';
import type { Principal } from '../rights/principal.ts';
import { anyOf, bothFilters, filledFilter, type FilterDocument } from '../rights/rule-text.ts';
import { bindRule, envelopeFields, unboundGrant, type RuleDocument } from '../rights/rule.ts';
import type { Variables, VariableTypes } from '../filter/variables.ts';
import type { Action, GrantRow } from '../rights/vocabulary.ts';

/** A grant of a role. */
export interface ListedGrant extends GrantRow {
  role: string;
  /** The name of its rule; `any` or `own` without one. */
  name: string;
  /** The rule, also of a grant without one. */
  document: RuleDocument;
  grant: Grant;
}

const ownRows: RuleDocument = { filter: { $createdBy: { $var: 'user.name' } }, check: {} };

/** The grants of the active profile for any of the actions on the name, in the order of roles. */
export async function listGrants(
  db: Kysely<Database>,
  principal: Principal,
  entity: string,
  actions: readonly Action[],
): Promise<ListedGrant[]> {
  if (!principal.profile) return [];
  const roles = await listRoles(db, principal.profile.id);
  return roles.flatMap(({ name: role, grants }) =>
    grants.flatMap(({ name, rule, ...row }): ListedGrant[] => {
      const isAsked = (row.entity === entity || row.entity === '*') && actions.includes(row.action);
      if (!isAsked || !isHeld(principal, row)) return [];
      const document = rule ?? (row.condition === 'own' ? ownRows : {});
      return [{ ...row, role, name: name ?? row.condition, document, grant: grantOf(principal, row) }];
    }),
  );
}

/** Whether the caller has the grant. One on own rows counts as had beside one on all rows, which makes it needless. */
function isHeld({ grants }: Principal, { entity, action, condition }: GrantRow): boolean {
  const held = grants.get(entity)?.get(action) ?? [];
  return held.includes(condition) || (condition === 'own' && held.includes('any'));
}

/** One test of a grant that can fail by itself. */
export interface GrantPart {
  /** The place of the grant in the list. */
  of: number;
  kind: 'filter' | 'check';
  /** The place in the rule. */
  pointer: string;
  test: Filter;
}

/** The types and variables that rules are bound to. */
export interface PartSources extends Pick<RuleSources, 'typeOf'> {
  variables: VariableTypes;
}

/** The members of the filters and checks of the grants. A rule that does not bind has none. */
export async function partsOf(listed: readonly ListedGrant[], { typeOf, variables }: PartSources): Promise<GrantPart[]> {
  const parts: GrantPart[] = [];
  for (const [of, { document, entity }] of listed.entries()) {
    const type = entity === '*' ? { fields: envelopeFields } : await typeOf(entity, document);
    const bound = (kind: GrantPart['kind'], member: 'filter' | 'check' | 'set', value: object): GrantPart[] =>
      Object.entries(value).flatMap(([name, test]) => {
        const read = bindRule({ filter: { [name]: test as unknown } }, 'read', { ...type, variables });
        return 'grant' in read ? [{ of, kind, pointer: pointerTo([member, name]), test: read.grant.filter }] : [];
      });
    const { filter = {}, check, set = {} } = document;
    const checks = check === undefined ? bound('check', 'filter', filter) : bound('check', 'check', check);
    parts.push(...bound('filter', 'filter', filter), ...checks, ...bound('check', 'set', set));
  }
  return parts;
}

/** The part as a grant, so that it is tested as one. */
export const grantOfPart = ({ test }: GrantPart): Grant => ({ ...unboundGrant, filter: test, check: test });

/** The places of the parts that have failed; `""` stands for those of which the reader is not told. */
export function failedPlaces(failed: readonly GrantPart[], isTold: (test: Filter) => boolean): string[] {
  const open = failed.filter(({ test }) => isTold(test));
  return open.length > 0 ? open.map(({ pointer }) => pointer) : [''];
}

/** The rows that the grants are about, with the values of the caller; undefined without a grant. `readable` are the rows that it reads. */
export function rowsOf(
  listed: readonly ListedGrant[],
  action: Action,
  variables: Variables,
  readable: FilterDocument | undefined,
): FilterDocument | undefined {
  if (listed.length === 0) return undefined;
  const filters = listed.map(({ document: { filter = {}, check = filter, set = {} }, grant }) => {
    if (action === 'create') return bothFilters(check as FilterDocument, set);
    // A change by a grant without a rule is one of a row that the caller reads.
    return action === 'update' && grant.kind !== 'rule' && readable
      ? bothFilters(filter as FilterDocument, readable)
      : (filter as FilterDocument);
  });
  return anyOf(filters.map((filter) => filledFilter(filter, variables)));
}
