/** How long the audit trail is kept: it has a partition for each month (UTC), and retention drops whole months (decision 163). */
import { sql, type Kysely } from 'kysely';
import type { Store } from '../database/port.ts';
import type { Database } from '../database/tables.ts';
import { insertEvent } from './store.ts';

/** An ISO 8601 duration such as `P400D`; null if the trail is kept for ever. */
export type RetentionPeriod = string | null;

/** How long events are kept. */
export async function readRetention(db: Kysely<Database>): Promise<RetentionPeriod> {
  const { keep } = await db.selectFrom('audit_retention').select('keep').executeTakeFirstOrThrow();
  return keep;
}

/** Sets how long events are kept. Returns whether it was another before. */
export async function updateRetention(trx: Kysely<Database>, keep: RetentionPeriod): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('audit_retention')
    .set({ keep })
    .where('keep', 'is distinct from', keep)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/**
 * Makes the partitions of the next months, and drops those of which nothing is kept, with the event `retention.applied` in the same
 * transaction. Returns the names of the dropped partitions. Only one replica at a time does so; the others get none.
 */
export async function maintainAuditTrail(store: Store): Promise<string[]> {
  return await store.transaction(async (trx) => {
    const { rows } = await sql<{ name: string }>`select maintain_audit_trail() as name`.execute(trx);
    const dropped = rows.map(({ name }) => name);
    if (dropped.length > 0) await insertEvent(trx, undefined, { event: 'retention.applied', outcome: 'ok', detail: { dropped } });
    return dropped;
  });
}
