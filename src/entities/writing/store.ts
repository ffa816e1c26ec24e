/**
 * Entities as they are, and their deletion, each operation one guarded statement. Every function takes a permit and reaches only the rows that the permit covers
 * (rules 64 and 66). Fields travel as JSON text and are never parsed.
 */
import type { Statements } from '../../database/port.ts';
import type { Origin } from '../../network/origin.ts';
import { withUnknownOutcome } from '../../database/failure.ts';
import type { Permit } from '../../rights/permit.ts';
import { permitValues } from '../../rights/coverage.ts';
import { changeValues } from './changed.ts';
import type { EntityType } from '../../entity-types/types.ts';
import type { Field } from '../../filter/fields.ts';
import type { EntityRow } from '../row.ts';
import { whileTableExists } from './violations.ts';
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
import { deletionOf } from './write-statements.ts';

export const placeOf = (permit: Permit<'create' | 'read' | 'update' | 'delete' | 'purge'>, key: string): Place => ({
  ...permitValues(permit),
  key,
});

/** The entity, or undefined when there is none that the permit covers. */
export async function findEntity(
  store: Statements,
  permit: Permit<'create' | 'read' | 'update'>,
  key: string,
): Promise<EntityRow | undefined> {
  const [row] = await store.run(findHeavy(permit), placeOf(permit, key));
  return row;
}

/** Like {@link findEntity}, without the fields where these are heavy, so that it costs little on a connection that requests share. */
export async function findLight(store: Pick<Statements, 'read'>, permit: Permit<'read'>, key: string): Promise<LightRow | undefined> {
  const [row] = await store.read(findLightOne(permit), placeOf(permit, key));
  return row;
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
  const deletion = deletionOf(type?.companion, permit, trashKeep);
  const values = { ...changeValues(permit, origin, type?.revision ?? '0'), ...placeOf(permit, key), versions, trashKeep };
  const row = await withUnknownOutcome(whileTableExists(type?.companion, async () => (await store.run(deletion, values))[0]));
  return row !== undefined;
}

/**
 * The fields that a merge of the patch would store, the present version, and the present values at `paths`; undefined if the permit covers no such
 * row. With `light` there are no fields for a heavy row, so that it costs little on a connection that requests share.
 */
export async function previewUpdate(
  store: Pick<Statements, 'run' | 'read'>,
  permit: Permit<'update'>,
  key: string,
  { patch, light, paths }: { patch: string; light: boolean; paths: readonly Field[] },
): Promise<PreviewedRow | undefined> {
  const values = { ...placeOf(permit, key), patch, light, paths: JSON.stringify(paths) };
  const preview = previewOne(permit);
  const [row] = await (light ? store.read(preview, values) : store.run(preview, values));
  return row;
}

/** The present state of a row that the permit covers; undefined when there is none. */
export async function stateOf(
  store: Pick<Statements, 'run'>,
  permit: Permit<'read' | 'update' | 'delete' | 'purge'>,
  key: string,
): Promise<RowState | undefined> {
  const [row] = await store.run(findState(permit), placeOf(permit, key));
  return row;
}
