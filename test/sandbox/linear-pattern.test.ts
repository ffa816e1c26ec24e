/** Patterns of callers: what they cost is counted before they are compiled, and bounded when they are tested (rules 101 and 102). */
import { expect, test } from 'vitest';
import { linearPattern, linearPatternSize } from '../../src/sandbox/linear-pattern.ts';
import { patternCostOf } from '../../src/sandbox/pattern-cost.ts';
import { longestText, PatternMeter, PatternWorkError } from '../../src/sandbox/pattern-meter.ts';

test.for([
  'abc',
  '^[a-z]{1,50}(ab|cd)*$',
  '(a{10}){10}',
  '(?:(a|bc){3,}x?){7}',
  'a{0}b{2,5}c+',
  '[\\]a]{9}[^\\]]{9}',
  '\\p{L}{20}[\\p{N}x]{30}',
  '(?i)straße{40}',
  'a|b|c|',
  '\\{3}\\({4}\\[{5}',
  '(?<year>[0-9]{4})-(?P<month>[0-9]{2})',
])('the cost of %j is at least the size of its program (rule 101)', (pattern) => {
  expect(patternCostOf(pattern).compiling).toBeGreaterThanOrEqual(linearPatternSize(pattern)?.size ?? Infinity);
});

test.for<[pattern: string, least: number]>([
  ['a{1000}', 1_000],
  ['((a{30}){30}){30}', 27_000],
  ['\\p{L}'.repeat(50), 5_000],
  ['(?i)[a-\uffff]', 2_500],
])('%j costs %i or more, although its text is short (rule 101)', ([pattern, least]) => {
  expect(patternCostOf(pattern).compiling).toBeGreaterThanOrEqual(least);
});

test('a pattern has the same verdicts as one of V8', () => {
  const meter = new PatternMeter();
  for (const pattern of ['^a+$', 'b', '^(ab|c)*$', '\\d{2}', '^$', '[^a]'])
    for (const text of ['', 'a', 'aaa', 'abab', 'abcab', 'x12', '1', 'b'])
      expect([pattern, text, linearPattern(pattern, meter).test(text)]).toEqual([pattern, text, new RegExp(pattern, 'u').test(text)]);
});

test('a pattern tests its longest text, and one letter more is refused; the next value begins anew (rule 102)', () => {
  const meter = new PatternMeter();
  const source = '^[ab]*a[ab]{250}$';
  const pattern = linearPattern(source, meter);
  const longest = longestText(linearPatternSize(source)?.weight ?? 0);
  const text = 'b'.repeat(longest);
  expect(meter.run(() => pattern.test(text))).toBe(false);
  expect(() => meter.run(() => pattern.test(`${text}b`))).toThrow(PatternWorkError);
  // The second test of the same text repeats the verdict on the first one.
  expect(meter.run(() => [pattern.test(text), pattern.test(text)])).toEqual([false, false]);
  expect(() => meter.run(() => [pattern.test(text), pattern.test('b')])).toThrow(PatternWorkError);
});
