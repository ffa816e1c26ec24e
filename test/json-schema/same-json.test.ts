/** Equality of JSON values, as `const`, `enum` and `uniqueItems` need it. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { areDifferent, isSameJson } from '../../src/json-schema/same-json.ts';
import { compileSchema } from '../../src/json-schema/validator.ts';

/** The value with the members of its objects in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

test('values are equal by members in any order and by numbers, and different otherwise', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(value, value, (one, other) => {
      expect([isSameJson(one, reversed(one)), areDifferent([one, reversed(one)])]).toEqual([true, false]);
      expect(isSameJson(one, other)).toBe(!areDifferent([one, other]));
    }),
    { numRuns: 5_000 },
  );
});

test.each<[unknown, unknown]>([
  [1, '1'],
  [null, 'null'],
  [[1, 2], [12]],
  [['a,b'], ['a', 'b']],
  [{}, []],
  [{ a: null }, {}],
  [{ 'a":1,"b': 1 }, { a: 1, b: 1 }],
])('%j is another value than %j', (one, other) => {
  expect([isSameJson(one, other), areDifferent([one, other])]).toEqual([false, true]);
});

test('0 and -0 are the same number', () => {
  expect([isSameJson(0, -0), areDifferent([0, -0])]).toEqual([true, false]);
});

test('different items take time in proportion to their number (rule 70)', () => {
  // Compared with each other, they would take half an hour.
  const items = Array.from({ length: 200_000 }, (_, n) => ({ n, of: { n } }));
  const { accepts: isValid } = compileSchema({ uniqueItems: true }, { formats: new Map(), compilePattern: () => undefined });
  expect(isValid(items)).toBe(true);
  expect(isValid([...items, { of: { n: 7 }, n: 7 }])).toBe(false);
});
