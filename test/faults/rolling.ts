/**
 * Two replicas behind a proxy of `deploy/` stop by SIGTERM and start again, one after the other, while clients of the package create
 * entities: no create is refused, and each makes one row.
 */
import { startService, type Server } from '../../scripts/lib/processes.ts';
import type { DeployedProxy } from '../support/deployed-proxies.ts';
import { makeCallers } from './callers.ts';
import { Creators } from './creators.ts';
import type { Outcome, Progress } from './outcome.ts';

interface Plan {
  /** In each round both replicas restart. */
  rounds: number;
  clients: number;
  /** The number of creates before each restart and after it. */
  creates: number;
  /** The number of processes of a replica. */
  workers: number;
}

/** Restarts the replicas as planned, and compares what the clients have created with the rows. */
export async function rollReplicas(
  { rounds, clients, creates, workers }: Plan,
  proxy: DeployedProxy,
  databaseUrl: string,
  settings: Record<string, string>,
  progress: Progress,
): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const { apiKey } = await makeCallers(databaseUrl);
  const start = (port?: number): Promise<Server> =>
    startService({ ...settings, WORKERS: String(workers), TRUST_PROXY: '127.0.0.1/32' }, opened, { lean: false, ...(port && { port }) });
  const replicas: [Server, Server] = [await start(), await start()];
  const { port, stop } = await proxy.start([replicas[0].port, replicas[1].port]);
  opened.defer(stop);
  const load = new Creators(`http://127.0.0.1:${port}`, apiKey, clients, {});
  opened.defer(() => load.stop());
  const statuses: (number | null)[] = [];

  for (let round = 1; round <= rounds; round++) {
    for (const [index, replica] of replicas.entries()) {
      await load.creates(creates);
      await replica.stop();
      statuses.push(replica.exitCode);
      await load.creates(creates);
      replicas[index] = await start(replica.port);
      progress(`round ${round} of ${rounds}, replica ${index + 1}: ${load.created.size} creates, ${load.refused.length} refused`);
    }
  }
  await load.stop();

  const { violations, figures } = await load.compare(databaseUrl);
  const failed = statuses.filter((status) => status !== 0).map((status) => `a replica ended with status ${status}`);
  return { violations: [...failed, ...violations], figures: { restarts: statuses.length, clients, workers, ...figures } };
}
