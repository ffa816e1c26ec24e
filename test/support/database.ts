/** A separate database for a test or a test file: a copy of the migrated template, without rows. */
import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { execute, withDatabase } from './sql.ts';

export interface TestDatabase {
  url: string;
  /** Ends the connections that are still open. */
  drop(): Promise<void>;
}

export async function createDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `t_${randomBytes(8).toString('hex')}`;
  await execute(server, `create database ${name} template ${inject('templateName')}`);
  return { url: withDatabase(server, name), drop: () => execute(server, `drop database if exists ${name} with (force)`) };
}

/** The address of a database of the suite's server through PgBouncer; undefined without `npm run test:pooled`, and for another server. */
export function pooledUrlOf(databaseUrl: string): string | undefined {
  const pooler = inject('poolerHost');
  const [url, server] = [new URL(databaseUrl), new URL(inject('postgresUrl'))];
  if (pooler === undefined || url.host !== server.host || url.username !== server.username) return undefined;
  url.host = pooler;
  return url.href;
}

/** A database that is dropped when the test is over. Returns its URL. */
export async function createDatabaseUntilDone(): Promise<string> {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  return database.url;
}

/**
 * A pool whose connections the server may end at any time. A connection that is closing while its database is dropped emits an error, and
 * an error without a listener ends the process.
 */
export function openPool(url: string): Pool {
  const pool = new Pool({ connectionString: url });
  pool.on('error', () => undefined);
  return pool.on('connect', (client) => client.on('error', () => undefined));
}
