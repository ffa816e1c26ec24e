/**
 * Two replicas behind a proxy of `deploy/`, of which one dies, one freezes, or both are slow, while clients of the package create entities with an
 * Idempotency-Key: no create is refused or doubled, others are served meanwhile, and each 503 says when to come again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startService, type Server } from '../../scripts/lib/processes.ts';
import type { Fetch } from '../../src/client/index.ts';
import type { DeployedProxy } from '../support/deployed-proxies.ts';
import { makeCallers } from './callers.ts';
import { Creators } from './creators.ts';
import type { Outcome, Progress } from './outcome.ts';

export const replicaFaults = ['dead', 'frozen', 'slow'] as const;
export type ReplicaFault = (typeof replicaFaults)[number];

interface Plan {
  fault: ReplicaFault;
  clients: number;
  /** How long the fault lasts, and how long the rate is measured before it. */
  holdMilliseconds: number;
}

/** The least part of the rate of before that is served during the fault. */
const leastShare: Record<ReplicaFault, number> = { dead: 0.2, frozen: 0.1, slow: 0.01 };

/** A slow replica is stopped for the longer one, and runs for the shorter one, by turns. */
const slowStoppedMs = 900;
const slowRunningMs = 100;

/** Counts the answers of the proxy itself, which have no `instance`, and notes what a client must never get. */
class ProxyAnswers {
  readonly violations: string[] = [];
  made = 0;

  readonly fetch: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (response.status < 500) return response;
    const text = await response.text();
    const { status, headers } = response;
    if (status !== 503) this.violations.push(`${status}: ${text}`);
    if (!(Number(headers.get('retry-after')) > 0)) this.violations.push(`${status} without Retry-After: ${text}`);
    if (headers.get('content-type')?.startsWith('application/problem+json') !== true)
      this.violations.push(`${status} is no problem: ${text}`);
    if (!text.includes('"instance"')) this.made += 1;
    return new Response(text, { status, headers });
  };
}

/** Applies the fault as planned, and compares what the clients have created with the rows. */
export async function loseReplica(
  { fault, clients, holdMilliseconds }: Plan,
  proxy: DeployedProxy,
  databaseUrl: string,
  settings: Record<string, string>,
  progress: Progress,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const { apiKey } = await makeCallers(databaseUrl);
  const start = (): Promise<Server> => startService({ ...settings, TRUST_PROXY: '127.0.0.1/32' }, opened, { lean: false });
  const replicas: [Server, Server] = [await start(), await start()];
  opened.defer(() => replicas.forEach((replica) => signal(replica, 'SIGCONT')));
  const { port, stop } = await proxy.start([replicas[0].port, replicas[1].port]);
  opened.defer(stop);
  const answers = new ProxyAnswers();
  const load = new Creators(`http://127.0.0.1:${port}`, apiKey, clients, {}, answers.fetch);
  opened.defer(() => load.stop());
  await load.creates(clients * 10);
  const before = await createdWithin(load, () => delay(holdMilliseconds));
  const during = await createdWithin(load, () => hold(fault, replicas, holdMilliseconds));
  progress(`${fault}: ${before} creates before the fault, ${during} during it, ${answers.made} answers of the proxy`);
  await load.creates(clients * 10);
  await load.stop();

  const { violations, figures } = await load.compare(databaseUrl);
  const share = during / before;
  const slow = share < leastShare[fault] ? [`${during} creates during the fault, and ${before} before it`] : [];
  // The replicas are slow and serve, so none may be taken out.
  const taken = fault === 'slow' && answers.made > 0 ? [`the proxy answered ${answers.made} requests itself`] : [];
  return {
    violations: [...answers.violations, ...slow, ...taken, ...violations],
    figures: { ...figures, before, during, 'answers of the proxy': answers.made },
  };
}

async function createdWithin(load: Creators, work: () => Promise<unknown>): Promise<number> {
  const since = load.created.size;
  await work();
  return load.created.size - since;
}

async function hold(fault: ReplicaFault, [one, other]: [Server, Server], holdMilliseconds: number): Promise<void> {
  if (fault === 'dead') {
    await one.kill();
    await delay(holdMilliseconds);
  } else if (fault === 'frozen') {
    signal(one, 'SIGSTOP');
    await delay(holdMilliseconds);
    signal(one, 'SIGCONT');
  } else {
    const until = performance.now() + holdMilliseconds;
    while (performance.now() < until) {
      for (const replica of [one, other]) signal(replica, 'SIGSTOP');
      await delay(slowStoppedMs);
      for (const replica of [one, other]) signal(replica, 'SIGCONT');
      await delay(slowRunningMs);
    }
  }
}

function signal({ pid, exitCode }: Server, name: NodeJS.Signals): void {
  try {
    if (exitCode === null) process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
