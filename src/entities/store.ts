/**
 * Entities, each operation one guarded statement. Every function takes a permit and reaches only the rows that the permit covers (rules 64
 * and 66). Fields travel as JSON text and are never parsed.
 */
import type { Store } from '../database/port.ts';
import type { Origin } from '../audit/store.ts';
import { withUnknownOutcome } from '../database/failure.ts';
import type { Permit } from '../rights/permit.ts';
import { permitValues } from '../rights/row-predicate.ts';
import { changeValues } from './changed.ts';
import { rowOf, updateMany } from './grouped-writes.ts';
import type { EntityRow } from './row.ts';
import {
  deleteOne,
  findLightOne,
  findHeavy,
  findState,
  insertWithKey,
  previewOne,
  updateOne,
  type LightRow,
  type Place,
  type RowState,
  type Versions,
} from './statements.ts';

const placeOf = (permit: Permit<'read' | 'update' | 'delete'>, key: string): Place => ({ ...permitValues(permit), key });

/** Fields that the process has checked against the type of their name. */
export interface CheckedFields {
  /** JSON text of an object. */
  fields: string;
  /** The revision of that type; 0 for none. */
  typeRevision: string;
}

/**
 * Stores new fields and returns the row. `insertRow` runs the statement, alone or together with other requests. Undefined, with nothing written,
 * when the type has changed.
 */
export async function insertEntity(
  insertRow: (row: string) => Promise<EntityRow | undefined>,
  permit: Permit<'create'>,
  origin: Origin,
  { fields, typeRevision }: CheckedFields,
): Promise<EntityRow | undefined> {
  const values = { ...changeValues(permit, origin, typeRevision), name: permit.entity };
  return await withUnknownOutcome(insertRow(rowOf(values, 'fields', fields)));
}

/**
 * Like {@link insertEntity}, and stores what was created under the claim's key. Undefined also when the key is taken already; a unique violation of
 * `idempotency_pkey`, with nothing written, when another statement took it meanwhile.
 */
export async function insertEntityWithKey(
  store: Store,
  permit: Permit<'create'>,
  origin: Origin,
  { typeRevision, ...claim }: CheckedFields & { key: string; fingerprint: Buffer },
): Promise<EntityRow | undefined> {
  const values = { ...changeValues(permit, origin, typeRevision), name: permit.entity, ...claim };
  const [row] = await withUnknownOutcome(store.run(insertWithKey, values));
  return row;
}

/** The entity, or undefined when there is none that the permit covers. */
export async function findEntity(store: Store, permit: Permit<'read'>, key: string): Promise<EntityRow | undefined> {
  const [row] = await store.run(findHeavy, placeOf(permit, key));
  return row;
}

/** Like {@link findEntity}, without the fields where these are heavy, so that it costs little on a connection that requests share. */
export async function findLight(store: Store, permit: Permit<'read'>, key: string): Promise<LightRow | undefined> {
  const [row] = await store.read(findLightOne, placeOf(permit, key));
  return row;
}

export interface Merge {
  /** JSON text of an object. */
  patch: string;
  /** The versions that the caller accepts. */
  versions: Versions;
  /** The most that the merged fields may be, in bytes of JSON. */
  limitBytes: number;
  /** The revision of the type that allows the merge; 0 for none. */
  typeRevision: string;
}

/** Like {@link updateStoredEntity}, together with other requests. Undefined also for a heavy entity, and while another request is changing it. */
export async function updateGrouped(
  store: Store,
  permit: Permit<'update'>,
  origin: Origin,
  key: string,
  { patch, versions, limitBytes, typeRevision }: Merge,
): Promise<EntityRow | undefined> {
  const values = { ...changeValues(permit, origin, typeRevision), ...placeOf(permit, key), versions, limit: limitBytes };
  return await withUnknownOutcome(store.writeGrouped(updateMany, rowOf(values, 'patch', patch)));
}

/**
 * Merges `patch` into the fields as RFC 7396 says, if the version is one of `versions` (null: any), the result is at most `limitBytes` of JSON
 * and the type has not changed. Undefined when nothing was changed; {@link previewUpdate} tells why.
 */
export async function updateStoredEntity(
  store: Store,
  permit: Permit<'update'>,
  origin: Origin,
  key: string,
  { patch, versions, limitBytes, typeRevision }: Merge,
): Promise<EntityRow | undefined> {
  const [row] = await withUnknownOutcome(
    store.run(updateOne, { ...changeValues(permit, origin, typeRevision), ...placeOf(permit, key), patch, versions, limit: limitBytes }),
  );
  return row;
}

/** Deletes the entity if its version is one of `versions` (null: any) and the type has not changed; false when nothing was deleted. */
export async function deleteEntity(
  store: Store,
  permit: Permit<'delete'>,
  origin: Origin,
  key: string,
  { versions, typeRevision }: Pick<Merge, 'versions' | 'typeRevision'>,
): Promise<boolean> {
  const values = { ...changeValues(permit, origin, typeRevision), ...placeOf(permit, key), versions };
  const rows = await withUnknownOutcome(store.run(deleteOne, values));
  return rows.length > 0;
}

/**
 * The fields that {@link updateStoredEntity} would store, and the present version; undefined if the permit covers no such row. With `light`
 * there are no fields for a heavy row.
 */
export async function previewUpdate(
  store: Store,
  permit: Permit<'update'>,
  key: string,
  patch: string,
  light: boolean,
): Promise<(RowState & { fields: string | null }) | undefined> {
  const [row] = await store.run(previewOne, { ...placeOf(permit, key), patch, light });
  return row;
}

/** The present state of a row that the permit covers; undefined when there is none. */
export async function stateOf(store: Store, permit: Permit<'delete'>, key: string): Promise<RowState | undefined> {
  const [row] = await store.run(findState, placeOf(permit, key));
  return row;
}
