import { assert, bigInt, property } from 'fast-check';
import { expect, it } from 'vitest';
import { Problem } from '../../src/problems/errors.ts';
import { readKey } from '../../src/entities/key.ts';
import { isInt64 } from '../../src/json/int64.ts';
import { isEntityName } from '../../src/entities/name.ts';

it.each(['0', '1', '-1', '10', '9007199254740991', '9007199254740993', '-9007199254740993', '9223372036854775807', '-9223372036854775808'])(
  'the key %s is returned digit for digit (rule 68)',
  (text) => {
    expect(readKey(text)).toBe(text);
  },
);

it.each([
  ['nothing', ''],
  ['one past the largest', '9223372036854775808'],
  ['one past the smallest', '-9223372036854775809'],
  ['the largest with 19 digits', '9999999999999999999'],
  ['20 digits', '10000000000000000000'],
  ['a thousand digits', '1'.repeat(1000)],
  ['a leading zero', '042'],
  ['only zeros', '00'],
  ['a negative zero', '-0'],
  ['a plus sign', '+1'],
  ['two signs', '--1'],
  ['a sign alone', '-'],
  ['a leading space', ' 1'],
  ['a trailing space', '1 '],
  ['a trailing line break', '1\n'],
  ['a leading line break', '\n1'],
  ['a NUL', '1\u0000'],
  ['an exponent', '1e3'],
  ['hexadecimal', '0x10'],
  ['a decimal point', '1.0'],
  ['a group separator', '1_000'],
  ['a bigint suffix', '1n'],
  ['Arabic-Indic digits', '\u0661\u0662'],
  ['full-width digits', '\uFF11'],
  ['a minus sign outside ASCII', '\u22121'],
  ['Infinity', 'Infinity'],
])('400 — a key with %s is refused, so it never means an adjacent key (rule 68)', (_, text) => {
  expect(() => readKey(text)).toThrow(Problem);
  expect(() => readKey(text)).toThrow(
    expect.objectContaining({
      code: 'invalid-key',
      status: 400,
      faults: [expect.objectContaining({ parameter: 'key', code: 'invalid-value' })],
    }),
  );
});

it('all 64-bit integers in decimal are keys, and no other integers (rule 68)', () => {
  assert(property(bigInt(-(2n ** 63n), 2n ** 63n - 1n), (number) => isInt64(String(number))));
  assert(property(bigInt(2n ** 63n, 2n ** 70n), (number) => !isInt64(String(number)) && !isInt64(String(-number - 1n))));
});

it.each(['a', 'Z', 'customer', 'a.b-c_d', 'A1', 'constructor', 'x'.repeat(64)])('%s is an entity name (rule 69)', (name) => {
  expect(isEntityName(name)).toBe(true);
});

it.each(['', '1a', '_a', '.a', '-a', 'a b', 'a/b', 'a\u0000', 'a\n', 'é', 'aé', '*', 'x'.repeat(65)])(
  '%j is not an entity name (rule 69)',
  (name) => {
    expect(isEntityName(name)).toBe(false);
  },
);
