/**
 * The numbers of a JSON body. The server accepts those that a double represents exactly, in any notation, and refuses all others (rule 70).
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson } from '../../src/json/json.ts';

const read = (text: string): ReturnType<typeof readJson> => readJson(Buffer.from(text));
const accepts = (text: string): boolean => !('code' in read(text));

describe('numbers', () => {
  test.each([
    [
      'is short',
      '0',
      '-1',
      '1.0',
      '1e2',
      '1E+02',
      '0.10',
      '-0.5',
      '0e5',
      '0.0',
      '123456789012345',
      '0.12345678901234',
      '-99999999999999.9',
    ],
    [
      'needs all digits of a double',
      '9007199254740992',
      '-9007199254740992',
      '1e23',
      '123456789012345680000',
      '0.1234567890123456',
      '0.30000000000000004',
    ],
    [
      'is very large or small',
      '1.7976931348623157e308',
      '5e-324',
      '2.2250738585072014e-308',
      '-1.5e-7',
      '1000000000000000000000',
      `1${'0'.repeat(308)}`,
    ],
    ['is a negative zero', '-0', '-0.0', '-0e5', '-0.000E-3'],
    ['is padded with zeros', `1.${'0'.repeat(16_383)}`, `0.${'0'.repeat(300)}1e301`, `1${'0'.repeat(300)}e-300`],
  ])('a number that %s is accepted with its value', (_, ...numbers) => {
    for (const number of numbers) expect(read(number)).toEqual({ text: number, value: Number(number) });
  });

  test.each([
    [
      'has more digits than a double',
      '9007199254740993',
      '0.1234567890123456789',
      '1234567890123456789',
      '0.10000000000000001',
      '1e23000000',
    ],
    ['is not finite', '1e400', '-1e400', '1e309', '1.7976931348623159e308', `1${'0'.repeat(309)}`],
    ['becomes zero', '1e-400', '-1e-400', '1e-324', `0.${'0'.repeat(400)}1`],
    ['is a negative zero in a notation that numeric cannot store', '-0e-16384', '-0e401'],
    ['exceeds numeric', `1.${'0'.repeat(16_384)}`, '0e-16384', '0e-401', '0e401'],
    ['has a huge exponent', '1e999999999', '1e-999999999', `1e${'9'.repeat(5_000)}`, '0e99999999999999999999'],
  ])('a number that %s is refused, not rounded (rule 70)', (_, ...numbers) => {
    for (const number of numbers) {
      expect(read(number)).toEqual({ code: 'number-not-exact', pointer: '' });
      expect(read(`{"a":[1,${number}]}`)).toEqual({ code: 'number-not-exact', pointer: '/a/1' });
    }
  });

  test('a number as long as a body is read in linear time (rule 70)', () => {
    // Linear work takes tens of milliseconds. Quadratic work would take many minutes and exceed the test's time limit.
    const length = 1_000_000;
    for (const digits of ['1', '0', '01', '10', '9']) {
      const long = digits.repeat(length / digits.length);
      for (const number of [`0.${long}1`, `1${long}`, `0.0${long}e${long}1`, `1e5${long}`]) expect(accepts(number)).toBe(false);
    }
  });

  test('acceptance agrees with exact arithmetic on fractions (rule 70)', () => {
    const seen = { kept: 0, changed: 0 };
    fc.assert(
      fc.property(written, (number) => {
        const keeps = keepsItsValue(number);
        seen[keeps ? 'kept' : 'changed']++;
        expect(accepts(number), number).toBe(keeps);
      }),
      { numRuns: 5_000 },
    );
    expect(seen.kept).toBeGreaterThan(500);
    expect(seen.changed).toBeGreaterThan(500);
  });
});

/** Numbers of the JSON grammar in all notations: doubles as printed, shifted, padded, and one digit off; and random ones. */
const digits = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom('0', '1', '2', '3', '4', '5', '6', '7', '8', '9'), { minLength, maxLength }).map((all) => all.join(''));
const random = fc
  .tuple(fc.constantFrom('', '-'), digits(1, 19), fc.option(digits(1, 19)), fc.option(fc.integer({ min: -345, max: 320 })))
  .map(([sign, whole, fraction, exponent]) => {
    const integer = whole.replace(/^0+(?=.)/, '');
    return `${sign}${integer}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`;
  });
const near = fc
  .tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: -30, max: 30 }), fc.constantFrom(0, 0, 0, 1, -1), fc.nat(3))
  .map(([double, shift, off, zeros]) => {
    const { numerator, exponent } = fractionOf(String(double));
    const power = exponent - zeros + shift;
    const mantissa = String((numerator + BigInt(off)) * 10n ** BigInt(zeros));
    const sign = mantissa.startsWith('-') ? '-' : '';
    const unsigned = mantissa.slice(sign.length);
    // numerator × 10^exponent, with the point moved `shift` places or left out, and the exponent moved along.
    if (shift <= 0) return `${mantissa}e${exponent - zeros}`;
    const padded = unsigned.padStart(shift + 1, '0');
    return `${sign}${padded.slice(0, -shift)}.${padded.slice(-shift)}E${power < 0 ? '' : '+'}${power}`;
  });
const written = fc.oneof(
  random,
  near,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => (Object.is(double, -0) ? '-0' : String(double))),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
);

function fractionOf(number: string): { numerator: bigint; exponent: number } {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { numerator: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** The oracle: compares the two values as fractions of big integers, and shares no code or method with the reader. */
function keepsItsValue(number: string): boolean {
  const double = Number(number);
  if (!Number.isFinite(double)) return false;
  if (double === 0) return fractionOf(number).numerator === 0n;
  const before = fractionOf(number);
  const after = fractionOf(String(double));
  const lowest = Math.min(before.exponent, after.exponent);
  const scale = ({ numerator, exponent }: typeof before): bigint => numerator * 10n ** BigInt(exponent - lowest);
  return scale(before) === scale(after);
}
