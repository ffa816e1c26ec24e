/** What a change of a type would do, before it is done. */
import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Database, TypeSource } from '../database/tables.ts';
import { countEntities, scanEntities } from '../entities/scan.ts';
import { maximumFaults, Problem, type Fault } from '../errors.ts';
import { differencesOf } from './compare.ts';
import { compileType } from './compile.ts';
import type { TypeRow } from './store.ts';
import type { Schema } from './subschemas.ts';
import type { EntityType } from './types.ts';

/** A change of a type; without a document its deletion. */
export interface TypeChange {
  name: string;
  document: Schema | null;
  source: TypeSource;
}

/**
 * `none`: nothing but what later writes must fit. `check`: stored entities may not fit, so all are checked. `loss`: something ends that applying
 * the old document again would not bring back.
 */
export type Effect = 'none' | 'check' | 'loss';
const effects = ['none', 'check', 'loss'] as const;

export interface PlanStep {
  kind: 'declare' | 'narrower' | 'wider' | 'note' | 'delete';
  /** Into the document. */
  pointer: string;
  effect: Effect;
}

/** An entity that does not fit the new document. */
export interface UnfitEntity {
  key: string;
  /** Where, and why. */
  errors: readonly Fault[];
}

export interface TypePlan {
  name: string;
  /** The revision that the change starts from; 0 for a name without a type. */
  revision: string;
  /** None if the document is in force already. */
  steps: PlanStep[];
  /** The strongest effect of the steps. */
  effect: Effect;
  /** SHA-256 (hex) of what the change starts from, its steps and its document. */
  digest: string;
}

export interface Findings {
  /** The number of entities of the name, counted up to one more than the limit of the check, or 1,000,001 without a limit. */
  entities: number;
  /** The number of those that do not fit; 0 where nothing had to be checked. */
  unfit: number;
  /** The first {@link maximumFaults} of them by key. */
  examples: UnfitEntity[];
}

/** The plan of the change from the type in force, if there is one. */
export function planOf(current: TypeRow | undefined, { name, document }: TypeChange): TypePlan {
  const steps = stepsOf(current?.document, document);
  const revision = current?.revision ?? '0';
  const effect = effects.findLast((each) => steps.some((step) => step.effect === each)) ?? 'none';
  const digest = createHash('sha256')
    .update(JSON.stringify([name, revision, steps, sorted(document)]))
    .digest('hex');
  return { name, revision, steps, effect, digest };
}

function stepsOf(current: Schema | undefined, document: Schema | null): PlanStep[] {
  if (document === null) return current ? [{ kind: 'delete', pointer: '', effect: 'loss' }] : [];
  if (!current) return [{ kind: 'declare', pointer: '', effect: 'check' }];
  return differencesOf(current, document).map(({ kind, pointer }) => ({ kind, pointer, effect: kind === 'narrower' ? 'check' : 'none' }));
}

/** The value with the members of all objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

/**
 * Counts the entities, and checks all of them against the new document if the plan has the effect `check`. Throws 409 `type-conflict` if there are more
 * than `limit` to check.
 */
export async function findingsOf(db: Kysely<Database>, plan: TypePlan, change: TypeChange, limit?: number): Promise<Findings> {
  const entities = await countEntities(db, plan.name, limit);
  if (plan.effect !== 'check') return { entities, unfit: 0, examples: [] };
  if (limit !== undefined && entities > limit)
    throw new Problem('type-conflict', { faults: [{ pointer: '', code: 'too-many-values', values: { limit } }] });
  return { entities, ...(await unfitEntities(db, change)) };
}

/** By document of a change. The check under the lock uses what the first check compiled: compiling may take 0.5 s, and writes wait for the lock. */
const checks = new WeakMap<Schema, EntityType['check']>();

/** The entities that do not fit the document, among those that were changed at `since` or later, if given. */
export async function unfitEntities(
  db: Kysely<Database>,
  { name, document, source }: TypeChange,
  since?: Date,
): Promise<Pick<Findings, 'unfit' | 'examples'>> {
  const examples: UnfitEntity[] = [];
  if (document === null) return { unfit: 0, examples };
  const check = checks.get(document) ?? compileType('0', document, source).check;
  checks.set(document, check);
  let unfit = 0;
  for await (const batch of scanEntities(db, name, since)) {
    for (const { key, fields } of batch) {
      const errors = faultsIn(() => check(JSON.parse(fields)));
      if (errors.length === 0) continue;
      unfit += 1;
      if (examples.length < maximumFaults) examples.push({ key, errors });
    }
  }
  return { unfit, examples };
}

function faultsIn(check: () => void): readonly Fault[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof Problem) return error.faults;
    throw error;
  }
}

/** The fault with a pointer that begins with `prefix`. */
export function faultUnder(prefix: string, fault: Fault): Fault {
  return { ...fault, pointer: `${prefix}${fault.pointer ?? ''}` };
}

/** The refusal of a change that would make entities unfit. The pointer of each fault begins with the key of the entity. */
export function unfitProblem(examples: readonly UnfitEntity[]): Problem {
  const faults = examples.flatMap(({ key, errors }) => errors.slice(0, 1).map((fault) => faultUnder(`/${key}`, fault)));
  return new Problem('type-conflict', { faults });
}
