/**
 * Places for the jobs of many flows. A flow is a user, an account or an address; its jobs run in the order of their arrival.
 *
 * A job is
 * - waiting, while its flow or the process has no place for it. It becomes running, or is refused: at its time limit, or by `rejectWaiting`.
 * - running, with a place of its flow and one of the process. It is not interrupted, and has both places even if its client has left.
 * - pausing, when it is over and its flow has to pause: the place of the process is free, and that of the flow is not.
 *
 * A flow is in `#flows` while it has a job. It is in `#ready` while it has a waiting job and a place for it, so that only the process lacks one. The process
 * takes one job of each ready flow in rotation. So a job of a flow that has no other job waits for one job of each other flow at most.
 */
import type { Problem } from '../problems/errors.ts';
import { busyProblem, refuseInTurn } from './refusals.ts';

/** Maximum number of jobs that run at once, of jobs that wait, and of milliseconds that a job waits. Beyond them a job is refused. */
export type QueueLimits = readonly [running: number, waiting: number, waitMs: number];

export interface PlacesLimits {
  /** Of each flow; undefined if flows have no limit of their own. */
  flow?: QueueLimits | undefined;
  /** Of all flows together; the second counts flows with waiting jobs if flows have limits. Undefined for no limit. */
  process?: QueueLimits | undefined;
}

/** Runs `action` after `ms` milliseconds unless the returned function is called first. */
export type Schedule = (ms: number, action: () => void) => () => void;

/** The limit that a refused job has met. */
export type ExceededLimit = 'flow' | 'process';

export interface QueueOptions {
  /** Called for each refusal; `busy` by default. */
  refusal?: (limit: ExceededLimit) => Problem;
  schedule?: Schedule;
}

/** Ends a job. A second call has no effect. The flow gets its place back after `pauseMs` milliseconds. */
export type Leave = (pauseMs?: number) => void;

interface WaitingJob {
  admit: () => void;
  refuse: (problem: Problem) => void;
}

interface Flow {
  readonly name: string;
  /** The number of its jobs that run or pause. */
  running: number;
  readonly waiting: Set<WaitingJob>;
}

export const scheduleTimeout: Schedule = (ms, action) => {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
};

const unlimited: QueueLimits = [Infinity, Infinity, 0];

export class FairQueue {
  readonly #flowLimits: QueueLimits;
  readonly #processLimits: QueueLimits;
  readonly #waitMs: number;
  readonly #refusal: (limit: ExceededLimit) => Problem;
  readonly #schedule: Schedule;
  readonly #flows = new Map<string, Flow>();
  readonly #ready = new Set<Flow>();
  #running = 0;
  #isWanted = false;
  /** The number of refused jobs since the queue was created. */
  refused = 0;

  constructor({ flow, process = unlimited }: PlacesLimits, { refusal = busyProblem, schedule = scheduleTimeout }: QueueOptions = {}) {
    // Without limits of their own all jobs of a flow may wait for the process.
    this.#flowLimits = flow ?? [Infinity, process[1], 0];
    this.#processLimits = process;
    this.#waitMs = this.#flowLimits[2] + process[2];
    this.#refusal = refusal;
    this.#schedule = schedule;
  }

  /** The number of jobs that have a place of the process. */
  get running(): number {
    return this.#running;
  }

  /** The maximum number of these. */
  get limit(): number {
    return this.#processLimits[0];
  }

  /** The number of jobs that wait. */
  get waiting(): number {
    return [...this.#flows.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /** Whether a job was refused because the process had no place, and none has become free since. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Waits for a place, and returns the function that ends the job. Throws the queue's refusal if too many jobs wait or the wait is over. */
  async enter(name: string): Promise<Leave> {
    const flow = this.#flows.get(name) ?? { name, running: 0, waiting: new Set<WaitingJob>() };
    const hasRoom = flow.running < this.#flowLimits[0];
    if (hasRoom && this.#running < this.#processLimits[0]) this.#start(flow);
    else if (flow.waiting.size >= this.#flowLimits[1] || this.#ready.size >= this.#processLimits[1]) {
      this.refused += 1;
      this.#isWanted ||= hasRoom;
      throw this.#refusal(hasRoom ? 'process' : 'flow');
    } else await this.#wait(flow, hasRoom);
    let hasLeft = false;
    return (pauseMs = 0) => {
      if (hasLeft) return;
      hasLeft = true;
      this.#end(flow, pauseMs);
    };
  }

  /** Runs a job in a place. Throws as {@link enter} does. Its flow then pauses for `pauseMs` milliseconds, a function that is called after the job. */
  async run<T>(name: string, job: () => Promise<T>, pauseMs: () => number = () => 0): Promise<T> {
    const leave = await this.enter(name);
    try {
      return await job();
    } finally {
      leave(pauseMs());
    }
  }

  /** Refuses all waiting jobs of a flow. Those that run go on. */
  rejectWaiting(name: string, problem: () => Problem): void {
    for (const job of this.#flows.get(name)?.waiting ?? []) job.refuse(problem());
  }

  #start(flow: Flow): void {
    this.#flows.set(flow.name, flow);
    flow.running += 1;
    this.#running += 1;
  }

  #wait(flow: Flow, hasRoom: boolean): Promise<void> {
    this.#flows.set(flow.name, flow);
    if (hasRoom) this.#ready.add(flow);
    return new Promise((resolve, reject) => {
      const leaveQueue = () => {
        cancel();
        flow.waiting.delete(job);
      };
      const job: WaitingJob = {
        admit: () => {
          leaveQueue();
          resolve();
        },
        refuse: (problem) => {
          leaveQueue();
          this.#settle(flow);
          this.refused += 1;
          refuseInTurn(() => reject(problem));
        },
      };
      const cancel = this.#schedule(this.#waitMs, () => job.refuse(this.#refusal(this.#ready.has(flow) ? 'process' : 'flow')));
      flow.waiting.add(job);
    });
  }

  #end(flow: Flow, pauseMs: number): void {
    this.#running -= 1;
    this.#isWanted = false;
    const free = () => {
      flow.running -= 1;
      this.#settle(flow);
      this.#admitNext();
    };
    if (pauseMs === 0) return free();
    // A pause does not keep the process alive.
    setTimeout(free, pauseMs).unref();
    this.#admitNext();
  }

  /** Puts the flow where its jobs belong. One that was ready keeps its place in the rotation. */
  #settle(flow: Flow): void {
    if (flow.waiting.size > 0 && flow.running < this.#flowLimits[0]) this.#ready.add(flow);
    else this.#ready.delete(flow);
    if (flow.waiting.size + flow.running === 0) this.#flows.delete(flow.name);
  }

  /** Starts jobs of ready flows. The flow of the first one goes behind the others. */
  #admitNext(): void {
    for (const flow of this.#ready) {
      if (this.#running >= this.#processLimits[0]) return;
      const [job] = flow.waiting;
      this.#ready.delete(flow);
      this.#start(flow);
      job?.admit();
      this.#settle(flow);
    }
  }
}
