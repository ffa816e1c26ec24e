/** The service is repeatedly killed with -9 under load. */
import { setTimeout as delay } from 'node:timers/promises';
import { startService, type Server } from '../../scripts/lib/processes.ts';
import { makeCallers } from './callers.ts';
import { Ledger } from './ledger.ts';
import { startWriters } from './load.ts';
import type { Outcome, Progress } from './outcome.ts';

export interface KillPlan {
  kills: number;
  /** The number of writes to be acknowledged in all. */
  writes: number;
  clients: number;
}

export interface KillTarget {
  /** The service's settings. */
  settings: Record<string, string>;
  /** The URL of its database while the service runs. */
  databaseUrl: () => Promise<string>;
  /** Kills other processes together with the service. */
  killAlong?: () => Promise<void>;
}

/** Kills the service each time a share of the writes has been acknowledged, and compares the ledger with the rows at the end. */
export async function killService({ kills, writes, clients }: KillPlan, target: KillTarget, progress: Progress): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  let server: Server = await startService(target.settings, opened);
  const callers = await makeCallers(await target.databaseUrl(), { sessions: Math.ceil(writes / 10) });
  const ledger = new Ledger();
  const recoveries: number[] = [];
  const stop = startWriters(clients, () => server.port, callers, ledger);
  try {
    for (let kill = 1; kill <= kills + 1; kill++) {
      const share = (writes * kill) / (kills + 1);
      while (ledger.acknowledged < share) await delay(5);
      if (kill > kills) break;
      const killedAt = performance.now();
      await Promise.all([server.kill(), target.killAlong?.()]);
      server = await startService(target.settings, opened);
      recoveries.push(performance.now() - killedAt);
      progress(`kill ${kill} of ${kills}: ${ledger.acknowledged} writes acknowledged, back after ${recoveries.at(-1)?.toFixed(0)} ms`);
    }
  } finally {
    await stop();
  }
  const violations = await ledger.compare(await target.databaseUrl());
  return {
    violations,
    figures: {
      kills,
      'acknowledged writes': ledger.acknowledged,
      'requests without an answer': ledger.unanswered,
      'of them logouts': ledger.ended.length,
      'of them rotations': ledger.rotated.length,
      'lost or incomplete': violations.length,
      'slowest recovery (ms)': Math.round(Math.max(0, ...recoveries)),
    },
  };
}
