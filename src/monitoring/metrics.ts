/**
 * The metrics of this process for Prometheus (docs/observability.md explains each, and a test compares). Values that other code counts are
 * read on request; only requests are counted here. A client cannot choose the value of any label.
 */
import { collectDefaultMetrics, Gauge, type Aggregator } from 'prom-client';
import type { MonitoringContext } from './context.ts';
import { archiveReach } from '../embedded/archive/histories.ts';
import { lostLines } from '../telemetry/logging.ts';
import { MetricSet, metricPrefix as prefix } from '../telemetry/metric-set.ts';
import { countLive } from '../sessions/count.ts';

/** Counting sessions reads an index of them, so it is done at most once in this interval, and up to this limit. */
const sessionCountIntervalMs = 30_000;
const sessionsLimit = 100_000;

/** The metrics of a process on `context`, and those of Node.js; `measureRequests` adds those of requests. */
export function createMetricSet(context: MonitoringContext): MetricSet {
  const meters = new MetricSet();
  const { config, store, readers, listener, principals, issuers, auditQuota, secretFiles, dailyBackups, rightsFiles, background, version } =
    context;
  new Gauge({
    name: `${prefix}build_info`,
    help: 'Always 1; the labels say what is running.',
    labelNames: ['version', 'node'],
    aggregator: 'first',
    registers: [meters.registry],
  }).set({ version, node: process.versions.node }, 1);

  meters.gauges('pool_connections', 'Connections of the pool, by what they do.', 'state', () => {
    const { busy, idle } = store.connections().pool;
    return { busy, idle };
  });
  meters.gauge('pool_connections_limit', 'Most connections the pool may open.', () => store.connections().pool.limit);
  meters.gauges('read_connections', 'Connections that reads share, by what they do.', 'state', () => ({ ...store.connections().reads }));
  meters.gauge('pool_waiting', 'Statements that wait for a connection.', () => store.connections().pool.waiting);
  meters.gauge(
    'listener_up',
    'Whether the line for notifications of the database is up; without it nothing is cached.',
    () => Number(listener.isUp),
    'min',
  );

  meters.counters('standby_reads_total', 'Reads that a standby may answer, by what became of them.', 'outcome', () => ({
    ...readers.outcomes,
  }));
  meters.gauge(
    'standby_up',
    'Whether the standby has answered last; absent without one.',
    () => (readers.isUp === undefined ? undefined : Number(readers.isUp)),
    'min',
  );
  meters.gauge(
    'standby_lag_seconds',
    'For how long the standby may have lacked something; absent without one.',
    () => readers.lagSeconds,
    'max',
  );

  meters.counters(
    'password_attempts_total',
    'Passwords tried at sign-in and at a password change.',
    'outcome',
    () => context.throttle.outcomes,
  );

  // The admission is read through the context each time, because tests replace it.
  const ofClasses = (figure: 'running' | 'limit' | 'waiting' | 'refused') => () =>
    Object.fromEntries(
      context.admission.figures.map(({ name, [figure]: number }) => [name, number] as const).filter(([, number]) => number < Infinity),
    );
  meters.gauges('admission_running', 'Jobs of each class that run.', 'class', ofClasses('running'));
  meters.gauges('admission_running_limit', 'Most jobs of each class that run at once.', 'class', ofClasses('limit'));
  meters.gauges('admission_waiting', 'Jobs of each class that wait.', 'class', ofClasses('waiting'));
  meters.counters('admission_refused_total', 'Jobs of each class that were not admitted.', 'class', ofClasses('refused'));

  const { ledger } = context.admission;
  meters.counters('costs_total', 'Costs of all requests: milliseconds of the event loop, and bytes.', 'resource', () => ({
    ...ledger.totals,
  }));
  meters.gauge('share_waiting', 'Requests that wait because their users have taken more than their share.', () => ledger.waiting);
  meters.counter('share_refused_total', 'Requests refused after such a wait.', () => ledger.refused);

  meters.gauge('principal_cache_entries', 'Verified credentials kept in the process.', () => principals.size);
  meters.counter('principal_cache_hits_total', 'Credentials found there.', () => principals.hits);
  meters.counter('principal_cache_misses_total', 'Credentials that had to be verified.', () => principals.misses);
  meters.gauge(
    'sessions_live',
    `Live sessions of all replicas, counted up to ${sessionsLimit}, every 30 seconds at most.`,
    liveSessions(context),
    'max',
  );

  meters.gauges(
    'issuer_up',
    'Whether an issuer answered when it was asked last; absent before the first time.',
    'issuer',
    () => Object.fromEntries([...issuers.answering].map(([id, answered]) => [id, Number(answered)])),
    'min',
  );
  meters.gauges(
    'secret_file_in_force',
    'Whether the content of a file of secrets is what the process uses.',
    'file',
    () => Object.fromEntries(secretFiles.map(({ name, problem }) => [name, Number(problem === undefined)])),
    'min',
  );
  meters.gauge(
    'last_backup_timestamp_seconds',
    'The time at which the newest file in BACKUP_DIR was written; 0 if there is none, absent without BACKUP_DIR.',
    () => dailyBackups && (dailyBackups.newest?.getTime() ?? 0) / 1_000,
    'max',
  );
  meters.gauge(
    'rights_drift',
    'Documents of RIGHTS_DIR that are not in force as their files have them; absent without RIGHTS_DIR.',
    () => rightsFiles?.differences,
    'max',
  );
  meters.gauge(
    'archive_reach_timestamp_seconds',
    'The moment up to which ARCHIVE_DIR has the log; 0 if it has none, absent without ARCHIVE_DIR.',
    async () => (config.archiveDir === undefined ? undefined : ((await reachOf(config.archiveDir)) ?? 0)),
    'max',
  );
  meters.labelledCounters(
    'background_runs_total',
    'Runs of periodic work, by job and outcome.',
    ['job_name', 'outcome'],
    () => background.counts,
  );
  meters.counter('audit_left_out_total', 'Refusals that the quota has kept out of the audit trail.', () => auditQuota.leftOut);

  meters.counter('log_lines_lost_total', 'Lines of the log that could not be written to standard output.', lostLines);

  collectDefaultMetrics({ register: meters.registry });
  // The default, the mean of the workers, would hide one that is blocked.
  Object.assign(meters.registry.getSingleMetric('nodejs_eventloop_lag_p99_seconds') ?? {}, { aggregator: 'max' satisfies Aggregator });
  return meters;
}

/** In seconds since 1970; undefined also if the directory cannot be read. */
async function reachOf(archiveDir: string): Promise<number | undefined> {
  const reach = await archiveReach(archiveDir).catch(() => undefined);
  return reach && reach.getTime() / 1_000;
}

/** Counts the live sessions and caches the number; undefined if the database does not answer. */
function liveSessions({ store: { db } }: Pick<MonitoringContext, 'store'>): () => Promise<number | undefined> {
  let countedAt = Number.NEGATIVE_INFINITY;
  let counted: Promise<number | undefined> = Promise.resolve(undefined);
  return () => {
    if (performance.now() - countedAt >= sessionCountIntervalMs) {
      countedAt = performance.now();
      counted = countLive(db, sessionsLimit).catch(() => undefined);
    }
    return counted;
  };
}
