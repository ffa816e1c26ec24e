/**
 * A connection to PostgreSQL that waits for its server for so long and no longer. node-postgres does that with a timer and a function for each
 * statement, and makes its promise with another one; V8 makes functions that are assigned to a property among the old objects, and each kept
 * its result alive until the next whole collection (docs/decisions.md, 59).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { DatabaseError, Query, type ClientConfig } from 'pg';
import { ServerUnresponsiveError } from '../failure.ts';
import { VerifiedClient } from './verified-client.ts';

/** A statement with its values, and the name under which it is prepared, if any. */
export interface Statement {
  name: string | undefined;
  text: string;
  values: unknown[];
}

/** The rows as node-postgres reads them. */
export type Rows = Promise<{ rows: unknown[] }>;

type Callback<R> = (error: Error | undefined | null, result: R) => void;

/** The watch over a connection belongs to none of the requests that it serves. */
const outside = AsyncLocalStorage.snapshot();

/** How much of its time a statement must have passed without any answer on its connection, or it was those in front of it that took long. */
const silentShare = 0.9;

/**
 * A client that gives up its connection when a statement has been under way for `query_timeout` milliseconds, or up to a tenth more. All that
 * are under way reject with a {@link ServerUnresponsiveError} then, which the client emits too.
 */
export class TimeoutClient extends VerifiedClient {
  /** Called when it was the server that has left all of them without an answer. */
  onUnresponsive: () => void = () => undefined;
  #isUnresponsive = false;
  readonly #timeoutMs: number;
  /** When each of those under way was sent. They are answered in the same order; what fails here may go first, and takes another's place. */
  readonly #sentAt: number[] = [];
  #answeredAt = 0;
  #watch: NodeJS.Timeout | undefined;

  constructor(config: ClientConfig & { connectionString: string; query_timeout: number }) {
    super(config);
    // Here too what the address says goes before what the settings say, unless it says that there is to be no end; node-postgres is to have none.
    const { connectionParameters: parameters } = this as unknown as { connectionParameters: { query_timeout: number | string } };
    const given = Number(parameters.query_timeout);
    this.#timeoutMs = given > 0 && Number.isFinite(given) ? given : config.query_timeout;
    parameters.query_timeout = 0;
  }

  /** Whether the server has fallen silent on it. */
  get isUnresponsive(): boolean {
    return this.#isUnresponsive;
  }

  /** For how many milliseconds the first of the statements under way has been; 0 when there is none. */
  get oldestQueryAgeMs(): number {
    const [oldest] = this.#sentAt;
    return oldest === undefined ? 0 : performance.now() - oldest;
  }

  /** Sends a statement; cheaper than `query`, which copies what it is given. */
  send(statement: Statement): Rows {
    const { promise, resolve, reject } = Promise.withResolvers<{ rows: unknown[] }>();
    const settle = this.#begin<{ rows: unknown[] }>((error, result) => {
      if (error) reject(error);
      else resolve(result);
    });
    super.query(new PreparedQuery(statement, settle));
    return promise;
  }

  // pg's own overloads cannot be spelled once more; a text or what describes a statement passes through untouched.
  override query(...args: unknown[]): never {
    const given = typeof args.at(-1) === 'function' ? (args.pop() as Callback<unknown>) : undefined;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const settle = this.#begin<unknown>((error, result) => {
      if (given) given(error, result);
      else if (error) reject(error);
      else resolve(result);
    });
    (VerifiedClient.prototype.query as (...args: unknown[]) => void).apply(this, [...args, settle]);
    return (given ? undefined : promise) as never;
  }

  /** Counts a statement as under way until what it returns is called; node-postgres calls twice where a value cannot be sent. */
  #begin<R>(callback: Callback<R>): Callback<R> {
    this.#sentAt.push(performance.now());
    this.#watch ??= outside(() => setInterval(() => this.#checkTimeout(), this.#timeoutMs / 10)).unref();
    let isUnderWay = true;
    return (error, result) => {
      if (!isUnderWay) return;
      isUnderWay = false;
      this.#sentAt.shift();
      if (!error || error instanceof DatabaseError) this.#answeredAt = performance.now();
      callback(error, result);
    };
  }

  #checkTimeout(): void {
    if (this.#sentAt.length === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    } else if (this.oldestQueryAgeMs >= this.#timeoutMs) {
      // After a pause of the whole process, answers that have arrived meanwhile come before its verdict.
      setImmediate(() => this.#failTimedOut());
    }
  }

  #failTimedOut(): void {
    const [oldest] = this.#sentAt;
    const now = performance.now();
    if (oldest === undefined || now - oldest < this.#timeoutMs || this.#isUnresponsive) return;
    if (now - Math.max(this.#answeredAt, oldest) > silentShare * this.#timeoutMs) {
      this.#isUnresponsive = true;
      this.onUnresponsive();
    }
    this.connection.stream.destroy(new ServerUnresponsiveError('no answer in time'));
  }
}

/** What `Client.query` would make of a statement. */
class PreparedQuery extends Query {
  readonly name: string | undefined;

  constructor({ name, text, values }: Statement, callback: Callback<{ rows: unknown[] }>) {
    super(text, values, callback);
    this.name = name;
  }
}
