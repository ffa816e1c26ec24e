/**
 * `npm run test:mutants`: makes one small mistake at a time in a copy of the project and runs the tests that reach it. Prints the mistakes
 * that no test noticed. Fails on one that `accepted.json` does not explain, and on one whose results are unclear or timeouts. A script of our own does it:
 * StrykerJS counts coverage inside the test process, and many tests start services, workers and PostgreSQL in further processes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCompiler } from './compiles.ts';
import { copyProject } from './copy.ts';
import type { Mutation } from './mutations.ts';
import { readOptions } from './options.ts';
import { nearestTests, recordReach } from './reach.ts';
import { applyMutation, orderedMutations, showMutation, type Shown } from './select.ts';
import { startServer } from './server.ts';
import { runTests, type TestRun } from './tests.ts';

interface Result extends Shown {
  /** `timed out`: twice, so that only a quieter machine tells the mistake from the load. `unclear`: the second run contradicts the first. */
  status: 'caught' | 'survived' | 'accepted' | 'timed out' | 'unclear';
  /** The test that noticed it, why the mistake is accepted, or what is unclear. */
  reason: string;
}

interface Accepted {
  file: string;
  before: string;
  after: string;
  reason: string;
}

const project = join(import.meta.dirname, '../..');
const accepted = JSON.parse(readFileSync(join(import.meta.dirname, 'accepted.json'), 'utf8')) as Accepted[];
const options = readOptions();
const progress = (line: string) => process.stderr.write(`${line}\n`);

const copy = copyProject(project);
// Running tests are killed with this process; their watching processes then remove copy and server.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
try {
  const compiles = openCompiler(copy.directory);
  if (options.list) list(possibleMistakes(compiles));
  else report(await makeAll(possibleMistakes(compiles)));
} finally {
  copy.remove();
}

function list(mistakes: Iterable<Mutation>): void {
  for (const mutation of mistakes) process.stdout.write(`${describe(showMutation(textOf(mutation.file), mutation))}\n`);
}

function textOf(file: string): string {
  return readFileSync(join(copy.directory, file), 'utf8');
}

function* possibleMistakes(compiles: (file: string, text: string) => boolean): Generator<Mutation> {
  let left = options.count;
  for (const mutation of orderedMutations(copy.directory, options.only, options.seed)) {
    if (left === 0) return;
    if (!compiles(mutation.file, applyMutation(textOf(mutation.file), mutation))) continue;
    left -= 1;
    yield mutation;
  }
}

async function makeAll(mistakes: Iterable<Mutation>): Promise<Result[]> {
  const server = await startServer();
  try {
    const tests = { directory: copy.directory, env: { DATABASE_URL: server.url }, timeoutMs: options.timeoutMs };
    const cacheFile = join(project, 'node_modules/.cache/mutants/reach-by-name.json');
    const reach = await recordReach(cacheFile, { ...tests, timeoutMs: 1_800_000 }, progress);
    const results: Result[] = [];
    let lastFiles: readonly string[] = [];
    for (const mutation of mistakes) {
      const text = textOf(mutation.file);
      const path = join(copy.directory, mutation.file);
      const { near, further } = nearestTests(mutation, text, reach, options.timeoutMs / 4);
      const shown = showMutation(text, mutation);
      writeFileSync(path, applyMutation(text, mutation));
      let run = near.length > 0 ? await runTests(near, tests) : undefined;
      if (run?.status === 'passed' && further.length > 0) run = await runTests(further, tests);
      // A failure counts when it happens twice, since a busy machine can cause one.
      const again = run && run.status !== 'passed' ? await runTests(run.failedFile ? [run.failedFile] : near, tests) : undefined;
      writeFileSync(path, text);
      await server.clear();
      const result = judge(shown, run, again);
      results.push(result);
      progress(
        `${results.length}/${options.count} ${result.status} ${shown.file}:${shown.line} ${shown.kind} (${result.reason.split('\n')[0]})`,
      );
      lastFiles = near.length > 0 ? near : lastFiles;
    }
    if (lastFiles.length > 0 && (await runTests(lastFiles, tests)).status !== 'passed')
      throw new Error('the tests fail without a mistake as well, so their results show nothing');
    return results;
  } finally {
    await server.stop();
  }
}

function judge(shown: Shown, run: TestRun | undefined, again: TestRun | undefined): Result {
  if (run && again) {
    const reason = run.failure ?? 'failed';
    if (again.status === 'passed') return { ...shown, status: 'unclear', reason };
    return { ...shown, status: [run, again].some(({ status }) => status === 'failed') ? 'caught' : 'timed out', reason };
  }
  const known = accepted.find(({ file, before, after }) => file === shown.file && before === shown.before && after === shown.after);
  if (known) return { ...shown, status: 'accepted', reason: known.reason };
  return { ...shown, status: 'survived', reason: run ? `${Object.keys(run.files).length} files passed` : 'no test reaches it' };
}

function describe({ file, line, kind, before, after }: Shown): string {
  const lines = (sign: string, text: string) => text.split('\n').map((one) => `  ${sign} ${one.trim()}`);
  return [`${file}:${line} ${kind}`, ...lines('-', before), ...lines('+', after)].join('\n');
}

/** Whether the mistake still needs a test, a reason or another run. */
function isOpen({ status }: Result): boolean {
  return status !== 'caught' && status !== 'accepted';
}

function report(results: Result[]): void {
  const count = (status: Result['status']) => results.filter((result) => result.status === status).length;
  const summary = {
    seed: options.seed,
    made: results.length,
    caught: count('caught'),
    survived: count('survived'),
    accepted: count('accepted'),
    timedOut: count('timed out'),
    unclear: count('unclear'),
  };
  if (results.length === 0) progress(`there is no possible mistake in ${options.only.join(', ')}`);
  if (results.length === 0 || results.some(isOpen)) process.exitCode = 1;
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ ...summary, results }, null, 2)}\n`);
    return;
  }
  for (const result of results.filter(isOpen)) process.stdout.write(`${result.status}: ${describe(result)}\n`);
  const { seed, made, caught, survived, accepted: explained, timedOut, unclear } = summary;
  const share = ((100 * caught) / Math.max(1, made)).toFixed(1);
  process.stdout.write(
    `seed ${seed}: ${made} mistakes, ${caught} caught (${share} %), ${survived} survived, ${explained} accepted, ${timedOut} timed out, ${unclear} unclear\n`,
  );
}
