/** A database of its own for a test or a test file: a copy of the migrated template, with no rows in it. */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
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
