/**
 * Bounds work: a {@link BoundedQueue} lets a number of jobs run and a number wait for a limited time, and refuses the rest; {@link KeyedQueues} has a gate
 * for each user, account or address. One gate bounds all argon2 work of the process. Nothing here knows passwords.
 */
import { availableParallelism } from 'node:os';
import { Problem } from '../errors.ts';

export interface QueueLimits {
  /** How many hold a permit at once. */
  running: number;
  /** How many may wait for one; whoever comes next is refused at once. */
  waiting: number;
  /** How long one waits, in milliseconds, before being refused. */
  waitMs: number;
}

/** Runs `action` after `ms` milliseconds unless the returned function is called first. */
export type Schedule = (ms: number, action: () => void) => () => void;

export interface QueueOptions {
  /** Made anew for each one refused. Without it `busy`. */
  refusal?: () => Problem;
  schedule?: Schedule;
}

interface Waiting {
  admit: () => void;
  refuse: (problem: Problem) => void;
}

export const scheduleTimeout: Schedule = (ms, action) => {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
};

const refusals: (() => void)[] = [];

/**
 * Runs the refusals that fall due together one in a turn of the event loop: an answer costs a millisecond, and hundreds in a row would hold
 * up every other request.
 */
function refuseInTurn(refuse: () => void): void {
  if (refusals.push(refuse) === 1) setImmediate(refuseNext);
}

function refuseNext(): void {
  refusals[0]?.();
  refusals.shift();
  if (refusals.length > 0) setImmediate(refuseNext);
}

/** The answer of a process that has more work than it can do soon: `busy`, worth trying again in a second. */
export const busy = () => new Problem('busy', { values: { seconds: 1 }, headers: { 'Retry-After': '1' } });

export class BoundedQueue {
  readonly #limits: QueueLimits;
  readonly #refusal: () => Problem;
  readonly #schedule: Schedule;
  readonly #queue = new Set<Waiting>();
  #held = 0;
  /** How many have been refused, all told. */
  refused = 0;

  constructor(limits: QueueLimits, { refusal = busy, schedule = scheduleTimeout }: QueueOptions = {}) {
    this.#limits = limits;
    this.#refusal = refusal;
    this.#schedule = schedule;
  }

  /** How many hold a permit. */
  get running(): number {
    return this.#held;
  }

  /** How many may. */
  get limit(): number {
    return this.#limits.running;
  }

  /** How many wait for one. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** True when nobody holds a permit or waits for one. */
  get idle(): boolean {
    return this.#held === 0 && this.#queue.size === 0;
  }

  /**
   * Waits for a permit, in order of arrival, and returns the function which gives it back (calling it twice does no harm). Throws the
   * gate's refusal when the queue is full or the wait is over.
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

  /** Runs a job under a permit, which is held until the job has really ended, whether or not anybody still waits for its result. */
  async run<T>(job: () => Promise<T>): Promise<T> {
    const leave = await this.enter();
    try {
      return await job();
    } finally {
      leave();
    }
  }

  /** Refuses everybody who waits now. Those who hold a permit keep it. */
  rejectWaiting(problem: () => Problem): void {
    for (const one of this.#queue) one.refuse(problem());
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveQueue = () => {
        cancel();
        this.#queue.delete(one);
      };
      const one: Waiting = {
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

  /** Hands the permit to the longest waiting, so that nobody who comes later can snatch it. */
  #pass(): void {
    const [next] = this.#queue;
    if (next) next.admit();
    else this.#held -= 1;
  }
}

/** A gate of its own, with the same limits, for each key that has a job running or waiting. */
export class KeyedQueues {
  readonly #gates = new Map<string, BoundedQueue>();
  /** Refusals of the gates that are gone. */
  #refused = 0;
  readonly #limits: QueueLimits;
  readonly #options: QueueOptions;

  constructor(limits: QueueLimits, options: QueueOptions = {}) {
    this.#limits = limits;
    this.#options = options;
  }

  /** How many jobs run, of all keys. */
  get running(): number {
    return this.#sum(({ running }) => running);
  }

  /** How many jobs wait for a permit, of all keys. */
  get waiting(): number {
    return this.#sum(({ waiting }) => waiting);
  }

  /** How many jobs have been refused since the start of the process, of all keys. */
  get refused(): number {
    return this.#refused + this.#sum(({ refused }) => refused);
  }

  #sum(read: (gate: BoundedQueue) => number): number {
    return [...this.#gates.values()].reduce((sum, gate) => sum + read(gate), 0);
  }

  /** Runs `job` under a permit of the key's gate, which `job` is given. Throws the gate's refusal like {@link BoundedQueue.run}. */
  async run<T>(key: string, job: (gate: BoundedQueue) => Promise<T>): Promise<T> {
    const gate = this.#gates.get(key) ?? new BoundedQueue(this.#limits, this.#options);
    this.#gates.set(key, gate);
    try {
      return await gate.run(() => job(gate));
    } finally {
      if (gate.idle && this.#gates.get(key) === gate) {
        this.#gates.delete(key);
        this.#refused += gate.refused;
      }
    }
  }
}

/** More hashes at once than this do not get done sooner, and each takes 19 MiB. */
const MAX_RUNNING = 4;
/**
 * Enough for 50 logins at once and as many again, of any accounts, while a hash takes 20 ms of a core: two cores are done with all of
 * these in 1.3 seconds, one in 2.6. Everything beyond is refused early instead of late.
 */
const WAITING = 128;
/** Leaves room for a machine that is busy with other work; on a quiet one the queue is full long before anybody has waited so long. */
const WAIT_MS = 4000;

/** The gate for all argon2 work of a process; make one and pass it on (rule 38: permits by core, then `busy`). */
export function createHashingQueue(cores = availableParallelism(), options?: QueueOptions): BoundedQueue {
  return new BoundedQueue({ running: Math.max(1, Math.min(MAX_RUNNING, cores)), waiting: WAITING, waitMs: WAIT_MS }, options);
}
