/**
 * Changes the fields of an entity: a JSON merge patch, under the caller's precondition and the rules of the type. Whatever was checked is
 * what is stored, since the statement that writes is guarded by the version that was looked at.
 */
import type { Pool } from 'pg';
import type { Origin } from '../audit/store.ts';
import type { Permit } from '../authn/principal.ts';
import type { Batches } from '../database/batch.ts';
import { Problem } from '../errors.ts';
import type { EntityRow } from './row.ts';
import { preview, update, updateTogether, type Merge } from './store.ts';
import type { EntityType } from './types.ts';

/** In every round somebody succeeds, so only an entity that everybody changes all the time lets one caller fail so often. */
const rounds = 100;

export interface Change extends Merge {
  /** Whether the caller has named versions, or has said that any will do. */
  isGuarded: boolean;
  /** What the merged fields must fit; undefined for any object. */
  type: EntityType | undefined;
}

/**
 * Merges the patch and returns the row as it then is. Throws 404 when the permit covers no such row, 412 when its version is none of
 * `versions`, 428 when the type wants to be told, 413 and 422 when what merging makes is too large or does not fit, 503 `busy` when others are
 * always faster.
 */
export async function updateEntity(
  writes: { pool: Pool; updates: Batches<EntityRow> },
  permit: Permit<'update'>,
  origin: Origin,
  key: string,
  change: Change,
): Promise<EntityRow> {
  const { pool, updates } = writes;
  const { versions, type } = change;
  // Without a type the statement decides by itself, and is asked why only when it did nothing.
  let version = type && (await look(pool, permit, key, change));
  const accepted = () => ({ ...change, versions: type && version !== undefined ? [version] : versions });
  let row = await updateTogether(updates, permit, origin, key, accepted());
  for (let round = 0; !row && round < rounds; round++) {
    version = await look(pool, permit, key, change);
    row = await update(pool, permit, origin, key, accepted());
  }
  if (row) return row;
  throw new Problem('busy', { headers: { 'Retry-After': '1' }, values: { seconds: 1 } });
}

/** The version the patch could be merged into, or a throw when it could not. */
async function look(pool: Pool, permit: Permit<'update'>, key: string, change: Change): Promise<string> {
  const { patch, versions, isGuarded, type, limitBytes } = change;
  const merged = await preview(pool, permit, key, patch);
  if (!merged) throw new Problem('not-found');
  if (type?.requiresIfMatch && !isGuarded) throw new Problem('precondition-required');
  if (versions && !versions.includes(merged.version)) throw new Problem('precondition-failed');
  if (Buffer.byteLength(merged.fields) > limitBytes) throw new Problem('content-too-large', { values: { limit: limitBytes } });
  type?.check(JSON.parse(merged.fields));
  return merged.version;
}
