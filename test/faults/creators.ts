/** Clients of the package that create without pause, each entity under an id of its own, and the comparison with the rows. */
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { EntityServiceClient, type Fetch, type RetryPolicy } from '../../src/client/index.ts';
import type { Outcome } from './outcome.ts';

/** The name of all entities that they create. */
const entityName = 'created';

export class Creators {
  /** The ids of the acknowledged creates. */
  readonly created = new Set<string>();
  readonly refused: string[] = [];
  readonly #working: Promise<unknown>;
  #stopped = false;

  constructor(url: string, apiKey: string, count: number, retry: Partial<RetryPolicy>, fetch?: Fetch) {
    const client = new EntityServiceClient({ baseUrl: url, credential: { apiKey }, retry, ...(fetch && { fetch }) });
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

  /** Compares the creates with the rows. Call it after `stop`. */
  async compare(databaseUrl: string): Promise<Outcome> {
    const rows = await countRows(databaseUrl);
    const doubled = [...rows].filter(([, count]) => count > 1).map(([id, count]) => `${id} has ${count} rows`);
    const lost = [...this.created].filter((id) => !rows.has(id)).map((id) => `${id} was created and is not there`);
    return {
      violations: [...this.refused, ...doubled, ...lost],
      figures: { creates: this.created.size, refused: this.refused.length, doubled: doubled.length },
    };
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
