/**
 * Who uses the embedded server. Each process that has opened it holds, for as long as it lives, one connection with a shared advisory lock;
 * the last one to leave can take the lock for itself alone, and only it may stop the server.
 *
 * The database keeps this book because it cannot get it wrong: the lock of a killed process is gone with its connection, a process number
 * given to another program misleads nobody, and a process that comes while the last one leaves waits on the lock until the server is down
 * and then starts it anew. Files with process numbers do none of this.
 */
import { VerifiedClient } from '../driver/verified-client.ts';
import { nameOfAddress, urlOf, type Address } from './address.ts';
import type { Layout } from './cluster.ts';

// In the database `postgres`, apart from the advisory locks of the service's own database.
const lockDatabase = 'postgres';
const lockNumber = 1;

export interface Membership {
  /** Fulfilled when the connection is gone, whoever ended it. */
  ended: Promise<void>;
  /** Gives up the membership. True when nobody else is left; then newcomers wait until this connection ends, which the server's stop does. */
  release(): Promise<boolean>;
  end(): Promise<void>;
}

/**
 * Joins the server at this address. Undefined means that it cannot be joined at this moment: it is starting, recovering,
 * stopping, or full.
 *
 * @throws Error with one line for a person when the server refuses our password.
 */
export async function joinCluster(layout: Layout, address: Address, password: string): Promise<Membership | undefined> {
  const client = new VerifiedClient({
    connectionString: urlOf(address, layout, password, lockDatabase),
    application_name: 'entity-service membership',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  client.on('end', resolve);
  client.on('error', () => resolve());
  try {
    await client.connect();
    await client.query('select pg_advisory_lock_shared($1)', [lockNumber]);
  } catch (error) {
    await client.end().catch(() => {});
    const { code } = error as { code?: string };
    if (code?.startsWith('28')) {
      throw new Error(`The PostgreSQL server on ${nameOfAddress(address)} refuses the password of this data directory.`, { cause: error });
    }
    return undefined;
  }
  const socket = client as VerifiedClient & Record<'ref' | 'unref', () => void>;
  socket.unref(); // being a member keeps no process from ending
  return {
    ended,
    async release() {
      socket.ref();
      await client.query('select pg_advisory_unlock_shared($1)', [lockNumber]);
      const { rows } = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [lockNumber]);
      return rows[0]?.alone === true;
    },
    end: () => client.end(),
  };
}
