/**
 * The pool, and Kysely on top of it. Every parametrised statement is sent as a named one; the timeouts of security rule 88 hold for all of them.
 */
import { Kysely, PostgresDialect } from 'kysely';
import type { Client, ClientConfig } from 'pg';
import { TimeoutClient } from './timeout-client.ts';
import { pipelinedConnectionCount, ReadPipeline } from './read-pipeline.ts';
import { TimeoutPool } from './timeout-pool.ts';
import type { Database } from '../tables.ts';

/** How long a connection may take, in milliseconds. Requests wait for it. */
const connectionMs = 2_000;

export interface Connection {
  db: Kysely<Database>;
  pool: TimeoutPool;
  /** For statements that only read; `pool` would do as well. */
  reads: ReadPipeline;
  /** Closes the pool once what is checked out has come back. */
  close: () => Promise<void>;
}

/**
 * Opens at most `size` connections to a PostgreSQL 15+, those for reads included; nothing is connected until the first statement. `onError`
 * hears of connections that die while idle or checked out: unheard, either would end the process (rule 90). The first connection may take `firstConnectionMs`:
 * no request waits for it, while a name is looked up for the first time, or a server has to wake up.
 */
export function connectPool(
  url: string,
  size: number,
  onError: (error: Error) => void,
  firstConnectionMs: number = connectionMs,
): Connection {
  const options = {
    connectionString: url,
    application_name: 'entity-service',
    connectionTimeoutMillis: connectionMs,
    statement_timeout: 5_000,
    // For when the server cannot even say that the time is up.
    query_timeout: 6_000,
    lock_timeout: 2_000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
  } satisfies ClientConfig;
  const lines = pipelinedConnectionCount(size);
  const pool = new TimeoutPool({ ...options, max: size - lines, idleTimeoutMillis: 60_000, connectionTimeoutMillis: firstConnectionMs });
  const open = new Set<TimeoutClient>();
  // When a server says nothing any more on one connection, those without a statement to wait for would each have to find out by itself. A server that
  // has lately answered elsewhere is there: the silent statement waits, for example a commit for a standby (decision 161).
  const idle = new Set<Client>();
  const onSilence = (silentMs: number) => {
    const answeredAt = Math.max(reads.answeredAt, ...Array.from(open, (client) => client.answeredAt));
    if (performance.now() - answeredAt < silentMs / 2) return;
    for (const client of idle) client.connection.stream.destroy();
    reads.closeIdle();
  };
  pool.on('error', onError);
  pool.on('connect', (client: Client) => {
    pool.options.connectionTimeoutMillis = connectionMs;
    client.on('error', onError);
    if (!(client instanceof TimeoutClient)) return;
    open.add(client);
    client.onUnresponsive = onSilence;
  });
  pool.on('remove', (client: Client) => client instanceof TimeoutClient && open.delete(client));
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
