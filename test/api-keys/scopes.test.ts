import { describe, expect, test } from 'vitest';
import { faultsOfScopes } from '../../src/api-keys/scopes.ts';
import { grantMap } from '../../src/rights/permit.ts';
import type { Action, Scope } from '../../src/rights/vocabulary.ts';

const scope = (entity: string, ...actions: Action[]): Scope => ({ entity, actions });
const grants = grantMap([
  { entity: 'note', action: 'read', condition: 'any' },
  { entity: 'note', action: 'update', condition: 'own' },
  { entity: '*', action: 'create', condition: 'any' },
]);
const pointers = (scopes: Scope[]) => faultsOfScopes(scopes, grants).map(({ pointer }) => pointer);

describe('requested scopes', () => {
  test('are accepted where the roles grant the action, on the entity or on all, on any row or on own ones', () => {
    expect(pointers([scope('note', 'read', 'update', 'create'), scope('order', 'create'), scope('*', 'read')])).toEqual([]);
  });

  test('have a fault for each action that no role grants', () => {
    expect(pointers([scope('order', 'create', 'read'), scope('*', 'delete')])).toEqual(['/scopes/0/actions/1', '/scopes/1/actions/0']);
  });

  test('have faults with the allowed actions, or with no value if there are none', () => {
    expect(faultsOfScopes([scope('note', 'delete')], grants)[0]?.values).toEqual({ allowed: 'create, read, update' });
    expect(faultsOfScopes([scope('note', 'delete')], grantMap([]))[0]?.values).toBeUndefined();
  });

  test('treat a name like constructor as an entity and as nothing else (rule 65)', () => {
    expect(pointers([scope('constructor', 'read')])).toEqual(['/scopes/0/actions/0']);
  });
});
