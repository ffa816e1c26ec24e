/**
 * The registry of periodic work. A task has one run at a time in a process, an outcome of its own for each run, and at most one line of the log for each run. A
 * failure leaves the other tasks as they are. `periodic-work.ts` lists the tasks.
 */
import type { FastifyBaseLogger } from 'fastify';
import { isOutage } from '../database/failure.ts';
import { KnownOutage } from '../telemetry/outage-stacks.ts';

/** `skipped`: the run before was not over, so there was none. */
export type TaskOutcome = 'ok' | 'failed' | 'skipped';

/** One run of a task. `signal` fires at the stop. The result goes into the line of the log; undefined: the run found nothing to do. */
export type TaskRun = (signal: AbortSignal) => Promise<object | undefined | void>;

export interface TaskOptions {
  /** The first run begins at once, and not after the first interval. */
  runsAtOnce?: boolean;
  /** Tasks with this option run one after the other, so that together they take one connection. */
  runsInTurn?: boolean;
  /** The event of the lines, `housekeeping` by default. */
  event?: string;
  /** The level of the line of a failure, `warn` by default. */
  failureLevel?: 'warn' | 'error';
}

interface Task extends Required<TaskOptions> {
  name: string;
  run: TaskRun;
  isRunning: boolean;
  counts: Record<TaskOutcome, number>;
  /** The failure that goes on; undefined after a run without one. */
  failure: { since: number; isOfOutage: boolean; message: string; loggedAt: number } | undefined;
}

/** A failure that goes on has at most one line in this time. */
const repeatMs = 300_000;

export class Background {
  readonly #log: () => FastifyBaseLogger | undefined;
  readonly #tasks = new Map<string, Task>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** Ends when the last run in turn has ended. */
  #turn = Promise.resolve();

  /** `log` is called for each line. Without a log the line is left out. */
  constructor(log: () => FastifyBaseLogger | undefined = () => undefined) {
    this.#log = log;
  }

  /** The number of runs of each task by outcome. */
  get counts(): { labels: { task: string; outcome: TaskOutcome }; value: number }[] {
    return [...this.#tasks.values()].flatMap(({ name, counts }) =>
      (['ok', 'failed', 'skipped'] as const).map((outcome) => ({ labels: { task: name, outcome }, value: counts[outcome] })),
    );
  }

  /** Runs the task every `intervalMs` until {@link stop}. Throws an Error if another task has the name. */
  every(name: string, intervalMs: number, run: TaskRun, options: TaskOptions = {}): void {
    if (this.#tasks.has(name)) throw new Error(`two tasks are called ${name}`);
    const { runsAtOnce = false, runsInTurn = false, event = 'housekeeping', failureLevel = 'warn' } = options;
    const counts = { ok: 0, failed: 0, skipped: 0 };
    const task = { name, run, runsAtOnce, runsInTurn, event, failureLevel, isRunning: false, counts, failure: undefined };
    this.#tasks.set(name, task);
    this.#timers.push(setInterval(() => this.#begin(task), intervalMs).unref());
    if (runsAtOnce) this.#begin(task);
  }

  /** Begins no further run, tells the runs under way to end, and resolves when they have. A further call does the same. */
  async stop(): Promise<void> {
    this.#timers.forEach((timer) => clearInterval(timer));
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  #begin(task: Task): void {
    if (task.isRunning) {
      task.counts.skipped++;
      return;
    }
    task.isRunning = true;
    const before = task.runsInTurn ? this.#turn : undefined;
    const run = this.#runOnce(task, before).finally(() => {
      task.isRunning = false;
      this.#running.delete(run);
    });
    if (task.runsInTurn) this.#turn = run;
    this.#running.add(run);
  }

  /** Never rejects. */
  async #runOnce(task: Task, before: Promise<void> | undefined): Promise<void> {
    await before;
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    const began = performance.now();
    try {
      const report = (await task.run(signal)) ?? undefined;
      task.counts.ok++;
      this.#logSuccess(task, report, began);
    } catch (error) {
      // A run that was told to end has not failed.
      if (signal.aborted) return;
      task.counts.failed++;
      this.#logFailure(task, error);
    }
  }

  #logSuccess(task: Task, report: object | undefined, began: number): void {
    const { name, event, failure } = task;
    const now = performance.now();
    const failedForMs = failure && Math.round(now - failure.since);
    const line = { event, task: name, outcome: 'ok', ...report, durationMs: Math.round(now - began), ...(failure && { failedForMs }) };
    task.failure = undefined;
    if (report || failure) this.#log()?.info(line);
    else this.#log()?.trace(line);
  }

  /** Logs the first failure, each further reason, and every five minutes a failure that goes on. Several tasks that fail by one outage have one stack. */
  #logFailure(task: Task, error: unknown): void {
    const now = performance.now();
    const message = error instanceof Error ? error.message : String(error);
    const isOfOutage = isOutage(error);
    const isKnown = task.failure?.message === message || (isOfOutage && this.#isInOutage);
    const isLogged = task.failure?.message === message && now - task.failure.loggedAt < repeatMs;
    task.failure = { since: task.failure?.since ?? now, isOfOutage, message, loggedAt: isLogged ? (task.failure?.loggedAt ?? now) : now };
    if (isLogged) return;
    const { name, event, failureLevel } = task;
    this.#log()?.[failureLevel]({ event, task: name, outcome: 'failed', err: isKnown ? new KnownOutage(error) : error });
  }

  get #isInOutage(): boolean {
    return [...this.#tasks.values()].some(({ failure }) => failure?.isOfOutage);
  }
}
