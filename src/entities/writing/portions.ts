/** A purge of an entity with which more than 1,000 others go or change: these go first, in portions (decision 273). */
import type { Kysely } from 'kysely';
import type { Caller } from '../../authn/caller.ts';
import { afterCommittedPart, exceededStatementTime } from '../../database/failure.ts';
import type { Database } from '../../database/tables.ts';
import { Problem } from '../../problems/errors.ts';
import type { Permit } from '../../rights/permit.ts';
import type { Writes } from './update.ts';
import { problemOfRemoval, removeLocked, type RemovalRequest } from './delete.ts';
import { refuseLargeSets, type PortionDone } from './removal.ts';
import { findRestrictions } from './restrictions.ts';
import { StillReferencedError } from './still-referenced.ts';

/** After this time no further portion begins. The one under way has the rest of the time of a request. */
const portionsMs = 5_000;

/** A purge, with the rights that its caller has now. */
export interface PresentPurge<T> {
  removal: RemovalRequest;
  /** Throws 403 without the right. */
  authorizeDelete: () => Permit<'delete'>;
  /** Purges the entity if no more than 1,000 others go or change with it. */
  run: () => Promise<T>;
}

/**
 * Runs `first`. If it is refused because too many entities refer to the entity, these are deleted or changed in portions, and the purge runs again. Before each
 * portion, and before it runs again, `present` returns the purge with the caller's present rights. Throws what both throw, with the number of entities that are
 * gone by then, and 503 `outcome-unknown` after five seconds: the same request goes on with the rest. Throws 409 `still-referenced` before the first portion as
 * {@link refuseImpossible} does.
 */
export async function purgeInPortions<T>(
  writes: Writes,
  caller: Caller,
  first: PresentPurge<T>,
  present: () => Promise<PresentPurge<T>>,
): Promise<T> {
  const end = performance.now() + portionsMs;
  let count = 0;
  const purgeAll = async (): Promise<T> => {
    for (let purge = first; ; purge = await present()) {
      try {
        return await purge.run();
      } catch (error) {
        if (!needsPortions(error)) throw error;
      }
      await refuseImpossible(writes, caller, purge);
      for (let isLast = false; !isLast;) {
        if (count > 0 && performance.now() > end)
          throw new Problem('outcome-unknown', { headers: { 'Retry-After': '1' }, values: { seconds: 1 } });
        const done = await removePortion(writes, caller, purge.authorizeDelete(), present);
        count += done.count;
        ({ isLast } = done);
      }
    }
  };
  try {
    return await afterCommittedPart(purgeAll, () => count > 0);
  } catch (error) {
    if (count === 0 || !(error instanceof Problem)) throw error;
    const seconds = error.status === 503 ? { seconds: Number(error.headers['Retry-After']) } : {};
    throw error.withFaults([{ pointer: '', code: 'partly-done', values: { count, ...seconds } }, ...error.faults]);
  }
}

const needsPortions = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'still-referenced' && error.faults.some(({ code }) => code === 'too-many-referrers');

/** Throws 409 `still-referenced` for a purge that cannot come to its end, as far as that can be found before it deletes anything. */
async function refuseImpossible<T>(
  { store, admission, types }: Writes,
  caller: Caller,
  { authorizeDelete, removal: { key, readable } }: PresentPurge<T>,
): Promise<void> {
  const permit = authorizeDelete();
  const { entity: name } = permit;
  const companion = (await types.find(name))?.companion;
  if (!companion) return;
  try {
    await admission.run('heavy-write', { flow: permit.userName, caller }, async () => {
      await refuseRestrictions(store.db, name, key);
      await refuseLargeSets(store.db, { name, companion, trashKeep: null }, key);
    });
  } catch (error) {
    throw error instanceof StillReferencedError ? await problemOfRemoval(store, error, readable) : error;
  }
}

async function refuseRestrictions(db: Kysely<Database>, name: string, key: string): Promise<void> {
  try {
    const keys = await findRestrictions(db, name, key);
    if (keys.size > 0) throw new StillReferencedError(keys, 'restrict');
  } catch (error) {
    // Among millions of entities the portions come upon the restriction.
    if (!exceededStatementTime(error)) throw error;
  }
}

/** Waits for a heavy turn by `turn`, and deletes or changes a portion under the rights that the caller has then. */
function removePortion<T>(
  writes: Writes,
  caller: Caller,
  turn: Permit<'delete'>,
  present: () => Promise<PresentPurge<T>>,
): Promise<PortionDone> {
  return writes.admission.run('heavy-write', { flow: turn.userName, caller }, async () => {
    const { removal, authorizeDelete } = await present();
    const { key } = removal;
    const type = await writes.types.find(turn.entity);
    // The purge says why it is not possible any more.
    const nothing = { count: 0, isLast: true };
    if (!type?.companion) return nothing;
    const done = await removeLocked(writes, authorizeDelete(), caller, { ...removal, type }, (removing, deleted) =>
      removing.runPortion(deleted, key),
    );
    return done ?? nothing;
  });
}
