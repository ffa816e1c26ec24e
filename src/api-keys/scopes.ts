/** Compares requested scopes with the grants of a profile. A pure function of both. */
import { allActions, type Action, type Scope } from '../rights/vocabulary.ts';
import type { Grants } from '../rights/permit.ts';
import type { Fault } from '../problems/faults.ts';
import { expectedOneOf } from '../problems/expected.ts';

/**
 * A fault, with a pointer under `/scopes`, for each action that `grants` do not grant. `*` requests all entities on which the action is
 * granted, so it is a fault only if there are none.
 */
export function faultsOfScopes(scopes: readonly Scope[], grants: Grants): Fault[] {
  return scopes.flatMap((scope, index) => {
    const allowed = allActions.filter((action) => isGranted(grants, scope.entity, action));
    return scope.actions.flatMap((action, position): Fault[] =>
      allowed.includes(action)
        ? []
        : [
            {
              pointer: `/scopes/${index}/actions/${position}`,
              code: 'invalid-value',
              ...(allowed.length > 0 && { values: { allowed: allowed.join(', ') } }),
              ...expectedOneOf(allowed),
            },
          ],
    );
  });
}

function isGranted(grants: Grants, entity: string, action: Action): boolean {
  if (entity === '*') return [...grants.values()].some((granted) => granted.has(action));
  return grants.get(entity)?.has(action) === true || grants.get('*')?.has(action) === true;
}
