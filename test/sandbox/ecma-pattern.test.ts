/** Patterns of callers mean what ECMA 262 says with the flag u, or are refused. V8 is the judge, with patterns of the test alone. */
import { expect, test } from 'vitest';
import { linearPattern, linearPatternSize } from '../../src/sandbox/linear-pattern.ts';
import { PatternMeter } from '../../src/sandbox/pattern-meter.ts';

/** The first planes' letters, spaces, signs and ends, and one of each later plane. Half surrogates are in no text. */
const points = [
  ...Array.from({ length: 0x3_100 }, (_, point) => point),
  ...Array.from({ length: 0x200 }, (_, index) => 0xfe00 + index),
  0xd7ff,
  0xe000,
  0xffff,
  0x1_0000,
  0x1_f600,
  0x2_0000,
  0xf_ffff,
  0x10_ffff,
];
const letters = points.map((point) => String.fromCodePoint(point));

test.each([
  '\\s',
  '\\S',
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '.',
  '[\\s]',
  '[^\\s]',
  '[\\S]',
  '[^\\S]',
  '[\\sa]',
  '[^\\d\\s]',
  '[\\w.]',
  '[\\b]',
  '[.]',

  '\\t',
  '\\n',
  '\\v',
  '\\f',
  '\\r',
  '\\0',
  '\\cA',
  '\\cj',
  '[\\cZ]',
  '\\x41',
  '\\u0041',
  '\\u{1f600}',
  '\\ud83d\\ude00',
  '[\\ud83d\\ude00]',

  '\\u{41}',
  '[\\u0000-\\u{10ffff}]',
  '[\\-\\]\\[]',
  '\\/',
  '\\.',
  '\\$',
  '[\\x00-\\x1f]',
  '[^\\n]',
  '[[]',
  '[a[.]',
  '\\\\s',
  '[\\\\s]',
  '\\[.',
])('%s has the letters of ECMA 262', (pattern) => {
  const source = `^${pattern}$`;
  expect(linearPatternSize(source)).toBeDefined();
  const own = linearPattern(source, new PatternMeter());
  const judge = new RegExp(source, 'u');
  expect(letters.filter((letter) => own.test(letter) !== judge.test(letter))).toEqual([]);
});

test.each([
  '\\bfoo\\b',
  'a\\Bb',
  '^a.c$',
  '^\\S+\\s\\S+$',
  '(?<year>\\d{4})',
  'a$',
  '^(?:a|b\\s)*$',
  '\\(.\\)',
  '^\\(?s?.c$',
  '^[(?s)]?a.c$',
])('%s finds what ECMA 262 does', (source) => {
  const texts = [
    'foo',
    'a foo.',
    'foobar',
    'ab',
    'éfoo',
    'a\u2028c',
    'a\rc',
    'abc',
    'a\u00a0b',
    'a\ufeffb',
    '2026',
    'a\n',
    'b\u3000',
    '(x)',
    '(\u2029)',
  ];
  const own = linearPattern(source, new PatternMeter());
  const judge = new RegExp(source, 'u');
  expect(texts.map((text) => [text, own.test(text)])).toEqual(texts.map((text) => [text, judge.test(text)]));
});

test.each([
  '\\1',
  '(a)\\1',
  '\\12',
  '\\012',
  '\\u12',
  '\\x4',
  '\\c1',
  '\\c',
  '[]|[a]',
  '^[^]+$',
  '[^]a]',
  '\\Qa.b\\E',
  '(?=a)',
  '(?<!a)b',
  '\\p{Nonsense}',
])('%s, which RE2 has not or reads otherwise, is refused', (source) => {
  expect(linearPatternSize(source)).toBeUndefined();
});
