/** The service is repeatedly killed with -9 under load. */
import { setTimeout as delay } from 'node:timers/promises';
import { startService, type Server } from '../../scripts/lib/processes.ts';
import { makeCallers, type Callers } from './callers.ts';
import type { Outcome, Progress } from './outcome.ts';

export interface KillPlan {
  kills: number;
  /** The number of writes to be acknowledged in all. */
  writes: number;
  clients: number;
}

/** Clients that write, and their record of it. */
export interface Load {
  /** The number of acknowledged writes. */
  readonly acknowledged: number;
  /** Lets the requests in progress end. */
  stop(): Promise<void>;
  /** The differences between the record and the rows, one a line; empty when there are none. */
  compare(databaseUrl: string): Promise<string[]>;
  figures(): Outcome['figures'];
}

/** Starts `clients` clients, which write to the service at `port`. */
export type StartLoad = (clients: number, port: number, callers: Callers) => Load;

export interface KillTarget {
  /** The service's settings. */
  settings: Record<string, string>;
  /** The URL of its database while the service runs. */
  databaseUrl: () => Promise<string>;
  /** Kills other processes together with the service. */
  killAlong?: () => Promise<void>;
}

/** Kills the service each time a share of the writes has been acknowledged, and compares the record of the load with the rows at the end. */
export async function killService(
  { kills, writes, clients }: KillPlan,
  target: KillTarget,
  startLoad: StartLoad,
  progress: Progress,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  let server: Server = await startService(target.settings, opened);
  const callers = await makeCallers(await target.databaseUrl(), { sessions: Math.ceil(writes / 10) });
  const load = startLoad(clients, server.port, callers);
  const recoveries: number[] = [];
  try {
    for (let kill = 1; kill <= kills + 1; kill++) {
      const share = (writes * kill) / (kills + 1);
      while (load.acknowledged < share) await delay(5);
      if (kill > kills) break;
      const killedAt = performance.now();
      await Promise.all([server.kill(), target.killAlong?.()]);
      server = await startService(target.settings, opened, { lean: false, port: server.port });
      recoveries.push(performance.now() - killedAt);
      progress(`kill ${kill} of ${kills}: ${load.acknowledged} writes acknowledged, back after ${recoveries.at(-1)?.toFixed(0)} ms`);
    }
  } finally {
    await load.stop();
  }
  const violations = await load.compare(await target.databaseUrl());
  return {
    violations,
    figures: {
      kills,
      'acknowledged writes': load.acknowledged,
      ...load.figures(),
      'lost or incomplete': violations.length,
      'slowest recovery (ms)': Math.round(Math.max(0, ...recoveries)),
    },
  };
}
