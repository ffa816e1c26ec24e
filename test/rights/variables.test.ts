/** The variables of a caller, as filters and rules read them. */
import { expect, test } from 'vitest';
import type { Principal } from '../../src/rights/principal.ts';
import { readAttributeType, type AttributeType, type DeclaredTypes } from '../../src/rights/attribute-types.ts';
import { variablesOf } from '../../src/rights/variables.ts';

const typesOf = (schemas: Record<string, object>): DeclaredTypes =>
  new Map(Object.entries(schemas).map(([name, schema]) => [name, readAttributeType(schema) as AttributeType]));

const ada = {
  user: { id: '1', name: 'ada', displayName: 'Ada', attributes: {} },
  profile: { id: '2', name: 'sales', label: 'Sales', default: true, attributes: {} },
  timeZone: null,
} satisfies Partial<Principal>;

test('names come first, then what is declared for users, profiles and claims, with types and values', () => {
  const types = {
    user: typesOf({ regions: { type: 'array', items: { type: 'string' } }, customer: { type: 'string', format: 'int64' } }),
    profile: typesOf({ level: { type: 'number' } }),
    claims: typesOf({ team: { type: 'string', enum: ['a', 'b'] } }),
  };
  const values = { user: { regions: ['north'] }, profile: { level: 2 }, claims: { team: 'a' } };
  const variables = variablesOf({ ...ada, timeZone: 'Europe/Berlin' }, { types, values });
  expect(variables.names.map((name) => [name, variables.typeOf(name), variables.valueOf(name)])).toEqual([
    ['user.name', 'string', 'ada'],
    ['profile.name', 'string', 'sales'],
    ['user.regions', { items: 'string' }, ['north']],
    ['user.customer', 'int64', undefined],
    ['profile.level', 'number', 2],
    ['claims.team', 'enum', 'a'],
  ]);
  expect(variables.timeZone).toBe('Europe/Berlin');
  expect([variables.typeOf('user.regoins'), variables.typeOf('user.toString')]).toEqual([undefined, undefined]);
});

test('without a time zone it is UTC, and without a profile its name is missing', () => {
  const variables = variablesOf({ ...ada, profile: undefined });
  expect([variables.timeZone, variables.names, variables.valueOf('profile.name')]).toEqual([
    'UTC',
    ['user.name', 'profile.name'],
    undefined,
  ]);
});
