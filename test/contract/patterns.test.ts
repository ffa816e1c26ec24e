/**
 * JSON Schema does not say whether a pattern is read with the `u` flag. Ajv uses it, Zod, Spectral and many generated clients do not. So
 * both readings of every pattern in openapi.yaml accept the same texts.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { document } from '../support/operations.ts';

/** Every pattern inside a JSON document. */
function patternsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { pattern } = value as { pattern?: unknown };
  return [...(typeof pattern === 'string' ? [pattern] : []), ...Object.values(value).flatMap(patternsIn)];
}

const patterns = [...new Set(patternsIn(document))];
/** Every UTF-16 code unit alone, which includes all control characters and lone surrogates, and pairs of surrogates. */
const hostile = [
  ...Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit)),
  ...[0x1_0000, 0x1_f600, 0x2_0000, 0xe_0001, 0x10_ffff].map((point) => String.fromCodePoint(point)),
  '\ud83d\ud83d\ude00',
  '\ude00\ud83d',
  'e\u0301',
  '',
];

test('there are patterns', () => {
  expect(patterns.length).toBeGreaterThan(10);
});

describe.for(patterns)('%s', (pattern) => {
  const [plain, unicode] = [new RegExp(pattern), new RegExp(pattern, 'u')];
  const samples = fc.sample(fc.stringMatching(unicode), { numRuns: 2, seed: 1 });

  test('accepts the same texts with and without the u flag', () => {
    const alone = hostile.filter((text) => plain.test(text) !== unicode.test(text));
    const disputed = samples.flatMap((sample) => {
      const middle = sample.length >> 1;
      return hostile
        .flatMap((text) => [text + sample, sample + text, sample.slice(0, middle) + text + sample.slice(middle + 1)])
        .filter((text) => plain.test(text) !== unicode.test(text));
    });
    expect([...alone, ...disputed].map((text) => JSON.stringify(text))).toEqual([]);
    expect(samples.every((sample) => plain.test(sample))).toBe(true);
  });
});
