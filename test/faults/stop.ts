/** SIGTERM while clients keep the service busy: it answers the accepted requests, and exits with status 0 within ten seconds. */
import { setTimeout as delay } from 'node:timers/promises';
import { startService } from '../../scripts/lib/processes.ts';
import { makeCallers } from './callers.ts';
import { Ledger } from './ledger.ts';
import { startWriters } from './load.ts';
import type { Outcome, Progress } from './outcome.ts';

/** Security rule 92. */
const stopMilliseconds = 10_000;

/** Starts and stops the service `rounds` times, while `clients` clients write. */
export async function stopService(
  { rounds, clients, writes }: { rounds: number; clients: number; writes: number },
  databaseUrl: string,
  settings: Record<string, string>,
  progress: Progress,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const callers = await makeCallers(databaseUrl, { sessions: Math.ceil((rounds * writes) / 10) });
  const ledger = new Ledger();
  const stops: number[] = [];
  const violations: string[] = [];
  for (let round = 1; round <= rounds; round++) {
    const server = await startService(settings, opened);
    const stop = startWriters(clients, () => server.port, callers, ledger);
    const before = ledger.acknowledged;
    while (ledger.acknowledged < before + writes) await delay(5);
    const stoppedAt = performance.now();
    await server.stop();
    stops.push(performance.now() - stoppedAt);
    if (server.exitCode !== 0) violations.push(`round ${round}: left with status ${server.exitCode}`);
    await stop();
    progress(`stop ${round} of ${rounds}: ${stops.at(-1)?.toFixed(0)} ms, ${ledger.unanswered} requests without an answer so far`);
  }
  if (ledger.unanswered > 0) violations.push(`${ledger.unanswered} requests were accepted and not answered`);
  if (Math.max(...stops) > stopMilliseconds) violations.push(`it took ${Math.max(...stops).toFixed(0)} ms to stop`);
  return {
    violations: [...violations, ...(await ledger.compare(databaseUrl))],
    figures: {
      stops: rounds,
      clients,
      'acknowledged writes': ledger.acknowledged,
      'accepted and not answered': ledger.unanswered,
      '503': ledger.statuses.get(503) ?? 0,
      'slowest stop (ms)': Math.round(Math.max(...stops)),
    },
  };
}
