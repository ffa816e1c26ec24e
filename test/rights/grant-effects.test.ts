/** The effects of changed lists of fields on the holders of a grant. */
import { expect, test } from 'vitest';
import type { SingleGrant } from '../../src/rights/documents.ts';
import { effectsOfGrant } from '../../src/rights/grant-effects.ts';
import { digestOfRule } from '../../src/rights/rule-document.ts';

const grantWith = (read: string[]): SingleGrant => {
  const rule = { read };
  return { entity: 'person', action: 'read', name: 'people', condition: digestOfRule(rule), rule };
};

const nobody = { before: [], after: [] };

test.each([
  [['*'], ['*', '-salary'], []],
  [['*'], ['*', '-name'], ['narrow']],
  [['*', '-name'], ['*'], ['widen']],
  // The type calls the field sensitive, so `*` lacks it.
  [['*'], ['*', 'salary'], ['widen']],
  [['*'], ['*', 'name'], []],
  [['*'], ['**'], ['widen']],
  [['*'], ['name'], ['narrow']],
  [['*', 'salary'], ['*'], ['narrow']],
  [['**'], ['*', 'salary'], ['narrow']],
  [['name'], ['name', 'salary'], ['widen']],
  [['name'], ['salary'], ['widen', 'narrow']],
])('from %j to %j: %j', (before, after, effects) => {
  const found = effectsOfGrant(
    { path: 'roles/clerk/person/people/read', before: grantWith(before), after: grantWith(after) },
    nobody,
    new Set(['salary']),
  );
  expect(found.map(({ effect }) => effect)).toEqual(effects);
});
