/**
 * Keeps what costs the database much apart from what costs little. Small entities and patches share statements and connections with those of other
 * callers; what is larger goes alone over the pool, one at a time for each user and two at a time in a process (rule 70, decision 68).
 */
import { sql, type RawBuilder } from 'kysely';
import type { Permit } from '../authn/principal.ts';
import type { Action } from '../database/tables.ts';
import { holderOf, type HeldBytes } from '../ops/held-bytes.ts';
import { Gate, KeyedQueues } from '../password/gate.ts';

/** A body with more objects is heavy: PostgreSQL merges up to 20 µs for each. */
const maximumObjects = 100;
/** A body of more characters or an entity of more bytes is heavy: PostgreSQL writes 16 KiB in 1 to 2 ms, and the rows of a statement wait for each other. */
const maximumSize = 16_384;
/** An entity that is stored in more bytes is heavy, which PostgreSQL knows without decompressing it; 90 bytes may have become one. */
const maximumStoredBytes = 8_192;

/** A request has 15 seconds: 6 for its user's turn, 3 for that of the process and 5 for a statement. */
const heavyOfUser = { running: 1, waiting: 256, waitMs: 6_000 };
const heavyOfProcess = { running: 2, waiting: 4_096, waitMs: 3_000 };
/** Two, so that one update that waits long for a row does not hold up those of other rows. */
const contendedOfUser = { running: 2, waiting: 256, waitMs: 4_000 };

/** Whether merging or storing the body, JSON text, may cost more than other callers should wait for. Counts the braces in texts too. */
export function isHeavy(body: string): boolean {
  return body.length > maximumSize || body.split('{', maximumObjects + 2).length > maximumObjects + 1;
}

/** SQL: whether `fields`, a column, are not heavy. */
export function areLight(fields: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`case when pg_column_size(${fields}) > ${sql.lit(maximumStoredBytes)} then false
    else pg_column_size(${fields} || '{}') <= ${sql.lit(maximumSize)} end`;
}

/** The queues of a process for what goes over the pool, of which a user must not take all connections. */
export class EntityQueues {
  readonly #heavyOfUser = new KeyedQueues(heavyOfUser);
  readonly #heavyOfProcess = new Gate(heavyOfProcess);
  readonly #contendedOfUser = new KeyedQueues(contendedOfUser);
  readonly #heldBytes: HeldBytes;

  constructor(heldBytes: HeldBytes) {
    this.#heldBytes = heldBytes;
  }

  /**
   * Runs `job`, which is heavy, when it is its turn. A user has one place in the queue of the process, whatever waits in the user's own queue, so
   * users take turns. Throws 503 `busy` when a queue is full or the wait is over, and 429 while the user reads too little of earlier answers; `job`
   * has not been run then.
   */
  runHeavy<T>({ userName }: Permit<Action>, job: () => Promise<T>): Promise<T> {
    return this.#heavyOfUser.run(userName, () =>
      this.#heavyOfProcess.run(() => {
        // Of the requests that wait here none was counted when it came.
        const refusal = this.#heldBytes.refusal(holderOf({ name: userName }), 1);
        if (refusal) throw refusal;
        return job();
      }),
    );
  }

  /** Runs `job`, which waits for a row that another request is changing, when it is its turn among those of its user. Throws likewise. */
  runContended<T>({ userName }: Permit<Action>, job: () => Promise<T>): Promise<T> {
    return this.#contendedOfUser.run(userName, job);
  }
}
