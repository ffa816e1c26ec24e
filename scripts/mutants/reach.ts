/**
 * The test files that reach each function. They are recorded once, by running them with a probe in each function, and stored for the next
 * run.
 */
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { functionBodies, withProbes } from './functions.ts';
import type { Mutation } from './mutations.ts';
import { runTests, type RunOptions } from './tests.ts';

interface Recorded {
  /** A hash of the file's text: a changed file is recorded again. */
  hash: string;
  passed: boolean;
  ms: number;
  /** Ids of functions. */
  reached: string[];
}

export type Reach = Record<string, Recorded>;

/** Files that start whole processes or check documents: they take minutes, and no single function is their subject. */
const excluded = /^test\/((deploy|docs|faults|journeys|scripts|locales)\/|client\/size\.)|\.long\.test\.ts$/;

/** The number of files between two saves to disk, so that an abort loses little. */
const groupSize = 8;

export async function recordReach(cacheFile: string, options: RunOptions, progress: (line: string) => void): Promise<Reach> {
  const { directory } = options;
  const read = (file: string) => readFileSync(join(directory, file), 'utf8');
  const hashes = new Map(
    globSync('test/**/*.test.ts', { cwd: directory })
      .filter((file) => !excluded.test(file))
      .map((file) => [file, createHash('sha256').update(read(file)).digest('hex')]),
  );
  const before = readReach(cacheFile);
  const reach: Reach = Object.fromEntries(Object.entries(before).filter(([file, { hash, passed }]) => passed && hashes.get(file) === hash));
  const missing = [...hashes.keys()].filter((file) => !reach[file]).toSorted();
  if (missing.length === 0) return reach;

  const sources = globSync('src/**/*.ts', { cwd: directory });
  const texts = new Map(sources.map((file) => [file, read(file)]));
  const reachFile = join(directory, '.reach');
  const env = {
    ...options.env,
    REACH_FILE: reachFile,
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=${pathToFileURL(join(directory, 'scripts/mutants/probe.ts')).href}`,
  };
  for (const [file, text] of texts) writeFileSync(join(directory, file), withProbes(file, text));
  for (let begin = 0; begin < missing.length; begin += groupSize) {
    const group = missing.slice(begin, begin + groupSize);
    progress(`recording what ${group[0]} and ${group.length - 1} more reach: ${begin} of ${missing.length} files done`);
    writeFileSync(reachFile, '');
    const { files } = await runTests(group, { ...options, env, all: true });
    const reached = Map.groupBy(readFileSync(reachFile, 'utf8').split('\n'), (line) => line.split(' ')[0]);
    for (const file of group) {
      const { passed = false, ms = 0 } = files[file] ?? {};
      const ids = new Set(reached.get(file)?.map((line) => line.split(' ')[1] ?? ''));
      reach[file] = { hash: hashes.get(file) ?? '', passed, ms, reached: [...ids] };
      if (!passed) progress(`${file} fails without any mistake and is not used`);
    }
    mkdirSync(dirname(cacheFile), { recursive: true });
    writeFileSync(cacheFile, JSON.stringify(reach));
  }
  for (const [file, text] of texts) writeFileSync(join(directory, file), text);
  return reach;
}

function readReach(cacheFile: string): Reach {
  try {
    return JSON.parse(readFileSync(cacheFile, 'utf8')) as Reach;
  } catch {
    return {};
  }
}

/**
 * The test files that reach the function of a mistake, those of the same folder first, then the fastest. `near` has those of `budgetMs` in all,
 * `further` the others, for a mistake that the near ones do not notice.
 */
export function nearestTests(mutation: Mutation, text: string, reach: Reach, budgetMs: number): { near: string[]; further: string[] } {
  const bodies = functionBodies(mutation.file, text);
  const around = bodies.filter(({ start, end }) => start <= mutation.start && mutation.end <= end);
  const innermost = around.toSorted((one, other) => other.start - one.start)[0];
  const ids = innermost ? [innermost.id] : bodies.map(({ id }) => id);
  const folder = `${dirname(mutation.file).replace(/^src/, 'test')}/`;
  const candidates = Object.entries(reach)
    .filter(([, { passed, reached }]) => passed && ids.some((id) => reached.includes(id)))
    .toSorted(
      ([one, { ms }], [other, { ms: otherMs }]) => Number(other.startsWith(folder)) - Number(one.startsWith(folder)) || ms - otherMs,
    );
  let spent = 0;
  const near: string[] = [];
  const further: string[] = [];
  for (const [file, { ms }] of candidates) {
    spent += ms;
    if (near.length === 0 || spent <= budgetMs) near.push(file);
    else further.push(file);
  }
  return { near, further };
}
