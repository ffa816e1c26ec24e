/**
 * A PostgreSQL with a standby that follows it, for the tests of reads from a standby. The embedded package has no pg_basebackup, so the standby begins as a
 * copy of the files. Their role is a superuser without a password, who may pause the replay.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { inDirectory, serverAccount, type SystemAccount } from '../../src/embedded/account.ts';
import { findBinaries } from '../../src/embedded/binaries.ts';
import { freePort } from '../../src/embedded/launch.ts';
import { runToEnd } from '../../src/embedded/run.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { reapAfter } from './server-reaper.ts';
import { execute } from './sql.ts';

const role = 'entity_service';

export interface Server {
  url: string;
  /** Ends the server at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
}

export interface Pair {
  primary: Server;
  standby: Server;
  /** The standby receives the log and replays nothing of it. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Resolves once the standby has replayed what the primary has now. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

/** Makes the pair, with a migrated database. */
export async function startPair(): Promise<Pair> {
  const directory = await mkdtemp(join(await memory(), 'entity-service-pair-'));
  const [one, other] = [join(directory, 'primary'), join(directory, 'standby')];
  const account = await serverAccount(one);
  const programs = await findBinaries(account, '/var/cache/entity-service');
  await makeDirectory(one, account);
  const { pgdata, options } = inDirectory(account, clusterIn(one));
  const flags = [
    '--auth=trust',
    '--no-sync',
    '--no-instructions',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  await runToEnd(programs.initdb, ['-D', pgdata, `--username=${role}`, '--locale=C', ...flags], options);
  const primary = await newServer(programs.postgres, one, account);
  await primary.start();
  await execute(primary.url.replace(/\w+$/, 'postgres'), `create database ${role}`);
  await migrateDatabase(primary.url);
  await makeDirectory(other, account);
  await copy(primary.url, clusterIn(one), clusterIn(other), account);
  const standby = await newServer(programs.postgres, other, account);
  await standby.start();
  const wal = (sql: string) => execute(standby.url, sql);
  return {
    primary,
    standby,
    pause: async () => {
      await wal('select pg_wal_replay_pause()');
      while ((await value(standby.url, 'select pg_get_wal_replay_pause_state()')) !== 'paused') await delay(5);
    },
    resume: () => wal('select pg_wal_replay_resume()'),
    async caughtUp() {
      const wanted = await value(primary.url, 'select pg_current_wal_lsn()');
      while ((await value(standby.url, `select pg_last_wal_replay_lsn() >= '${wanted}'`)) !== 'true') await delay(10);
    },
    async close() {
      await Promise.all([primary.kill(), standby.kill()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const clusterIn = (directory: string) => join(directory, 'data/postgresql/data');

async function makeDirectory(directory: string, account: SystemAccount): Promise<void> {
  const cluster = clusterIn(directory);
  await mkdir(cluster, { recursive: true, mode: 0o700 });
  if (account) await chown(cluster, account.uid, account.gid);
}

async function memory(): Promise<string> {
  return await readdir('/dev/shm').then(
    () => '/dev/shm',
    () => tmpdir(),
  );
}

/** An online copy of the files, as the manual of PostgreSQL describes it under "Making a Base Backup Using the Low Level API". The log comes from the primary. */
async function copy(url: string, from: string, to: string, account: SystemAccount): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`select pg_backup_start('standby', true)`);
  await cp(from, to, { recursive: true, filter: (path) => !/\/(postmaster\.(pid|opts)|pg_wal\/.+)$/.test(path) });
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
  await client.end();
  await writeFile(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
  await writeFile(join(to, 'standby.signal'), '');
  const { hostname, port } = new URL(url);
  await writeFile(join(to, 'postgresql.auto.conf'), `primary_conninfo = 'host=${hostname} port=${port} user=${role}'\n`);
  if (account) await runToEnd('/bin/chown', ['-R', `${account.uid}:${account.gid}`, to], { cwd: '/', env: {} });
}

async function newServer(program: string, directory: string, account: SystemAccount): Promise<Server> {
  const port = await freePort();
  const url = `postgres://${role}@127.0.0.1:${port}/${role}`;
  const { pgdata, options } = inDirectory(account, clusterIn(directory));
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: 100, wal_keep_size: 256 };
  const quick = { fsync: 'off', autovacuum: 'off', timezone: 'UTC' };
  const args = Object.entries({ ...settings, ...quick }).flatMap(([name, set]) => ['-c', `${name}=${set}`]);
  let child: ChildProcess | undefined;
  let callOff = () => {};
  return {
    url,
    async kill() {
      if (!child) return;
      const ended = once(child, 'exit');
      child.kill('SIGQUIT');
      await ended;
      callOff();
      child = undefined;
    },
    async start() {
      callOff = reapAfter(directory);
      child = spawn(program, ['-D', pgdata, ...args], { ...options, stdio: 'ignore' });
      while ((await value(url.replace(/\w+$/, 'postgres'), 'select true').catch(() => undefined)) === undefined) await delay(10);
    },
  };
}

async function value(url: string, sql: string): Promise<string | undefined> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return String(Object.values(rows[0] ?? {})[0]);
  } finally {
    await client.end().catch(() => undefined);
  }
}
