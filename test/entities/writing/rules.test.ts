/**
 * `rules.ts` alone refuses writes of entities for their precondition, size or fields, and `rounds.ts` alone because others are faster. The test files of the
 * operations run the refusals.
 */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../../', import.meta.url);
const refusals = /\bProblem\(\s*'(precondition-failed|precondition-required|content-too-large|validation-failed)'/g;
/** The files of entities, batches and files of rows, with the codes of the refusals that each makes. */
const making = (pattern: RegExp) =>
  globSync('src/{entities,batch,transfer}/**/*.ts', { cwd: root })
    .toSorted()
    .map((file) => ({ file, codes: [...readFileSync(new URL(file, root), 'utf8').matchAll(pattern)].map(([, code]) => code) }))
    .filter(({ codes }) => codes.length > 0);
const made = making(refusals);
/** Refuses texts that no index can hold, also for the types. */
const ofRows = 'src/entities/companion/values.ts';
/** Removals have a protocol of their own. */
const removals = ['src/entities/writing/delete.ts', 'src/entities/writing/purge.ts'];

test('one file makes the refusals of writes, with each code once', () => {
  const writing = made.filter(({ file }) => !file.startsWith('src/entities/querying/') && file !== ofRows && !removals.includes(file));
  expect(writing).toEqual([
    {
      file: 'src/entities/writing/rules.ts',
      codes: ['precondition-required', 'precondition-failed', 'content-too-large', 'validation-failed'],
    },
  ]);
});

test('queries are refused for their own fields alone', () => {
  const querying = made.filter(({ file }) => file.startsWith('src/entities/querying/') || file === ofRows);
  expect(new Set(querying.flatMap(({ codes }) => codes))).toEqual(new Set(['validation-failed']));
});

test('writes make no `busy` of their own', () => {
  const files = making(/\bProblem\(\s*'(busy)'/g).map(({ file }) => file);
  const others = ['src/entities/companion/fill.ts', 'src/entities/querying/time-limit.ts', ...removals];
  expect(files.filter((file) => !others.includes(file))).toEqual([]);
});
