/**
 * The PostgreSQL server of the whole suite: the one of DATABASE_URL, else a throw-away one without durability, for speed. Makes the
 * migrated template that `database.ts` copies for the tests.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openEmbedded } from '../../src/embedded/embedded.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { startPgBouncer, whyNoPgBouncer, type PgBouncer } from './pgbouncer.ts';
import { execute, withDatabase } from './sql.ts';
import { reapAfter } from './server-reaper.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A maintenance database on the suite's server, whose role may create databases. It has no data. */
    postgresUrl: string;
    templateName: string;
    /** The host and port of PgBouncer in front of that server; undefined without `npm run test:pooled`. */
    poolerHost: string | undefined;
    /** The directory of `scratchDirectory`. */
    filesDirectory: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer();
  const templateName = `entity_service_template_${randomBytes(6).toString('hex')}`;
  try {
    await execute(server.url, `create database ${templateName}`);
    await migrateDatabase(withDatabase(server.url, templateName));
  } catch (error) {
    await server.stop();
    throw error;
  }
  const coverage = await noteCoverage();
  project.provide('postgresUrl', server.url);
  project.provide('templateName', templateName);
  const filesDirectory = await mkdtemp(join(tmpdir(), 'entity-service-files-'));
  project.provide('filesDirectory', filesDirectory);
  const pooler = await startPooler(server.url);
  project.provide('poolerHost', pooler && new URL(pooler.url).host);
  return async () => {
    await pooler?.stop();
    await execute(server.url, `drop database ${templateName} with (force)`);
    await server.stop();
    await coverage.remove();
    await rm(filesDirectory, { recursive: true, force: true });
  };
}

/** With POOLER=4, PgBouncer with four connections to each database. Throws if there is no PgBouncer. */
async function startPooler(serverUrl: string): Promise<PgBouncer | undefined> {
  const connections = Number(process.env['POOLER'] ?? 0);
  if (connections === 0) return undefined;
  const reason = whyNoPgBouncer();
  if (reason) throw new Error(reason);
  return await startPgBouncer(serverUrl, connections);
}

/** A file for the run, in which every process records the answers: `contract.ts` writes it, `coverage-reporter.ts` reads it. */
async function noteCoverage(): Promise<{ remove(): Promise<void> }> {
  const file = join(tmpdir(), `contract-coverage-${randomBytes(6).toString('hex')}`);
  await writeFile(file, '');
  process.env['CONTRACT_COVERAGE_FILE'] = file;
  return { remove: () => rm(file, { force: true }) };
}

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const given = process.env['DATABASE_URL'];
  return given ? { url: given, stop: async () => {} } : startThrowAwayServer();
}

/** A server, in memory if there is enough. It is removed when it stops or when this process ends. */
export async function startThrowAwayServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(await scratch(), 'entity-service-test-'));
  const callOff = reapAfter(directory);
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' };
  const embedded = await openEmbedded(join(directory, 'data'), { settings, tcp: true });
  // Without `require_auth`, like an operator's URL.
  const url = new URL(embedded.url);
  url.search = '';
  return {
    url: url.href,
    async stop() {
      await embedded.stop();
      await rm(directory, { recursive: true, force: true });
      callOff();
    },
  };
}

/** Several times the space that the suite's databases take at once. */
const enoughBytes = 1024 ** 3;

/** A directory in memory if there is enough: a database has three hundred files, which take ten times as long to create on a disk. */
async function scratch(): Promise<string> {
  const memory = '/dev/shm';
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free > enoughBytes ? memory : tmpdir();
}
