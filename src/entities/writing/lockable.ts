/**
 * The rights by which a statement locks or deletes an entity. PostgreSQL tests a row again that another transaction has changed while the statement waited for its lock, and
 * then compares the new row with entities of the old snapshot. So a rule that reads other entities is tested by a statement before, and the entity is locked in the
 * version that was tested (decision 334).
 */
import type { Statements } from '../../database/port.ts';
import { fullRights, type EntityRights } from '../../rights/field-view.ts';
import type { Permit } from '../../rights/permit.ts';
import { placeOf, stateOf, type Place } from '../find-entity.ts';
import type { Versions } from './statements.ts';

export interface LockablePlace {
  rights: EntityRights;
  place: Place;
  versions: Versions;
}

/** Undefined if the permit covers no entity with the key, or one in a version that the caller does not accept (null accepts any). */
export async function lockablePlace(
  store: Pick<Statements, 'run'>,
  permit: Permit<'delete'>,
  key: string,
  versions: Versions,
): Promise<LockablePlace | undefined> {
  if (permit.coverage.kind === 'all' || !permit.coverage.readsOthers) return { rights: permit, place: placeOf(permit, key), versions };
  const state = await stateOf(store, permit, key);
  if (!state || (versions && !versions.includes(state.version))) return undefined;
  return { rights: fullRights, place: { name: permit.entity, owner: null, key }, versions: [state.version] };
}
