/** Each acceptance check of rights is a test that has its number in its title. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const checks = 35;

test('each of the 35 checks of rights is a test with its number', () => {
  const root = new URL('../../', import.meta.url);
  const lines = globSync('test/**/*.test.ts', { cwd: root }).flatMap((file) => readFileSync(new URL(file, root), 'utf8').split('\n'));
  const titles = lines.filter((line) => !/^\s*(?:\/\*\*|\*|\/\/)/.test(line));
  const numbers = titles.flatMap((title) => Array.from(title.matchAll(/check (\d+)(?= of rights| and check \d+ of rights)/g)));
  const found = new Set(numbers.map(([, n]) => Number(n)));
  const all = Array.from({ length: checks }, (_, index) => index + 1);
  expect(all.filter((n) => !found.has(n))).toEqual([]);
});
