/**
 * `npm run test:mutants:rights`: makes each mistake of `rights.json` in a copy of the project, and runs the tests of rights. Prints the mistakes that no test noticed, and
 * fails on one. Numbers after the command choose mistakes, from 1.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions } from '../lib/options.ts';
import { copyProject } from './copy.ts';
import { startServer } from './server.ts';
import { runTests } from './tests.ts';

interface Mistake {
  file: string;
  before: string;
  after: string;
}

/** The fastest ones first. */
const tests = [
  'test/filter/variables.test.ts',
  'test/rights/coverage.test.ts',
  'test/rights/field-view.test.ts',
  'test/rights/permit.test.ts',
  'test/rights/combined-grants.test.ts',
  'test/rights/rules.test.ts',
  'test/rights/judgements.test.ts',
  'test/rights/reference-rules.test.ts',
  'test/rights/reference-targets.test.ts',
  'test/entities/writing/known-faults.test.ts',
  'test/entity-types/sensitive-fields.test.ts',
  'test/entities/writing/references.test.ts',
  'test/rights/hidden-fields.test.ts',
  'test/rights/acceptance.test.ts',
  'test/rights/random-rights.test.ts',
  'test/races/rights.test.ts',
];

const timeoutMs = 180_000;
const mistakes = JSON.parse(readFileSync(join(import.meta.dirname, 'rights.json'), 'utf8')) as Mistake[];
const usage = `npm run test:mutants:rights -- [number …]

Makes the mistakes of scripts/mutants/rights.json, or those of these numbers, from 1.

  --help            print this
`;
const { words, fail } = readOptions('mutants rights', usage, {}, mistakes.length);
const wanted = words.map((word) => (mistakes[Number(word) - 1] ? Number(word) : fail(`there is no mistake ${word}`)));
const copy = copyProject(join(import.meta.dirname, '../..'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const server = await startServer();
try {
  let survivors = 0;
  for (const [index, { file, before, after }] of mistakes.entries()) {
    if (wanted.length > 0 && !wanted.includes(index + 1)) continue;
    const path = join(copy.directory, file);
    const text = readFileSync(path, 'utf8');
    if (text.split(before).length !== 2) throw new Error(`${file} has this not exactly once: ${before}`);
    writeFileSync(
      path,
      text.replace(before, () => after),
    );
    const { status, failure } = await runTests(tests, { directory: copy.directory, env: { DATABASE_URL: server.url }, timeoutMs });
    writeFileSync(path, text);
    if (status === 'passed') survivors += 1;
    process.stdout.write(`${index + 1} ${status === 'passed' ? 'SURVIVED' : status} ${file}: ${before} -> ${after}\n  ${failure ?? ''}\n`);
  }
  process.stdout.write(`${survivors} survived\n`);
  process.exitCode = survivors === 0 ? 0 : 1;
} finally {
  await server.stop();
  copy.remove();
}
