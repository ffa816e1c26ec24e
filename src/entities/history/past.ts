/** Reads an entity as it does not stand any more: in an earlier version, at a time, or in the trash. */
import type { Principal } from '../../rights/principal.ts';
import { Problem } from '../../problems/errors.ts';
import { authorize, authorizeTrash, type Permit } from '../../rights/permit.ts';
import { findAsOf } from './as-of.ts';
import type { EntityQuery } from '../querying/view.ts';
import type { EntityRow } from '../row.ts';
import { findTrashed } from '../trash.ts';
import { findInVersion, type VersionSource } from './history.ts';

export interface PastEntity {
  permit: Permit<'read' | 'update'>;
  /** The entity with the key; undefined if the permit covers none. `keep` is how long versions are kept, `position` the tick in which it was found. */
  find: (key: string, keep: string) => Promise<{ row: EntityRow; position?: string } | undefined>;
}

/** How to find what the query asks for; undefined for the entity as it stands. Throws 403, and 400 for parameters that do not go together. */
export function pastEntity(
  { store, types }: VersionSource,
  principal: Principal,
  entity: string,
  query: EntityQuery,
): PastEntity | undefined {
  const { version, asOf, deleted, fields, include, labels } = query;
  const [parameter, other] = Object.entries({ version, asOf, deleted, fields, include, labels }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  const isPast = version !== undefined || asOf !== undefined || deleted !== undefined;
  if (!isPast || parameter === undefined) return undefined;
  if (other !== undefined) throw new Problem('malformed-request', { faults: [{ parameter, code: 'conflicting' }] });
  if (deleted !== undefined) {
    const permit = authorizeTrash(principal, entity);
    return { permit, find: async (key) => found(await findTrashed(store, permit, key)) };
  }
  const permit = authorize(principal, entity, 'read');
  if (asOf !== undefined) return { permit, find: (key, keep) => findAsOf(store, permit, key, asOf, keep) };
  return { permit, find: async (key) => found(await findInVersion({ store, types }, permit, key, version ?? '')) };
}

const found = (row: EntityRow | undefined) => row && { row };
