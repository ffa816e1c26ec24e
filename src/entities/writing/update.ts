/** Changes the fields of an entity: a JSON merge patch, under the caller's precondition and the rules of the type. */
import type { Caller } from '../../authn/caller.ts';
import type { Statements } from '../../database/port.ts';
import type { EntityTypes } from '../../entity-types/types.ts';
import type { Permit } from '../../rights/permit.ts';
import type { WriteAdmission } from '../idempotency/turns.ts';
import type { EntityRow } from '../row.ts';
import { executeAlone, executeGrouped, type Merge, type Replacement } from './execute.ts';
import { checkMerge, directMerge, type Change } from './merge.ts';
import { inRounds } from './rounds.ts';
import { untyped } from './rules.ts';

/** How an update is written: together with others, or alone over the pool, when it is its turn. `types` has what the merged fields must fit. */
export interface Writes {
  store: Statements;
  admission: WriteAdmission;
  types: EntityTypes;
}

/**
 * Merges the patch and returns the row as it then is. Throws
 * - 403, 404: the permit covers no such row (`refusalOf`).
 * - 412: its version is none of `versions`.
 * - 413: the merged entity is too large.
 * - 422: the merged entity does not fit its type, or has a new reference to an entity that the caller may not read.
 * - 428: the type requires If-Match.
 * - 503 `busy`: others are always faster, or too much heavy work is waiting.
 */
export async function updateEntity(
  { store, admission, types }: Writes,
  permit: Permit<'update'>,
  caller: Caller,
  key: string,
  change: Change,
): Promise<EntityRow> {
  const look = (light: boolean) => checkMerge({ store, types, light }, permit, key, change);
  const write = (merge: Merge): Replacement => ({ ...merge, statement: 'updateOne', permit, origin: caller.origin, key });
  const alone = async () => {
    let merge = permit.change || (await types.find(permit.entity)) ? await look(false) : { ...change, ...untyped };
    return await inRounds(async () => {
      const row = await executeAlone(store, write(merge));
      if (!row) merge = await look(false);
      return row;
    });
  };
  if (change.isHeavy) return await admission.run('heavy-patch', { flow: permit.userName, caller }, alone);
  // The statement of a direct merge decides by itself, and the entity is looked at only when it did nothing.
  const direct = directMerge(permit, await types.find(permit.entity), change);
  let seen = direct ? undefined : await look(true);
  const merge = direct ?? seen;
  const row = merge && !seen?.isOfHeavy ? await executeGrouped(store, write(merge)) : undefined;
  if (row) return row;
  seen ??= await look(true);
  return await admission.run(seen.isOfHeavy ? 'heavy-patch' : 'contended-write', { flow: permit.userName, caller }, alone);
}
