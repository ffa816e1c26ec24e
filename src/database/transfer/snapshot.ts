/** A connection for a transaction that takes long, and the data of a database in one snapshot. */
import { to as copyTo } from 'pg-copy-streams';
import { firstStatement } from '../driver/session-settings.ts';
import { VerifiedClient } from '../driver/verified-client.ts';
import { readContents, type DataSource } from './contents.ts';

/** A database can be the source of several copies or the target of one. The numbers of an advisory lock of our own. */
const transferLock = '1936941420, 2';

/** Without limits of time, since a table may be large; and the form of values as text, which is compared. */
const transferSettings = `
  set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0;
  set local lock_timeout = '10s';
  set local datestyle = 'ISO, YMD';
  set local intervalstyle = 'iso_8601';
  set local timezone = 'UTC';
  set local bytea_output = 'hex';
  set local extra_float_digits = 1`;

/** The operator cancelled the transfer. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError';
}

/**
 * Runs `work` in a transaction of its own, which starts with `begin`, and commits. It is rolled back if `work` throws, and if `signal`
 * is aborted before it commits, which throws {@link CancelledError}.
 */
export async function inLongTransaction<T>(
  url: string,
  begin: string,
  signal: AbortSignal,
  work: (client: VerifiedClient) => Promise<T>,
): Promise<T> {
  const client = new VerifiedClient({
    connectionString: url,
    application_name: 'entity-service transfer',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  client.on('error', () => undefined);
  // The server rolls back when the connection ends. A statement under way would answer only when it is done.
  const cancel = () => client.connection.stream.destroy();
  signal.addEventListener('abort', cancel);
  try {
    signal.throwIfAborted();
    await client.connect();
    await client.query(firstStatement);
    await client.query(begin);
    await client.query(transferSettings);
    const result = await work(client);
    // A connection that ends now would leave open whether the transaction is committed.
    signal.removeEventListener('abort', cancel);
    // What only reads ends with its connection, which a late cancellation may have ended already.
    if (!begin.endsWith('read only')) await client.query('commit');
    return result;
  } catch (error) {
    if (signal.aborted) throw new CancelledError('cancelled', { cause: error });
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    // After an error a COPY may be under way, which a polite end would wait for.
    client.connection.stream.destroy();
  }
}

/** Reads the database at `url` in one snapshot, without the tables `without`. It may be in use. */
export async function withSnapshot<T>(
  url: string,
  without: readonly string[],
  signal: AbortSignal,
  work: (source: DataSource) => Promise<T>,
): Promise<T> {
  return await inLongTransaction(url, 'begin isolation level repeatable read, read only', signal, async (client) => {
    await client.query(`select pg_advisory_xact_lock_shared(${transferLock})`);
    const contents = await readContents(client, without);
    return await work({
      contents,
      read({ name, columns }) {
        const list = columns.map((column) => client.escapeIdentifier(column)).join(', ');
        return client.query(copyTo(`copy (select ${list} from ${client.escapeIdentifier(name)}) to stdout`));
      },
    });
  });
}

/** Whether this transaction is the only one that fills this database, and none copies it. */
export async function lockTarget(client: VerifiedClient): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(`select pg_try_advisory_xact_lock(${transferLock}) as locked`);
  return rows[0]?.locked === true;
}
