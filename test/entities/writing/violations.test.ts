/** Errors of PostgreSQL that are violated rules of a type, and those that only look like one (rule 75). */
import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { isStillReferenced, violationOf } from '../../../src/entities/writing/violations.ts';
import type { Companion } from '../../../src/entities/companion/layout.ts';

const layout: Companion = {
  table: 'x1',
  columns: [
    { name: 'c1', field: ['email'], type: 'string', fold: false },
    { name: 'c2', field: ['customer'], type: 'int64', fold: false },
  ],
  uniques: [{ name: 'x1_u1', columns: ['c1'] }],
  indexes: [],
  substrings: [],
  search: undefined,
  references: [{ name: 'x1_r1', column: 'c2', to: 'customer', onDelete: 'restrict' }],
  next: 3,
  state: 'ready',
};
const errorOf = (code: string, schema: string, constraint: string) =>
  Object.assign(new DatabaseError('violated', 8, 'error'), { code, schema, constraint });
const faultsOf = (error: unknown) => {
  const problem = violationOf(layout, error);
  return problem && [problem.code, ...problem.faults.map(({ pointer, code }) => `${pointer} ${code}`)];
};

test('a violation in a table of a type is the fault of its fields', () => {
  expect(faultsOf(errorOf('23505', 'entity_data', 'x1_u1'))).toEqual(['unique-conflict', '/email duplicate-value']);
  expect(faultsOf(errorOf('23503', 'entity_data', 'x1_r1'))).toEqual(['validation-failed', '/customer reference-not-found']);
  expect(isStillReferenced(errorOf('23503', 'entity_data', 'x2_r1'))).toBe(true);
});

test.each([
  ['23505', 'public', 'x1_u1'],
  ['23503', 'public', 'x1_r1'],
  ['23514', 'entity_data', 'x1_u1'],
])('an error %s in the schema %s is no fault of the caller', (...error) => {
  expect(violationOf(layout, errorOf(...error))).toBeUndefined();
  expect(isStillReferenced(errorOf(...error))).toBe(false);
  expect(violationOf(layout, Object.assign(new Error('of the service'), errorOf(...error)))).toBeUndefined();
});
