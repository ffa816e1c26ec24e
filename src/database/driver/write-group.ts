/**
 * Writes of the hot path, several requests' in one statement and one transaction. What takes most of the time of a small write is not the
 * row but the way to the server and the wait for its disk, and both are the same for ten rows.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { RawBuilder } from 'kysely';
import { DatabaseError } from 'pg';
import { spanning } from '../../telemetry/spans.ts';
import { outageProblem } from '../failure.ts';
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
const retryMilliseconds = 12_000;

/** A row of the result: what was done for the `n`th row that went in, counted from 1. */
interface Numbered {
  n: string;
}

export type GroupedStatement<R> = PreparedStatement<{ rows: string }, R & Numbered>;

/**
 * Compiles a statement that is made for several rows: `build` gets the place of a JSON array of objects, and must give back the number of the
 * row that each row of its result is for. It must not wait for locks, or one request would wait for another's.
 */
export function prepareGrouped<R>(name: string, build: (rows: RawBuilder<string>) => RawBuilder<R & Numbered>): GroupedStatement<R> {
  return prepare<{ rows: string }, R & Numbered>(name, (value) => build(value('rows')).compile(builder));
}

interface Waiting<R> {
  row: string;
  since: number;
  resolve: (result: R | undefined) => void;
  reject: (error: unknown) => void;
}

/** Gathers rows and runs `statement` for them on `pool`: at once when little is under way, otherwise as soon as something has come back. */
export class WriteGroup<R> {
  readonly #pool: Executor;
  readonly #statement: GroupedStatement<R>;
  readonly #now: () => number;
  /** Runs a statement outside of any request, so that no trace counts it for a single request. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #waiting: Waiting<R>[] = [];
  #underWay = 0;
  #scheduled = false;

  /** `now` tells milliseconds on a clock that never goes back. */
  constructor(pool: Executor, statement: GroupedStatement<R>, now: () => number = () => performance.now()) {
    this.#pool = pool;
    this.#statement = statement;
    this.#now = now;
  }

  /**
   * Returns the statement's result for `row` (JSON text of an object), or undefined when there is none. Throws what it would throw for this row
   * alone, and 503 `unavailable` when the row was not sent in time or the server cannot be reached.
   */
  run(row: string): Promise<R | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<R | undefined>();
    this.#waiting.push({ row, since: this.#now(), resolve, reject });
    this.#schedule();
    return spanning(this.#statement.work, () => promise);
  }

  /** The same at once and in a statement of its own, for a row that others should not wait for. */
  async runAlone(row: string): Promise<R | undefined> {
    const [result] = await this.#statement(this.#pool, { rows: `[${row}]` });
    return result;
  }

  #schedule(): void {
    if (this.#scheduled || this.#underWay >= maximumUnderWay) return;
    this.#scheduled = true;
    this.#outside(() =>
      setImmediate(() => {
        this.#scheduled = false;
        void this.#send(this.#take());
      }),
    );
  }

  #take(): Waiting<R>[] {
    const oldest = this.#now() - queueTimeoutMs;
    while (this.#waiting[0] && this.#waiting[0].since < oldest) this.#waiting.shift()?.reject(outageProblem(new Error('no turn in time')));
    let count = 0;
    for (let characters = 0; count < Math.min(this.#waiting.length, maximumRows) && characters < maximumCharacters; count++)
      characters += this.#waiting[count]?.row.length ?? 0;
    return this.#waiting.splice(0, count);
  }

  async #send(taken: Waiting<R>[]): Promise<void> {
    if (taken.length === 0) return;
    this.#underWay++;
    if (this.#waiting.length > 0) this.#schedule();
    try {
      await this.#write(taken);
    } finally {
      this.#underWay--;
      if (this.#waiting.length > 0) this.#schedule();
    }
  }

  /**
   * Runs the statement for these rows, and again for each of them alone when one of them may have made it fail. Never rejects; false when the
   * server cannot be reached.
   */
  async #write(taken: Waiting<R>[]): Promise<boolean> {
    try {
      const results = await this.#statement(this.#pool, { rows: `[${taken.map(({ row }) => row).join()}]` });
      const byNumber = new Map(results.map((result) => [Number(result.n), result]));
      taken.forEach(({ resolve }, index) => resolve(byNumber.get(index + 1)));
      return true;
    } catch (error) {
      if (taken.length > 1 && failsForOneRow(error)) return await this.#writeOneByOne(taken);
      for (const { reject } of taken) reject(error);
      if (error instanceof DatabaseError) return true;
      // No waiting row can be written now, and none has been.
      for (const { reject } of this.#waiting.splice(0)) reject(outageProblem(error));
      return false;
    }
  }

  /** One after the other: the database may just be slow, and up to 64 statements at once would slow it down further. */
  async #writeOneByOne(rows: Waiting<R>[]): Promise<boolean> {
    let isReachable = true;
    for (const row of rows) {
      if (!isReachable) row.reject(outageProblem(new Error('the server cannot be reached')));
      else if (this.#now() - row.since > retryMilliseconds) row.reject(outageProblem(new Error('no time for another attempt')));
      else isReachable = await this.#write([row]);
    }
    return isReachable;
  }
}

/** Data exceptions, constraints, limits and time: one row is enough to make the statement fail for all. */
function failsForOneRow(error: unknown): boolean {
  return error instanceof DatabaseError && /^(?:22|23|54)|^57014$/.test(error.code ?? '');
}
