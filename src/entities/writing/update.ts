/**
 * Changes the fields of an entity: a JSON merge patch, under the caller's precondition and the rules of the type. Whatever was checked is
 * what is stored: either the patch alone decides, or the statement that writes is guarded by the version that was looked at.
 */
import type { Statements } from '../../database/port.ts';
import type { Origin, Caller } from '../../authn/caller.ts';
import type { Permit } from '../../rights/permit.ts';
import type { WriteTurns } from '../heavy.ts';
import { referencePaths, refersFreely, requireReferences } from './references.ts';
import { refusalOf } from './refusal.ts';
import type { EntityRow } from '../row.ts';
import { inRounds } from './rounds.ts';
import { allow, requirePrecondition, untyped, type Checked, type Guard } from './rules.ts';
import { previewUpdate, updateStoredEntity, updateGrouped, type Merge, type WholeMerge } from './store.ts';
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { rowChangeOf } from '../companion/values.ts';
import { parseJson } from '../../json/parse-json.ts';

export interface Change extends Guard, Omit<Merge, keyof Checked | 'merged' | 'kept'> {
  /** Whether merging the patch may cost much, whatever it is merged into. */
  isHeavy: boolean;
}

/** How an update is written: together with others, or alone over the pool, when it is its turn. `types` has what the merged fields must fit. */
export interface Writes {
  store: Statements;
  queues: WriteTurns;
  types: EntityTypes;
}

/**
 * Merges the patch and returns the row as it then is. Throws
 * - 403, 404: the permit covers no such row ({@link refusalOf}).
 * - 412: its version is none of `versions`.
 * - 413: the merged entity is too large.
 * - 422: the merged entity does not fit its type, or has a new reference to an entity that the caller may not read.
 * - 428: the type requires If-Match.
 * - 503 `busy`: others are always faster, or too much heavy work is waiting.
 */
export async function updateEntity(
  writes: Writes,
  permit: Permit<'update'>,
  caller: Caller,
  key: string,
  change: Change,
): Promise<EntityRow> {
  const { store, queues, types } = writes;
  const origin = caller.origin;
  const alone = () => updateAlone(writes, permit, origin, key, change);
  if (change.isHeavy) return await queues.runHeavyPatch(permit, caller, alone);
  const type = await types.find(permit.entity);
  const direct = directMerge(permit, type, change);
  // The statement of a direct merge decides by itself, and is asked why only when it did nothing.
  let seen = direct ? undefined : await previewChecked(writes, permit, key, change, true);
  const row = seen && isHeavy(seen) ? undefined : await updateGrouped(store, permit, origin, key, direct ?? narrowedTo(seen, change));
  if (row) return row;
  seen ??= await previewChecked(writes, permit, key, change, true);
  return await (isHeavy(seen) ? queues.runHeavyPatch(permit, caller, alone) : queues.runContended(permit, alone));
}

/** The merge that needs no look at the entity; undefined if the rules of the type may depend on what the entity has besides. */
function directMerge(permit: Permit<'update'>, type: EntityType | undefined, change: Change): Merge | undefined {
  if (!type) return { ...change, ...untyped };
  if (type.mayBeUnfit || (type.requiresIfMatch && !change.isGuarded)) return undefined;
  const patch = parseJson(change.patch) as Record<string, unknown>;
  if (!type.acceptsPatch(patch)) return undefined;
  const { companion: layout, revision: typeRevision } = type;
  const row = layout && rowChangeOf(layout, patch);
  if (row === undefined || (layout && row && !refersFreely(permit, layout, row.values))) return undefined;
  return { ...change, typeRevision, companion: layout && row ? { layout, values: row.values } : undefined, kept: row?.kept };
}

async function updateAlone(writes: Writes, permit: Permit<'update'>, origin: Origin, key: string, change: Change): Promise<EntityRow> {
  let seen = (await writes.types.find(permit.entity)) && (await previewChecked(writes, permit, key, change, false));
  return await inRounds(async () => {
    const row = await updateStoredEntity(writes.store, permit, origin, key, narrowedTo(seen, change));
    if (!row) seen = await previewChecked(writes, permit, key, change, false);
    return row;
  });
}

/** The merge that a type allows is one into the version that was looked at. */
function narrowedTo(seen: Seen | undefined, change: Change): WholeMerge {
  if (!seen?.checked) return { ...change, ...untyped };
  return { ...change, versions: [seen.version], merged: seen.merged, ...seen.checked };
}

interface Seen {
  /** The version that the patch could be merged into. */
  version: string;
  /** The merged fields as JSON text; undefined if the entity was too heavy to merge into it. */
  merged: string | undefined;
  /** What the type says of the merged fields; undefined for a name without a type. */
  checked: Checked | undefined;
}

const isHeavy = ({ merged }: Seen): boolean => merged === undefined;

/** Throws when the patch cannot be merged. With `light` a heavy entity is not merged into, so the size and type of the result are not checked. */
async function previewChecked(
  { store, types }: Writes,
  permit: Permit<'update'>,
  key: string,
  change: Change,
  light: boolean,
): Promise<Seen> {
  const { patch, limitBytes } = change;
  let type = await types.find(permit.entity);
  const merged = await inRounds(async () => {
    const found = await previewUpdate(store, permit, key, { patch, light, paths: referencePaths(permit, type?.companion) });
    if (!found) throw await refusalOf(store, permit, key);
    if (found.typeRevision === (type?.revision ?? '0')) return found;
    type = await types.at(permit.entity, found.typeRevision);
    return undefined;
  });
  const { version, fields, present } = merged;
  if (fields === null) {
    requirePrecondition(type, change, version);
    return { version, merged: undefined, checked: undefined };
  }
  const checked = allow({ type, guard: change, state: merged, next: { text: fields, patch, limitBytes } });
  await requireReferences(store, permit, checked.companion, { present });
  return { version, merged: fields, checked: type && checked };
}
