/** A connection for work that takes long, outside of the pool and without its limits of time. */
import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import type { Database } from '../tables.ts';
import { firstStatement } from './session-settings.ts';
import { SettlingClient } from './settling-client.ts';
import type { VerifiedClient } from './verified-client.ts';

/** Kysely on one connection. Its statements run one after the other; while a transaction is open, all of them belong to it. */
export function kyselyOn(client: VerifiedClient): Kysely<Database> {
  const connection = { query: client.query.bind(client) as PostgresPoolClient['query'], release: () => undefined };
  return new Kysely<Database>({
    dialect: new PostgresDialect({ pool: { options: {}, connect: async () => connection, end: async () => undefined } }),
  });
}

/** The connections of one process for long work. */
export class LongConnections {
  readonly #url: string;
  readonly #open = new Set<VerifiedClient>();

  /** The URL must not pool by transaction. */
  constructor(url: string) {
    this.#url = url;
  }

  /** Runs `work` on a new connection, and closes it. PostgreSQL then frees the locks of the session. */
  async run<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
    const client: VerifiedClient = new SettlingClient({
      connectionString: this.#url,
      application_name: 'entity-service build',
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
    });
    // A statement under way rejects by itself.
    client.on('error', () => undefined);
    this.#open.add(client);
    try {
      await client.connect();
      await client.query(firstStatement);
      await client.query('set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 60000');
      return await work(kyselyOn(client));
    } finally {
      this.#open.delete(client);
      client.connection.stream.destroy();
    }
  }

  /** Cuts the connections, so that no work holds up the end of the process. PostgreSQL rolls back what is not committed. */
  close(): void {
    for (const client of this.#open) client.connection.stream.destroy();
  }
}
