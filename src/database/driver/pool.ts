/**
 * The pool, and Kysely on top of it. Every parametrised statement is sent as a named one; the timeouts of security rule 88 hold for all of them.
 */
import { Kysely, PostgresDialect } from 'kysely';
import { Pool, type Client, type ClientConfig } from 'pg';
import { spanning } from '../../telemetry/spans.ts';
import { TimeoutClient } from './timeout-client.ts';
import { connectionWasLost } from '../failure.ts';
import { pipelinedConnectionCount, ReadPipeline } from './read-pipeline.ts';
import { avoidWholeTables } from './connection-setup.ts';
import { nameOf } from './statement-names.ts';
import { nameOfText, statementWork } from './statement-work.ts';
import type { Database } from '../tables.ts';

/** A client that names what Kysely leaves unnamed, and tells what its statements are at. */
class PoolClient extends TimeoutClient {
  // pg's own overloads cannot be spelled once more; what is not a text with values passes through untouched.
  override query(...args: unknown[]): never {
    const [text, values] = args;
    if (typeof text === 'string' && Array.isArray(values) && values.length > 0) {
      const name = nameOf(text);
      if (name !== undefined) args.splice(0, 2, { name, text, values });
    }
    const send = () => (super.query as (...args: unknown[]) => Promise<unknown>).apply(this, args);
    const isTold = typeof text === 'string' && typeof args.at(-1) !== 'function';
    return (isTold ? spanning(statementWork(nameOfText(text), text), send) : send()) as never;
  }

  // Likewise.
  override connect(...args: unknown[]): never {
    const [callback] = args;
    if (typeof callback !== 'function') return super.connect() as never;
    const report = (error: unknown) => {
      // Nothing was sent yet, so this loss leaves nobody in doubt about what has happened.
      callback(connectionWasLost(error) ? new Error('Connection terminated while connecting', { cause: error }) : error);
    };
    const begin = (error: unknown) => {
      if (error) return report(error);
      // The pool listens to a client's errors, which would else end the process, only once it has been told that this one is connected.
      const ignore = () => undefined;
      this.on('error', ignore);
      super.query(avoidWholeTables, (failure: unknown) => {
        if (failure) void this.end();
        else this.off('error', ignore);
        report(failure);
      });
    };
    return super.connect(begin) as never;
  }
}

export interface Connection {
  db: Kysely<Database>;
  pool: Pool;
  /** For statements that only read; `pool` would do as well. */
  reads: ReadPipeline;
  /** Closes the pool once what is checked out has come back. */
  close: () => Promise<void>;
}

/**
 * Opens at most `size` connections to a PostgreSQL 15+, those for reads included; nothing is connected until the first statement. `onError`
 * hears of connections that die while idle or checked out: unheard, either would end the process (rule 90).
 */
export function connectPool(url: string, size: number, onError: (error: Error) => void): Connection {
  const options = {
    connectionString: url,
    application_name: 'entity-service',
    connectionTimeoutMillis: 2_000,
    statement_timeout: 5_000,
    // For when the server cannot even say that the time is up.
    query_timeout: 6_000,
    lock_timeout: 2_000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
  } satisfies ClientConfig;
  const lines = pipelinedConnectionCount(size);
  // The pool makes its clients with its own options, which its types leave out.
  const Client = PoolClient as unknown as new () => PoolClient;
  const pool = new Pool({ ...options, max: size - lines, Client, idleTimeoutMillis: 60_000 });
  // When a server says nothing any more on one connection, those without a statement to wait for would each have to find out by itself.
  const idle = new Set<Client>();
  const onSilence = () => {
    for (const client of idle) client.connection.stream.destroy();
    reads.closeIdle();
  };
  pool.on('error', onError);
  pool.on('connect', (client: Client) => {
    client.on('error', onError);
    if (client instanceof TimeoutClient) client.onUnresponsive = onSilence;
  });
  pool.on('release', (_error, client) => idle.add(client));
  for (const event of ['acquire', 'remove'] as const) pool.on(event, (client) => idle.delete(client));
  const reads: ReadPipeline = new ReadPipeline(lines, options, pool, { onError, onSilence });
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  const close = async () => {
    await reads.close();
    await db.destroy();
  };
  return { db, pool, reads, close };
}
