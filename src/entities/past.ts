/** Reads an entity as it does not stand any more: in an earlier version, or in the trash. */
import type { operations } from '../../generated/api.ts';
import type { Principal } from '../authn/principal.ts';
import type { Store } from '../database/port.ts';
import { Problem } from '../errors.ts';
import { authorize, type Permit } from '../rights/permit.ts';
import { findVersion } from './history.ts';
import type { EntityRow } from './row.ts';
import { findEntity } from './store.ts';
import { authorizeTrash, findTrashed } from './trash.ts';

type Query = Partial<NonNullable<operations['getEntity']['parameters']['query']>>;

export interface PastEntity {
  permit: Permit<'read' | 'update'>;
  /** The entity with the key; undefined if the permit covers none. `keep` is how long versions are kept. */
  find: (key: string, keep: string) => Promise<EntityRow | undefined>;
}

/** How to find what the query asks for; undefined for the entity as it stands. Throws 403, and 400 for parameters that do not go together. */
export function pastEntity(store: Store, principal: Principal, name: string, query: Query): PastEntity | undefined {
  const { version, deleted } = query;
  const [parameter, other] = Object.keys({ ...(version !== undefined && { version }), ...(deleted !== undefined && { deleted }) });
  if (parameter === undefined) return undefined;
  if (other !== undefined || query.fields !== undefined || query.include !== undefined)
    throw new Problem('malformed-request', { faults: [{ parameter, code: 'conflicting' }] });
  if (version === undefined) {
    const permit = authorizeTrash(principal, name);
    return { permit, find: (key) => findTrashed(store, permit, key) };
  }
  const permit = authorize(principal, name, 'read');
  return {
    permit,
    async find(key, keep) {
      const kept = await findVersion(store, permit, key, version, keep);
      const present = kept ? undefined : await findEntity(store, permit, key);
      return kept ?? (present?.version === version ? present : undefined);
    },
  };
}
