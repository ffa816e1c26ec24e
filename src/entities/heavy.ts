/**
 * Keeps what costs the database much apart from what costs little. Small entities and patches share statements and connections with those of other
 * callers; what is larger goes alone over the pool: one write at a time for each user, two in a process, and four reads (rule 70, decision 68).
 */
import { sql, type RawBuilder } from 'kysely';
import type { Caller } from '../authn/caller.ts';
import type { Permit } from '../rights/permit.ts';
import type { Action } from '../rights/vocabulary.ts';
import { Problem } from '../problems/errors.ts';
import { holderOf, type HeldBytes } from '../admission/held-bytes.ts';
import { expansionOf } from './stored-size.ts';
import { BoundedQueue, KeyedQueues, type QueueLimits } from '../admission/queue.ts';

/** A body with more objects is heavy: PostgreSQL merges up to 20 µs for each. */
const maximumObjects = 100;
/** A body of more characters, with numbers written out, or an entity of more bytes is heavy: PostgreSQL writes 16 KiB in 1 to 2 ms, and the rows of a statement wait for each other. */
const maximumSize = 16_384;
/** An entity of more compressed bytes is heavy. PostgreSQL knows this size without decompressing; the text can be 90 times as long. */
const maximumStoredBytes = 8_192;

/** Bytes of an entity beyond which reading it is heavy, and of what is stored of it: PostgreSQL reads 64 KiB in about 2 ms. */
const readLimits = { size: 65_536, storedBytes: 32_768 };
const writeLimits = { size: maximumSize, storedBytes: maximumStoredBytes };

/** A request has 15 seconds: up to 6 for its user's turn, 3 for that of the process and 5 for a statement. */
const heavyOfUser = { running: 1, waiting: 256, waitMs: 6_000 };
const heavyOfProcess = { running: 2, waiting: 4_096, waitMs: 3_000 };
/** A read waits for no row. One user may be an application that reads for many people, and does not have all places of the process. */
const readsOfUser = { running: 3, waiting: 1_024, waitMs: 6_000 };
const readsOfProcess = { running: 4, waiting: 4_096, waitMs: 3_000 };
/** A list may take seconds, so likewise. */
const listsOfUser = { running: 3, waiting: 1_024, waitMs: 4_000 };
const listsOfProcess = { running: 4, waiting: 4_096, waitMs: 3_000 };
/** An aggregation may take five seconds. It waits for its user's turn among lists, for two turns among aggregations, and for that of the process among lists. */
const aggregationsOfUser = { running: 2, waiting: 1_024, waitMs: 2_000 };
const aggregationsOfProcess = { running: 3, waiting: 4_096, waitMs: 1_000 };
/**
 * After a patch that took longer, the next heavy write of its user waits for twice as long, 200 ms at most. So the patches of a user take a third of one core of
 * PostgreSQL, and the p95 of small writes of others beside them falls by half (docs/performance.md).
 */
const pace = { longMs: 10, times: 2, maximumMs: 200 };
/** Two, so that one write that waits long for a row does not hold up those of other rows. */
const contendedOfUser = { running: 2, waiting: 256, waitMs: 4_000 };

/** Whether merging or storing the body, JSON text, may cost more than other callers should wait for. Counts numbers as they are stored, and the braces in texts too. */
export function isHeavy(body: string): boolean {
  return body.length + expansionOf(body) > maximumSize || body.split('{', maximumObjects + 2).length > maximumObjects + 1;
}

/** SQL: whether `fields`, a column, are not heavy to merge into. */
export function areLight(fields: RawBuilder<unknown>): RawBuilder<boolean> {
  return areWithin(writeLimits, fields);
}

/** SQL: whether `fields`, a column, are not heavy to read. */
export function areLightToRead(fields: RawBuilder<unknown>): RawBuilder<boolean> {
  return areWithin(readLimits, fields);
}

const areWithin = ({ size, storedBytes }: typeof readLimits, fields: RawBuilder<unknown>) =>
  sql<boolean>`case when pg_column_size(${fields}) > ${sql.lit(storedBytes)} then false
    else pg_column_size(${fields} || '{}') <= ${sql.lit(size)} end`;

/** So that a user who sends many keys leaves connections of the pool to others. */
const keyedOfUser = { running: 4, waiting: 1_024, waitMs: 6_000 };
/** Likewise: a delete waits for the lock of its row on a connection of the pool. */
const deletesOfUser = { running: 4, waiting: 1_024, waitMs: 6_000 };

/** The queues that writes wait in. */
export type WriteTurns = Pick<EntityQueues, 'runHeavy' | 'runHeavyPatch' | 'runContended' | 'runKeyed' | 'runDelete'>;

/** The queues of a process for what goes over the pool, of which a user must not take all connections. */
export class EntityQueues {
  readonly #writes: UserQueues;
  readonly #reads: UserQueues;
  readonly #lists: UserQueues;
  readonly #aggregations: UserQueues;
  readonly #contendedOfUser = new KeyedQueues(contendedOfUser);
  readonly #keyedOfUser = new KeyedQueues(keyedOfUser);
  readonly #deletesOfUser = new KeyedQueues(deletesOfUser);

  constructor(heldBytes: HeldBytes) {
    this.#writes = new UserQueues(heavyOfUser, heavyOfProcess, heldBytes);
    this.#reads = new UserQueues(readsOfUser, readsOfProcess, heldBytes);
    this.#lists = new UserQueues(listsOfUser, listsOfProcess, heldBytes);
    this.#aggregations = new UserQueues(aggregationsOfUser, aggregationsOfProcess, heldBytes);
  }

  /** The state of each queue, for metrics. */
  get figures(): {
    name: 'heavy-writes' | 'heavy-reads' | 'lists' | 'aggregations' | 'contended-updates' | 'keyed-writes' | 'deletes';
    running: number;
    waiting: number;
    refused: number;
  }[] {
    const ofUsers = ({ running, waiting, refused }: KeyedQueues) => ({ running, waiting, refused });
    return [
      { name: 'heavy-writes', ...this.#writes.figures },
      { name: 'heavy-reads', ...this.#reads.figures },
      { name: 'lists', ...this.#lists.figures },
      { name: 'aggregations', ...this.#aggregations.figures },
      { name: 'contended-updates', ...ofUsers(this.#contendedOfUser) },
      { name: 'keyed-writes', ...ofUsers(this.#keyedOfUser) },
      { name: 'deletes', ...ofUsers(this.#deletesOfUser) },
    ];
  }

  /** Runs `job`, a heavy write, when it is its turn. Throws as {@link UserQueues.run} does. */
  runHeavy<T>(permit: Permit<Action>, caller: Caller, job: () => Promise<T>): Promise<T> {
    return this.#writes.run(permit, caller, job);
  }

  /** The same for an update, after which the next heavy write of its user waits a little longer ({@link pace}). */
  runHeavyPatch<T>(permit: Permit<Action>, caller: Caller, job: () => Promise<T>): Promise<T> {
    return this.#writes.runPaced(permit, caller, job);
  }

  /** Runs `job`, a heavy read, when it is its turn among reads. Throws likewise. */
  runHeavyRead<T>(permit: Permit<Action>, caller: Caller, job: () => Promise<T>): Promise<T> {
    return this.#reads.run(permit, caller, job);
  }

  /** Runs `job`, the statements of a list, when it is its turn among lists. Throws likewise. */
  runList<T>(permit: Permit<Action>, caller: Caller, job: () => Promise<T>): Promise<T> {
    return this.#lists.run(permit, caller, job);
  }

  /** Runs `job`, the statement of an aggregation, when it is its turn among aggregations and among lists. Throws likewise. */
  runAggregation<T>(permit: Permit<Action>, caller: Caller, job: () => Promise<T>): Promise<T> {
    return this.#lists.runForUser(permit, () =>
      this.#aggregations.run(permit, caller, () => this.#lists.runInProcess(permit, caller, job)),
    );
  }

  /** Runs `job`, which waits for a lock that another request has, when it is its turn among those of its user. Throws 503 `busy`. */
  runContended<T>({ userName }: Permit<Action>, job: () => Promise<T>): Promise<T> {
    return this.#contendedOfUser.run(userName, job);
  }

  /** Runs `job`, a write with an Idempotency-Key, when it is its turn among those of its user. Throws 503 `busy`. */
  runKeyed<T>({ userName }: Permit<Action>, job: () => Promise<T>): Promise<T> {
    return this.#keyedOfUser.run(userName, job);
  }

  /** Runs `job`, the statement of a delete, when it is its turn among those of its user. Throws 503 `busy`. */
  runDelete<T>({ userName }: Permit<Action>, job: () => Promise<T>): Promise<T> {
    return this.#deletesOfUser.run(userName, job);
  }
}

/** A queue for each user, and one of the process behind them. */
class UserQueues {
  readonly #ofUser: KeyedQueues;
  readonly #ofProcess: BoundedQueue;
  readonly #heldBytes: HeldBytes;

  constructor(ofUser: QueueLimits, ofProcess: QueueLimits, heldBytes: HeldBytes) {
    this.#ofUser = new KeyedQueues(ofUser);
    this.#ofProcess = new BoundedQueue(ofProcess);
    this.#heldBytes = heldBytes;
  }

  /** A job that waits for its turn in the process has the permit of its user already. */
  get figures(): { running: number; waiting: number; refused: number } {
    return {
      running: this.#ofProcess.running,
      waiting: this.#ofUser.waiting + this.#ofProcess.waiting,
      refused: this.#ofUser.refused + this.#ofProcess.refused,
    };
  }

  /**
   * Runs `job`. A user has as many places in the queue of the process as jobs may run for the user, so users take turns. What waits in the
   * user's own queue does not count. Throws 503 `busy` when a queue is full or the wait is over. Throws 429 while the user reads too little
   * of earlier answers, and 400 when the client has left. `job` has not been run then.
   */
  run<T>(permit: Permit<Action>, caller: Caller, job: () => Promise<T>): Promise<T> {
    return this.runForUser(permit, () => this.runInProcess(permit, caller, job));
  }

  /** Runs `job` when it is its user's turn, without the queue of the process. Throws 503 `busy`. */
  runForUser<T>({ userName }: Permit<Action>, job: () => Promise<T>): Promise<T> {
    return this.#ofUser.run(userName, job);
  }

  /** As {@link run}, and keeps the user's place for a while when the answer is there. */
  runPaced<T>(permit: Permit<Action>, caller: Caller, job: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let tookMs = 0;
    const timed = async () => {
      const began = performance.now();
      return await job().finally(() => (tookMs = performance.now() - began));
    };
    const turn = this.#ofUser.run(permit.userName, async () => {
      await this.runInProcess(permit, caller, timed).then(resolve, reject);
      if (tookMs > pace.longMs) await pause(Math.min(pace.times * tookMs, pace.maximumMs));
    });
    // The queue refuses before the job begins.
    turn.catch(reject);
    return promise;
  }

  /** Runs `job` when it is its turn in the process, without the queue of its user. Throws likewise. */
  runInProcess<T>({ userName }: Permit<Action>, caller: Caller, job: () => Promise<T>): Promise<T> {
    return this.#ofProcess.run(() => {
      if (caller.hasLeft) throw new Problem('malformed-request');
      // A request that waited in this queue was checked on arrival, when the entities of those before it were not yet counted.
      const refusal = this.#heldBytes.refusal(holderOf({ name: userName }), 1);
      if (refusal) throw refusal;
      return job();
    });
  }
}

/** Does not keep the process alive. */
function pause(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms).unref();
  return promise;
}
