/** What happens to the cluster: the rows of docs/reliability.md#a-cluster. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, DatabaseHost, ProxyHost } from './cluster.ts';

export interface Breaking {
  cluster: Cluster;
  /** Resolves when clients have had writes acknowledged by the services behind these hosts, from now on. */
  written: (...at: ProxyHost[]) => Promise<void>;
  /** The number of writes that the service behind the host has acknowledged. */
  acknowledgedAt: (host: ProxyHost) => number;
  /** The number of entities that clients have read so far, by key. */
  reads: () => number;
  /** Records a broken promise. */
  violate: (reason: string) => void;
}

export interface Breakage {
  /** For the table. */
  about: string;
  /** The longest pause between two acknowledged writes, in milliseconds. */
  pauseMilliseconds: number;
  /** The services whose pause is limited; both by default. */
  limited?: ProxyHost[];
  /** Breaks something, and mends it when clients have written again. */
  run: (breaking: Breaking) => Promise<void>;
}

const lostHostMilliseconds = 30_000;
/** Longer than the time after which another host is the primary. */
const holdMilliseconds = 40_000;
const outageMilliseconds = 60_000;
/** A request that was under way at the cut may have been acknowledged just before. */
const cutMilliseconds = 1_000;

export const breakages = {
  'host lost': {
    about: 'all processes of the primary’s host killed, and its network gone',
    pauseMilliseconds: lostHostMilliseconds,
    async run({ cluster, written }) {
      const primary = await cluster.primary();
      await cluster.hosts[primary].lose();
      await anotherPrimary(cluster, primary);
      await written('app1', 'app2');
      await cluster.boot(primary);
    },
  },
  'server killed': {
    about: 'kill -9 of the primary’s postmaster',
    pauseMilliseconds: 10_000,
    async run({ cluster, written }) {
      const primary = await cluster.primary();
      await cluster.killPostmaster(primary);
      await anotherPrimary(cluster, primary);
      await written('app1', 'app2');
    },
  },
  switchover: {
    about: 'a switchover by the operator',
    pauseMilliseconds: 5_000,
    async run({ cluster, written }) {
      const primary = await cluster.primary();
      await cluster.switchOver(primary);
      await anotherPrimary(cluster, primary);
      await written('app1', 'app2');
    },
  },
  partition: {
    about: 'the primary and one service cut off from the other hosts for 40 s; clients write on both sides',
    pauseMilliseconds: lostHostMilliseconds,
    limited: ['app2'],
    async run({ cluster, written, acknowledgedAt, violate }) {
      const primary = await cluster.primary();
      for (const port of [primary, 'app1']) await cluster.network.separate(port);
      await delay(cutMilliseconds);
      const before = acknowledgedAt('app1');
      await Promise.all([delay(holdMilliseconds), written('app2')]);
      const acknowledged = acknowledgedAt('app1') - before;
      if (acknowledged > 0) violate(`the side that was cut off acknowledged ${acknowledged} writes`);
      for (const port of [primary, 'app1']) await cluster.network.connect(port);
      await written('app1', 'app2');
    },
  },
  'etcd lost': {
    about: 'two of three etcd killed for 60 s',
    pauseMilliseconds: 10_000,
    async run({ cluster, written }) {
      const standbys = await cluster.standbys();
      for (const name of standbys) await cluster.killEtcd(name);
      await delay(outageMilliseconds);
      await written('app1', 'app2');
      for (const name of standbys) cluster.startEtcd(name);
    },
  },
  'standby lost': {
    about: 'all processes of a standby’s host killed, whose etcd leads, and its network gone',
    pauseMilliseconds: 2_000,
    async run({ cluster, written }) {
      const [standby] = await cluster.standbys();
      await cluster.leadEtcd(standby);
      await cluster.hosts[standby].lose();
      await delay(10_000);
      await written('app1', 'app2');
      await cluster.boot(standby);
    },
  },
  'standbys lost': {
    about: 'the PostgreSQL of both standbys killed for 60 s',
    pauseMilliseconds: Infinity,
    async run({ cluster, written, reads, acknowledgedAt, violate }) {
      const standbys = await cluster.standbys();
      const before = await rateOf(reads, 5_000);
      await Promise.all(standbys.map((name) => cluster.killPostgres(name)));
      await delay(cutMilliseconds);
      const acknowledged = acknowledgedAt('app1') + acknowledgedAt('app2');
      const meanwhile = await rateOf(reads, outageMilliseconds);
      const more = acknowledgedAt('app1') + acknowledgedAt('app2') - acknowledged;
      if (more > 0) violate(`without a standby ${more} writes were acknowledged`);
      if (meanwhile < 0.8 * before) violate(`without a standby ${meanwhile.toFixed(0)} reads a second, before ${before.toFixed(0)}`);
      cluster.startPatroni(standbys[0]);
      await cluster.following(standbys[0]);
      const since = performance.now();
      await written('app1', 'app2');
      const back = performance.now() - since;
      if (back > 5_000) violate(`with a standby again, writes came back after ${back.toFixed(0)} ms`);
      cluster.startPatroni(standbys[1]);
    },
  },
  'host hung': {
    about: 'all processes of the primary’s host stopped for 40 s (SIGSTOP)',
    pauseMilliseconds: lostHostMilliseconds,
    async run({ cluster, written }) {
      const primary = await cluster.primary();
      await cluster.signalAll(primary, 'STOP');
      await Promise.all([delay(holdMilliseconds), anotherPrimary(cluster, primary)]);
      await written('app1', 'app2');
      await cluster.signalAll(primary, 'CONT');
    },
  },
} satisfies Record<string, Breakage>;

/** Resolves when another host than `former` has the primary. */
async function anotherPrimary(cluster: Cluster, former: DatabaseHost): Promise<void> {
  while ((await cluster.primary()) === former) await delay(100);
}

/** Entities a second. */
async function rateOf(count: () => number, milliseconds: number): Promise<number> {
  const [before, since] = [count(), performance.now()];
  await delay(milliseconds);
  return ((count() - before) * 1_000) / (performance.now() - since);
}
