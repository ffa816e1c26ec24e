/** Chooses mistakes, spread evenly over folders and kinds. The same seed gives the same mistakes. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findMutations, type Mutation } from './mutations.ts';

/** All possible mistakes below the given paths, in the order in which to make them. */
export function orderedMutations(project: string, paths: readonly string[], seed: number): Mutation[] {
  const files = paths.flatMap((path) => (path.endsWith('.ts') ? [path] : globSync(`${path}/**/*.ts`, { cwd: project }).toSorted()));
  const all = files.flatMap((file) => findMutations(file, readFileSync(join(project, file), 'utf8')));
  const rank = ({ file, start, kind, replacement }: Mutation) =>
    createHash('sha256').update(`${seed} ${file} ${start} ${kind} ${replacement}`).digest('hex');
  const ranked = all.map((mutation) => ({ mutation, rank: rank(mutation) })).toSorted((one, other) => (one.rank < other.rank ? -1 : 1));
  const groups = Map.groupBy(ranked, ({ mutation: { file, kind } }) => `${file.split('/')[1]} ${kind}`);
  const rounds = [...groups.values()].flatMap((group) => group.map(({ mutation, rank }, round) => ({ mutation, rank, round })));
  return rounds.toSorted((one, other) => one.round - other.round || (one.rank < other.rank ? -1 : 1)).map(({ mutation }) => mutation);
}

export interface Shown {
  file: string;
  line: number;
  kind: string;
  /** The lines before and after the mistake, without trailing white space. */
  before: string;
  after: string;
}

export function applyMutation(text: string, { start, end, replacement }: Mutation): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

export function showMutation(text: string, mutation: Mutation): Shown {
  const { file, kind, start, end } = mutation;
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const to = text.indexOf('\n', end);
  const after = applyMutation(text, mutation);
  return {
    file,
    line: text.slice(0, start).split('\n').length,
    kind,
    before: text.slice(from, to).trim(),
    after: after.slice(from, after.length - (text.length - to)).trim(),
  };
}
