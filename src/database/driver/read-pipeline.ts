/**
 * Reads of the hot path, many at a time on a few connections: each is sent without waiting for the answer to the one before it, and those of
 * one turn of the event loop leave in one write. Handing a statement to the server one by one costs more than all else in a request.
 *
 * Only for statements that wait for no other transaction's rows: what is sent behind one that waits, waits too.
 */
import { DatabaseError } from 'pg';
import { firstStatement } from './session-settings.ts';
import { TimeoutClient, type Rows, type Statement } from './timeout-client.ts';
import { connectionStaysUsable, connectionWasLost } from '../failure.ts';
import type { Executor } from './prepared.ts';

/** A connection of its own keeps one core of the database busy. */
const maximumConnections = 2;
/** What one connection may be behind with; the pool takes the rest, and gets half as much done. */
const maximumUnderWay = 256;
/** Nor does a connection get any more while its first statement has been under way for so long: it waits for a lock, or the server is slow. */
const maximumQueryAgeMs = 250;
/** Where no connection can be had, the next one is tried for after so long. */
const reconnectPauseMs = 1_000;

/** How many of `connections` are used for reads: few, and none where there are few. */
export function pipelinedConnectionCount(connections: number): number {
  return Math.min(maximumConnections, Math.floor(connections / 4));
}

type PipelineOptions = ConstructorParameters<typeof TimeoutClient>[0] & { connectionTimeoutMillis: number };

export interface PipelineEvents {
  /** A connection died, or could not be had. */
  onError: (error: Error) => void;
  /** One was given up because its server has said nothing for `silentMs`. */
  onSilence: (silentMs: number) => void;
}

/** Sends statements over `count` connections, opened as `options` say when they are first wanted; over `pool` while those cannot be had. */
export class ReadPipeline {
  readonly #connections: PipelinedConnection[];
  readonly #pool: Executor;

  constructor(count: number, options: PipelineOptions, pool: Executor, events: PipelineEvents) {
    this.#connections = Array.from({ length: count }, () => new PipelinedConnection(options, events));
    this.#pool = pool;
  }

  /** How many connections are open, and how many of these have statements under way. */
  get connections(): { open: number; busy: number } {
    const open = this.#connections.filter(({ client }) => client !== undefined);
    return { open: open.length, busy: open.filter(({ underWay }) => underWay > 0).length };
  }

  /** The time at which the server last answered over one of the connections, as performance.now() says; 0 before that. */
  get answeredAt(): number {
    return Math.max(...this.#connections.map(({ client }) => client?.answeredAt ?? 0), 0);
  }

  /** Runs a statement that only reads. One that failed for its connection's sake is asked once more, over the pool. */
  async send(statement: Statement): Rows {
    const connection = this.#leastBusy();
    const client = connection?.client;
    if (!connection || !client) return this.#pool.send(statement);
    connection.underWay++;
    try {
      return await client.send(statement);
    } catch (error) {
      // As in the pool (timeout-pool.ts).
      if (!connectionStaysUsable(error)) connection.retire(client);
      // A silent server would be silent on another connection too.
      if (client.isUnresponsive || !isOfConnection(error)) throw error;
      return this.#pool.send(statement);
    } finally {
      connection.underWay--;
    }
  }

  /** The one to send over, if any; those that are closed begin to open. */
  #leastBusy(): PipelinedConnection | undefined {
    let best: PipelinedConnection | undefined;
    for (const connection of this.#connections) {
      if (!connection.client) connection.open();
      else if (connection.underWay < (best?.underWay ?? maximumUnderWay) && connection.client.oldestQueryAgeMs < maximumQueryAgeMs)
        best = connection;
    }
    return best;
  }

  /** Gives up connections on which nothing is under way. */
  closeIdle(): void {
    for (const { client, underWay } of this.#connections) if (underWay === 0) client?.connection.stream.destroy();
  }

  /** Ends all connections once what is under way has been answered. */
  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }
}

/** One connection, which comes and goes. */
class PipelinedConnection {
  /** Undefined while there is no connection. */
  client: CoalescingClient | undefined;
  underWay = 0;
  #nextAttemptAt = 0;
  #opening: Promise<void> | undefined;
  #closed = false;
  readonly #options: PipelineOptions;
  readonly #events: PipelineEvents;

  constructor(options: PipelineOptions, events: PipelineEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** Begins to connect, unless that is done already. What comes of it shows in `client`. */
  open(): void {
    if (this.client || this.#closed || performance.now() < this.#nextAttemptAt) return;
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
  }

  async #connect(): Promise<void> {
    const client = new CoalescingClient({ ...this.#options, pipeline: true });
    const { onError, onSilence } = this.#events;
    const late = setTimeout(() => client.connection.stream.destroy(), this.#options.connectionTimeoutMillis);
    client.on('error', (error) => {
      this.retire(client);
      onError(error);
    });
    client.on('end', () => this.retire(client));
    try {
      await client.connect();
      await client.send({ name: undefined, text: firstStatement, values: [] });
      client.onUnresponsive = onSilence;
      this.client = client;
    } catch (error) {
      this.#nextAttemptAt = performance.now() + reconnectPauseMs;
      void client.end();
      onError(error as Error);
    } finally {
      clearTimeout(late);
    }
  }

  /** Sends nothing more over `client`, which ends once it has answered what is under way. */
  retire(client: CoalescingClient): void {
    if (this.client !== client) return;
    this.client = undefined;
    void client.end();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#opening;
    await this.client?.end();
  }
}

/** Whether it is not the statement that has failed: the connection broke, or had not taken in the statement's text when it was named. */
function isOfConnection(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === '26000' || connectionWasLost(error);
  return connectionWasLost(error) || (error instanceof Error && /not queryable/.test(error.message));
}

/** A client that holds back what it is asked until the end of a turn of the event loop. */
class CoalescingClient extends TimeoutClient {
  #corked = false;

  override send(statement: Statement): Rows {
    if (!this.#corked) {
      this.#corked = true;
      const { stream } = this.connection;
      stream.cork();
      setImmediate(() => {
        this.#corked = false;
        stream.uncork();
      });
    }
    return super.send(statement);
  }
}
