/**
 * Bounds work. A {@link BoundedQueue} runs a number of jobs, lets a number wait for a limited time, and refuses the rest. {@link
 * KeyedQueues} has a queue for each user, account or address. One queue bounds all argon2 work of the process. This file knows nothing of
 * passwords.
 */
import { availableParallelism } from 'node:os';
import { Problem } from '../problems/errors.ts';

export interface QueueLimits {
  /** Maximum number of jobs that hold a permit at once. */
  running: number;
  /** Maximum number of waiting jobs; any further job is refused at once. */
  waiting: number;
  /** Maximum wait in milliseconds; then the job is refused. */
  waitMs: number;
}

/** Runs `action` after `ms` milliseconds unless the returned function is called first. */
export type Schedule = (ms: number, action: () => void) => () => void;

export interface QueueOptions {
  /** Called for each refusal; `busy` by default. */
  refusal?: () => Problem;
  schedule?: Schedule;
}

interface WaitingJob {
  admit: () => void;
  refuse: (problem: Problem) => void;
}

export const scheduleTimeout: Schedule = (ms, action) => {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
};

const refusals: (() => void)[] = [];

/**
 * Runs simultaneous refusals one in each turn of the event loop. An answer costs a millisecond, and hundreds in a row would delay every
 * other request.
 */
function refuseInTurn(refuse: () => void): void {
  if (refusals.push(refuse) === 1) setImmediate(refuseNext);
}

function refuseNext(): void {
  refusals[0]?.();
  refusals.shift();
  if (refusals.length > 0) setImmediate(refuseNext);
}

/** The answer of a process that is overloaded: `busy`, with a retry after a second. */
export const busyProblem = () => new Problem('busy', { values: { seconds: 1 }, headers: { 'Retry-After': '1' } });

export class BoundedQueue {
  readonly #limits: QueueLimits;
  readonly #refusal: () => Problem;
  readonly #schedule: Schedule;
  readonly #queue = new Set<WaitingJob>();
  #held = 0;
  /** The number of refused jobs since the queue was created. */
  refused = 0;

  constructor(limits: QueueLimits, { refusal = busyProblem, schedule = scheduleTimeout }: QueueOptions = {}) {
    this.#limits = limits;
    this.#refusal = refusal;
    this.#schedule = schedule;
  }

  /** The number of jobs that hold a permit. */
  get running(): number {
    return this.#held;
  }

  /** The maximum number of jobs that hold a permit. */
  get limit(): number {
    return this.#limits.running;
  }

  /** The number of jobs that wait for a permit. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** True if no job holds a permit or waits for one. */
  get idle(): boolean {
    return this.#held === 0 && this.#queue.size === 0;
  }

  /**
   * Waits for a permit, in order of arrival, and returns the function that releases it (a second call has no effect). Throws the queue's
   * refusal if the queue is full or the wait is over.
   */
  async enter(): Promise<() => void> {
    if (this.#held < this.#limits.running) this.#held += 1;
    else if (this.#queue.size >= this.#limits.waiting) {
      this.refused += 1;
      throw this.#refusal();
    } else await this.#wait();
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#pass();
    };
  }

  /** Runs a job under a permit. The permit is held until the job has ended, even if its caller no longer waits for the result. */
  async run<T>(job: () => Promise<T>): Promise<T> {
    const leave = await this.enter();
    try {
      return await job();
    } finally {
      leave();
    }
  }

  /** Refuses all waiting jobs. Jobs with a permit go on. */
  rejectWaiting(problem: () => Problem): void {
    for (const one of this.#queue) one.refuse(problem());
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveQueue = () => {
        cancel();
        this.#queue.delete(one);
      };
      const one: WaitingJob = {
        admit: () => {
          leaveQueue();
          resolve();
        },
        refuse: (problem) => {
          leaveQueue();
          this.refused += 1;
          refuseInTurn(() => reject(problem));
        },
      };
      const cancel = this.#schedule(this.#limits.waitMs, () => one.refuse(this.#refusal()));
      this.#queue.add(one);
    });
  }

  /** Passes the permit to the job that has waited longest, so that a later one cannot take it. */
  #pass(): void {
    const [next] = this.#queue;
    if (next) next.admit();
    else this.#held -= 1;
  }
}

/** A queue with the same limits for each key that has a job running or waiting. */
export class KeyedQueues {
  readonly #queues = new Map<string, BoundedQueue>();
  /** Refusals of queues that have been removed. */
  #refused = 0;
  readonly #limits: QueueLimits;
  readonly #options: QueueOptions;

  constructor(limits: QueueLimits, options: QueueOptions = {}) {
    this.#limits = limits;
    this.#options = options;
  }

  /** The number of running jobs of all keys. */
  get running(): number {
    return this.#sum(({ running }) => running);
  }

  /** The number of jobs that wait for a permit, of all keys. */
  get waiting(): number {
    return this.#sum(({ waiting }) => waiting);
  }

  /** The number of jobs refused since the start of the process, of all keys. */
  get refused(): number {
    return this.#refused + this.#sum(({ refused }) => refused);
  }

  #sum(read: (queue: BoundedQueue) => number): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + read(queue), 0);
  }

  /** Runs `job` under a permit of the key's queue and passes the queue to it. Throws the queue's refusal like {@link BoundedQueue.run}. */
  async run<T>(key: string, job: (queue: BoundedQueue) => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? new BoundedQueue(this.#limits, this.#options);
    this.#queues.set(key, queue);
    try {
      return await queue.run(() => job(queue));
    } finally {
      if (queue.idle && this.#queues.get(key) === queue) {
        this.#queues.delete(key);
        this.#refused += queue.refused;
      }
    }
  }
}

/** A higher number of concurrent hashes does not finish them sooner, and each takes 19 MiB. */
const maximumRunningHashes = 4;
/**
 * Enough for twice 50 logins at once, of any accounts. A hash takes 20 ms of a core: two cores finish all of these in 1.3 seconds, one in
 * 2.6. Further logins are refused early instead of late.
 */
const maximumWaitingHashes = 128;
/**
 * Leaves room for a machine that is busy with other work. On an idle machine the queue is full long before any job has waited that long.
 */
const hashWaitMs = 4000;

/** Creates the queue for all argon2 work of a process (rule 38: permits by core, then `busy`). */
export function createHashingQueue(cores = availableParallelism(), options?: QueueOptions): BoundedQueue {
  return new BoundedQueue(
    { running: Math.max(1, Math.min(maximumRunningHashes, cores)), waiting: maximumWaitingHashes, waitMs: hashWaitMs },
    options,
  );
}
