/** Type documents in files: `<name>.json`, `<name>.yaml` and `<name>.yml`. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { typeFiles } from '../audit/actor.ts';
import { ConfigError, type Config } from '../config/settings.ts';
import type { Store } from '../database/port.ts';
import { type TypeSource, listDocuments } from './store.ts';
import { isEntityName } from '../entities/name.ts';
import { Problem } from '../problems/errors.ts';
import type { Fault } from '../problems/faults.ts';
import { describeFault, translateProblem } from '../locales/describe.ts';
import { applyChange } from './apply.ts';
import { faultsOfDocument } from './document.ts';
import type { LeftoverQueue } from './leftover-queue.ts';
import { inOrder } from './order.ts';
import type { PlanEffect, TypeChange, TypePlan } from './plan.ts';
import { logSlowChange, type InfoLog } from './slow-changes.ts';
import type { Schema } from './subschemas.ts';
import { parseJson } from '../json/parse-json.ts';

const isTypeFile = (file: string) => /\.(json|ya?ml)$/.test(file);

/**
 * The documents of the files, and of the files in the directories; other files in these are ignored. Throws {@link ConfigError} with a
 * line for each file that is no type or has no entity name, which begins with `label`.
 */
export async function readTypeFiles(paths: readonly string[], source: TypeSource, label: string): Promise<TypeChange[]> {
  // A Map, since `constructor` is a valid name (rule 65).
  const changes = new Map<string, TypeChange>();
  const problems: string[] = [];
  for (const file of await listFiles(paths, label, problems)) {
    const [, name = ''] = /^(.*)\.(?:json|ya?ml)$/.exec(basename(file)) ?? [];
    try {
      if (!isEntityName(name))
        throw new Error('the part before the dot must be an entity name: a letter, then up to 63 letters, digits, _ . -');
      if (changes.has(name)) throw new Error(`there is a second file for ${name}`);
      changes.set(name, { name, document: readDocument(await readFile(file, 'utf8'), file, source), source });
    } catch (error) {
      problems.push(`${label}: ${basename(file)}: ${messageOf(error)}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return [...changes.values()];
}

async function listFiles(paths: readonly string[], label: string, problems: string[]): Promise<string[]> {
  const lists = paths.map(async (path) => {
    try {
      if (!(await stat(path)).isDirectory()) return [path];
      const files = await readdir(path);
      return files
        .filter(isTypeFile)
        .sort()
        .map((file) => join(path, file));
    } catch (error) {
      problems.push(`${label}: ${messageOf(error)}`);
      return [];
    }
  });
  return (await Promise.all(lists)).flat();
}

function readDocument(text: string, file: string, source: TypeSource): Schema {
  const document: unknown = file.endsWith('.json') ? parseJson(text) : parse(text);
  const faults = faultsOfDocument(document, source);
  if (faults.length > 0) throw new Error(faults.map(faultText).join('; '));
  return document as Schema;
}

/** A fault for people. */
export function faultText(fault: Fault): string {
  return `${fault.pointer || 'the document'}: ${describeFault('en', fault).detail}`;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ').trim();

const refusals: ReadonlySet<string> = new Set(['type-conflict', 'validation-failed', 'confirmation-required', 'older-version']);

/**
 * Applies the files of ENTITY_TYPES_DIR. A type without a file stays. Throws {@link ConfigError} if a file is no type, if entities do not
 * fit one, or if a change loses something. `log` receives lines about changes that take long, and `leftovers` what is left to drop.
 */
export async function applyTypeFiles(
  store: Store,
  { entityTypesDir }: Pick<Config, 'entityTypesDir'>,
  log: InfoLog,
  leftovers: Pick<LeftoverQueue, 'add'>,
): Promise<void> {
  if (entityTypesDir === undefined) return;
  const problems: string[] = [];
  const onLeftover = (name: string) => leftovers.add([name]);
  const changes = await readTypeFiles([entityTypesDir], 'files', 'ENTITY_TYPES_DIR');
  for (const change of inOrder(changes, await listDocuments(store.db))) {
    let effect: PlanEffect = 'none';
    const expect = (_: unknown, plan: TypePlan) => void ({ effect } = plan);
    try {
      await logSlowChange(log, change.name, (options) => applyChange(store, typeFiles, change, { ...options, expect, onLeftover }));
    } catch (error) {
      if (!(error instanceof Problem && refusals.has(error.code))) throw error;
      problems.push(`ENTITY_TYPES_DIR: ${change.name}: ${refusalText(error, effect)}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/** The refusal of a change for people: one of {@link refusals}. `effect` is that of its plan. */
export function refusalText(problem: Problem, effect: PlanEffect = 'loss'): string {
  const { code, faults } = problem;
  if (code === 'older-version') return translateProblem('en', problem).detail;
  if (code === 'confirmation-required')
    return (
      (effect === 'loss'
        ? '/x-history: versions would be kept for less time than now, so some would be lost. '
        : 'x-sensitive: a field would be hidden from people who see it, or shown to others. ') +
      'Run "types plan" with the file, and then "types apply --confirm" with the digest that it prints'
    );
  const places = faults.map(faultText).join('; ');
  const isOfEntities = code === 'type-conflict' && faults.every(({ pointer }) => pointer !== '');
  return isOfEntities
    ? `stored entities do not fit (each pointer begins with a key): ${places} ` +
        'Correct them, or, unless they violate a rule, run "types apply --allow-unfit" first'
    : places;
}
