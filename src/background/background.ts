/**
 * The registry of periodic work. A job has one run at a time in a process, an outcome of its own for each run, and at most one line of the log for each run. A
 * failure leaves the other jobs as they are. `periodic-work.ts` lists the jobs.
 */
import { isOutage } from '../database/failure.ts';
import { KnownOutage } from '../telemetry/outage-stacks.ts';

/** The log of the process, as far as jobs write to it. */
export type JobLog = Readonly<Record<'trace' | 'info' | 'warn' | 'error', (line: object) => void>>;

/** `skipped`: the run before was not over, so there was none. */
export type JobOutcome = 'ok' | 'failed' | 'skipped';

/** One run of a job. `signal` fires at the stop. The result goes into the line of the log; undefined: the run found nothing to do. */
export type JobRun = (signal: AbortSignal) => Promise<object | undefined | void>;

export interface JobOptions {
  /** The first run begins at once, and not after the first interval. */
  runsAtOnce?: boolean;
  /** Jobs with this option run one after the other, so that together they take one connection. */
  runsInTurn?: boolean;
  /** The event of the lines, `housekeeping` by default. */
  event?: string;
  /** The level of the line of a failure, `warn` by default. */
  failureLevel?: 'warn' | 'error';
}

interface Job extends Required<JobOptions> {
  name: string;
  run: JobRun;
  isRunning: boolean;
  counts: Record<JobOutcome, number>;
  /** The failure that goes on; undefined after a run without one. */
  failure: { since: number; isOfOutage: boolean; message: string; loggedAt: number } | undefined;
}

/** A failure that goes on has at most one line in this time. */
const repeatMs = 300_000;

export class Background {
  readonly #log: () => JobLog | undefined;
  readonly #jobs = new Map<string, Job>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** Ends when the last run in turn has ended. */
  #turn = Promise.resolve();

  /** `log` is called for each line. Without a log the line is left out. */
  constructor(log: () => JobLog | undefined = () => undefined) {
    this.#log = log;
  }

  /** The number of runs of each job by outcome. */
  get counts(): { labels: { job_name: string; outcome: JobOutcome }; value: number }[] {
    return [...this.#jobs.values()].flatMap(({ name, counts }) =>
      (['ok', 'failed', 'skipped'] as const).map((outcome) => ({ labels: { job_name: name, outcome }, value: counts[outcome] })),
    );
  }

  /** Runs the job every `intervalMs` until {@link stop}. Throws an Error if another job has the name. */
  every(name: string, intervalMs: number, run: JobRun, options: JobOptions = {}): void {
    if (this.#jobs.has(name)) throw new Error(`two jobs are called ${name}`);
    const { runsAtOnce = false, runsInTurn = false, event = 'housekeeping', failureLevel = 'warn' } = options;
    const counts = { ok: 0, failed: 0, skipped: 0 };
    const job = { name, run, runsAtOnce, runsInTurn, event, failureLevel, isRunning: false, counts, failure: undefined };
    this.#jobs.set(name, job);
    this.#timers.push(setInterval(() => this.#begin(job), intervalMs).unref());
    if (runsAtOnce) this.#begin(job);
  }

  /** Begins no further run, tells the runs under way to end, and resolves when they have. A further call does the same. */
  async stop(): Promise<void> {
    this.#timers.forEach((timer) => clearInterval(timer));
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  #begin(job: Job): void {
    if (job.isRunning) {
      job.counts.skipped++;
      return;
    }
    job.isRunning = true;
    const before = job.runsInTurn ? this.#turn : undefined;
    const run = this.#runOnce(job, before).finally(() => {
      job.isRunning = false;
      this.#running.delete(run);
    });
    if (job.runsInTurn) this.#turn = run;
    this.#running.add(run);
  }

  /** Never rejects. */
  async #runOnce(job: Job, before: Promise<void> | undefined): Promise<void> {
    await before;
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    const began = performance.now();
    try {
      const report = (await job.run(signal)) ?? undefined;
      job.counts.ok++;
      this.#logSuccess(job, report, began);
    } catch (error) {
      // A run that was told to end has not failed.
      if (signal.aborted) return;
      job.counts.failed++;
      this.#logFailure(job, error);
    }
  }

  #logSuccess(job: Job, report: object | undefined, began: number): void {
    const { name, event, failure } = job;
    const now = performance.now();
    const failedForMs = failure && Math.round(now - failure.since);
    const line = { event, job: name, outcome: 'ok', ...report, durationMs: Math.round(now - began), ...(failure && { failedForMs }) };
    job.failure = undefined;
    if (report || failure) this.#log()?.info(line);
    else this.#log()?.trace(line);
  }

  /** Logs the first failure, each further reason, and every five minutes a failure that goes on. Several jobs that fail by one outage have one stack. */
  #logFailure(job: Job, error: unknown): void {
    const now = performance.now();
    const message = error instanceof Error ? error.message : String(error);
    const isOfOutage = isOutage(error);
    const isKnown = job.failure?.message === message || (isOfOutage && this.#isInOutage);
    const isLogged = job.failure?.message === message && now - job.failure.loggedAt < repeatMs;
    job.failure = { since: job.failure?.since ?? now, isOfOutage, message, loggedAt: isLogged ? (job.failure?.loggedAt ?? now) : now };
    if (isLogged) return;
    const { name, event, failureLevel } = job;
    this.#log()?.[failureLevel]({ event, job: name, outcome: 'failed', err: isKnown ? new KnownOutage(error) : error });
  }

  get #isInOutage(): boolean {
    return [...this.#jobs.values()].some(({ failure }) => failure?.isOfOutage);
  }
}
