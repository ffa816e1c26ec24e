/** An administrator's change of how long the audit trail is kept. Only the owner of the tables may make it. */
import { updateRetention, type RetentionPeriod } from '../audit/retention.ts';
import { recordChange } from '../audit/actor.ts';
import type { Store } from '../database/port.ts';
import type { Owner } from '../rights/administration.ts';
import type { Changed } from './changed.ts';

/** Sets how long events are kept. */
export function changeRetention(store: Store, { actor }: Owner, keep: RetentionPeriod): Promise<Changed<RetentionPeriod>> {
  return store.transaction(async (trx) => {
    const changed = await updateRetention(trx, keep);
    if (changed) await recordChange(trx, actor, { event: 'retention.changed', detail: { keep: keep ?? 'forever' } });
    return { state: keep, changed };
  });
}
