/**
 * Restarts of the service behind nginx while clients of the package create entities. Meanwhile nginx answers 502. The clients repeat their
 * creates, so none is refused, and each makes one row.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { startService, type Server } from '../../scripts/lib/processes.ts';
import { EntityServiceClient, type RetryPolicy } from '../../src/client/index.ts';
import { startNginx } from '../support/nginx.ts';
import { makeCallers } from './callers.ts';
import type { Outcome, Progress } from './outcome.ts';

/** What the clients create. */
const entityName = 'restarted';

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

  const rows = await countRows(databaseUrl);
  const doubled = [...rows].filter(([, count]) => count > 1).map(([id, count]) => `${id} has ${count} rows`);
  const lost = [...load.created].filter((id) => !rows.has(id)).map((id) => `${id} was created and is not there`);
  return {
    violations: [...load.refused, ...doubled, ...lost],
    figures: {
      restarts: rounds,
      clients,
      creates: load.created.size,
      refused: load.refused.length,
      doubled: doubled.length,
      'longest restart (ms)': Math.round(Math.max(...outages)),
    },
  };
}

/** Clients that create without pause, each entity under an id of its own. */
class Creators {
  /** The ids of the acknowledged creates. */
  readonly created = new Set<string>();
  readonly refused: string[] = [];
  readonly #working: Promise<unknown>;
  #stopped = false;

  constructor(url: string, apiKey: string, count: number, retry: Partial<RetryPolicy>) {
    const client = new EntityServiceClient({ baseUrl: url, credential: { apiKey }, retry });
    this.#working = Promise.all(Array.from({ length: count }, (_, index) => this.#work(client, index)));
  }

  /** Waits until so many more creates are acknowledged or refused. */
  async creates(count: number): Promise<void> {
    const enough = this.created.size + this.refused.length + count;
    while (this.created.size + this.refused.length < enough) await delay(5);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
  }

  async #work(client: EntityServiceClient, index: number): Promise<void> {
    const entities = client.entities<{ id: string }>(entityName);
    for (let n = 0; !this.#stopped; n++) {
      const id = `${index}-${n}`;
      try {
        await entities.create({ id });
        this.created.add(id);
      } catch (error) {
        this.refused.push(`create ${id}: ${String(error)}`);
      }
    }
  }
}

/** The number of rows of each id. */
async function countRows(databaseUrl: string): Promise<Map<string, number>> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; count: number }>(
      `select fields ->> 'id' as id, count(*)::int as count from entity where name = $1 group by 1`,
      [entityName],
    );
    return new Map(rows.map(({ id, count }) => [id, count]));
  } finally {
    await client.end();
  }
}
