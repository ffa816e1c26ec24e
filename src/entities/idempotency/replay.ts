/** What an earlier request with the same Idempotency-Key was answered with: the entity as the history has it, under the rights of the caller now. */
import { Problem } from '../../problems/errors.ts';
import type { Permit } from '../../rights/permit.ts';
import { findVersion } from '../history/history.ts';
import { historyRetention } from '../retention.ts';
import type { Effect } from './idempotency.ts';
import { writeOnce, type OnceDone, type RepeatableWrite } from './once.ts';
import type { Caller } from '../../authn/caller.ts';
import type { EntityRow } from '../row.ts';
import { findEntity } from '../writing/store.ts';
import type { Writes } from '../writing/update.ts';

export type ReplayPermit = Permit<'create' | 'read' | 'update'>;

/** The entity in a version that it has now, or had and whose values are kept; undefined if the permit covers none. */
export async function findInVersion(
  { store, types }: Pick<Writes, 'store' | 'types'>,
  permit: ReplayPermit,
  key: string,
  version: string,
): Promise<EntityRow | undefined> {
  const keep = historyRetention((await types.find(permit.entity))?.document);
  const kept = await findVersion(store, permit, key, version, keep);
  if (kept) return kept;
  const present = await findEntity(store, permit, key);
  return present?.version === version ? present : undefined;
}

/** The entity as it was after the request. Throws 410 `answer-gone` if the permit covers no such version that is kept. */
export async function findAfter(writes: Writes, permit: ReplayPermit, effect: Effect | undefined): Promise<EntityRow> {
  const { key, version } = effect ?? {};
  const row = key !== undefined && version ? await findInVersion(writes, permit, key, version) : undefined;
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
