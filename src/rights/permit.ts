/** Decides whether a principal may do something with entities, from the grants of its active profile and the scopes of its credential. */
import { all, any, type Filter } from '../filter/syntax.ts';
import { Problem } from '../problems/errors.ts';
import { ChangeRule } from './change-rule.ts';
import { coverageOf, digestOf, type Coverage } from './coverage.ts';
import { fieldRightsOf, type FieldRights } from './field-rights.ts';
import { hasField, noFields } from './field-set.ts';
import { viewOf, wholeView, type EntityRights, type FieldView } from './field-view.ts';
import { anyGrant, coversAll, ownGrant, type Grant } from './grant.ts';
import type { Principal } from './principal.ts';
import { unboundGrant } from './rule.ts';
import { callerVariables, type CallerVariables } from './variable-columns.ts';
import { variablesOf } from './variables.ts';
import type { Action, Condition, GrantRow, Scope } from './vocabulary.ts';

/** The actions granted on each entity name (or `*`), each with its conditions. A Map, since `constructor` is a valid name (rule 65). */
export type Grants = ReadonlyMap<string, ReadonlyMap<Action, readonly Condition[]>>;

declare const checked: unique symbol;

/**
 * The permission to perform one action on the entities of one name. Only {@link authorize} makes one, and the entity store takes nothing else,
 * so an unchecked statement does not compile (rule 66).
 */
export interface Permit<A extends Action> {
  readonly [checked]: A;
  readonly entity: string;
  readonly action: A;
  /** The acting user's name, for createdBy and updatedBy. */
  readonly userName: string;
  /** The acting session's handle, for the audit trail; null for a stateless credential. */
  readonly sessionId: string | null;
  /** The acting credential, as {@link Principal} has it. */
  readonly credential: string;
  /** The rows that it covers; `rowsCovered` of coverage.ts puts them into statements (rule 64). */
  readonly coverage: Coverage;
  /** The fields that answers show; `shownFields` of field-view.ts puts them into statements. */
  readonly view: FieldView;
  /** The changes that it allows; undefined if it allows each change of the rows that it covers. */
  readonly change: ChangeRule | undefined;
  /**
   * The permit to read other rows than this one covers, if the caller has it. A write that finds no row looks with it whether the
   * caller may read the row (decision 195).
   */
  readonly widerRead: Permit<'read'> | undefined;
  /**
   * The entities called `name` to which the caller may refer: those that its grants of `label` or `read` cover, whatever the scopes of its credential (rule
   * 115).
   * Undefined: none.
   */
  readonly referable: (name: string) => Coverage | undefined;
  /**
   * The entities called `name` that the caller may find by their values, and the fields by which it may: those that its grants and scopes of `read` cover and
   * show. Undefined: none.
   */
  readonly findable: (name: string) => EntityRights | undefined;
}

/**
 * Decides whether `principal` may perform `action` on entities called `entity`. Throws 403 `forbidden` when no grant of the active profile
 * allows it, 403 `insufficient-scope` when the roles would but the credential's scopes do not.
 */
export function authorize<A extends Action>(principal: Principal, entity: string, action: A): Permit<A> {
  const grants = requireGrants(principal, entity, action);
  const change =
    action === 'create' && (hasRule(grants) || hasSensitive(principal, entity)) ? changeRuleOf(principal, entity, grants) : undefined;
  const reads = action === 'read' ? grants : action === 'create' ? readGrants(principal, entity) : [];
  // Without `read` a caller sees what it has sent alone.
  return permitOf(principal, entity, grants, { action, view: reads.length > 0 ? viewFor(principal, entity, reads) : wholeView, change });
}

/**
 * The permit to change entities and to receive each as it then is. A grant without a rule covers the rows that grants of `read` cover too (rule 116). Throws as
 * {@link authorize} does for either action; a grant of `update` with a rule needs no `read`.
 */
export function authorizeUpdate(principal: Principal, entity: string): Permit<'update'> {
  return updatePermit(principal, entity, (grants) => grants);
}

/** The permit to see entities in the trash and to restore them: the rows that both `update` and `read` cover, as they were deleted. Throws likewise. */
export function authorizeTrash(principal: Principal, entity: string): Permit<'update'> {
  const reads = requireGrants(principal, entity, 'read');
  const isRead = any(reads.map(({ filter }) => filter));
  return updatePermit(principal, entity, (grants) =>
    grants.map((grant) => Object.assign({}, grant, { filter: all([isRead, grant.filter]) })),
  );
}

function updatePermit(principal: Principal, entity: string, narrowed: (grants: readonly Grant[]) => readonly Grant[]): Permit<'update'> {
  const grants = requireGrants(principal, entity, 'update');
  const reads = hasRule(grants) ? readGrants(principal, entity) : requireGrants(principal, entity, 'read');
  if (!hasRule(grants) && !hasRule(reads) && !hasSensitive(principal, entity)) {
    const readsAll = reads.some(coversAll);
    const rights = { action: 'update', view: wholeView, change: undefined } as const;
    const permit: Permit<'update'> = permitOf(principal, entity, readsAll ? grants : [ownGrant], rights);
    return readsAll ? permit : { ...permit, widerRead: undefined };
  }
  const isRead = any(reads.map(({ filter }) => filter));
  const judged = grants.map((grant) => (grant.kind === 'rule' ? grant : readableGrant(grant, isRead)));
  // A grant with a rule covers rows that no grant of `read` covers, and shows nothing of them.
  const shown = hasRule(grants) ? [...reads, unboundGrant] : reads;
  const rights = { action: 'update', view: viewFor(principal, entity, shown), change: changeRuleOf(principal, entity, judged) } as const;
  return permitOf(principal, entity, narrowed(judged), rights);
}

/** A grant without a rule as one with a rule: it covers the rows that fulfil `isRead` too, and shows nothing by itself. */
const readableGrant = ({ filter, ...grant }: Grant, isRead: Filter): Grant => ({
  ...grant,
  kind: 'rule',
  filter: all([isRead, filter]),
  read: noFields,
});

/** A permit for the rows that the grants cover. */
function permitOf<A extends Action>(
  principal: Principal,
  entity: string,
  grants: readonly Grant[],
  rights: Pick<Permit<A>, 'action' | 'view' | 'change'>,
): Permit<A> {
  const coverage = coverageOf(grants, callerOf(principal));
  if (!coverage) throw new Error('a permit needs a grant');
  const referable = (name: string) => coverageFor(principal, name, 'label', 'read');
  const findable = (name: string): EntityRights | undefined => {
    const found = isInScope(principal, name, 'read') ? coverageFor(principal, name, 'read') : undefined;
    return found && { coverage: found, view: viewFor(principal, name, readGrants(principal, name)) };
  };
  const read = coverage.kind === 'all' ? undefined : findable(entity)?.coverage;
  const isWider = read !== undefined && (read.kind === 'all' || digestOf(read) !== digestOf(coverage));
  const widerRead = isWider ? authorize(principal, entity, 'read') : undefined;
  const sessionId = principal.session?.id ?? null;
  const { user, credential } = principal;
  return { entity, userName: user.name, sessionId, credential, coverage, ...rights, widerRead, referable, findable } as Permit<A>;
}

/** Whether {@link authorize} would give a permit for `action` on any row of the entities called `entity`. */
export function isPermitted(principal: Principal, entity: string, action: Action): boolean {
  return grantsFor(principal, entity, action).length > 0 && isInScope(principal, entity, action);
}

/** The fields of the entities called `entity` by what the caller may do with them; undefined if the caller has none but plain grants, which name no fields. */
export function contractFields(principal: Principal, entity: string): FieldRights | undefined {
  const of = (action: 'read' | 'create' | 'update') => (isPermitted(principal, entity, action) ? grantsFor(principal, entity, action) : []);
  const grants = { read: of('read'), create: of('create'), update: of('update') };
  if (!Object.values(grants).some(hasRule) && !hasSensitive(principal, entity)) return undefined;
  return fieldRightsOf(grants, sensitiveOf(principal, entity), callerOf(principal));
}

/** The grants for the action, at least one. Throws as {@link authorize}. */
function requireGrants(principal: Principal, entity: string, action: Action): readonly Grant[] {
  const grants = grantsFor(principal, entity, action);
  if (grants.length === 0) throw new Problem('forbidden', { audit: { entity } });
  if (!isInScope(principal, entity, action)) throw new Problem('insufficient-scope', { audit: { entity } });
  return grants;
}

/** The grants by which the caller reads entities; none without the right, or outside of the scopes. */
export const readGrants = (principal: Principal, entity: string): readonly Grant[] =>
  isPermitted(principal, entity, 'read') ? grantsFor(principal, entity, 'read') : [];

const hasRule = (grants: readonly Grant[]): boolean => grants.some(({ kind }) => kind === 'rule');

/** The entities that the grants of any of the actions cover. */
function coverageFor(principal: Principal, entity: string, ...actions: Action[]): Coverage | undefined {
  const grants = actions.flatMap((action) => grantsFor(principal, entity, action));
  return coverageOf(grants, callerOf(principal));
}

/** The fields that the grants of `read` show. */
function viewFor(principal: Principal, entity: string, grants: readonly Grant[]): FieldView {
  if (grants.length > 0 && !hasRule(grants) && !hasSensitive(principal, entity)) return wholeView;
  return viewOf(grants, sensitiveOf(principal, entity), callerOf(principal));
}

/** The entities to which the caller may refer, whatever the scopes of its credential. Undefined: none. */
export const referableRows = (principal: Principal, entity: string): Coverage | undefined =>
  coverageFor(principal, entity, 'label', 'read');

/**
 * The entities called `entity` whose names the caller may see: those that grants of `label` cover, and those of which grants of `read` show all `parts`. A scope must have
 * `read` or `label` of the name. Undefined: none.
 */
export function namedRows(principal: Principal, entity: string, parts: readonly (readonly string[])[]): Coverage | undefined {
  const sensitive = sensitiveOf(principal, entity);
  const showsParts = ({ read }: Grant) => parts.every(([name = '']) => hasField(read, name, sensitive));
  const isInScopeOf = (action: Action) => isInScope(principal, entity, action);
  if (!isInScopeOf('label') && !isInScopeOf('read')) return undefined;
  const reading = readGrants(principal, entity).filter(showsParts);
  return coverageOf([...grantsFor(principal, entity, 'label'), ...reading], callerOf(principal));
}

/** Returns whether a grant of `read` shows the caller a field, in whatever row. */
export function shownSomewhere(principal: Principal, entity: string): (name: string) => boolean {
  const view = viewFor(principal, entity, readGrants(principal, entity));
  return (name) => view.kind === 'whole' || view.showing(name) !== 'never';
}

/** The tests of the grants, and beside them those of the grants of `read`. */
export function changeRuleOf(principal: Principal, entity: string, grants: readonly Grant[]): ChangeRule {
  const of = { entity, grants, reads: readGrants(principal, entity), sensitive: sensitiveOf(principal, entity) };
  return new ChangeRule(of, callerOf(principal));
}

const noSensitive: ReadonlySet<string> = new Set();
/** The fields that the type of the name calls sensitive. */
export const sensitiveOf = ({ rules }: Principal, entity: string) => rules?.sensitiveOf(entity) ?? noSensitive;

const hasSensitive = (principal: Principal, entity: string): boolean => sensitiveOf(principal, entity).size > 0;

const callerOf = (principal: Principal): CallerVariables =>
  callerVariables(principal.user.name, principal.rules?.variables ?? variablesOf(principal));

/** The caller's grants for the action, by the name of the entities and by `*`. */
function grantsFor(principal: Principal, entity: string, action: Action): readonly Grant[] {
  return [entity, '*'].flatMap((name) =>
    (principal.grants.get(name)?.get(action) ?? []).map((condition) => grantOf(principal, { entity: name, action, condition })),
  );
}

/** The grant that a row of a role is for the caller. */
export function grantOf({ rules }: Principal, { entity, action, condition }: GrantRow): Grant {
  if (condition === 'any') return anyGrant;
  return condition === 'own' ? ownGrant : (rules?.grantOf(condition, entity, action) ?? unboundGrant);
}

const isInScope = ({ scopes }: Principal, entity: string, action: Action): boolean =>
  !scopes || scopes.some((scope) => covers(scope, entity, action));

/** Whether the scope reaches the action on the entity; only a scope on `*` reaches `*`. */
function covers(scope: Scope, entity: string, action: Action): boolean {
  return (scope.entity === '*' || scope.entity === entity) && scope.actions.includes(action);
}

/** The grants as the database lists them, one row a condition, as a map. */
export function grantMap(rows: readonly GrantRow[]): Grants {
  const grants = new Map<string, Map<Action, readonly Condition[]>>();
  for (const { entity, action, condition } of rows) {
    const actions = grants.get(entity) ?? new Map<Action, readonly Condition[]>();
    const others = (actions.get(action) ?? []).filter((other) => other !== condition);
    // Several roles may grant the same action; all rows have own ones among them.
    const isWithin = condition === 'own' && others.includes('any');
    actions.set(action, isWithin ? others : [...(condition === 'any' ? others.filter((other) => other !== 'own') : others), condition]);
    grants.set(entity, actions);
  }
  return grants;
}
