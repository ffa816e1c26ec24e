/** The faults by name, each with the database of its long form. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { diskBytes, fillDisk } from '../../test/faults/disk-full.ts';
import { whyNoCluster } from '../../test/faults/failover/cluster.ts';
import { failOver, failOverAsynchronously } from '../../test/faults/failover/failover.ts';
import { killService } from '../../test/faults/kill.ts';
import { startLedger } from '../../test/faults/load.ts';
import { startManyWriters, typesDirectory } from '../../test/faults/many.ts';
import { overloadService } from '../../test/faults/overload.ts';
import { breakages, breakPostgres } from '../../test/faults/postgres.ts';
import { restartService } from '../../test/faults/restart.ts';
import { loseReplica, replicaFaults } from '../../test/faults/one-replica.ts';
import { rollReplicas } from '../../test/faults/rolling.ts';
import { serveBesideSlowClients } from '../../test/faults/slow-clients.ts';
import { stopService } from '../../test/faults/stop.ts';
import { upgradeService, whyNoRevisionBefore } from '../../test/faults/upgrade.ts';
import { sendHostileTypes } from '../../test/faults/hostile-types.ts';
import type { Outcome, Progress } from '../../test/faults/outcome.ts';
import { urlOf } from '../../src/embedded/address.ts';
import { layoutOf, readPassword } from '../../src/embedded/cluster.ts';
import { findServer } from '../../src/embedded/lock-file.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { embeddedDatabase } from '../lib/database.ts';
import { startService } from '../lib/processes.ts';
import { deployedProxies } from '../../test/support/deployed-proxies.ts';
import { whyNoNginx } from '../../test/support/nginx.ts';
import { Proxy } from '../../test/support/proxy.ts';
import { SmallDisk, whyNoSmallDisk } from '../../test/support/small-disk.ts';

export interface Options {
  kills: number;
  rounds: number;
  writes: number;
  clients: number;
  seconds: number;
}

export interface Fault {
  about: string;
  run(options: Options, progress: Progress): Promise<Outcome>;
}

const stops = { rounds: 10, clients: 64, writes: 500 };

type Settings = Record<string, string>;

/** Runs `work` on a separate PostgreSQL with fsync on, whose server is restarted when it dies. */
async function onDatabase<T>(work: (databaseUrl: string, settings: Settings) => Promise<T>, isMigrated = true): Promise<T> {
  const database = await embeddedDatabase();
  try {
    const databaseUrl = await database.open();
    if (isMigrated) await migrateDatabase(databaseUrl);
    return await work(databaseUrl, { ...database.settings, DATABASE_URL: databaseUrl });
  } finally {
    await database.remove();
  }
}

/** Runs `work` with a data directory whose database only the service uses. */
async function onDirectory<T>(work: (dataDir: string, settings: Settings) => Promise<T>): Promise<T> {
  const database = await embeddedDatabase();
  try {
    return await work(database.settings['DATA_DIR'] ?? '', database.settings);
  } finally {
    await database.remove();
  }
}

async function addressIn(dataDir: string): Promise<string> {
  const layout = layoutOf(dataDir);
  const server = await findServer(layout);
  if (!server) throw new Error('the embedded database is not running');
  return urlOf(server.address, layout, await readPassword(layout));
}

export const faults: Record<string, Fault> = {
  kill: {
    about: 'the service is killed with -9 while clients write',
    run: (options, progress) =>
      onDatabase((url, settings) => killService(options, { settings, databaseUrl: () => Promise.resolve(url) }, startLedger, progress)),
  },
  'kill-embedded': {
    about: 'the service and its embedded PostgreSQL are killed with -9 together while clients write',
    run: (options, progress) =>
      onDirectory((dataDir, settings) => {
        const databaseUrl = () => addressIn(dataDir);
        const killAlong = async () => {
          const server = await findServer(layoutOf(dataDir));
          if (server) process.kill(server.pid, 'SIGKILL');
        };
        return killService(options, { settings, databaseUrl, killAlong }, startLedger, progress);
      }),
  },
  'kill-many': {
    about: 'the service is killed with -9 while clients write batches, bulk creates and imports',
    run: (options, progress) =>
      onDatabase((url, settings) => {
        const target = { settings: { ...settings, ENTITY_TYPES_DIR: typesDirectory }, databaseUrl: () => Promise.resolve(url) };
        return killService(options, target, startManyWriters, progress);
      }),
  },
  stop: {
    about: 'repeated SIGTERM while 64 clients write',
    run: (_options, progress) => onDatabase((url, settings) => stopService(stops, url, settings, progress)),
  },
  'stop-workers': {
    about: 'the same with two workers',
    run: (_options, progress) => onDatabase((url, settings) => stopService(stops, url, { ...settings, WORKERS: '2' }, progress)),
  },
  restart: {
    about: 'the service behind nginx is away for ten seconds, four times, while 8 clients of the package create; needs nginx',
    run: (_options, progress) => onDatabase((url, settings) => restartBehindNginx(url, settings, progress)),
  },
  'rolling-nginx': {
    about: 'two replicas of two workers behind deploy/nginx.conf restart in turn, ten times in all, while 16 clients of the package create',
    run: (_options, progress) => onDatabase((url, settings) => rollBehind('nginx', url, settings, progress)),
  },
  'rolling-haproxy': {
    about: 'the same behind deploy/haproxy.cfg',
    run: (_options, progress) => onDatabase((url, settings) => rollBehind('haproxy', url, settings, progress)),
  },
  'replica-nginx': {
    about: 'two replicas behind deploy/nginx.conf: one is killed, one is frozen, or both are slow, while clients of the package create',
    run: (options, progress) => loseBehind('nginx', options, progress),
  },
  'replica-haproxy': {
    about: 'the same behind deploy/haproxy.cfg',
    run: (options, progress) => loseBehind('haproxy', options, progress),
  },
  failover: {
    about:
      'three PostgreSQL hosts under Patroni: hosts, servers, etcd and the network between them fail, each --rounds times; needs .ci/cluster',
    run: ({ rounds, writes, clients }, progress) => inCluster(() => failOver({ rounds, writes, clients }, progress)),
  },
  'failover-control': {
    about: 'a partition without synchronous replication, which must lose writes: it shows that the ledger sees a loss',
    run: ({ clients }, progress) => inCluster(() => failOverAsynchronously(clients, progress)),
  },
  upgrade: {
    about: 'two replicas behind nginx are upgraded, taken back and upgraded again while clients write; needs nginx and the history of git',
    run: (options, progress) => onDatabase((url, settings) => upgradeBehindNginx(options, url, settings, progress), false),
  },
  'slow-clients': {
    about: '200 clients send a byte at a time beside other clients, until the service disconnects them',
    run: ({ seconds }, progress) =>
      onDatabase((url, settings) => serveBesideSlowClients({ clients: 200, seconds, toTheEnd: true }, url, settings, progress)),
  },
  'hostile-types': {
    about: 'a thousand hostile types, values for those that are accepted, and hostile files, beside another client',
    run: (_options, progress) =>
      onDatabase((url, settings) => sendHostileTypes({ types: 1_000, files: 100, settleSeconds: 60 }, url, settings, progress)),
  },
  overload: {
    about: 'reads, creates and sign-ins at four times the capacity',
    run: ({ seconds }, progress) => overloadApart(seconds, progress),
  },
  postgres: {
    about: `PostgreSQL and the network to it: ${breakages.join(', ')}`,
    run: (options, progress) => onDatabase((url, settings) => breakBehindProxy(options, url, settings, progress)),
  },
  'disk-full': {
    about: 'the disk of the service with its embedded PostgreSQL is full, first for tables, then for all files; needs root',
    run: (options, progress) => onDirectory((dataDir, settings) => fillUp(options, dataDir, settings, progress)),
  },
};

/** PostgreSQL and the service get one processor and the clients another, so that the clients do not distort the measurement. */
async function overloadApart(seconds: number, progress: Progress): Promise<Outcome> {
  await keepTo(0);
  return await onDatabase((url, settings) => overloadService({ seconds, withCrowd: true }, url, settings, progress, () => keepTo(1)));
}

/** Restricts this process, and those it starts from now on, to one processor. */
async function keepTo(processor: number): Promise<void> {
  await promisify(execFile)('taskset', ['--all-tasks', '--cpu-list', '--pid', String(processor), String(process.pid)]);
}

async function breakBehindProxy(
  { clients, seconds }: Options,
  databaseUrl: string,
  settings: Settings,
  progress: Progress,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const proxy = await Proxy.open(databaseUrl);
  opened.defer(() => proxy.close());
  const server = await startService({ ...settings, DATABASE_URL: proxy.urlOf(databaseUrl) }, opened);
  const target = { dataDir: settings['DATA_DIR'] ?? '', databaseUrl, proxy, port: server.port, hasEnded: () => server.exitCode !== null };
  return await breakPostgres({ clients, holdMilliseconds: seconds * 1_000 }, target, progress);
}

async function restartBehindNginx(databaseUrl: string, settings: Settings, progress: Progress): Promise<Outcome> {
  const reason = whyNoNginx();
  if (reason) return { violations: [`not tried, because ${reason}`], figures: {} };
  return await restartService({ rounds: 4, clients: 8, creates: 1_000, downMilliseconds: 10_000 }, databaseUrl, settings, progress);
}

async function rollBehind(
  name: keyof typeof deployedProxies,
  databaseUrl: string,
  settings: Settings,
  progress: Progress,
): Promise<Outcome> {
  const proxy = deployedProxies[name];
  const reason = proxy.whyNot();
  if (reason) return { violations: [`not tried, because ${reason}`], figures: {} };
  return await rollReplicas({ rounds: 5, clients: 16, creates: 1_000, workers: 2 }, proxy, databaseUrl, settings, progress);
}

async function loseBehind(name: keyof typeof deployedProxies, { clients, seconds }: Options, progress: Progress): Promise<Outcome> {
  const proxy = deployedProxies[name];
  const reason = proxy.whyNot();
  if (reason) return { violations: [`not tried, because ${reason}`], figures: {} };
  const violations: string[] = [];
  const figures: Outcome['figures'] = {};
  for (const fault of replicaFaults) {
    const plan = { fault, clients, holdMilliseconds: Math.max(45, seconds) * 1_000 };
    const outcome = await onDatabase((url, settings) => loseReplica(plan, proxy, url, settings, progress));
    violations.push(...outcome.violations.map((violation) => `${fault}: ${violation}`));
    for (const [what, figure] of Object.entries(outcome.figures)) figures[`${fault}, ${what}`] = figure;
  }
  return { violations, figures };
}

async function inCluster(run: () => Promise<Outcome>): Promise<Outcome> {
  const reason = whyNoCluster();
  return reason ? { violations: [`not tried, because ${reason}`], figures: {} } : await run();
}

async function upgradeBehindNginx({ clients }: Options, databaseUrl: string, settings: Settings, progress: Progress): Promise<Outcome> {
  const reason = whyNoNginx() ?? whyNoRevisionBefore();
  if (reason) return { violations: [`not tried, because ${reason}`], figures: {} };
  return await upgradeService({ clients, writes: 1_000 }, databaseUrl, settings, progress);
}

async function fillUp({ clients, seconds }: Options, dataDir: string, settings: Settings, progress: Progress): Promise<Outcome> {
  const reason = whyNoSmallDisk();
  if (reason) return { violations: [`not tried, because ${reason}`], figures: {} };
  await using opened = new AsyncDisposableStack();
  const disk = await SmallDisk.mount(dataDir, diskBytes);
  opened.defer(() => disk.unmount());
  const server = await startService(settings, opened);
  const target = { disk, databaseUrl: await addressIn(dataDir), port: server.port, hasEnded: () => server.exitCode !== null };
  return await fillDisk({ clients, sessions: 2_000, holdMilliseconds: seconds * 1_000 }, target, progress);
}
