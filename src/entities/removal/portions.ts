/** A purge of an entity to which more than 1,000 others refer: these go first, in portions (decision 273). */
import type { Caller } from '../../authn/caller.ts';
import { afterCommittedPart, exceededStatementTime } from '../../database/failure.ts';
import { Problem } from '../../errors.ts';
import type { Permit } from '../../rights/permit.ts';
import { changeValues } from '../changed.ts';
import { acceptedVersions } from '../etag.ts';
import { lockOne } from '../statements.ts';
import { placeOf } from '../store.ts';
import type { Writes } from '../update.ts';
import { isStillReferenced } from '../violations.ts';
import { problemOfRemoval, type RemovalRequest } from './delete.ts';
import { Portion, type PortionDone } from './portion.ts';
import { holdTypes } from './removal-statements.ts';
import { findRestrictions } from './restrictions.ts';
import { StillReferencedError } from './still-referenced.ts';

/** After this time no further portion begins. The one under way has the rest of the time of a request. */
const portionsMs = 5_000;

/**
 * Runs `purge`. If it is refused because too many entities refer to the entity, these are deleted or changed in portions, and `purge` runs again. Throws what
 * `purge` throws, with the number of entities that are gone by then, and 503 `outcome-unknown` after five seconds: the same request goes on with the rest.
 * Throws 409 `still-referenced` before the first portion if entities restrict the deletion.
 */
export async function purgeInPortions<T>(
  writes: Writes,
  authorizeDelete: () => Permit<'delete'>,
  caller: Caller,
  removal: RemovalRequest,
  purge: () => Promise<T>,
): Promise<T> {
  const end = performance.now() + portionsMs;
  let count = 0;
  const part = <P>(work: () => Promise<P>): Promise<P> => (count > 0 ? afterCommittedPart(work) : work());
  try {
    for (;;) {
      try {
        return await part(purge);
      } catch (error) {
        if (!needsPortions(error)) throw error;
      }
      const permit = authorizeDelete();
      await part(() => refuseRestrictions(writes, permit, removal));
      for (let isLast = false; !isLast;) {
        if (count > 0 && performance.now() > end)
          throw new Problem('outcome-unknown', { headers: { 'Retry-After': '1' }, values: { seconds: 1 } });
        const done = await part(() => removePortion(writes, permit, caller, removal));
        count += done.count;
        ({ isLast } = done);
      }
    }
  } catch (error) {
    if (count === 0 || !(error instanceof Problem)) throw error;
    throw error.withFaults([{ pointer: '', code: 'partly-done', values: { count } }, ...error.faults]);
  }
}

const needsPortions = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'still-referenced' && error.faults.some(({ code }) => code === 'too-many-referrers');

async function refuseRestrictions({ store }: Writes, permit: Permit<'delete'>, { key, readable }: RemovalRequest): Promise<void> {
  try {
    const keys = await findRestrictions(store.db, permit.entity, key);
    if (keys.size > 0) throw await problemOfRemoval(store, new StillReferencedError(keys, 'restrict'), readable);
  } catch (error) {
    // Among millions of entities the portions come upon the restriction.
    if (!exceededStatementTime(error)) throw error;
  }
}

async function removePortion(
  { store, queues, types }: Writes,
  permit: Permit<'delete'>,
  caller: Caller,
  { key, ifMatch, readable }: RemovalRequest,
): Promise<PortionDone> {
  const type = await types.find(permit.entity);
  const companion = type?.companion;
  // The purge says why it is not possible any more.
  if (!companion) return { count: 0, isLast: true };
  const change = changeValues(permit, caller.origin, type.revision);
  try {
    return await queues.runHeavy(permit, caller, () =>
      store.transaction(async (trx) => {
        await holdTypes.execute(trx);
        const { rows } = await trx.executeQuery(lockOne.query({ ...change, ...placeOf(permit, key), versions: acceptedVersions(ifMatch) }));
        if (rows.length === 0) return { count: 0, isLast: true };
        return await new Portion(trx, types, change).run({ name: permit.entity, companion, trashKeep: null }, key);
      }),
    );
  } catch (error) {
    if (error instanceof StillReferencedError) throw await problemOfRemoval(store, error, readable);
    // The wall behind it: a type that is being changed has a reference that it does not declare yet.
    if (isStillReferenced(error)) throw new Problem('still-referenced');
    throw error;
  }
}
