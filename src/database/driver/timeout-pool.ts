/** The pool of connections, each of which bounds the time of its statements (rule 88). */
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { spanning } from '../../telemetry/spans.ts';
import { connectionStaysUsable, connectionWasLost } from '../failure.ts';
import type { Executor } from './prepared.ts';
import { nameOf } from './statement-names.ts';
import { nameOfText, statementWork } from './statement-work.ts';
import { firstStatement, TimeoutClient, type Rows, type Statement } from './timeout-client.ts';

/**
 * A connection on which more statements are prepared is closed after use. A statement that writes a companion table takes 0.3 MB of the server's memory,
 * and there is one of each kind for each table.
 */
const maximumPrepared = 100;

/** A client that names what Kysely leaves unnamed, and describes its statements to traces. */
class NamingClient extends TimeoutClient {
  readonly #prepared = new Set<string>();

  /** Whether the connection has prepared so many statements that it must not be used again. */
  get isWorn(): boolean {
    return this.#prepared.size > maximumPrepared;
  }

  override send(statement: Statement): Rows {
    if (statement.name !== undefined) this.#prepared.add(statement.name);
    return super.send(statement);
  }

  /**
   * Sends a statement, and what `follow` sends, in one write to the socket. PostgreSQL has committed the first when it begins the second, which it
   * runs also if the first has failed. `follow` must not reject.
   */
  async sendFollowed(statement: Statement, follow: (to: Executor) => Promise<unknown>): Rows {
    const { stream } = this.connection;
    // Otherwise node-postgres would send the second after the answer to the first.
    this.#isPipelining(true);
    stream.cork();
    const rows = this.send(statement);
    const followed = follow(this);
    stream.uncork();
    try {
      return await rows;
    } finally {
      await followed;
      this.#isPipelining(false);
    }
  }

  /** Whether node-postgres sends statements at once, without waiting for the answers to those before. Its types only allow to read that. */
  #isPipelining(isOn: boolean): void {
    Object.assign(this, { pipeline: isOn });
  }

  // TypeScript cannot repeat the overloads of node-postgres. Anything but a text with values passes through unchanged.
  override query(...args: unknown[]): never {
    const [text, values] = args;
    if (typeof text === 'string' && Array.isArray(values) && values.length > 0) {
      const name = nameOf(text);
      if (name !== undefined) args.splice(0, 2, { name, text, values });
    }
    const send = () => (super.query as (...args: unknown[]) => Promise<unknown>).apply(this, args);
    const isSpan = typeof text === 'string' && typeof args.at(-1) !== 'function';
    return (isSpan ? spanning(statementWork(nameOfText(text), text), send) : send()) as never;
  }

  // Likewise.
  override connect(...args: unknown[]): never {
    const [callback] = args;
    if (typeof callback !== 'function') return super.connect() as never;
    const report = (error: unknown) => {
      // No statement was sent yet, so this loss leaves no outcome unknown.
      callback(connectionWasLost(error) ? new Error('Connection terminated while connecting', { cause: error }) : error);
    };
    const begin = (error: unknown) => {
      if (error) return report(error);
      // An error without a listener would end the process. The pool listens only after this callback.
      const ignore = () => undefined;
      this.on('error', ignore);
      super.query(firstStatement, (failure: unknown) => {
        if (failure) void this.end();
        else this.off('error', ignore);
        report(failure);
      });
    };
    return super.connect(begin) as never;
  }
}

/** A connection that is taken out of the pool until its `release`. */
export type PooledClient = PoolClient & NamingClient;

/** A pool whose clients are {@link TimeoutClient}s. Only its own `send` relies on that, so no other pool can take its place. */
export class TimeoutPool extends Pool {
  /** Sends one more statement behind each of {@link send}, see {@link NamingClient.sendFollowed}. */
  follow: ((to: Executor) => Promise<unknown>) | undefined;

  constructor(options: PoolConfig) {
    // The pool makes its clients with its own options, which its types leave out.
    super({ ...options, Client: NamingClient as unknown as new () => NamingClient });
  }

  /** Takes a connection out of the pool. */
  async acquire(): Promise<PooledClient> {
    return (await this.connect()) as PooledClient;
  }

  /**
   * Runs a statement on a free connection. A connection on which a statement has merely failed stays open. `query` closes it, so that while
   * statements fail one after the other, for want of room or a lock, every caller would wait for a new connection.
   */
  async send(statement: Statement): Rows {
    const client = await this.acquire();
    let isSpoilt = false;
    try {
      return await (this.follow ? client.sendFollowed(statement, this.follow) : client.send(statement));
    } catch (error) {
      isSpoilt = !connectionStaysUsable(error);
      throw error;
    } finally {
      client.release(isSpoilt || client.isWorn);
    }
  }
}
