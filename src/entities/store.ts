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
  findVersion,
  insertWithKey,
  previewOne,
  updateOne,
  type LightRow,
  type Place,
  type Versions,
} from './statements.ts';

const placeOf = (permit: Permit<'read' | 'update' | 'delete'>, key: string): Place => ({ ...permitValues(permit), key });

/** Stores new fields (JSON text of an object) and returns the row. `insertRow` runs the statement, alone or together with other requests. */
export async function insertEntity(
  insertRow: (row: string) => Promise<EntityRow | undefined>,
  permit: Permit<'create'>,
  origin: Origin,
  fields: string,
): Promise<EntityRow> {
  const row = await withUnknownOutcome(insertRow(rowOf({ ...changeValues(permit, origin), name: permit.entity }, 'fields', fields)));
  if (!row) throw new Error('insert returned no row');
  return row;
}

/**
 * Like {@link insertEntity}, and keeps what was created under the claim's key. Undefined when the key is taken already; a unique violation of
 * `idempotency_pkey`, with nothing written, when another statement took it meanwhile.
 */
export async function insertEntityWithKey(
  store: Store,
  permit: Permit<'create'>,
  origin: Origin,
  claim: { key: string; fingerprint: Buffer; fields: string },
): Promise<EntityRow | undefined> {
  const [row] = await withUnknownOutcome(store.run(insertWithKey, { ...changeValues(permit, origin), name: permit.entity, ...claim }));
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
}

/** Like {@link updateStoredEntity}, together with other requests. Undefined also for a heavy entity, and while another request is changing it. */
export async function updateGrouped(
  store: Store,
  permit: Permit<'update'>,
  origin: Origin,
  key: string,
  { patch, versions, limitBytes }: Merge,
): Promise<EntityRow | undefined> {
  const values = { ...changeValues(permit, origin), ...placeOf(permit, key), versions, limit: limitBytes };
  return await withUnknownOutcome(store.writeGrouped(updateMany, rowOf(values, 'patch', patch)));
}

/**
 * Merges `patch` into the fields as RFC 7396 says, if the version is one of `versions` (null: any) and the result is at most
 * `limitBytes` of JSON. Undefined when nothing was changed; {@link previewUpdate} tells why.
 */
export async function updateStoredEntity(
  store: Store,
  permit: Permit<'update'>,
  origin: Origin,
  key: string,
  { patch, versions, limitBytes }: Merge,
): Promise<EntityRow | undefined> {
  const [row] = await withUnknownOutcome(
    store.run(updateOne, { ...changeValues(permit, origin), ...placeOf(permit, key), patch, versions, limit: limitBytes }),
  );
  return row;
}

/** Deletes the entity if its version is one of `versions` (null: any); false when nothing was deleted. */
export async function deleteEntity(
  store: Store,
  permit: Permit<'delete'>,
  origin: Origin,
  key: string,
  versions: Versions,
): Promise<boolean> {
  const rows = await withUnknownOutcome(store.run(deleteOne, { ...changeValues(permit, origin), ...placeOf(permit, key), versions }));
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
): Promise<{ version: string; fields: string | null } | undefined> {
  const [row] = await store.run(previewOne, { ...placeOf(permit, key), patch, light });
  return row;
}

/** The present version of a row that the permit covers; undefined when there is none. */
export async function versionOf(store: Store, permit: Permit<'delete'>, key: string): Promise<string | undefined> {
  const [row] = await store.run(findVersion, placeOf(permit, key));
  return row?.version;
}
