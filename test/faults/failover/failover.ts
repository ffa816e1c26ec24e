/**
 * Two services in front of three PostgreSQL hosts, while hosts, servers and the network between them fail and clients write: no acknowledged
 * write is lost, and none is doubled. The control run acknowledges writes before a standby has them, and must lose some.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startService, type Server } from '../../../scripts/lib/processes.ts';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { makeCallers, type Callers } from '../callers.ts';
import { Caller } from '../http.ts';
import { entityName, Ledger } from '../ledger.ts';
import { startWriters } from '../load.ts';
import type { Outcome, Progress } from '../outcome.ts';
import { recovered } from '../recovery.ts';
import { breakages, type Breakage, type Breaking } from './breakages.ts';
import { Cluster, type ProxyHost } from './cluster.ts';
import { Revocation } from './revocations.ts';

/** The limit of every answer, as without a cluster. */
const answerMilliseconds = 12_000;
const names = Object.keys(breakages) as (keyof typeof breakages)[];

export interface FailoverPlan {
  /** In each round everything fails once. */
  rounds: number;
  /** The number of writes to be acknowledged in all. */
  writes: number;
  /** Half of them at each service. */
  clients: number;
  /** What fails; everything by default. */
  only?: readonly (keyof typeof breakages)[];
}

/** Starts the cluster and both services, and breaks everything in turn. */
export async function failOver({ rounds, writes, clients, only = names }: FailoverPlan, progress: Progress): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const cluster = await Cluster.start(opened);
  progress('the cluster runs');
  const run = await Run.start(cluster, clients, writes, rounds * only.length, opened);
  for (let round = 1; round <= rounds; round++) {
    for (const name of only) progress(`round ${round} of ${rounds}, ${name}: ${await run.suffer(name, breakages[name])}`);
  }
  return await run.end();
}

/** The control run: a partition while commits wait for no standby. The outcome has a violation if the ledger sees no loss. */
export async function failOverAsynchronously(clients: number, progress: Progress): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const cluster = await Cluster.start(opened);
  await cluster.acknowledgeEarly();
  const run = await Run.start(cluster, clients, 1_000, 1, opened);
  progress(`partition: ${await run.suffer('partition', breakages.partition)}`);
  const { violations, figures } = await run.end();
  const lost = violations.filter((violation) => violation.includes('acknowledged, but not there'));
  return {
    violations: lost.length > 0 ? [] : ['the ledger saw no loss without synchronous replication'],
    figures: {
      'acknowledged writes': figures['acknowledged writes'] ?? 0,
      'creates acknowledged and lost': lost.length,
      lost: lost.slice(0, 3).join('; '),
    },
  };
}

class Run {
  readonly #ledger = new Ledger();
  readonly #violations: string[] = [];
  readonly #longest = new Map<string, number>();
  readonly #cluster: Cluster;
  readonly #callers: Callers;
  readonly #services: Record<ProxyHost, Server>;
  readonly #share: number;
  readonly #stop: () => Promise<unknown>;
  #reads = 0;
  #fault = 0;

  /** Starts the services and their clients. `faults` is the number of faults that they will suffer. */
  static async start(cluster: Cluster, clients: number, writes: number, faults: number, opened: AsyncDisposableStack): Promise<Run> {
    await migrateDatabase(cluster.urlAt('app2'));
    const callers = await makeCallers(cluster.urlAt('app2'), { spare: faults, sessions: Math.max(5_000, writes) });
    const start = (name: ProxyHost) => startService({ DATABASE_URL: cluster.urlAt(name) }, opened);
    const run = new Run(cluster, callers, { app1: await start('app1'), app2: await start('app2') }, clients, writes / faults);
    opened.defer(async () => void (await run.#stop()));
    return run;
  }

  private constructor(cluster: Cluster, callers: Callers, services: Record<ProxyHost, Server>, clients: number, share: number) {
    [this.#cluster, this.#callers, this.#services, this.#share] = [cluster, callers, services, share];
    let stopped = false;
    const writers = (['app1', 'app2'] as const).map((name) => startWriters(clients / 2, () => services[name].port, callers, this.#ledger));
    const reading = this.#read(() => stopped);
    this.#stop = () => {
      stopped = true;
      return Promise.all([...writers.map((stop) => stop()), reading]);
    };
  }

  /** Suffers the fault. What goes wrong on the way is a violation, so that the ledger is compared all the same. Returns a sentence. */
  async suffer(name: string, breakage: Breakage): Promise<string> {
    try {
      return await this.#suffer(name, breakage);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#violations.push(`${name}: ended early: ${reason}`);
      return `ended early: ${reason}`;
    }
  }

  /** Waits until clients have written their share, breaks, and waits until the cluster is whole. */
  async #suffer(name: string, { pauseMilliseconds, limited = ['app1', 'app2'], run }: Breakage): Promise<string> {
    await this.#acknowledged(this.#share);
    const urls = Object.values(this.#services).map(({ port }) => `http://localhost:${port}`) as [string, string];
    const revocation = await Revocation.make(urls, this.#callers.spare[this.#fault++] ?? '', this.#callers);
    const violate = (reason: string) => this.#violations.push(`${name}: ${reason}`);
    for (const reason of await revocation.accepted()) violate(`at the next request ${reason}`);
    const [ledger, refused] = [this.#ledger, this.#ledger.statuses.get(503) ?? 0];
    ledger.measureAnew();
    await run(this.#breaking(violate));
    await this.#cluster.whole();
    for (const { port, exitCode } of Object.values(this.#services)) {
      if (exitCode !== null) violate(`a service ended with status ${exitCode}`);
      await recovered({ port, hasEnded: () => exitCode !== null }, this.#callers.apiKey);
    }
    await this.#breaking(violate).written('app1', 'app2');
    for (const reason of await revocation.violations()) violate(reason);
    const pause = Math.max(...limited.map((host) => ledger.pauses.get(this.#services[host].port) ?? 0));
    if (pause > pauseMilliseconds) violate(`clients wrote again after ${pause.toFixed(0)} ms`);
    if (ledger.slowest > answerMilliseconds) violate(`an answer took ${ledger.slowest.toFixed(0)} ms`);
    this.#longest.set(name, Math.max(this.#longest.get(name) ?? 0, pause));
    return `writing again after ${pause.toFixed(0)} ms, ${(ledger.statuses.get(503) ?? 0) - refused} answers 503, the slowest after ${ledger.slowest.toFixed(0)} ms`;
  }

  /** Stops the clients and compares the ledger with the rows. */
  async end(): Promise<Outcome> {
    await this.#stop();
    const ledger = this.#ledger;
    if (ledger.unanswered + ledger.refused > 0) this.#violations.push(`${ledger.unanswered + ledger.refused} requests were not answered`);
    const wrong = await ledger.compare(this.#cluster.urlAt('app2'));
    const pauses = [...this.#longest].map(([name, pause]) => [`${name}: writing again (ms)`, Math.round(pause)]);
    return {
      violations: [...this.#violations, ...wrong],
      figures: {
        faults: this.#fault,
        'acknowledged writes': ledger.acknowledged,
        'of them logouts': ledger.ended.length,
        'of them rotations': ledger.rotated.length,
        'lost or doubled': wrong.length,
        'answers 503': ledger.statuses.get(503) ?? 0,
        ...Object.fromEntries(pauses),
      },
    };
  }

  #breaking(violate: (reason: string) => void): Breaking {
    const acknowledgedAt = (host: ProxyHost) => this.#ledger.acknowledgedAt(this.#services[host].port);
    const written = async (...at: ProxyHost[]) => {
      const before = at.map(acknowledgedAt);
      while (at.some((host, index) => acknowledgedAt(host) < (before[index] ?? 0) + 10)) await delay(20);
    };
    return { cluster: this.#cluster, written, acknowledgedAt, reads: () => this.#reads, violate };
  }

  async #acknowledged(count: number): Promise<void> {
    const enough = this.#ledger.acknowledged + count;
    while (this.#ledger.acknowledged < enough) await delay(20);
  }

  /** Reads an entity by its key, at the first service, without pause. */
  async #read(stopped: () => boolean): Promise<void> {
    const caller = new Caller(() => this.#services.app1.port);
    const headers = { 'x-api-key': this.#callers.apiKey };
    let key: string | undefined;
    while (!stopped()) {
      key ??= this.#ledger.lines.find((line) => line.key !== undefined && line.deletion === 'none')?.key;
      const reply =
        key === undefined ? undefined : await caller.send('GET', `/rest/entity/${entityName}/${key}`, { headers }).catch(() => undefined);
      if (reply?.status === 200) this.#reads += 1;
      else await delay(20);
      if (reply?.status === 404) key = undefined;
    }
    caller.close();
  }
}
