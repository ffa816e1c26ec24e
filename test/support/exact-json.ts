/**
 * Compares JSON digit for digit, and makes random JSON objects that the service accepts. It is independent: it shares no code with the
 * reader in `src/json/json.ts`.
 */
import * as fc from 'fast-check';

/** A number by its decimal value: `1.0`, `1e0` and `1` are equal, 9007199254740993 and 9007199254740992 differ. */
export function decimalOf(token: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Replaces a number that JSON.parse would have rounded. */
export class Decimal {
  readonly value: string;
  constructor(token: string) {
    this.value = decimalOf(token);
  }
}

/** The value of a JSON text with every number as a {@link Decimal}. */
export function exactly(text: string): unknown {
  const revive = (_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? new Decimal(context?.source ?? '') : value;
  return JSON.parse(text, revive);
}

/** Numbers that a 64-bit float represents exactly, in all the ways that JSON can write them. */
const numberText = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number === 0 ? 0 : number)),
  fc.integer().map(String),
  fc.maxSafeInteger().map((number) => String(number === 0 ? 0 : number)),
  fc.integer({ min: -99_999, max: 99_999 }).map((number) => `${number}${number === 0 ? '' : '.50'}`),
  fc
    .tuple(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: -20, max: 18 }))
    .map(([digits, exponent]) => `${digits}E${exponent < 0 ? '' : '+'}${exponent}`),
  fc.constantFrom('0.10', '1.0', '100', '1e2', '5e-324', '1.7976931348623157e308', '-0.000001', '9007199254740991', '0e5', '0.0'),
);

const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((value) => !value.includes('\0') && value.isWellFormed());
const name = text.filter((value) => !['__proto__', 'constructor', 'prototype'].includes(value));
const space = fc.constantFrom('', '', ' ', '\n\t');

const { object } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false'),
    numberText,
    text.map((value) => JSON.stringify(value)),
    fc.tuple(space, fc.array(tie('value'), { maxLength: 4 })).map(([gap, items]) => `[${gap}${items.join(`${gap},`)}]`),
    tie('object'),
  ),
  object: fc
    .tuple(space, fc.uniqueArray(fc.tuple(name, tie('value')), { maxLength: 5, selector: ([member]) => member }))
    .map(([gap, members]) => `{${gap}${members.map(([member, value]) => `${JSON.stringify(member)}${gap}:${value}`).join(`,${gap}`)}}`),
}));

/** The text of a JSON object that the service accepts. */
export const objectText: fc.Arbitrary<string> = object;
