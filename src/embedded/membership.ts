/**
 * The processes that use the embedded server. Each of them holds one connection with a shared advisory lock for as long as it lives. The last one
 * to leave can get the lock exclusively, and only that one may stop the server.
 *
 * Advisory locks are exact where files with process numbers are not. The lock of a killed process ends with its connection. A reused process
 * number has no effect. A process that joins while the last one leaves waits for the lock until the server has stopped, and then starts it.
 */
import { VerifiedClient } from '../database/driver/verified-client.ts';
import { nameOfAddress, urlOf, type ServerAddress } from './address.ts';
import type { DataLayout } from './cluster.ts';

// In the database `postgres`, apart from the advisory locks of the service's own database.
const lockDatabase = 'postgres';
const lockNumber = 1;

export interface Membership {
  /** Fulfilled when the connection has ended, for whatever reason. */
  ended: Promise<void>;
  /** Ends the membership. True when this was the last member: then new members wait until the server's stop ends this connection. */
  release(): Promise<boolean>;
  end(): Promise<void>;
}

/**
 * Joins the server at this address. Undefined means that it cannot be joined at this moment: it is starting, recovering,
 * stopping, or full.
 *
 * @throws Error with one line for a person when the server refuses the password.
 */
export async function joinCluster(layout: DataLayout, address: ServerAddress, password: string): Promise<Membership | undefined> {
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
  socket.unref(); // A membership does not keep the process alive.
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
