/** An administrator's change of how long the audit trail is kept. Only the owner of the tables may make it. */
import { updateRetention, type RetentionPeriod } from '../audit/retention.ts';
import type { Store } from '../database/port.ts';
import { recordChange } from '../audit/actor.ts';
import type { Actor } from '../rights/administration.ts';

/** Returns whether it was another before. */
export function changeRetention(store: Store, actor: Actor, keep: RetentionPeriod): Promise<boolean> {
  return store.transaction(async (trx) => {
    const changed = await updateRetention(trx, keep);
    if (changed) await recordChange(trx, actor, { event: 'retention.changed', detail: { keep: keep ?? 'forever' } });
    return changed;
  });
}
