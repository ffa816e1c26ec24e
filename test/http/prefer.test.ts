import { expect, test } from 'vitest';
import { dryRunOf } from '../../src/http/prefer.ts';

test.each([
  ['dry-run', ''],
  ['return=minimal, Dry-Run;a=b', ''],
  ['dry-run=""', ''],
  ['dry-run=off', 'off'],
  ['dry-run, dry-run=1', '1'],
  ['dry-run-later', undefined],
  ['note="a, dry-run"', undefined],
  ['', undefined],
])('the preference dry-run of %j is %j (RFC 7240 section 2)', (prefer, value) => {
  expect(dryRunOf(prefer)).toBe(value);
});

test('a quote that does not end costs time in proportion to the header', () => {
  // In quadratic time this would take an hour.
  expect(dryRunOf(`"${'\\"'.repeat(500_000)}`)).toBeUndefined();
  expect(dryRunOf(`dry-run, "${'\\"'.repeat(500_000)}\\`)).toBe('');
});
