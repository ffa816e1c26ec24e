/** What the stored entities of a name say to a change of its type: which of them do not fit the new document or its rules. */
import type { Kysely } from 'kysely';
import type { Companion, CompanionValues } from '../entities/companion/layout.ts';
import { companionValues } from '../entities/companion/values.ts';
import type { Database } from '../database/tables.ts';
import { countEntities, existingKeys, scanEntities, type ChangedSince, type StoredFields } from '../entities/companion/scan.ts';
import { Problem } from '../problems/errors.ts';
import { maximumFaults, type Fault } from '../problems/faults.ts';
import { pointerTo } from '../problems/pointer.ts';
import { Pauses } from '../admission/turns.ts';
import { compileType } from './compile.ts';
import { canonicalValue, DuplicateFinder, type RepeatedDigests } from './duplicates.ts';
import { needsCheck, needsRules, type TypeChange, type TypePlan } from './plan.ts';
import { schemaOf } from './document.ts';
import { companionOfDocument } from './companion-build.ts';
import { misspeltFinder, type FindMisspelt } from './spellings.ts';
import type { Schema } from './subschemas.ts';
import type { EntityType } from './types.ts';
import { parseJson } from '../json/parse-json.ts';

/** An entity that does not fit the new document or its rules. */
export interface UnfitEntity {
  key: string;
  /** The place and the reason. */
  errors: readonly Fault[];
}

export interface Findings {
  /** The number of entities of the name, counted up to one more than the limit of the check, or 1,000,001 without a limit. */
  entities: number;
  /** The number of those that do not fit; 0 where nothing had to be checked. */
  unfit: number;
  /** The first {@link maximumFaults} of them by key; those that share a value come last. */
  examples: UnfitEntity[];
}

export interface Examination {
  /** The most entities that may be read. */
  limit?: number | undefined;
  /** Whether entities may fit the rules alone, and not the schema. */
  rulesOnly?: boolean | undefined;
  /** Called after each batch with the number of entities that have been read. */
  onProgress?: (done: number) => void;
}

/**
 * Counts the entities, and reads all of them if a step of the plan has the effect `check` or `build`. Throws 409 `type-conflict` if there
 * are more than `limit` to read.
 */
export async function findingsOf(
  db: Kysely<Database>,
  plan: TypePlan,
  change: TypeChange,
  { limit, rulesOnly = false, onProgress }: Examination = {},
): Promise<Findings> {
  const entities = await countEntities(db, plan.name, limit);
  const check = needsCheck(plan) && !rulesOnly ? checkOf(change) : undefined;
  const rules = needsRules(plan) && change.document ? companionOfDocument(change.document, 0, null, false) : null;
  if (!check && !rules) return { entities, unfit: 0, examples: [] };
  if (limit !== undefined && entities > limit)
    throw new Problem('type-conflict', { faults: [{ pointer: '', code: 'too-many-values', values: { limit } }] });
  // Without steps the document is in force already: what an earlier version accepted of its fields stays.
  const misspelt = rules && change.document && plan.steps.length > 0 ? misspeltFinder(schemaOf(change.document), rules) : undefined;
  const examiner = new Examiner(db, check, rules, misspelt);
  let done = 0;
  for await (const batch of scanEntities(db, plan.name)) {
    await examiner.add(batch);
    onProgress?.((done += batch.length));
  }
  return { entities, ...(await examiner.findings(plan.name)) };
}

/** The entities that do not fit the schema of the document, among those that were changed `since`, if given. */
export async function unfitEntities(
  db: Kysely<Database>,
  change: TypeChange,
  since?: ChangedSince,
): Promise<Pick<Findings, 'unfit' | 'examples'>> {
  const examiner = new Examiner(db, checkOf(change), null);
  for await (const batch of scanEntities(db, change.name, since)) await examiner.add(batch);
  return await examiner.findings(change.name);
}

/**
 * By document of a change. The check under the lock uses what the first check compiled: compiling may take 0.5 s, and writes wait for the
 * lock.
 */
const checks = new WeakMap<Schema, EntityType['check']>();

function checkOf({ document, source }: TypeChange): EntityType['check'] | undefined {
  if (document === null) return undefined;
  const check = checks.get(document) ?? compileType('0', document, source).check;
  checks.set(document, check);
  return check;
}

class Examiner {
  readonly #db: Kysely<Database>;
  readonly #check: EntityType['check'] | undefined;
  readonly #rules: Companion | null;
  readonly #findMisspelt: FindMisspelt;
  readonly #finders: DuplicateFinder[];
  readonly #examples: UnfitEntity[] = [];
  readonly #pauses = new Pauses();
  #unfit = 0;

  constructor(
    db: Kysely<Database>,
    check: EntityType['check'] | undefined,
    rules: Companion | null,
    findMisspelt: FindMisspelt = () => [],
  ) {
    this.#findMisspelt = findMisspelt;
    this.#db = db;
    this.#check = check;
    this.#rules = rules;
    this.#finders = (rules?.uniques ?? []).map(() => new DuplicateFinder());
  }

  async add(batch: readonly StoredFields[]): Promise<void> {
    const read: { key: string; errors: Fault[]; values: CompanionValues | null }[] = [];
    for (const { key, fields: text } of batch) {
      await this.#pauses.whenLong();
      const fields: unknown = parseJson(text);
      const errors = [...faultsIn(() => this.#check?.(fields)), ...this.#findMisspelt(fields)];
      const values = this.#rules && valuesOrFaults(this.#rules, fields, errors);
      read.push({ key, errors, values });
    }
    for (const { values } of read)
      this.#finders.forEach((finder, index) => {
        const shared = values && this.#sharedValue(index, values);
        if (shared) finder.add(shared);
      });
    await this.#addMissingTargets(read);
    for (const { key, errors } of read) if (errors.length > 0) this.#report(key, errors);
  }

  /** Adds a fault to each entity that refers to one that does not exist. */
  async #addMissingTargets(read: readonly { errors: Fault[]; values: CompanionValues | null }[]): Promise<void> {
    for (const { column, to } of this.#rules?.references ?? []) {
      const targets = read.flatMap(({ values }) => (typeof values?.[column] === 'string' ? [values[column]] : []));
      if (targets.length === 0) continue;
      const existing = await existingKeys(this.#db, to, targets);
      for (const { values, errors } of read)
        if (typeof values?.[column] === 'string' && !existing.has(values[column]))
          errors.push(...this.#faultsAt([column], 'reference-not-found'));
    }
  }

  /** The values of the unique rule as one text; undefined if one of them is missing. */
  #sharedValue(unique: number, values: CompanionValues): string | undefined {
    const types = new Map(this.#rules?.columns.map(({ name, type }) => [name, type]));
    const own: unknown[] = [];
    for (const name of this.#rules?.uniques[unique]?.columns ?? []) {
      const value = values[name] ?? null;
      if (value === null) return undefined;
      own.push(canonicalValue(types.get(name), value));
    }
    return JSON.stringify(own);
  }

  #faultsAt(names: readonly string[], code: 'reference-not-found' | 'duplicate-value'): Fault[] {
    const columns = (this.#rules?.columns ?? []).filter(({ name }) => names.includes(name));
    return columns.map(({ field }) => ({ pointer: pointerTo(field), code }));
  }

  #report(key: string, errors: readonly Fault[]): void {
    this.#unfit += 1;
    if (this.#examples.length < maximumFaults) this.#examples.push({ key, errors });
  }

  /** Call it after the last batch. It reads the entities again to name those that share a value. */
  async findings(name: string): Promise<Pick<Findings, 'unfit' | 'examples'>> {
    for (const [index, finder] of this.#finders.entries()) {
      const repeated = finder.repeated();
      this.#unfit += repeated.entities;
      if (repeated.entities > 0) await this.#addDuplicates(name, index, repeated);
    }
    return { unfit: this.#unfit, examples: this.#examples.slice(0, maximumFaults) };
  }

  async #addDuplicates(name: string, unique: number, repeated: RepeatedDigests): Promise<void> {
    const rules = this.#rules;
    const errors = this.#faultsAt(rules?.uniques[unique]?.columns ?? [], 'duplicate-value');
    const firstKeys = new Map<string, string | undefined>();
    for await (const batch of scanEntities(this.#db, name)) {
      for (const { key, fields } of batch) {
        if (this.#examples.length >= maximumFaults || !rules) return;
        const values = valuesOrFaults(rules, parseJson(fields), []);
        const shared = values && this.#sharedValue(unique, values);
        if (!shared || !repeated.has(shared)) continue;
        const first = firstKeys.get(shared);
        if (first !== undefined) this.#examples.push({ key: first, errors });
        if (firstKeys.has(shared)) this.#examples.push({ key, errors });
        firstKeys.set(shared, firstKeys.has(shared) ? undefined : key);
      }
    }
  }
}

/** The values of the row; null, with the faults added to `errors`, if no index can hold one of them. */
function valuesOrFaults(rules: Companion, fields: unknown, errors: Fault[]): CompanionValues | null {
  let values: CompanionValues | null = null;
  errors.push(
    ...faultsIn(() => {
      values = companionValues(rules, fields);
    }),
  );
  return values;
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
  return new Problem('type-conflict', { faults: faults.slice(0, maximumFaults) });
}
