/** The throw-away PostgreSQL server of all runs. A killed run leaves its databases there. */
import { Client } from 'pg';
import { startThrowAwayServer } from '../../test/support/global-setup.ts';

export interface Server {
  url: string;
  /** Drops all databases of the tests. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export async function startServer(): Promise<Server> {
  const server = await startThrowAwayServer();
  const { url } = server;
  const clear = async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      const { rows } = await client.query<{ name: string }>(
        `select datname as name from pg_database where datname ~ '^(t_|entity_service_)'`,
      );
      for (const { name } of rows) await client.query(`drop database if exists ${name} with (force)`);
    } finally {
      await client.end();
    }
  };
  return { url, clear, stop: () => server.stop() };
}
