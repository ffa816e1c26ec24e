/** `format: regex` is a regular expression of ECMA 262 with the flag u, as V8 reads it, and V8 gets no text of a caller (rule 146). */
import { array, assert, constantFrom, property } from 'fast-check';
import { expect, test } from 'vitest';
import { isRegularExpression } from '../../src/contract/regular-expression.ts';

const isOfV8 = (text: string): boolean => {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
};

test.for([
  '',
  'a|',
  '(?:)',
  '(?=a)b',
  '(?<!a)b',
  '(?<a>x)\\k<a>',
  '\\k<a>(?<a>x)',
  '(?<a>x)|(?<a>y)',
  '\\1(a)',
  '[\\d-]',
  '[^]',
  '[]',
  '[a-]',
  '[\\b\\-]',
  'a{2,3}?',

  '\\u{1f600}',
  '[\\ud83d\\ude00-\\u{1f610}]',
  '\\p{Lu}',
  '\\P{Script=Greek}',
  '[\\p{sc=Grek}]',
  '\\cA',
  '\\0',
  '\\/',
  '(?i:a)',
  '(?i-ms:a)',
  '(?<\\u0061>x)',

  '{',
  'a{2',
  'a**',
  '(',
  ')',
  '[',
  ']',
  '\\',
  '\\a',
  '\\-',
  '\\k<a>',
  '\\k',
  '\\2(a)',
  '(?=a)*',
  '(?<=a)+',
  '^*',
  '\\b+',
  'a{3,2}',
  '[b-a]',
  '[\\d-a]',
  '[a-\\w]',

  '(?<a>x)(?<a>y)',
  '((?<a>x)|y)(?<a>z)',
  '(?<a>(?<a>x))',
  '(?<1>x)',
  '(?',
  '(?<a',
  '\\p{Nothing}',
  '\\p{}',
  '\\pL',
  '\\c1',
  '\\01',
  '\\x1',
  '\\u{110000}',
  '\\u12',

  '(?ii:a)',
  '(?i-i:a)',
  '(?-:a)',
  '(?x:a)',
  '(?i)',
  '\\p{a_b=c}',
  '\\u{}',
  '[\\k]',
  '[\\1]',
  '[\\B]',
  '\\p{Lu',
  '(?P<a>x)',
  'a{,3}',
  '}',
])('%s is one exactly if V8 takes it (rule 146)', (text) => {
  expect(isRegularExpression(text)).toBe(isOfV8(text));
});

test('so are random ones', () => {
  const pieces =
    '( ) (?: (?= (?! (?<= (?<! (?<a> (?<b> | * + ? *? {1} {1,} {2,1} [ [^ ] - ^ $ . \\b \\B \\d \\W \\p{L} \\P{Lu} \\k<a> \\1 \\0 \\x41 \\u{41} \\u0041 \\- \\. a b 1 \u{1f600} { }';
  const text = array(constantFrom(...pieces.split(' ')), { maxLength: 10 }).map((parts) => parts.join(''));
  assert(
    property(text, (each) => isRegularExpression(each) === isOfV8(each)),
    { numRuns: 2_000 },
  );
});

test.for<[about: string, text: string, fits: boolean]>([
  ['classes', '[\\s\\S]'.repeat(30_000), true],
  ['classes that differ', Array.from({ length: 20_000 }, (_, n) => `[\\p{L}${n}-\\u{1ffff}]`).join(''), true],
  ['groups inside each other', '('.repeat(5_000) + ')'.repeat(5_000), true],
  ['more groups inside each other', '('.repeat(5_001) + ')'.repeat(5_001), false],
  ['groups', '(?<!a|b)(c)'.repeat(20_000), true],
  ['open groups', '('.repeat(900_000), false],
  ['groups with names', Array.from({ length: 20_000 }, (_, n) => `(?<a${n}>b)`).join(''), true],
  ['names that are not closed', '(?<a'.repeat(200_000), false],
])('a long text is parsed to its end: %s', ([, text, fits]) => {
  expect(isRegularExpression(text)).toBe(fits);
});
