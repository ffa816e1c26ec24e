/**
 * Restarts of the service behind nginx while clients of the package create entities. Meanwhile nginx answers 502. The clients repeat their
 * creates, so none is refused, and each makes one row.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startService, type Server } from '../../scripts/lib/processes.ts';
import type { RetryPolicy } from '../../src/client/index.ts';
import { startNginx } from '../support/nginx.ts';
import { makeCallers } from './callers.ts';
import { Creators } from './creators.ts';
import type { Outcome, Progress } from './outcome.ts';

interface Plan {
  /** The number of restarts. The first one is by SIGTERM, the second by `kill -9`, and so on. */
  rounds: number;
  clients: number;
  /** The number of creates before each restart and after it. */
  creates: number;
  /** Milliseconds between the end of the service and its next start. */
  downMilliseconds: number;
  /** Overrides how long clients repeat a create, where a busy machine makes a restart longer. */
  retry?: Partial<RetryPolicy>;
}

/** Restarts the service as planned, and compares what the clients have created with the rows. */
export async function restartService(
  { rounds, clients, creates, downMilliseconds, retry = {} }: Plan,
  databaseUrl: string,
  settings: Record<string, string>,
  progress: Progress,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const { apiKey } = await makeCallers(databaseUrl);
  let server: Server = await startService(settings, opened);
  const nginx = await startNginx([`http://127.0.0.1:${server.port}`]);
  opened.defer(() => nginx.stop());
  const load = new Creators(`http://127.0.0.1:${nginx.port}`, apiKey, clients, retry);
  opened.defer(() => load.stop());
  const outages: number[] = [];

  for (let round = 1; round <= rounds; round++) {
    await load.creates(creates);
    const since = performance.now();
    await (round % 2 === 1 ? server.stop() : server.kill());
    await delay(downMilliseconds);
    server = await startService(settings, opened, { lean: false, port: server.port });
    outages.push(performance.now() - since);
    await load.creates(creates);
    progress(`restart ${round} of ${rounds}: ${outages.at(-1)?.toFixed(0)} ms, ${load.refused.length} creates refused so far`);
  }
  await load.stop();

  const { violations, figures } = await load.compare(databaseUrl);
  return { violations, figures: { restarts: rounds, clients, ...figures, 'longest restart (ms)': Math.round(Math.max(...outages)) } };
}
