/**
 * All periodic work of a service. Every process does all of it: statements that delete leave rows that another replica has locked, and PostgreSQL lets one process at
 * a time make partitions, ticks and backups. Every deadline is also checked on reading (security rule 12).
 */
import type { DailyBackups } from '../administration/daily-backups.ts';
import type { RightsFilesWatch } from '../administration/rights/rights-files.ts';
import { theService } from '../audit/actor.ts';
import { maintainAuditTrail } from '../audit/retention.ts';
import type { FollowedFile } from '../config/secret-file.ts';
import { deleteIdleAttempts } from '../credentials/attempts.ts';
import { deleteEndedProcesses, type ProcessRow } from '../database/processes.ts';
import type { Store } from '../database/port.ts';
import { samplingMs, type Readers } from '../database/standby/readers.ts';
import { analyzeGrownTables } from '../database/statistics.ts';
import { maintainHistory } from '../entities/history/history.ts';
import { deleteOldTicks, makeTick } from '../entities/history/ticks.ts';
import { deleteOldKeys } from '../entities/idempotency/idempotency.ts';
import { deleteExpiredTrash } from '../entities/trash.ts';
import { settleInterrupted } from '../entity-types/apply.ts';
import type { LeftoverQueue } from '../entity-types/leftover-queue.ts';
import { listLeftovers } from '../entity-types/leftovers.ts';
import type { IssuerRegistry } from '../oidc/tokens/issuer-registry.ts';
import { deleteExpiredTransactions } from '../oidc/sign-in/store.ts';
import { deleteEndedSessions, deleteReplacedTokens } from '../sessions/store.ts';
import type { Background, JobRun } from './background.ts';
import { deleteInBatches } from './batches.ts';

const second = 1_000;
const minute = 60 * second;
const tenMinutes = 10 * minute;

/** The parts of a process that its periodic work acts on. */
export interface PeriodicParts {
  store: Store;
  leftovers: Pick<LeftoverQueue, 'add'>;
  secretFiles: readonly FollowedFile[];
  background: Pick<Background, 'every'>;
  readers: Pick<Readers, 'hasStandby' | 'sample'>;
  issuers: Pick<IssuerRegistry, 'retryFailed'>;
  dailyBackups: Pick<DailyBackups, 'run'> | undefined;
  rightsFiles: Pick<RightsFilesWatch, 'compare'> | undefined;
}

/** Registers each job with its interval. */
export function schedulePeriodicWork(
  { background, store, leftovers, readers, issuers, secretFiles, dailyBackups, rightsFiles }: PeriodicParts,
  processRow: ProcessRow,
): void {
  const { db } = store;

  if (readers.hasStandby) background.every('standby', samplingMs, () => readers.sample());
  // The function of the database makes at most one tick a second, however many processes there are.
  background.every('tick', second, async () => void (await makeTick(db)));
  background.every('statistics', 2 * second, async () => void (await analyzeGrownTables(db)));
  background.every('secret-files', 5 * second, async () => void (await Promise.all(secretFiles.map((file) => file.reload()))));
  background.every('process-row', 10 * second, () => processRow.renew());
  // For how long the metric of an issuer that did not answer may stay wrong (rule 49: an issuer gets at most one request in 30 s).
  background.every('issuers', minute, () => issuers.retryFailed());

  if (rightsFiles) background.every('rights-files', minute, () => rightsFiles.compare());

  // Without the partition of this month its rows would stay in the default partition.
  const atOnce = { runsInTurn: true, runsAtOnce: true };
  background.every('history-partitions', tenMinutes, async () => void (await maintainHistory(db, 0)), atOnce);
  background.every('audit-trail', tenMinutes, async () => reportOf('droppedMonths', (await maintainAuditTrail(store)).length), atOnce);

  const inTurn = { runsInTurn: true };
  const deletes = (name: string, deleteBatch: (limit: number) => Promise<number>): void => {
    const run: JobRun = async (signal) => reportOf('deleted', await deleteInBatches(deleteBatch, signal));
    background.every(name, tenMinutes, run, inTurn);
  };
  deletes('sessions', (limit) => deleteEndedSessions(db, limit));
  deletes('replaced-tokens', (limit) => deleteReplacedTokens(db, limit));
  deletes('login-attempts', (limit) => deleteIdleAttempts(db, limit));
  deletes('idempotency-keys', (limit) => deleteOldKeys(db, limit));
  deletes('provider-sign-ins', (limit) => deleteExpiredTransactions(db, limit));
  deletes('history', (limit) => maintainHistory(db, limit));
  deletes('old-ticks', (limit) => deleteOldTicks(db, limit));
  deletes('trash', (limit) => deleteExpiredTrash(db, limit));
  background.every('ended-processes', tenMinutes, async () => reportOf('deleted', await deleteEndedProcesses(db)), inTurn);
  background.every('type-builds', tenMinutes, async () => reportOf('settled', await settleInterrupted(store, theService)), inTurn);
  background.every('type-leftovers', tenMinutes, async () => leftovers.add(await listLeftovers(db)), inTurn);

  if (dailyBackups)
    background.every('backup', tenMinutes, (signal) => dailyBackups.run(signal), {
      runsAtOnce: true,
      event: 'backup',
      failureLevel: 'error',
    });
}

/** Undefined for nothing. */
const reportOf = (member: string, count: number): object | undefined => (count > 0 ? { [member]: count } : undefined);
