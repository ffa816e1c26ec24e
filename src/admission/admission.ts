/** Admits the jobs of a process to the places of their classes (decision 314). */
import { availableParallelism } from 'node:os';
import type { Caller } from '../authn/caller.ts';
import { Problem } from '../problems/errors.ts';
import { classNames, classOf, type ClassName } from './classes.ts';
import { HeldBytes, holderOf } from './held-bytes.ts';
import { Ledger } from './ledger.ts';
import { FairQueue, scheduleTimeout, type ExceededLimit, type PlacesLimits, type Schedule } from './queue.ts';
import { busyProblem, rateLimitProblem } from './refusals.ts';

/** Whose job it is. */
export interface JobOrigin {
  /** The name of the user, or of what else the class counts by. */
  flow: string;
  /** The sender, for a job that is of no use without one. */
  caller?: Pick<Caller, 'hasLeft'>;
}

/** The places that depend on the machine and on settings, and what tests replace. */
export interface AdmissionOptions {
  heldBytes?: HeldBytes;
  ledger?: Ledger;
  /** Cores for this process. */
  cores?: number;
  /** Connections of the pool; by default as many as the table has. */
  connections?: number;
  schedule?: Schedule;
}

export class Admission {
  readonly #heldBytes: HeldBytes;
  readonly #queues: ReadonlyMap<ClassName, FairQueue>;
  /** The costs of each user's requests for others. */
  readonly ledger: Ledger;
  /** The clock of waits. */
  readonly schedule: Schedule;

  constructor({ heldBytes = new HeldBytes(), ledger = new Ledger(), schedule = scheduleTimeout, ...machine }: AdmissionOptions = {}) {
    this.ledger = ledger;
    this.#heldBytes = heldBytes;
    this.schedule = schedule;
    const queued = classNames.filter((name) => classOf(name).places === undefined);
    this.#queues = new Map(
      queued.map((name) => {
        const refusal = (limit: ExceededLimit) => refusalOf(name, limit);
        return [name, new FairQueue(limitsOf(name, machine), { refusal, schedule })];
      }),
    );
  }

  /** The state of each class that has places, for metrics. */
  get figures(): { name: ClassName; running: number; limit: number; waiting: number; refused: number }[] {
    return [...this.#queues].map(([name, { running, limit, waiting, refused }]) => ({ name, running, limit, waiting, refused }));
  }

  /**
   * Runs `job` in a place of the class, and of those that it is within. It throws before `job` is run:
   * - 503 `busy`: too many jobs wait, or the wait is over.
   * - 429: the user has all places of a class without waits, or reads too little of earlier answers.
   * - 400: the client has left.
   */
  run<T>(name: ClassName, origin: JobOrigin, job: () => Promise<T>): Promise<T> {
    const { places = name, pause } = classOf(name);
    const { within } = classOf(places);
    let tookMs = 0;
    const timed = async () => {
      this.#requireUse(origin);
      const began = performance.now();
      return await job().finally(() => (tookMs = performance.now() - began));
    };
    const inPlace = within ? () => this.run(within, origin, timed) : timed;
    return this.queueOf(places).run(origin.flow, inPlace, () =>
      pause && tookMs > pause.longMs ? Math.min(pause.times * tookMs, pause.maximumMs) : 0,
    );
  }

  /** The queue of a class that has places of its own. */
  queueOf(name: ClassName): FairQueue {
    const queue = this.#queues.get(name);
    if (!queue) throw new Error(`the class ${name} has no places of its own`);
    return queue;
  }

  /** A request that waited was checked on arrival, when the answers to those before it were not yet counted. */
  #requireUse({ flow, caller }: JobOrigin): void {
    if (!caller) return;
    if (caller.hasLeft) throw new Problem('malformed-request');
    const refusal = this.#heldBytes.refusal(holderOf({ name: flow }), 1);
    if (refusal) throw refusal;
  }
}

/** The limits of the table, with as many hashes as there are cores, and places of the pool for each connection. */
function limitsOf(name: ClassName, { cores = availableParallelism(), connections }: AdmissionOptions): PlacesLimits {
  const { user, process } = classOf(name);
  if (name === 'hashing' && process) return { process: [Math.max(1, Math.min(process[0], cores)), process[1], process[2]] };
  if (name === 'pool' && user && process && connections !== undefined)
    return { flow: [Math.max(1, connections - 1), user[1], user[2]], process: [connections, process[1], process[2]] };
  return { flow: user, process };
}

function refusalOf(name: ClassName, limit: ExceededLimit): Problem {
  const { user } = classOf(name);
  return limit === 'process' || user?.[1] !== 0 ? busyProblem() : rateLimitProblem(name, `q=${user[0]};qu="concurrent-requests"`, 5);
}
