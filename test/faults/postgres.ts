/**
 * PostgreSQL and the network to it fail in every way while clients write. The service answers 503, never 500, keeps running, and recovers
 * at once.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { layoutOf } from '../../src/embedded/cluster.ts';
import { findServer } from '../../src/embedded/lock-file.ts';
import { Proxy } from '../support/proxy.ts';
import { makeCallers } from './callers.ts';
import { Ledger } from './ledger.ts';
import { startWriters } from './load.ts';
import type { Outcome, Progress } from './outcome.ts';
import { recovered, recoveryMilliseconds } from './recovery.ts';

/**
 * The limit of every answer while the database is unresponsive: connecting, a statement and the rest of its transaction have time limits.
 */
const patienceMilliseconds = 12_000;

export interface PostgresTarget {
  /** An embedded database that only this test uses, and whose server is restarted when it dies. */
  dataDir: string;
  databaseUrl: string;
  proxy: Proxy;
  /** The service's port; its database URL is the proxy's. */
  port: number;
  hasEnded: () => boolean;
}

type Break = (target: PostgresTarget, holdMilliseconds: number) => Promise<void>;

/** Each causes a breakage, holds it, and resolves when the database is reachable again. */
const breaks = {
  killed: async ({ dataDir, databaseUrl }) => {
    process.kill(await postmaster(dataDir), 'SIGKILL');
    await reachable(databaseUrl);
  },
  restarted: async ({ dataDir, databaseUrl }) => {
    process.kill(await postmaster(dataDir), 'SIGINT');
    await reachable(databaseUrl);
  },
  frozen: async ({ dataDir }, hold) => {
    const pids = await family(await postmaster(dataDir));
    for (const pid of pids) signal(pid, 'SIGSTOP');
    await delay(hold);
    for (const pid of pids) signal(pid, 'SIGCONT');
  },
  terminated: async ({ databaseUrl }, hold) => {
    for (let end = performance.now() + hold; performance.now() < end; await delay(1_000)) {
      await statement(databaseUrl, `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'entity-service%'`);
    }
  },
  slow: async ({ proxy }, hold) => {
    proxy.slow(200);
    await delay(hold);
    await proxy.restore();
  },
  reset: async ({ proxy }, hold) => {
    proxy.reset();
    await delay(hold);
    await proxy.restore();
  },
  refused: async ({ proxy }, hold) => {
    await proxy.cut();
    await delay(hold);
    await proxy.restore();
  },
  'black-holed': async ({ proxy }, hold) => {
    proxy.stall();
    await delay(hold);
    await proxy.restore();
  },
} satisfies Record<string, Break>;

export const breakages = Object.keys(breaks) as (keyof typeof breaks)[];

export async function breakPostgres(
  { clients, holdMilliseconds }: { clients: number; holdMilliseconds: number },
  target: PostgresTarget,
  progress: Progress,
): Promise<Outcome> {
  const callers = await makeCallers(target.databaseUrl, { sessions: 2_000 });
  const ledger = new Ledger();
  const violations: string[] = [];
  const seen: Record<string, string> = {};
  const stop = startWriters(clients, () => target.port, callers, ledger);
  try {
    for (const name of breakages) {
      const before = ledger.acknowledged;
      while (ledger.acknowledged < before + 50 && !target.hasEnded()) await delay(5);
      const refused = ledger.statuses.get(503) ?? 0;
      ledger.measureAnew();
      await breaks[name](target, holdMilliseconds);
      const recovery = await recovered(target, callers.apiKey);
      if (recovery > recoveryMilliseconds) violations.push(`${name}: back after ${recovery.toFixed(0)} ms`);
      if (ledger.slowest > patienceMilliseconds) violations.push(`${name}: an answer took ${ledger.slowest.toFixed(0)} ms`);
      const refusals = (ledger.statuses.get(503) ?? 0) - refused;
      seen[name] =
        `back after ${recovery.toFixed(0)} ms, ${refusals} answers 503, the slowest answer after ${ledger.slowest.toFixed(0)} ms`;
      progress(`${name}: ${seen[name]}`);
    }
  } finally {
    await stop();
  }
  if (target.hasEnded()) violations.push('the service has ended');
  if (ledger.unanswered + ledger.refused > 0) violations.push(`${ledger.unanswered + ledger.refused} requests were not answered`);
  return {
    violations: [...violations, ...(await ledger.compare(target.databaseUrl))],
    figures: { 'acknowledged writes': ledger.acknowledged, '5xx but 503': ledger.violations.length, ...seen },
  };
}

async function postmaster(dataDir: string): Promise<number> {
  const server = await findServer(layoutOf(dataDir));
  if (!server) throw new Error('PostgreSQL does not run');
  return server.pid;
}

/** The process and its children. */
async function family(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return [pid, ...children.trim().split(' ').map(Number)];
}

/** Backends come and go. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function statement(databaseUrl: string, text: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function reachable(databaseUrl: string): Promise<void> {
  for (;;) {
    try {
      return await statement(databaseUrl, 'select 1');
    } catch {
      await delay(20);
    }
  }
}
