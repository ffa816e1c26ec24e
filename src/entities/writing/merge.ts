/**
 * The merge of a patch into an entity. The stored fields are those that were checked: either the patch alone decides, or the statement that writes is guarded by the version
 * that was looked at.
 */
import type { Statements } from '../../database/port.ts';
import type { EntityType, EntityTypes } from '../../entity-types/types.ts';
import { parseJson } from '../../json/parse-json.ts';
import type { Permit } from '../../rights/permit.ts';
import { rowChangeOf } from '../companion/values.ts';
import type { Merge } from './execute.ts';
import { referencePaths, refersFreely, requireReferences } from './references.ts';
import { refusalOf } from './refusal.ts';
import { inRounds } from './rounds.ts';
import { allowChange, lacksGuard, requirePrecondition, untyped, type Guard } from './rules.ts';
import { judgeMerge } from './judge.ts';
import type { Judgement } from './judgement.ts';
import { previewUpdate, type PreviewedRow } from './preview.ts';

export interface Change extends Guard, Pick<Merge, 'patch' | 'limitBytes'> {
  /** Whether merging the patch may cost much, whatever it is merged into. */
  isHeavy: boolean;
}

/** The merge that needs no look at the entity; undefined if the rules of the type may depend on what the entity has besides. */
export function directMerge(permit: Permit<'update'>, type: EntityType | undefined, change: Change): Merge | undefined {
  if (permit.change) return undefined;
  if (!type) return { ...change, ...untyped };
  if (type.mayBeUnfit || lacksGuard(type, change)) return undefined;
  const patch = parseJson(change.patch) as Record<string, unknown>;
  if (!type.acceptsPatch(patch)) return undefined;
  const { companion: layout, revision: typeRevision } = type;
  const row = layout && rowChangeOf(layout, patch);
  if (row === undefined || (layout && row && !refersFreely(permit, layout, row.values))) return undefined;
  return { ...change, typeRevision, companion: layout && row ? { layout, values: row.values } : undefined, kept: row?.kept };
}

/** The place to look at, and what is looked for. */
export interface MergeView {
  store: Pick<Statements, 'run' | 'read'>;
  types: Pick<EntityTypes, 'find' | 'at'>;
  /** Whether a heavy entity is not merged into, so that the look costs little on a connection that requests share. */
  light?: boolean;
  /** The keys of entities that the same request creates. */
  created?: ReadonlySet<string>;
}

/** A merge that the rules allow. */
export interface CheckedMerge extends Merge {
  /** Whether the entity is too heavy for a `light` look. The size and the type of the result are not checked then. */
  isOfHeavy: boolean;
}

/** Looks at the entity, and returns the merge into the version that it has: for a name without a type into any that the caller accepts. Throws as `updateEntity`. */
export async function checkMerge(
  { store, types, light = false, created }: MergeView,
  permit: Permit<'update'>,
  key: string,
  change: Omit<Change, 'isHeavy'>,
): Promise<CheckedMerge> {
  const { patch, limitBytes } = change;
  let type = await types.find(permit.entity);
  const { version, fields, present, judgement } = await inRounds(async () => {
    const look = { light, paths: referencePaths(permit, type?.companion) };
    const found = permit.change
      ? await judgeMerge(store, permit, permit.change, { key, patch }, look)
      : await previewOf(store, permit, key, { patch, ...look });
    if (found.typeRevision === (type?.revision ?? '0')) return found;
    type = await types.at(permit.entity, found.typeRevision);
    return undefined;
  });
  if (fields === null) {
    requirePrecondition(type, change, version);
    return { ...change, ...untyped, isOfHeavy: true };
  }
  const checked = allowChange({
    judgement,
    type,
    guard: change,
    state: { version },
    next: { text: fields, patch, limitBytes, isStoredText: true },
  });
  await requireReferences(store, permit, checked.companion, { judgement, present, ...(created && { created }) });
  const merge = type || judgement ? { ...change, ...checked, versions: [version], merged: fields, judgement } : { ...change, ...checked };
  return { ...merge, isOfHeavy: false };
}

/** The result of the patch, for a permit without rules. Throws as {@link refusalOf}. */
async function previewOf(
  store: MergeView['store'],
  permit: Permit<'update'>,
  key: string,
  look: Parameters<typeof previewUpdate>[3],
): Promise<PreviewedRow & { judgement?: Judgement }> {
  const found = await previewUpdate(store, permit, key, look);
  if (!found) throw await refusalOf(store, permit, key);
  return found;
}
