/** Three PostgreSQL hosts with Patroni and etcd, and two hosts with HAProxy, with the files of `deploy/`. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Host, Network } from './host.ts';

const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
const debian = join(cache, 'entity-service/debian-trixie-cluster');
const readDeployed = (name: string) => readFile(join(import.meta.dirname, '../../../deploy', name), 'utf8');

/** Why this machine runs no cluster; undefined when it does. */
export function whyNoCluster(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can make hosts of namespaces';
  if (!existsSync(join(debian, 'usr/bin/patroni'))) return `no Patroni in ${debian}: run ".ci/cluster"`;
  const missing = ['ip', 'nsenter', 'unshare', 'setpriv'].filter((program) => spawnSync(program, ['--version']).error !== undefined);
  return missing.length === 0 ? undefined : `not installed: ${missing.join(', ')}`;
}

/** A member as Patroni's `/cluster` describes it. */
interface Member {
  name: string;
  role: string;
  state: string;
}

const databaseHosts = ['pg1', 'pg2', 'pg3'] as const;
export type DatabaseHost = (typeof databaseHosts)[number];
export type ProxyHost = 'app1' | 'app2';
const addressOf = (name: DatabaseHost) => `10.77.0.1${name.slice(2)}`;
const password = 'a-password-of-the-application';
/** The processes of the drill, two services of one worker: workers × (pool + 2) × 2 (docs/scaling.md). */
const connectionLimit = 2 * (10 + 2) * 2;

/** A file of variables for pg1, for another host. */
function environmentFor(file: string, name: DatabaseHost): Record<string, string> {
  const lines = file.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const pairs = lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
  return Object.fromEntries(
    pairs.map(([key, value]) => [
      key,
      // The list of all members is the same on each host.
      key === 'ETCD_INITIAL_CLUSTER' ? value : value.replace('10.77.0.11', addressOf(name)).replace(/^pg1$/, name),
    ]),
  );
}

/** What an etcd says of itself. */
interface EtcdStatus {
  header: { member_id: string };
  /** The id of the member that leads. */
  leader: string;
}

async function askEtcd(name: DatabaseHost, operation: 'status' | 'transfer-leadership', body: object = {}): Promise<EtcdStatus> {
  const answer = await fetch(`http://${addressOf(name)}:2379/v3/maintenance/${operation}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd on ${name}: ${await answer.text()}`);
  return (await answer.json()) as EtcdStatus;
}

export class Cluster {
  readonly hosts: Record<DatabaseHost | ProxyHost, Host>;
  readonly network: Network;
  readonly #etcd: string;
  readonly #patroni: string;

  private constructor(directory: string, network: Network, etcd: string, patroni: string) {
    this.network = network;
    [this.#etcd, this.#patroni] = [etcd, patroni];
    const host = (name: string) => new Host(name, join(directory, name), debian);
    this.hosts = { pg1: host('pg1'), pg2: host('pg2'), pg3: host('pg3'), app1: host('app1'), app2: host('app2') };
  }

  /** Starts the hosts, and resolves when the database is there and both standbys follow. `opened` ends all and removes the files. */
  static async start(opened: AsyncDisposableStack): Promise<Cluster> {
    const directory = await mkdtemp(join(tmpdir(), 'entity-service-cluster-'));
    opened.defer(() => rm(directory, { recursive: true, force: true }));
    const network = await Network.open();
    opened.defer(() => network.close());
    const cluster = new Cluster(directory, network, await readDeployed('patroni/etcd.env'), await readDeployed('patroni/patroni.env'));
    opened.defer(() => cluster.#end());
    await Promise.all(databaseHosts.map((name) => cluster.boot(name)));
    await Promise.all((['app1', 'app2'] as const).map((name) => cluster.#bootProxy(name)));
    await cluster.whole();
    const primary = cluster.hosts[await cluster.primary()];
    const psql = (sql: string) => primary.executeAs('postgres', 'psql', '--no-psqlrc', '--set=ON_ERROR_STOP=1', '--command', sql);
    await psql(`create role entity_service login password '${password}' connection limit ${connectionLimit}`);
    await psql('create database entities owner entity_service');
    return cluster;
  }

  /** The URL of the database through the HAProxy of that host. */
  urlAt(name: ProxyHost): string {
    return `postgres://entity_service:${password}@10.77.${name.slice(3)}.2:5000/entities`;
  }

  /** Boots a database host, also again after its loss. Its data is what it was. */
  async boot(name: DatabaseHost): Promise<void> {
    const host = this.hosts[name];
    await host.boot();
    await writeFile(join(host.directory, 'etc/config.yml'), await readDeployed('patroni/patroni.yaml'));
    await this.network.plugIn(host, `${addressOf(name)}/24`);
    this.startEtcd(name);
    this.startPatroni(name);
  }

  startPatroni(name: DatabaseHost): void {
    this.hosts[name].start('postgres', environmentFor(this.#patroni, name), 'patroni', '/etc/patroni/config.yml');
  }

  startEtcd(name: DatabaseHost): void {
    this.hosts[name].start('etcd', environmentFor(this.#etcd, name), 'etcd');
  }

  /** Makes the etcd of the host the leader of the three. */
  async leadEtcd(name: DatabaseHost): Promise<void> {
    const target = await askEtcd(name, 'status');
    const statuses = await Promise.all(databaseHosts.map(async (host) => ({ host, ...(await askEtcd(host, 'status')) })));
    const leader = statuses.find(({ header }) => header.member_id === target.leader);
    if (!leader) throw new Error('etcd has no leader');
    if (leader.host !== name) await askEtcd(leader.host, 'transfer-leadership', { targetID: target.header.member_id });
  }

  async #bootProxy(name: ProxyHost): Promise<void> {
    const host = this.hosts[name];
    await host.boot();
    const number = name.slice(3);
    await this.network.plugIn(host, `10.77.0.2${number}/24`);
    await this.network.lineTo(host, `10.77.${number}.1/24`, `10.77.${number}.2/24`);
    // Its service is not in its namespaces.
    const configuration = (await readDeployed('haproxy-postgres.cfg')).replaceAll('bind 127.0.0.1:', 'bind :');
    await writeFile(join(host.directory, 'etc/haproxy.cfg'), configuration);
    host.start('root', {}, 'haproxy', '-db', '-f', '/etc/patroni/haproxy.cfg');
  }

  /** What the first of `hosts` that answers says of the members; none when no host answers. */
  async members(hosts: readonly DatabaseHost[] = databaseHosts): Promise<Member[]> {
    for (const name of hosts) {
      try {
        const answer = await fetch(`http://${addressOf(name)}:8008/cluster`, { signal: AbortSignal.timeout(2_000) });
        return ((await answer.json()) as { members: Member[] }).members;
      } catch {
        // Another host may answer.
      }
    }
    return [];
  }

  /** The host of the primary, once there is one. */
  async primary(): Promise<DatabaseHost> {
    for (;;) {
      const leader = (await this.members()).find(({ role, state }) => role === 'leader' && state === 'running');
      if (leader) return leader.name as DatabaseHost;
      await delay(200);
    }
  }

  /** The hosts of the standbys. */
  async standbys(): Promise<[DatabaseHost, DatabaseHost]> {
    const primary = await this.primary();
    return databaseHosts.filter((name) => name !== primary) as [DatabaseHost, DatabaseHost];
  }

  /** Resolves when the standby receives what the primary writes. */
  async following(standby: DatabaseHost): Promise<void> {
    while (!(await this.members()).some(({ name, state }) => name === standby && state === 'streaming')) await delay(100);
  }

  /** Resolves when a primary runs and both standbys follow it, also as Patroni counts them. */
  async whole(): Promise<void> {
    for (;;) {
      const members = await this.members();
      const following = members.filter(({ role, state }) => state === 'streaming' && role !== 'leader');
      const isQuorum = following.every(({ role }) => role === this.#standbyRole);
      if (following.length === 2 && isQuorum && members.some(({ role }) => role === 'leader')) return;
      await delay(500);
    }
  }

  #standbyRole = 'quorum_standby';

  /** Acknowledges commits before a standby has them. For the control run. */
  async acknowledgeEarly(): Promise<void> {
    const body = JSON.stringify({ synchronous_mode: false, synchronous_mode_strict: false, maximum_lag_on_failover: 100_000_000 });
    await fetch(`http://${addressOf(await this.primary())}:8008/config`, { method: 'PATCH', body });
    this.#standbyRole = 'replica';
    await this.whole();
  }

  /** Signals all processes of the host. */
  async signalAll(name: DatabaseHost, signal: 'STOP' | 'CONT'): Promise<void> {
    await this.#shell(name, `kill -${signal} -1`);
  }

  async killPostmaster(name: DatabaseHost): Promise<void> {
    await this.#shell(name, 'kill -KILL $(head -n 1 /var/lib/postgresql/17/main/postmaster.pid)');
  }

  /** Kills Patroni and its PostgreSQL. */
  async killPostgres(name: DatabaseHost): Promise<void> {
    await this.#killAll(name, 'patroni');
    await this.killPostmaster(name);
  }

  async killEtcd(name: DatabaseHost): Promise<void> {
    await this.#killAll(name, 'etcd');
  }

  async switchOver(leader: DatabaseHost): Promise<void> {
    const answer = await fetch(`http://${addressOf(leader)}:8008/switchover`, { method: 'POST', body: JSON.stringify({ leader }) });
    if (!answer.ok) throw new Error(`no switchover: ${await answer.text()}`);
  }

  async #shell(name: DatabaseHost, command: string): Promise<void> {
    await this.hosts[name].execute('sh', '-c', command);
  }

  /** Kills the processes whose program has that name. */
  async #killAll(name: DatabaseHost, program: string): Promise<void> {
    await this.#shell(
      name,
      `for p in /proc/[0-9]*; do if [ "$(cat $p/comm 2>/dev/null)" = ${program} ]; then kill -KILL \${p#/proc/}; fi; done`,
    );
  }

  async #end(): Promise<void> {
    await Promise.all(Object.values(this.hosts).map((host) => host.lose()));
  }
}
