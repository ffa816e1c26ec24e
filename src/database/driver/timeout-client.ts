/**
 * A connection to PostgreSQL that bounds the time for which it waits for its server, with one timer for all statements. node-postgres makes a
 * timer and functions for each statement, which keep its rows alive until the next major garbage collection (decision 59).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { DatabaseError, Query, type ClientConfig } from 'pg';
import { ServerUnresponsiveError } from '../failure.ts';
import { isSubmittable, settledCallback, SettlingClient, type Callback } from './settling-client.ts';

/** A statement with its values, and the name under which it is prepared, if any. */
export interface Statement {
  name: string | undefined;
  text: string;
  values: unknown[];
}

/** The rows as node-postgres reads them. */
export type Rows = Promise<{ rows: unknown[] }>;

/** The timer of a connection belongs to none of the requests that the connection serves. */
const outside = AsyncLocalStorage.snapshot();

/** Fraction of the timeout for which the connection must have been silent. Otherwise the statement was merely queued behind slow ones. */
const silentShare = 0.9;

/**
 * A client that closes its connection when a statement has been under way for `query_timeout` milliseconds, or up to a tenth more. All statements
 * under way then reject with a {@link ServerUnresponsiveError}, which the client emits too.
 *
 * A cursor, a stream or a COPY may take longer: it ends in the same way when the connection has carried no byte, in either direction, for
 * `query_timeout` milliseconds. The server's own `statement_timeout` bounds it too, unless its transaction sets another one.
 */
export class TimeoutClient extends SettlingClient {
  /** Called when the server has answered none of the statements under way, with the milliseconds for which it has been silent. */
  onUnresponsive: (silentMs: number) => void = () => undefined;
  #isUnresponsive = false;
  readonly #timeoutMs: number;
  /** The times at which the statements under way were sent, oldest first. PostgreSQL answers in this order; a statement that could not be sent may leave earlier. */
  readonly #sentAt: number[] = [];
  /** The time at which the server last answered a statement, as performance.now() says; 0 before that. */
  answeredAt = 0;
  /** While a submittable is under way: how many bytes the connection had carried when it was last checked, and when that number changed. */
  #progress: { bytes: number; at: number } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(config: ClientConfig & { connectionString: string; query_timeout: number }) {
    super(config);
    // As in node-postgres, the address overrides the settings. An address cannot switch the timeout off, and node-postgres gets none.
    const { connectionParameters: parameters } = this as unknown as { connectionParameters: { query_timeout: number | string } };
    const given = Number(parameters.query_timeout);
    this.#timeoutMs = given > 0 && Number.isFinite(given) ? given : config.query_timeout;
    parameters.query_timeout = 0;
  }

  /** Whether the connection was closed because the server did not answer. */
  get isUnresponsive(): boolean {
    return this.#isUnresponsive;
  }

  /** For how many milliseconds the oldest statement has been under way; 0 when there is none. */
  get oldestQueryAgeMs(): number {
    const [oldest] = this.#sentAt;
    return oldest === undefined ? 0 : performance.now() - oldest;
  }

  /** Sends a statement. Cheaper than `query`, which copies its arguments. */
  send(statement: Statement): Rows {
    const { promise, callback } = settledCallback<{ rows: unknown[] }>();
    super.query(new PreparedQuery(statement, this.#begin(callback)));
    return promise;
  }

  // TypeScript cannot repeat the overloads of node-postgres. A submittable is returned, as node-postgres does.
  override query(...args: unknown[]): never {
    if (isSubmittable(args[0])) return this.#submit(args);
    const isCallback = typeof args.at(-1) === 'function';
    const { promise, callback } = isCallback
      ? { promise: undefined, callback: args.pop() as Callback<unknown> }
      : settledCallback<unknown>();
    (super.query as (...args: unknown[]) => void).apply(this, [...args, this.#begin(callback)]);
    return promise as never;
  }

  /** Submittables have no callback in common, so they count as under way until the connection has nothing left to do. */
  #submit(args: unknown[]): never {
    if (!this.#progress) {
      this.#progress = { bytes: this.#bytes, at: performance.now() };
      this.once('drain', () => (this.#progress = undefined));
    }
    this.#startTimer();
    return (super.query as (...args: unknown[]) => unknown).apply(this, args) as never;
  }

  /** How many bytes the connection has carried, in both directions. */
  get #bytes(): number {
    const { bytesRead, bytesWritten } = this.connection.stream as Socket;
    return bytesRead + bytesWritten;
  }

  #startTimer(): void {
    this.#timer ??= outside(() => setInterval(() => this.#checkTimeout(), this.#timeoutMs / 10)).unref();
  }

  /** Counts a statement as under way until the returned callback is called. node-postgres calls it twice where a value cannot be sent. */
  #begin<R>(callback: Callback<R>): Callback<R> {
    this.#sentAt.push(performance.now());
    this.#startTimer();
    let isUnderWay = true;
    return (error, result) => {
      if (!isUnderWay) return;
      isUnderWay = false;
      this.#sentAt.shift();
      if (!error || error instanceof DatabaseError) this.answeredAt = performance.now();
      callback(error, result);
    };
  }

  /** For how many milliseconds the connection has waited for the server, or for the owner of a submittable. */
  #waitedMs(): number {
    if (!this.#progress) return this.oldestQueryAgeMs;
    const bytes = this.#bytes;
    if (bytes !== this.#progress.bytes) this.#progress = { bytes, at: performance.now() };
    return performance.now() - this.#progress.at;
  }

  #checkTimeout(): void {
    if ((this.#sentAt.length === 0 && !this.#progress) || this.connection.stream.destroyed) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    } else if (this.#waitedMs() >= this.#timeoutMs) {
      // After a pause of the whole process, answers that have arrived meanwhile are handled first.
      setImmediate(() => this.#failTimedOut());
    }
  }

  #failTimedOut(): void {
    if (this.#waitedMs() < this.#timeoutMs || this.#isUnresponsive) return;
    const silentMs = Math.min(this.oldestQueryAgeMs, performance.now() - this.answeredAt);
    // The owner of a submittable may be the one that neither reads nor writes.
    if (!this.#progress && silentMs > silentShare * this.#timeoutMs) {
      this.#isUnresponsive = true;
      this.onUnresponsive(silentMs);
    }
    this.connection.stream.destroy(new ServerUnresponsiveError(this.#progress ? 'no progress in time' : 'no answer in time'));
  }
}

/** The query that `Client.query` would make of a statement. */
class PreparedQuery extends Query {
  readonly name: string | undefined;

  constructor({ name, text, values }: Statement, callback: Callback<{ rows: unknown[] }>) {
    super(text, values, callback);
    this.name = name;
  }
}
