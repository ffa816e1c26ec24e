/**
 * PgBouncer in transaction pooling mode, for tests behind a pooler. Without it, plain `npm test` skips these tests and prints the reason.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
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
  stop(): Promise<void>;
}

/** Pools connections to the database of `databaseUrl`, with at most `serverConnections` to PostgreSQL, as docs/production.md says. */
export async function startPgBouncer(databaseUrl: string, serverConnections: number): Promise<PgBouncer> {
  // The proxy has a TCP port that every account may use, wherever PostgreSQL listens.
  const proxy = await Proxy.open(databaseUrl);
  const { host, port: serverPort, user = '', password = '', database = '' } = new Client({ connectionString: proxy.urlOf(databaseUrl) });
  const directory = await mkdtemp(join(tmpdir(), 'entity-service-pgbouncer-'));
  const port = await fixedPort();
  const file = join(directory, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
${database} = host=${host} port=${serverPort} user=${user} password='${password}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${serverConnections}
max_prepared_statements = 100
ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout
log_connections = 0
log_disconnections = 0
log_stats = 0
`,
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
  const stop = async () => {
    pooler.kill('SIGTERM');
    await ended;
    await proxy.close();
    await rm(directory, { recursive: true, force: true });
  };
  return { url: url.href, stop };
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
