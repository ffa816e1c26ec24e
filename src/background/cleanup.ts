/**
 * Deletes rows that have no effect any more: ended sessions, old replaced tokens, old sign-in attempts and idempotency keys, abandoned
 * sign-ins at a provider, old versions of entities, their ticks, what was in the trash long enough, old months of the audit trail, what
 * changes of types have left. Every deadline is checked on reading (security rule 12). It also makes the partitions of coming months for the history of entities and for the audit trail.
 */
import type { FastifyBaseLogger } from 'fastify';
import { sql, type Kysely } from 'kysely';
import { theService } from '../audit/actor.ts';
import { maintainAuditTrail } from '../audit/retention.ts';
import type { MonitoringContext } from '../monitoring/context.ts';
import { deleteEndedProcesses } from '../database/processes.ts';
import type { Database } from '../database/tables.ts';
import { maintainHistory } from '../entities/history/history.ts';
import { deleteOldKeys } from '../entities/idempotency/idempotency.ts';
import { deleteOldTicks } from '../entities/history/ticks.ts';
import { deleteExpiredTrash } from '../entities/writing/trash.ts';
import { settleInterrupted } from '../entity-types/apply.ts';
import { listLeftovers } from '../entity-types/leftovers.ts';
import { deleteExpiredTransactions } from '../oidc/sign-in/store.ts';
import { deleteIdleAttempts } from '../credentials/attempts.ts';
import { deleteReplacedTokens } from '../sessions/store.ts';

const cleanupIntervalMs = 600_000;
const batchRows = 1_000;
/** Days for which an ended session is stored, so that a reuse of its tokens is still detected and audited. */
const keepDays = 1;

/**
 * Calls `deleteBatch` until it deletes less than a whole batch, and returns the number of deleted rows. So no table grows faster than it is
 * cleaned.
 */
export async function deleteInBatches(deleteBatch: () => Promise<number>): Promise<number> {
  let deleted = 0;
  for (;;) {
    const count = await deleteBatch();
    deleted += count;
    if (count < batchRows) return deleted;
  }
}

/** Deletes up to a thousand sessions that ended more than a day ago; returns their number. Replicas do not wait for each other. */
export async function deleteEndedSessions(db: Kysely<Database>): Promise<number> {
  const deadline = sql<Date>`now() - make_interval(days => ${keepDays})`;
  const { numDeletedRows } = await db
    .deleteFrom('session')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('session')
        .where((over) =>
          over.or([over('revoked_at', '<', deadline), over('idle_expires_at', '<', deadline), over('expires_at', '<', deadline)]),
        )
        .select('id')
        .limit(batchRows)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Runs the cleanup every ten minutes until the returned function is called. A failure is logged, and the next run tries again. */
export function scheduleCleanup({ store, leftovers }: Pick<MonitoringContext, 'store' | 'leftovers'>, log: FastifyBaseLogger): () => void {
  const { db } = store;
  const work = async () => {
    try {
      const sessions = await deleteInBatches(() => deleteEndedSessions(db));
      const replacedTokens = await deleteInBatches(() => deleteReplacedTokens(db, batchRows));
      const attempts = await deleteInBatches(() => deleteIdleAttempts(db, batchRows));
      const idempotencyKeys = await deleteInBatches(() => deleteOldKeys(db, batchRows));
      const transactions = await deleteInBatches(() => deleteExpiredTransactions(db, batchRows));
      const versions = await deleteInBatches(() => maintainHistory(db, batchRows));
      const ticks = await deleteInBatches(() => deleteOldTicks(db, batchRows));
      const trashed = await deleteInBatches(() => deleteExpiredTrash(db, batchRows));
      const auditMonths = (await maintainAuditTrail(store)).length;
      await deleteEndedProcesses(db);
      const builds = await settleInterrupted(store, theService);
      leftovers.add(await listLeftovers(db));
      log.info({
        event: 'housekeeping',
        outcome: 'ok',
        sessions,
        replacedTokens,
        attempts,
        idempotencyKeys,
        transactions,
        versions,
        ticks,
        trashed,
        auditMonths,
        builds,
      });
    } catch (error) {
      log.warn({ event: 'housekeeping', outcome: 'failed', err: error });
    }
  };
  // Without the partition of this month its rows would stay in the default partition.
  Promise.all([maintainHistory(db, 0), maintainAuditTrail(store)]).catch((error: unknown) =>
    log.warn({ event: 'housekeeping', outcome: 'failed', err: error }),
  );
  const timer = setInterval(() => void work(), cleanupIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
