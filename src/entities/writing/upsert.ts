/**
 * Creates an entity, or merges fields into the one that has the same values in the fields of a unique rule. PostgreSQL holds the rule, so of concurrent
 * requests one creates the entity and the others change it.
 */
import type { Caller } from '../../authn/caller.ts';
import {
  readableCompanion,
  uniqueRuleNames,
  uniqueRuleOver,
  type Companion,
  type CompanionColumn,
  type CompanionUnique,
  type CompanionValues,
} from '../companion/layout.ts';
import { companionValues, memberAt } from '../companion/values.ts';
import { builder } from '../../database/driver/prepared.ts';
import type { EntityType } from '../../entity-types/types.ts';
import { Problem } from '../../problems/errors.ts';
import type { Fault } from '../../problems/faults.ts';
import { readValue } from '../../filter/values.ts';
import { pointerTo } from '../../problems/pointer.ts';
import type { Permit } from '../../rights/permit.ts';
import type { Claim } from '../idempotency/idempotency.ts';
import { writeOnce, type OnceDone } from './once.ts';
import { findAfter } from './replay.ts';
import type { EntityRow } from '../row.ts';
import { insertInTurn, judgeInTurn } from './create.ts';
import { withPresets } from './presets.ts';
import { freshFields } from './fresh-fields.ts';
import { NaturalKeys } from './natural-keys.ts';
import { requireReferences } from './references.ts';
import { allowChange, requireNoFaults, requirePrecondition, unmetPrecondition, validationProblem } from './rules.ts';
import { whileTypeIsCurrent } from './type-guard.ts';
import type { Change } from './merge.ts';
import { updateEntity, type Writes } from './update.ts';
import { findByUnique, findKeyByUnique, type FoundEntity } from './upsert-statements.ts';
import { conflictProblem, duplicatesAt, UniqueConflict, whileTableExists } from './violations.ts';

export interface Upsert extends Change {
  /** The names of the fields of a unique rule, with commas between. */
  by: string;
  /** The parsed body, whose text is `patch`. */
  fields: unknown;
}

/** The rights that the request needs: without `update` it only creates, without `create` it only updates. */
export interface UpsertPermits {
  create: Permit<'create'> | undefined;
  update: Permit<'update'> | undefined;
}

export interface Upserted {
  row: EntityRow;
  isCreated: boolean;
}

/** An entity type with the rule, and the values that the body has for it. */
interface Rule {
  type: EntityType;
  companion: Companion;
  unique: CompanionUnique;
  values: CompanionValues;
}

/**
 * Creates or updates, and returns the row as it then is. A merge that changes nothing writes nothing. Throws what `updateEntity` and `insertInTurn` throw,
 * and
 * - 409 `unique-conflict`: the permit does not cover the entity, or another rule is violated.
 * - 412: the entity exists and must not, or does not and must.
 * - 422: `by` names no unique rule, or the body lacks a value of it.
 * - 503 `busy`: others are always faster.
 */
async function upsertEntity(writes: Writes, name: string, permits: UpsertPermits, caller: Caller, upsert: Upsert): Promise<Upserted> {
  return await whileTypeIsCurrent(writes.types, name, async (type) => {
    const wanted = await withReferencedKeys(writes, type, permits, upsert);
    return await attempt(writes, ruleBy(type, wanted), permits, caller, wanted);
  });
}

/** The upsert with keys in place of references by values. */
async function withReferencedKeys(
  { store, types }: Writes,
  type: EntityType | undefined,
  { create, update }: UpsertPermits,
  upsert: Upsert,
): Promise<Upsert> {
  const permit = create ?? update;
  if (!permit) return upsert;
  const { fields, text } = await new NaturalKeys(store, types, permit).replaced(type, { fields: upsert.fields, text: upsert.patch });
  return { ...upsert, fields, patch: text };
}

/** Upserts likewise, once for a claimed key. */
export async function upsertOnce(
  writes: Writes,
  name: string,
  permits: UpsertPermits,
  caller: Caller,
  upsert: Upsert,
  claim: Claim | undefined,
): Promise<OnceDone<Upserted>> {
  const permit = permits.update ?? permits.create;
  if (!permit) throw new Error('an upsert needs a permit');
  return await writeOnce(writes, permit, caller, {
    claim,
    isHeavy: upsert.isHeavy,
    write: (within) => upsertEntity(within, name, permits, caller, upsert),
    effectsOf: ({ row: { key, version }, isCreated }) => [{ status: isCreated ? 201 : 200, key, version }],
    replay: async ([effect], within) => ({ row: await findAfter(within, permit, effect), isCreated: effect?.status === 201 }),
  });
}

/** The rule of the type over the fields `by`. Throws 422 if there is none. */
export function uniqueBy(type: EntityType | undefined, by: string): Pick<Rule, 'type' | 'companion' | 'unique'> {
  const companion = type?.companion ? readableCompanion(type.companion) : null;
  const unique = companion ? uniqueRuleOver(companion, by.split(',')) : undefined;
  if (!type || !companion || !unique) {
    const allowed = companion?.uniques.map((each) => uniqueRuleNames(companion, each).join(',')).join('; ') ?? '';
    const values = allowed === '' ? {} : { allowed };
    throw validationProblem([{ parameter: 'by', code: 'invalid-value', values }]);
  }
  return { type, companion, unique };
}

/** Throws 422 unless `fields`, which have these values, have one for each field of the rule. */
export function requireValuesOf(companion: Companion, unique: CompanionUnique, values: CompanionValues, fields: unknown): void {
  const lacking = columnsOf(companion, unique.columns).filter(({ name }) => values[name] === null);
  requireNoFaults(lacking.map((column) => lackOf(column, fields)));
}

function lackOf({ field, type }: CompanionColumn, fields: unknown): Fault {
  const pointer = pointerTo(field);
  const value = memberAt(fields, field) ?? null;
  const read = value === null ? undefined : readValue(type, value);
  return read && 'code' in read ? { pointer, ...read } : { pointer, code: 'required' };
}

function ruleBy(type: EntityType | undefined, { by, fields }: Upsert): Rule {
  const rule = uniqueBy(type, by);
  const values = companionValues(rule.companion, fields);
  requireValuesOf(rule.companion, rule.unique, values, fields);
  return { ...rule, values };
}

const columnsOf = (companion: Companion | null, names: readonly string[]) =>
  companion?.columns.filter(({ name }) => names.includes(name)) ?? [];

/** Undefined when the entity or its type was changed meanwhile. */
async function attempt(
  writes: Writes,
  rule: Rule,
  { create, update }: UpsertPermits,
  caller: Caller,
  upsert: Upsert,
): Promise<Upserted | undefined> {
  const found = update && (await find(writes, rule, update));
  if (found === 'table changed') return undefined;
  if (update && found) return await updateFound(writes, rule, update, caller, upsert, found);
  if (!create) throw unmetPrecondition();
  const inserted = await insertNew(writes, rule, create, caller, upsert);
  if (inserted !== 'exists') return inserted;
  if (!update) throw unmetPrecondition();
  return undefined;
}

async function find(
  { store }: Writes,
  { companion, unique, values }: Rule,
  permit: Permit<'update'>,
): Promise<FoundEntity | 'table changed' | undefined> {
  const query = findByUnique(companion, unique, values, permit).compile(builder);
  const rows = await whileTableExists(companion, () => store.query(query));
  return rows ? rows[0] : 'table changed';
}

async function updateFound(
  writes: Writes,
  { type, companion, unique, values }: Rule,
  permit: Permit<'update'>,
  caller: Caller,
  upsert: Upsert,
  { key, version }: FoundEntity,
): Promise<Upserted | undefined> {
  // The caller has named the fields of the rule.
  if (version === null) throw new UniqueConflict({ layout: companion, values, permit }, unique, duplicatesAt(companion, unique.columns));
  requirePrecondition(type, upsert, version);
  try {
    return { row: await updateEntity(writes, permit, caller, key, { ...upsert, versions: [version], isGuarded: true }), isCreated: false };
  } catch (error) {
    const isLost = error instanceof Problem && (error.code === 'not-found' || error.code === 'precondition-failed');
    if (isLost) return undefined;
    throw error;
  }
}

/** The entity exists, and the caller may not change it: the answer is that of a create. */
export function conflictOf(companion: Companion, unique: CompanionUnique): Problem {
  return conflictProblem(duplicatesAt(companion, unique.columns));
}

/** Undefined when the type has changed, and `exists` when there is an entity with these values. */
async function insertNew(
  writes: Writes,
  { type, companion, unique, values }: Rule,
  permit: Permit<'create'>,
  caller: Caller,
  { fields: sent, patch, isHeavy, limitBytes }: Upsert,
): Promise<Upserted | 'exists' | undefined> {
  const { fields, text } = withPresets(permit, freshFields({ fields: sent, text: patch }));
  const judgement = await judgeInTurn(writes, caller, { permit, text, isHeavy });
  const checked = allowChange({ judgement, type, next: { text, fields, limitBytes } });
  await requireReferences(writes.store, permit, checked.companion, { judgement });
  try {
    const row = await insertInTurn(writes, caller, { permit, origin: caller.origin, fields: text, ...checked, judgement }, isHeavy);
    return row && { row, isCreated: true };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'unique-conflict') throw error;
    const query = findKeyByUnique(companion, unique, values).compile(builder);
    const found = await whileTableExists(companion, () => writes.store.query(query));
    if (found?.length === 0) throw error;
    return found && 'exists';
  }
}
