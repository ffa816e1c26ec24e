/**
 * PgBouncer in transaction pooling mode, for tests behind a pooler. Without it, plain `npm test` skips these tests and prints the reason.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { replaceEach } from './deployed-proxies.ts';
import { fixedPort } from './fixed-port.ts';
import { Proxy } from './proxy.ts';

const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
const programs = process.env['PGBOUNCER']
  ? [process.env['PGBOUNCER']]
  : [join(cache, 'entity-service/pgbouncer/pgbouncer'), '/usr/sbin/pgbouncer'];
/** The first version that supports prepared statements. */
const program = programs.find((path) => {
  const [, major = 0, minor = 0] = /PgBouncer (\d+)\.(\d+)/.exec(spawnSync(path, ['--version']).stdout?.toString() ?? '') ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
});

/**
 * Why there is no PgBouncer; undefined when there is one.
 * @throws Error if there is none and PGBOUNCER_REQUIRED is set.
 */
export function whyNoPgBouncer(): string | undefined {
  if (program !== undefined) return undefined;
  const reason = `no PgBouncer 1.21 or later at ${programs.join(' or ')}: run ".ci/pgbouncer", or set PGBOUNCER to its path`;
  if (process.env['PGBOUNCER_REQUIRED']) throw new Error(reason);
  return reason;
}

export interface PgBouncer {
  /** The URL of the database through it. */
  url: string;
  port: number;
  /** Ends it by SIGTERM, or as given. */
  stop: (signal?: NodeJS.Signals) => Promise<void>;
}

/**
 * Pools connections to the databases of the server of `databaseUrl`, all as its user, with at most `serverConnections` to each database, as
 * `deploy/pgbouncer.ini` says. It listens on the port `given`, or on any free one. Without prepared statements it is as before its version 1.21.
 */
export async function startPgBouncer(
  databaseUrl: string,
  serverConnections: number,
  given?: number,
  { preparedStatements = true } = {},
): Promise<PgBouncer> {
  await using opened = new AsyncDisposableStack();
  const { host, port: serverPort, user = '', password = '' } = new Client({ connectionString: await tcpUrlOf(databaseUrl, opened) });
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-pgbouncer-'));
  const port = given ?? (await fixedPort());
  const file = join(directory, 'pgbouncer.ini');
  const deployed = await readFile(join(import.meta.dirname, '../../deploy/pgbouncer.ini'), 'utf8');
  await writeFile(
    file,
    replaceEach(deployed, [
      ['entities = host=10.0.0.31 port=5432', `* = host=${host} port=${serverPort} user=${user} password='${password}'`],
      ['listen_port = 6432', `listen_port = ${port}`],
      ['auth_type = scram-sha-256\nauth_file = /etc/pgbouncer/userlist.txt', `auth_type = any\nadmin_users = ${user}`],
      ['default_pool_size = 20', `default_pool_size = ${serverConnections}`],
      ['max_prepared_statements = 200', `max_prepared_statements = ${preparedStatements ? 200 : 0}`],
    ]),
  );
  // PgBouncer refuses to run as root.
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const pooler = spawn(program ?? '', ['-q', ...account, file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(pooler, 'exit');
  const url = new URL(databaseUrl);
  url.search = '';
  url.host = `127.0.0.1:${port}`;
  while (!(await isOpen(url.href))) {
    if (pooler.exitCode !== null) throw new Error('PgBouncer did not start');
    await delay(10);
  }
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const resources = opened.move();
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    pooler.kill(signal);
    await ended;
    await resources.disposeAsync();
  };
  return { url: url.href, port, stop };
}

/** The URL, or that of a TCP port in front of a Unix socket, which PgBouncer's account may not use. */
async function tcpUrlOf(databaseUrl: string, opened: AsyncDisposableStack): Promise<string> {
  if (!new Client({ connectionString: databaseUrl }).host.startsWith('/')) return databaseUrl;
  const proxy = await Proxy.open(databaseUrl);
  opened.defer(() => proxy.close());
  return proxy.urlOf(databaseUrl);
}

async function isOpen(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
