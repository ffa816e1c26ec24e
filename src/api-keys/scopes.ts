/**
 * What scopes ask for, measured against what there is to give: the grants of a profile and the ceiling of the credential that asks. Pure;
 * it finds neither.
 */
import { covers, type Grants } from '../authn/principal.ts';
import type { Action, Scope } from '../database/tables.ts';
import type { Fault } from '../errors.ts';

const actions: readonly Action[] = ['create', 'read', 'update', 'delete'];

/**
 * A fault, with a pointer under `/scopes`, for every action that `grants` do not grant or `ceiling` (null: none) does not reach. `*` asks
 * for whatever entities the action is granted on, so it is at fault only when there are none; below a ceiling it must be in the ceiling.
 */
export function faultsOfScopes(scopes: readonly Scope[], grants: Grants, ceiling: readonly Scope[] | null): Fault[] {
  return scopes.flatMap((scope, index) => {
    const allowed = actions.filter((action) => isGranted(grants, scope.entity, action) && isWithin(ceiling, scope.entity, action));
    return scope.actions.flatMap((action, position): Fault[] =>
      allowed.includes(action)
        ? []
        : [
            {
              pointer: `/scopes/${index}/actions/${position}`,
              code: 'invalid-value',
              ...(allowed.length > 0 && { values: { allowed: allowed.join(', ') } }),
            },
          ],
    );
  });
}

/** Whether a credential with these scopes (null: unlimited) can do nothing that one with `ceiling` (null: unlimited) cannot. */
export function areWithin(scopes: readonly Scope[] | null, ceiling: readonly Scope[] | null): boolean {
  const asked = scopes ?? [{ entity: '*', actions }];
  return asked.every((scope) => scope.actions.every((action) => isWithin(ceiling, scope.entity, action)));
}

function isGranted(grants: Grants, entity: string, action: Action): boolean {
  if (entity === '*') return [...grants.values()].some((granted) => granted.has(action));
  return grants.get(entity)?.has(action) === true || grants.get('*')?.has(action) === true;
}

function isWithin(ceiling: readonly Scope[] | null, entity: string, action: Action): boolean {
  return ceiling === null || ceiling.some((scope) => covers(scope, entity, action));
}
