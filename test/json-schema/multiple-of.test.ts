/** `multipleOf` compares decimals, as JSON writes numbers. */
import { expect, test } from 'vitest';
import { compileSchema } from '../../src/json-schema/validator.ts';

const isMultiple = (value: number, multipleOf: number) =>
  compileSchema({ multipleOf }, { formats: new Map(), compilePattern: () => undefined }).accepts(value);

test.for<[multipleOf: number, multiples: number[], others: number[]]>([
  [0.01, [19.99, 0.07, 4.35, 0.29, 1e20, -1.1, 0, 1.7976931348623157e308], [0.001, 19.999, 1e-7]],
  [3, [9, -9, 1.2e21, 0], [10, 1e20, 1.5]],
  [1e-10, [0.3, 1e-10, 1e21], [1.5e-10, 5e-324]],
  [0.1, [0.3, 1.1, 1e300], [0.35]],
  [2 ** 60, [2 ** 60, 2 ** 61], [2 ** 59, 1e20]],
  [1e20, [1e20, 3e20, 1e300], [1.5e20, 1e19]],
  [5e-324, [5e-324, 1.7976931348623157e308], []],
])('a multiple of %d', ([multipleOf, multiples, others]) => {
  expect(multiples.filter((value) => !isMultiple(value, multipleOf))).toEqual([]);
  expect(others.filter((value) => isMultiple(value, multipleOf))).toEqual([]);
});
