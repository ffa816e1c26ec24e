/**
 * Entities, each operation one guarded statement. Every function takes a permit and reaches only the rows that the permit covers (rules 64
 * and 66). Fields travel as JSON text and are never parsed.
 */
import type { Statements } from '../../database/port.ts';
import type { Origin } from '../../authn/caller.ts';
import { LockNotHadError, withUnknownOutcome } from '../../database/failure.ts';
import type { Permit } from '../../rights/permit.ts';
import { permitValues } from '../../rights/row-predicate.ts';
import { changeValues } from './changed.ts';
import type { EntityType } from '../../entity-types/types.ts';
import type { Field } from '../../filter/fields.ts';
import { rowOf } from './grouped-writes.ts';
import type { Claim } from '../idempotency/idempotency.ts';
import type { EntityRow } from '../row.ts';
import type { Checked, CheckedFields } from './rules.ts';
import { underRules, whileTableExists, type CompanionWrite } from './violations.ts';
import {
  findLightOne,
  findHeavy,
  findState,
  previewOne,
  type LightRow,
  type Place,
  type PreviewedRow,
  type RowState,
  type Versions,
} from './statements.ts';
import { deletionOf, writeStatementsOf } from './write-statements.ts';

export const placeOf = (permit: Permit<'create' | 'read' | 'update' | 'delete' | 'purge'>, key: string): Place => ({
  ...permitValues(permit),
  key,
});

/** The companion row that a statement writes for the entity with this key, or a new one; undefined for none. */
export function writeOf(permit: CompanionWrite['permit'], companion: Checked['companion'], key?: string): CompanionWrite | undefined {
  return companion && { ...companion, permit, key };
}

/**
 * Stores new fields and returns the row; with `alone` in a statement of its own, otherwise together with other requests. Undefined, with
 * nothing written, when the type has changed. Throws 409 `unique-conflict` and 422 `validation-failed` when a rule of the type does not
 * hold. Throws `LockNotHadError` when the row cannot go together with others, because it would wait for a lock.
 */
export async function insertEntity(
  store: Statements,
  permit: Permit<'create'>,
  origin: Origin,
  { fields, typeRevision, companion }: CheckedFields,
  alone: boolean,
): Promise<EntityRow | undefined> {
  const { insertMany } = writeStatementsOf(companion?.layout);
  const row = rowOf({ ...changeValues(permit, origin, typeRevision), name: permit.entity, ...companion?.values }, 'fields', fields);
  const insert = () => (alone ? store.writeAlone(insertMany, row) : store.writeGrouped(insertMany, row));
  return await withUnknownOutcome(underRules(writeOf(permit, companion), insert));
}

/**
 * Like {@link insertEntity}, and stores what was created under the claim's key. Undefined also when the key is taken already; a unique violation of
 * `idempotency_pkey`, with nothing written, when another statement took it meanwhile.
 */
export async function insertEntityWithKey(
  store: Statements,
  permit: Permit<'create'>,
  origin: Origin,
  claim: Claim,
  { fields, typeRevision, companion }: CheckedFields,
): Promise<EntityRow | undefined> {
  const { insertWithKey } = writeStatementsOf(companion?.layout);
  const values = { ...changeValues(permit, origin, typeRevision), ...claim, fields, companion: textOf(companion) };
  return await withUnknownOutcome(underRules(writeOf(permit, companion), async () => (await store.run(insertWithKey, values))[0]));
}

const textOf = (companion: Checked['companion']): string => JSON.stringify(companion?.values ?? {});

/** The entity, or undefined when there is none that the permit covers. */
export async function findEntity(
  store: Statements,
  permit: Permit<'create' | 'read' | 'update'>,
  key: string,
): Promise<EntityRow | undefined> {
  const [row] = await store.run(findHeavy, placeOf(permit, key));
  return row;
}

/** Like {@link findEntity}, without the fields where these are heavy, so that it costs little on a connection that requests share. */
export async function findLight(store: Pick<Statements, 'read'>, permit: Permit<'read'>, key: string): Promise<LightRow | undefined> {
  const [row] = await store.read(findLightOne, placeOf(permit, key));
  return row;
}

/** A merge of which the process knows all values of the companion row. */
export type WholeMerge = Merge & { kept?: undefined };

export interface Merge extends Checked {
  /** JSON text of an object. */
  patch: string;
  /** What the patch makes of the only version in `versions`, as a preview has shown; undefined if there was none. To merge again takes 20 µs of PostgreSQL. */
  merged?: string | undefined;
  /** The columns of the companion table that stay as they are, since the process does not know their values; undefined if it knows all. */
  kept?: readonly string[] | undefined;
  /** The versions that the caller accepts. */
  versions: Versions;
  /** The most that the merged fields may be, in bytes of JSON. */
  limitBytes: number;
}

/** Like {@link updateStoredEntity}, together with other requests. Undefined also for a heavy entity, and while another transaction has a lock that it needs. */
export async function updateGrouped(
  store: Statements,
  permit: Permit<'update'>,
  origin: Origin,
  key: string,
  { patch, merged, kept, versions, limitBytes, typeRevision, companion }: Merge,
): Promise<EntityRow | undefined> {
  const { updateMany } = writeStatementsOf(companion?.layout);
  const change = { ...changeValues(permit, origin, typeRevision), ...placeOf(permit, key), versions, limit: limitBytes };
  const values = { ...change, ...companion?.values, ...(kept && { kept }) };
  const row = merged === undefined ? rowOf(values, 'patch', patch) : rowOf(values, 'merged', merged);
  try {
    return await withUnknownOutcome(underRules(writeOf(permit, companion, key), () => store.writeGrouped(updateMany, row)));
  } catch (error) {
    if (error instanceof LockNotHadError) return undefined;
    throw error;
  }
}

/**
 * Merges `patch` into the fields as RFC 7396 says, if the version is one of `versions` (null: any), the result is at most `limitBytes` of JSON
 * and the type has not changed. Undefined when nothing was changed; {@link previewUpdate} tells why. Throws 409 `unique-conflict` and 422
 * `validation-failed` when a rule of the type does not hold.
 */
export function updateStoredEntity(store: Statements, permit: Permit<'update'>, origin: Origin, key: string, merge: WholeMerge) {
  return changeStored('updateOne', store, permit, origin, key, merge);
}

/** Like {@link updateStoredEntity}, but `patch` has all fields, which replace those of the entity. */
export function restoreStoredEntity(store: Statements, permit: Permit<'update'>, origin: Origin, key: string, merge: WholeMerge) {
  return changeStored('restoreOne', store, permit, origin, key, merge);
}

/** Brings an entity back from the trash likewise, if its version there is one of `versions`. */
export function undeleteEntity(store: Statements, permit: Permit<'update'>, origin: Origin, key: string, merge: WholeMerge) {
  return changeStored('undeleteOne', store, permit, origin, key, merge);
}

async function changeStored(
  statement: 'updateOne' | 'restoreOne' | 'undeleteOne',
  store: Statements,
  permit: Permit<'update'>,
  origin: Origin,
  key: string,
  { patch, versions, limitBytes, typeRevision, companion }: WholeMerge,
): Promise<EntityRow | undefined> {
  const change = { ...changeValues(permit, origin, typeRevision), ...placeOf(permit, key), patch, versions, limit: limitBytes };
  const values = { ...change, companion: textOf(companion) };
  const run = writeStatementsOf(companion?.layout)[statement];
  return await withUnknownOutcome(underRules(writeOf(permit, companion, key), async () => (await store.run(run, values))[0]));
}

/**
 * Deletes the entity if its version is one of `versions` (null: any) and `type` is still the type; false when nothing was deleted. It goes to the trash
 * if the type says so, unless the deletion is `isFinal`. Throws a violation of a reference to the entity as PostgreSQL does.
 */
export async function deleteUnreferenced(
  store: Statements,
  permit: Permit<'delete'>,
  origin: Origin,
  key: string,
  { versions, type, isFinal }: { versions: Versions; type: EntityType | undefined; isFinal: boolean },
): Promise<boolean> {
  const trashKeep = isFinal ? null : (type?.trashKeep ?? null);
  const deletion = deletionOf(type?.companion, trashKeep);
  const values = { ...changeValues(permit, origin, type?.revision ?? '0'), ...placeOf(permit, key), versions, trashKeep };
  const row = await withUnknownOutcome(whileTableExists(type?.companion, async () => (await store.run(deletion, values))[0]));
  return row !== undefined;
}

/**
 * The fields that {@link updateStoredEntity} would store, the present version, and the present values at `paths`; undefined if the permit covers no such
 * row. With `light` there are no fields for a heavy row, so that it costs little on a connection that requests share.
 */
export async function previewUpdate(
  store: Statements,
  permit: Permit<'update'>,
  key: string,
  { patch, light, paths }: { patch: string; light: boolean; paths: readonly Field[] },
): Promise<PreviewedRow | undefined> {
  const values = { ...placeOf(permit, key), patch, light, paths: JSON.stringify(paths) };
  const [row] = await (light ? store.read(previewOne, values) : store.run(previewOne, values));
  return row;
}

/** The present state of a row that the permit covers; undefined when there is none. */
export async function stateOf(
  store: Statements,
  permit: Permit<'read' | 'update' | 'delete' | 'purge'>,
  key: string,
): Promise<RowState | undefined> {
  const [row] = await store.run(findState, placeOf(permit, key));
  return row;
}
