/** `types rebuild`: builds the companion tables of types as this version does. */
import type { Command } from 'commander';
import { settleType } from '../entity-types/apply.ts';
import { refusalText } from '../entity-types/files.ts';
import { listOutdatedTypes } from '../entity-types/companion-build.ts';
import { listBuilds, listCompanions, listTypes } from '../entity-types/store.ts';
import { isRefusal } from '../problems/errors.ts';
import { typeNames } from './arguments.ts';
import { addCommand, onDatabase, type Admin, type Desk, type Shown } from './command.ts';
import { Refusal, type CommandOutcome } from './output.ts';
import { TypeProgress } from './progress.ts';

interface RebuildOptions {
  allRows?: true;
}

/** Declares the command. */
export function rebuildCommand(types: Command, desk: Desk): void {
  addCommand(types, 'rebuild', 'build the indexed values of types that an earlier version built as this version does', [
    'types rebuild',
    'types rebuild customer --all-rows',
  ])
    .argument('[name...]', 'the names of entities; without them all outdated types', typeNames)
    .option('--all-rows', 'compute all indexed values again, also of types that are not outdated')
    .action((names: readonly string[], options: Shown & RebuildOptions) =>
      onDatabase(desk, options, (admin) => rebuildTypes(admin, names, options)),
    );
}

/** The names by what has become of their tables. */
interface Rebuilt {
  rebuilt: string[];
  /** Those that were not outdated. */
  current: string[];
  /** Those that were not outdated, and whose table another change is building, or was when it was interrupted. */
  building: string[];
  /** Those whose entities or requirements do not allow it, each with the reason. */
  refused: { name: string; reason: string }[];
}

async function rebuildTypes(
  { desk, store, by: { actor } }: Admin,
  names: readonly string[],
  { allRows }: RebuildOptions,
): Promise<CommandOutcome> {
  const { db } = store;
  const known = new Set((await listTypes(db)).map(({ name }) => name));
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Refusal(unknown.map((name) => `there is no type called "${name}"`).join('; '));
  const wanted = allRows ? (await listCompanions(db)).map(({ name }) => name) : await listOutdatedTypes(db);
  const isNamed = (name: string) => names.length === 0 || names.includes(name);
  const chosen = wanted.filter((name) => known.has(name) && isNamed(name));
  const others = names.filter((name) => !chosen.includes(name));
  const building = (await listBuilds(db)).filter((name) => isNamed(name) && !chosen.includes(name));
  const outcome: Rebuilt = { rebuilt: [], current: others.filter((name) => !building.includes(name)), building, refused: [] };
  const progress = new TypeProgress(desk.errors);
  try {
    for (const name of chosen) {
      try {
        const isRebuilt = await settleType(store, actor, name, {
          allRows,
          onProgress: (build) => progress.report(build),
          onWait: (waiting) => progress.wait(waiting),
        });
        // Another process may have built it meanwhile.
        outcome[isRebuilt ? 'rebuilt' : 'current'].push(name);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        outcome.refused.push({ name, reason: refusalText(error) });
      }
    }
  } finally {
    progress.end();
  }
  return report(outcome);
}

function report(outcome: Rebuilt): CommandOutcome {
  const { rebuilt, current, building, refused } = outcome;
  const lines = [
    ...(rebuilt.length > 0 ? [`Rebuilt: ${rebuilt.join(', ')}.`] : []),
    ...(current.length > 0 ? [`Not outdated: ${current.join(', ')}.`] : []),
  ];
  const nothing = refused.length === 0 ? 'Nothing to do: no type is outdated.' : 'Nothing was rebuilt.';
  return {
    document: { changed: rebuilt.length > 0, ...outcome },
    text: lines.length > 0 ? lines.join('\n') : nothing,
    ...(building.length > 0 && { note: `${building.join(', ')}: not outdated, but being built, or a build was interrupted` }),
    ...(refused.length > 0 && { failure: refused.map(({ name, reason }) => `${name}: ${reason}`).join('; ') }),
  };
}
