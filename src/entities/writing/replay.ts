/** What an earlier request with the same Idempotency-Key was answered with: the entity as the history has it, under the rights of the caller now. */
import { Problem } from '../../problems/errors.ts';
import type { Permit } from '../../rights/permit.ts';
import { findInVersion } from '../history/history.ts';
import type { Effect } from '../idempotency/idempotency.ts';
import { writeOnce, type OnceDone, type RepeatableWrite } from './once.ts';
import type { Caller } from '../../authn/caller.ts';
import type { EntityRow } from '../row.ts';
import type { Writes } from './update.ts';

export type ReplayPermit = Permit<'create' | 'read' | 'update'>;

/** The permit by which a repeat reads: under rules the rows that grants of `read` cover decide, and not those that may be changed. */
export const readablePermit = (permit: ReplayPermit): ReplayPermit => (permit.change ? (permit.widerRead ?? permit) : permit);

/** The entity as it was after the request. Throws 410 `answer-gone` if the permit covers no such version that is kept. */
export async function findAfter(writes: Writes, permit: ReplayPermit, effect: Effect | undefined): Promise<EntityRow> {
  const { key, version } = effect ?? {};
  const row = key !== undefined && version ? await findInVersion(writes, readablePermit(permit), key, version) : undefined;
  if (!row) throw new Problem('answer-gone');
  return row;
}

/** {@link writeOnce} for a change of one entity, which is answered with it. */
export function changeOnce(
  writes: Writes,
  permit: Permit<'update'>,
  caller: Caller,
  change: Pick<RepeatableWrite<EntityRow>, 'claim' | 'isHeavy' | 'isPatch' | 'write'>,
): Promise<OnceDone<EntityRow>> {
  return writeOnce(writes, permit, caller, {
    ...change,
    effectsOf: ({ key, version }) => [{ status: 200, key, version }],
    replay: ([effect], within) => findAfter(within, permit, effect),
  });
}
