/**
 * Writes of the hot path, several requests' in one statement and one transaction. A small write spends most of its time on the way to the
 * server and on the wait for its disk. Both take the same time for ten rows.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { sql, type RawBuilder } from 'kysely';
import { DatabaseError } from 'pg';
import { withSpan } from '../../telemetry/spans.ts';
import { LockNotHadError, lockWasNotHad, outageProblem } from '../failure.ts';
import { builder, prepare, type Executor, type PreparedStatement } from './prepared.ts';

/** Most requests that one statement serves; with 1 each has its own. */
const maximumRows = 64;
/** Rows are not added to a statement that is as long as this already. */
const maximumCharacters = 1_000_000;
/** A row that has waited this long without being sent is refused with 503; nothing was written for it. */
const queueTimeoutMs = 2_000;
/** Statements under way at once, so that one waits for the disk while the next ones are gathered. */
const maximumUnderWay = 3;
/** Age in milliseconds beyond which a row of a failed statement is not tried alone; a request has 15 seconds. */
const retryAgeLimitMs = 12_000;
/** The longest wait for each lock of a row: of a group, and of a row of a failed group, behind which others wait one after the other. */
const lockTimeouts = { group: '50ms', retry: '5ms' };
/** A statement that fails for want of a lock after longer than this has waited for that of a table, which all rows need. */
const rowLockLimitMs = 1_000;

/** A row of the result: what was done for the `n`th row that went in, counted from 1. */
interface Numbered {
  n: string;
}

interface GroupedValues {
  /** JSON text of an array. */
  rows: string;
  /** The `lock_timeout` of PostgreSQL; that of the connection if undefined. */
  lockTimeout?: string;
}

export type GroupedStatement<R> = PreparedStatement<GroupedValues, R & Numbered>;

/**
 * Compiles a statement that is made for several rows: `build` gets the place of a JSON array of objects. Each row of the result must have
 * the number of the row that it is for. It must read the place before it locks rows. PostgreSQL then sets the lock timeout until the end of
 * the transaction, which also works behind a pooler. Locks of tables come first: their wait is bounded by the connection.
 */
export function prepareGrouped<R>(
  name: string,
  build: (rows: RawBuilder<string>) => RawBuilder<R & Numbered>,
  variant?: string,
): GroupedStatement<R> {
  return prepare<GroupedValues, R & Numbered>(
    name,
    (value) => {
      const timeout = sql`coalesce(${value('lockTimeout')}::text, current_setting('lock_timeout'))`;
      const rows = sql<string>`(case when set_config('lock_timeout', ${timeout}, true) is not null then ${value('rows')} end)`;
      return build(rows).compile(builder);
    },
    variant,
  );
}

interface WaitingRow<R> {
  row: string;
  since: number;
  resolve: (result: R | undefined) => void;
  reject: (error: unknown) => void;
}

/** The groups that share a bound of statements under way. They take turns in the order in which they got something to send. */
export class GroupTurns {
  readonly #groups: (() => Promise<void>)[] = [];
  /** Runs a statement outside of any request, so that no trace counts it for a single request. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #underWay = 0;

  /** Calls `send` once: in the next turn of the event loop when little is under way, otherwise as soon as something has come back. */
  take(send: () => Promise<void>): void {
    this.#groups.push(send);
    this.#start();
  }

  #start(): void {
    if (this.#underWay >= maximumUnderWay) return;
    const send = this.#groups.shift();
    if (!send) return;
    this.#underWay++;
    this.#outside(() => setImmediate(() => void this.#run(send)));
  }

  async #run(send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } finally {
      this.#underWay--;
      this.#start();
    }
  }
}

/** Gathers rows and runs `statement` for them on `pool` when it is their turn. */
export class WriteGroup<R> {
  readonly #pool: Executor;
  readonly #statement: GroupedStatement<R>;
  readonly #turns: GroupTurns;
  readonly #now: () => number;
  #waiting: WaitingRow<R>[] = [];
  #isScheduled = false;
  /** Resolves when the rows that are written apart from groups are done. */
  #apart: Promise<unknown> = Promise.resolve();

  /** `now` tells milliseconds on a clock that never goes back. */
  constructor(pool: Executor, statement: GroupedStatement<R>, { turns = new GroupTurns(), now = () => performance.now() } = {}) {
    this.#pool = pool;
    this.#statement = statement;
    this.#turns = turns;
    this.#now = now;
  }

  /**
   * Returns the statement's result for `row` (JSON text of an object), or undefined when there is none. Throws what it would throw for this
   * row alone. Throws {@link LockNotHadError} when another transaction has a lock that the row needs. Throws 503 `unavailable` when the row
   * was not sent in time or the server cannot be reached.
   */
  run(row: string): Promise<R | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<R | undefined>();
    this.#waiting.push({ row, since: this.#now(), resolve, reject });
    this.#schedule();
    return withSpan(this.#statement.work, () => promise);
  }

  /** The same at once and in a statement of its own, which waits for locks as long as the connection allows. For a row that others should not wait for. */
  async runAlone(row: string): Promise<R | undefined> {
    const [result] = await this.#statement(this.#pool, { rows: `[${row}]` });
    return result;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    this.#turns.take(() => {
      this.#isScheduled = false;
      return this.#send(this.#take());
    });
  }

  #take(): WaitingRow<R>[] {
    const oldest = this.#now() - queueTimeoutMs;
    while (this.#waiting[0] && this.#waiting[0].since < oldest) this.#waiting.shift()?.reject(outageProblem(new Error('no turn in time')));
    let count = 0;
    for (let characters = 0; count < Math.min(this.#waiting.length, maximumRows) && characters < maximumCharacters; count++)
      characters += this.#waiting[count]?.row.length ?? 0;
    return this.#waiting.splice(0, count);
  }

  async #send(taken: WaitingRow<R>[]): Promise<void> {
    this.#schedule();
    if (taken.length > 0) await this.#write(taken, lockTimeouts.group);
  }

  /**
   * Runs the statement for these rows, and again for each of them alone when one of them may have made it fail. Never rejects; false when the
   * server cannot be reached.
   */
  async #write(taken: WaitingRow<R>[], lockTimeout: string): Promise<boolean> {
    let began = this.#now();
    const pool: Executor = { send: (statement) => this.#pool.send(statement, () => (began = this.#now())) };
    try {
      const results = await this.#statement(pool, { rows: `[${taken.map(({ row }) => row).join()}]`, lockTimeout });
      const byNumber = new Map(results.map((result) => [Number(result.n), result]));
      taken.forEach(({ resolve }, index) => resolve(byNumber.get(index + 1)));
      return true;
    } catch (error) {
      if (taken.length > 1 && failsForOneRow(error)) return await this.#writeOneByOne(taken);
      const waitedForRow = lockWasNotHad(error) && this.#now() - began < rowLockLimitMs;
      if (taken.length > 1 && waitedForRow) {
        // Without a turn, so that the next groups go on.
        this.#apart = this.#apart.then(() => this.#writeOneByOne(taken));
        return true;
      }
      for (const { reject } of taken) reject(waitedForRow ? new LockNotHadError(error) : error);
      if (error instanceof DatabaseError) return true;
      // No waiting row can be written now, and none has been.
      for (const { reject } of this.#waiting.splice(0)) reject(outageProblem(error));
      return false;
    }
  }

  /** One after the other: the database may just be slow, and up to 64 statements at once would slow it down further. */
  async #writeOneByOne(rows: WaitingRow<R>[]): Promise<boolean> {
    let isReachable = true;
    for (const row of rows) {
      if (!isReachable) row.reject(outageProblem(new Error('the server cannot be reached')));
      else if (this.#now() - row.since > retryAgeLimitMs) row.reject(outageProblem(new Error('no time for another attempt')));
      else isReachable = await this.#write([row], lockTimeouts.retry);
    }
    return isReachable;
  }
}

/** Data exceptions, constraints, limits, time and deadlocks: one row is enough to make the statement fail for all. */
function failsForOneRow(error: unknown): boolean {
  return error instanceof DatabaseError && /^(?:22|23|54)|^(?:57014|40P01)$/.test(error.code ?? '');
}
