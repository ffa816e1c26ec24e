/** The check of `doctor` that concerns the tables with a partition for each month. */
import { sql, type Kysely } from 'kysely';
import { readRetention } from '../audit/retention.ts';
import type { Database } from '../database/tables.ts';
import { okCheck, warningCheck, type CheckFinding } from './check.ts';

/** Whether this month and the next one have their partitions. Rows without one go to the default partition, which retention drops much later. */
export async function checkPartitions(db: Kysely<Database>): Promise<CheckFinding> {
  const { rows } = await sql<{ missing: string }>`
    select parent || to_char(month, ' YYYY-MM') as missing
    from unnest(array['audit_event', 'entity_change']::regclass[]) as parent,
      date_trunc('month', now() at time zone 'UTC') as this_month, generate_series(this_month, this_month + interval '1 month', '1 month') as month
    where not exists (
      select from month_partitions(parent)
      where ends >= (month + interval '1 month') at time zone 'UTC' and coalesce(starts, '-infinity') <= month at time zone 'UTC'
    ) order by 1`.execute(db);
  if (rows.length > 0) {
    const missing = rows.map((row) => row.missing).join(', ');
    return warningCheck(`missing: ${missing}; a running service makes them within ten minutes, or logs why it cannot (event housekeeping)`);
  }
  const kept = await readRetention(db);
  return okCheck(`this month and the next one have theirs; the audit trail is kept ${kept === null ? 'for ever' : `for ${kept}`}`);
}
