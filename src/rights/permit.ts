/** Decides whether a principal may do something with entities, from the grants of its active profile and the scopes of its credential. */
import { coverageOf, rowsOfBoth, type Coverage } from './coverage.ts';
import { wholeView, type FieldView } from './field-view.ts';
import type { Principal } from './principal.ts';
import type { Action, Condition, GrantRow, Scope } from './vocabulary.ts';
import { Problem } from '../problems/errors.ts';

/** The actions granted on each entity name (or `*`), each with its condition. A Map, since `constructor` is a valid name (rule 65). */
export type Grants = ReadonlyMap<string, ReadonlyMap<Action, Condition>>;

declare const checked: unique symbol;

/**
 * The permission to perform one action on the entities of one name. Only {@link authorize} makes one, and the entity store takes nothing else,
 * so an unchecked statement does not compile (rule 66).
 */
export interface Permit<A extends Action> {
  readonly [checked]: A;
  readonly entity: string;
  /** The acting user's name, for createdBy and updatedBy. */
  readonly userName: string;
  /** The acting session's handle, for the audit trail; null for a stateless credential. */
  readonly sessionId: string | null;
  /** The acting credential, as {@link Principal} has it. */
  readonly credential: string;
  /** The rows that it covers; `rowsCovered` of coverage.ts puts them into statements (rule 64). */
  readonly coverage: Coverage;
  /** The fields that answers show and that changes may have; `shownFields` of field-view.ts puts them into statements. */
  readonly view: FieldView;
  /**
   * The permit to read all rows, if this one does not cover them and the caller has it. A write that finds no row looks with it whether the
   * caller may read the row (decision 195).
   */
  readonly widerRead: Permit<'read'> | undefined;
  /**
   * The entities called `name` to which the caller may refer: those that its grants of `label` or `read` cover, whatever the scopes of its credential (rule
   * 115).
   * Undefined: none.
   */
  readonly referable: (name: string) => Coverage | undefined;
  /** The entities called `name` that the caller may find by their values: those that its grants and scopes of `read` cover. Undefined: none. */
  readonly findable: (name: string) => Coverage | undefined;
}

/**
 * Decides whether `principal` may perform `action` on entities called `entity`. Throws 403 `forbidden` when no grant of the active profile
 * allows it, 403 `insufficient-scope` when the roles would but the credential's scopes do not.
 */
export function authorize<A extends Action>(principal: Principal, entity: string, action: A): Permit<A> {
  const coverage = coverageFor(principal, entity, action);
  if (!coverage) throw new Problem('forbidden', { audit: { entity } });
  if (!isInScope(principal, entity, action)) throw new Problem('insufficient-scope', { audit: { entity } });
  const referable = (name: string) => coverageFor(principal, name, 'label', 'read');
  const findable = (name: string) => (isInScope(principal, name, 'read') ? coverageFor(principal, name, 'read') : undefined);
  const readsAll = coverage.kind !== 'all' && findable(entity)?.kind === 'all';
  const widerRead = readsAll ? authorize(principal, entity, 'read') : undefined;
  const sessionId = principal.session?.id ?? null;
  const { user, credential } = principal;
  return { entity, userName: user.name, sessionId, credential, coverage, view: wholeView, widerRead, referable, findable } as Permit<A>;
}

/**
 * The permit to change entities and to receive each as it then is: the rows that both `update` and `read` cover (rule 116). Throws as
 * {@link authorize} does for either action.
 */
export function authorizeUpdate(principal: Principal, entity: string): Permit<'update'> {
  const [update, read] = [authorize(principal, entity, 'update'), authorize(principal, entity, 'read')];
  return read.coverage.kind === 'all' ? update : { ...update, coverage: rowsOfBoth(update.coverage, read.coverage), widerRead: undefined };
}

/** Whether {@link authorize} would give a permit for `action` on any row of the entities called `entity`. */
export function isPermitted(principal: Principal, entity: string, action: Action): boolean {
  return coverageFor(principal, entity, action) !== undefined && isInScope(principal, entity, action);
}

/** The entities that the grants of any of the actions cover. */
function coverageFor({ grants, user }: Principal, entity: string, ...actions: Action[]): Coverage | undefined {
  const granted = [grants.get(entity), grants.get('*')];
  return coverageOf(
    actions.flatMap((action) => granted.map((each) => each?.get(action))),
    user.name,
  );
}

const isInScope = ({ scopes }: Principal, entity: string, action: Action): boolean =>
  !scopes || scopes.some((scope) => covers(scope, entity, action));

/** Whether the scope reaches the action on the entity; only a scope on `*` reaches `*`. */
function covers(scope: Scope, entity: string, action: Action): boolean {
  return (scope.entity === '*' || scope.entity === entity) && scope.actions.includes(action);
}

/** The grants as the database lists them, one row an action, as a map. */
export function grantMap(rows: readonly GrantRow[]): Grants {
  const grants = new Map<string, Map<Action, Condition>>();
  for (const { entity, action, condition } of rows) {
    const actions = grants.get(entity) ?? new Map<Action, Condition>();
    // Two roles may grant the same action; the wider condition counts.
    if (actions.get(action) !== 'any') actions.set(action, condition);
    grants.set(entity, actions);
  }
  return grants;
}
