/** The pool of connections, each of which bounds the time of its statements (rule 88). */
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { withSpan } from '../../telemetry/spans.ts';
import { connectionStaysUsable, connectionWasLost } from '../failure.ts';
import type { Executor } from './prepared.ts';
import { nameOf } from './statement-names.ts';
import { unnamedWork } from './statement-work.ts';
import { firstStatement } from './session-settings.ts';
import { TimeoutClient, type Rows, type Statement } from './timeout-client.ts';

/**
 * A connection is closed after use when the statements prepared on it have more characters together. A character takes about 100 bytes of the server's memory, so
 * that is 30 MB. A statement that writes a companion table has 1,000 to 4,000 characters, and there is one of each kind for each table.
 */
const maximumPreparedCharacters = 300_000;

/** A client that names what Kysely leaves unnamed, and describes its statements to traces. */
class NamingClient extends TimeoutClient {
  readonly #prepared = new Set<string>();
  /** Of the statements prepared. */
  #characters = 0;
  /** How many groups of {@link sendTogether} are under way. */
  #groups = 0;

  /** Whether the connection has prepared so many statements that it must not be used again. */
  get isWorn(): boolean {
    return this.#characters > maximumPreparedCharacters;
  }

  override send(statement: Statement): Rows {
    const { name, text } = statement;
    if (name !== undefined && !this.#prepared.has(name)) {
      this.#prepared.add(name);
      this.#characters += text.length;
    }
    return super.send(statement);
  }

  /**
   * Sends the statements of `work` in one write to the socket: all those that it sends before it waits for anything. Outside of a transaction PostgreSQL has
   * committed each when it begins the next, which it runs also if one before has failed. Resolves when all are answered; throws the first error.
   */
  async sendTogether<T extends readonly unknown[]>(work: () => { readonly [K in keyof T]: Promise<T[K]> }): Promise<T> {
    const { stream } = this.connection;
    this.#pipelines(++this.#groups);
    stream.cork();
    const sent = work();
    stream.uncork();
    await Promise.allSettled(sent);
    this.#pipelines(--this.#groups);
    return await Promise.all(sent);
  }

  /** While groups are under way node-postgres sends each statement at once, without waiting for the answer to the one before. Its types only allow to read that. */
  #pipelines(groups: number): void {
    Object.assign(this, { pipeline: groups > 0 });
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
    return (isSpan ? withSpan(() => unnamedWork(text), send) : send()) as never;
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

/** A connection that is taken out of the pool. */
export type PooledClient = PoolClient & NamingClient;

/** A pool whose clients are {@link TimeoutClient}s. Only its own `send` relies on that, so no other pool can take its place. */
export class TimeoutPool extends Pool {
  /** Sends one more statement behind each of {@link send}, in the same write. It must not reject. */
  follow: ((to: Executor) => Promise<unknown>) | undefined;

  constructor(options: PoolConfig) {
    // The pool makes its clients with its own options, which its types leave out.
    super({ ...options, Client: NamingClient as unknown as new () => NamingClient });
  }

  /** Takes a connection out of the pool, until {@link release}. */
  async acquire(): Promise<PooledClient> {
    return (await this.connect()) as PooledClient;
  }

  /** Takes back a connection of {@link acquire}. One that is spoilt is closed, and so is one that has prepared too much. */
  release(client: PooledClient, isSpoilt = false): void {
    client.release(isSpoilt || client.isWorn);
  }

  /**
   * Runs a statement on a free connection. A connection on which a statement has merely failed stays open. `query` of `pg` would close it.
   * While statements fail one after the other, for want of room or a lock, every caller would then wait for a new connection.
   */
  async send(statement: Statement, onConnection?: () => void): Rows {
    const { follow } = this;
    const client = await this.acquire();
    onConnection?.();
    let isSpoilt = false;
    try {
      if (!follow) return await client.send(statement);
      const [rows] = await client.sendTogether<[Awaited<Rows>, unknown]>(() => [client.send(statement), follow(client)]);
      return rows;
    } catch (error) {
      isSpoilt = !connectionStaysUsable(error);
      throw error;
    } finally {
      this.release(client, isSpoilt);
    }
  }

  /** Runs `work`, which only reads, on a free connection. It returns to the pool in any case, unless it broke. */
  async read<T>(work: (client: PooledClient) => Promise<T>): Promise<T> {
    const client = await this.acquire();
    try {
      return await work(client);
    } finally {
      this.release(client);
    }
  }
}
