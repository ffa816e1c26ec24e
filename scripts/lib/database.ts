/** The database that is measured on: new, empty, and gone afterwards. With DATABASE_URL one on that server, else an embedded one. */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { layoutOf } from '../../src/embedded/cluster.ts';
import { findServer } from '../../src/embedded/lock-file.ts';
import { openEmbedded } from '../../src/embedded/embedded.ts';

export interface BenchDatabase {
  /** What the service has to be started with to use it. */
  settings: Record<string, string>;
  /** True when the service brings the database server with it. */
  embedded: boolean;
  /** Its TCP address. An embedded one is created if the service has not done so, and runs until `remove`. */
  open(): Promise<string>;
  remove(): Promise<void>;
}

/**
 * Prepares for a database in a directory of its own, as the service keeps it in production: with fsync on. A directory that is given is created if it is
 * missing, and stays with its database.
 */
export async function embeddedDatabase(given?: string): Promise<BenchDatabase> {
  const directory = given ? resolve(given) : await mkdtemp(join(tmpdir(), 'entity-service-bench-'));
  await mkdir(directory, { recursive: true });
  const dataDir = join(directory, 'data');
  let stop: (() => Promise<void>) | undefined;
  return {
    embedded: true,
    settings: { DATA_DIR: dataDir, DATABASE_URL: '', NODE_COMPILE_CACHE: join(directory, 'compile-cache') },
    async open() {
      // Peers and proxies know no Unix sockets.
      const opened = await openEmbedded(dataDir, { tcp: true });
      stop = () => opened.stop();
      return opened.url;
    },
    async remove() {
      await stop?.();
      // Left behind by a service that was ended before it could stop it.
      if (await findServer(layoutOf(dataDir))) await (await openEmbedded(dataDir)).stop();
      if (!given) await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Creates a database on the server at `serverUrl`, whose role must be allowed to. */
export async function databaseOn(serverUrl: string): Promise<BenchDatabase> {
  const name = `entity_service_bench_${randomBytes(6).toString('hex')}`;
  await execute(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-bench-'));
  return {
    embedded: false,
    settings: { DATABASE_URL: url.href, NODE_COMPILE_CACHE: join(directory, 'compile-cache') },
    open: async () => url.href,
    async remove() {
      await execute(serverUrl, `drop database ${name} with (force)`);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** What the server calls its version. */
export async function postgresVersion(databaseUrl: string): Promise<string> {
  const [row] = await execute(databaseUrl, 'show server_version');
  return row?.['server_version'] ?? 'unknown';
}

async function execute(url: string, sql: string): Promise<Record<string, string>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, string>>(sql)).rows;
  } finally {
    await client.end();
  }
}
