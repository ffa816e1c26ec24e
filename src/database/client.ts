/**
 * A connection to PostgreSQL that waits for its server for so long and no longer. node-postgres does that with a timer and a function for each
 * statement, and makes its promise with another one; V8 makes functions that are assigned to a property among the old objects, and each kept
 * its result alive until the next whole collection (docs/decisions.md, 59).
 */
import { Client, Query, type ClientConfig } from 'pg';
import { SilenceError } from './failure.ts';

/** A statement with its values, and the name under which it is prepared, if any. */
export interface Statement {
  name: string | undefined;
  text: string;
  values: unknown[];
}

/** The rows as node-postgres reads them. */
export type Rows = Promise<{ rows: unknown[] }>;

type Callback = (error: Error | undefined | null, result: never) => void;

/** How much of its time a statement must have passed without any answer on its connection, or it was those in front of it that took long. */
const silentShare = 0.9;

/**
 * A client that gives up its connection when a statement has been under way for `query_timeout` milliseconds, or up to a tenth more. All that
 * are under way reject with a {@link SilenceError} then, which the client emits too.
 */
export class PatientClient extends Client {
  /** Called when it was the server that has left all of them without an answer. */
  onSilence: () => void = () => undefined;
  #isSilent = false;
  readonly #patience: number;
  /** When each of those under way was sent. They are answered in the same order. */
  readonly #sentAt: number[] = [];
  #answeredAt = 0;
  #watch: NodeJS.Timeout | undefined;

  constructor({ query_timeout, ...options }: ClientConfig & { query_timeout: number }) {
    super(options);
    this.#patience = query_timeout;
  }

  /** Whether the server has fallen silent on it. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Sends a statement; cheaper than `query`, which copies what it is given. */
  send(statement: Statement): Rows {
    const { promise, resolve, reject } = Promise.withResolvers<{ rows: unknown[] }>();
    this.#begin();
    super.query(
      new PreparedQuery(statement, (error, result) => {
        this.#end();
        if (error) reject(error);
        else resolve(result);
      }),
    );
    return promise;
  }

  // pg's own overloads cannot be spelled once more; everything but a callback passes through untouched.
  override query(...args: unknown[]): never {
    const callback = typeof args.at(-1) === 'function' ? (args.pop() as Callback) : undefined;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#begin();
    const settle: Callback = (error, result) => {
      this.#end();
      if (callback) callback(error, result);
      else if (error) reject(error);
      else resolve(result);
    };
    (Client.prototype.query as (...args: unknown[]) => void).apply(this, [...args, settle]);
    return (callback ? undefined : promise) as never;
  }

  #begin(): void {
    this.#sentAt.push(performance.now());
    this.#watch ??= setInterval(() => this.#look(), this.#patience / 10).unref();
  }

  #end(): void {
    this.#sentAt.shift();
    this.#answeredAt = performance.now();
  }

  #look(): void {
    const [oldest] = this.#sentAt;
    if (oldest === undefined) {
      clearInterval(this.#watch);
      this.#watch = undefined;
      return;
    }
    const now = performance.now();
    if (now - oldest < this.#patience || this.#isSilent) return;
    if (now - Math.max(this.#answeredAt, oldest) > silentShare * this.#patience) {
      this.#isSilent = true;
      this.onSilence();
    }
    this.connection.stream.destroy(new SilenceError('no answer in time'));
  }
}

/** What `Client.query` would make of a statement. */
class PreparedQuery extends Query {
  readonly name: string | undefined;

  constructor({ name, text, values }: Statement, callback: (error: Error | undefined, result: { rows: unknown[] }) => void) {
    super(text, values, callback);
    this.name = name;
  }
}
