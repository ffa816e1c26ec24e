/** How a write is refused that finds no entity which its permit covers. */
import type { Statements } from '../../database/port.ts';
import { Problem } from '../../problems/errors.ts';
import type { Permit } from '../../rights/permit.ts';
import { stateOf } from '../find-entity.ts';

/**
 * 403 if there is an entity with the key that the caller may read, otherwise 404 (rule 64, decision 195). For a caller who may not read the
 * entities of others it reads nothing. So such an entity looks like a missing one, also by the time of the answer.
 */
export async function refusalOf(
  store: Pick<Statements, 'run'>,
  permit: Permit<'update' | 'delete' | 'purge'>,
  key: string,
): Promise<Problem> {
  const { widerRead, entity, action } = permit;
  if (!widerRead || !(await stateOf(store, widerRead, key))) return new Problem('not-found');
  // The permit covers it now: another request has restored it meanwhile.
  if (await stateOf(store, permit, key)) return new Problem('not-found');
  return new Problem('forbidden', { audit: { entity, action } });
}
