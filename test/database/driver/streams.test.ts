/** Statements that take longer than the timeout because their owner reads or writes portion by portion. */
import { once } from 'node:events';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Query, type Client, type Connection, type Submittable } from 'pg';
import { afterAll, beforeAll, test, type TestContext } from 'vitest';
import { connectPool } from '../../../src/database/driver/pool.ts';
import { TimeoutClient } from '../../../src/database/driver/timeout-client.ts';
import { ServerUnresponsiveError } from '../../../src/database/failure.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { PortalCursor } from '../../support/portal-cursor.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const timeoutMs = 1_000;
/** Takes twice the timeout: PostgreSQL sends a row of 10 kB every 0.25 s. */
const slowRows = `select n, repeat('x', 10000) as text, pg_sleep(0.25)::text from generate_series(1, 8) n`;
const numbers = [1, 2, 3, 4, 5, 6, 7, 8];

async function open({ onTestFinished }: TestContext): Promise<TimeoutClient> {
  const client = new TimeoutClient({ connectionString: database.url, query_timeout: timeoutMs });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const submit = <T extends Submittable>(client: Client, query: T): T => client.query(query);
const ask = (client: Client, text: string) => client.query(text);

test.concurrent(
  'a cursor that is read longer than the timeout gives all of its rows, and the next statement is bounded again',
  async (context) => {
    const { expect } = context;
    const client = await open(context);
    const cursor = submit(client, new PortalCursor<{ n: number }>(slowRows));
    const read: number[] = [];
    for (let rows = await cursor.read(1); rows.length > 0; rows = await cursor.read(1)) read.push(...rows.map(({ n }) => n));
    await cursor.close();
    expect(read).toEqual(numbers);
    expect((await ask(client, 'select 1 as one')).rows).toEqual([{ one: 1 }]);
    await expect(ask(client, 'select pg_sleep(10)')).rejects.toThrow(ServerUnresponsiveError);
  },
);

test.concurrent(
  'a query that emits its rows one by one may take longer than the timeout, and is returned to listen to',
  async (context) => {
    const { expect } = context;
    const client = await open(context);
    const query = submit(client, new Query(slowRows));
    const read: unknown[] = [];
    query.on('row', ({ n }: { n: number }) => read.push(n));
    await once(query, 'end');
    expect(read).toEqual(numbers);
  },
);

test.concurrent('a cursor that nothing reads for the timeout is ended, and the server is not taken for unresponsive', async (context) => {
  const { expect } = context;
  const client = await open(context);
  let silences = 0;
  client.onUnresponsive = () => silences++;
  const cursor = submit(client, new PortalCursor(slowRows));
  expect(await cursor.read(1)).toHaveLength(1);
  const [error] = await once(client, 'error');
  expect(error).toBeInstanceOf(ServerUnresponsiveError);
  await expect(cursor.read(1)).rejects.toThrow(ServerUnresponsiveError);
  expect(client.isUnresponsive).toBe(false);
  expect(silences).toBe(0);
});

/** COPY to the client, as pg-copy-streams does it. */
class CopyOut implements Submittable {
  readonly lines: string[] = [];
  readonly #done = Promise.withResolvers<void>();
  readonly done = this.#done.promise;
  submit(connection: Connection): void {
    connection.query(`copy (${slowRows}) to stdout`);
  }
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.lines.push(chunk.toString());
  }
  handleCommandComplete(): void {}
  handleReadyForQuery(): void {
    this.#done.resolve();
  }
  handleError(error: Error): void {
    this.#done.reject(error);
  }
}

test.concurrent('a COPY that sends rows for longer than the timeout sends all of them', async (context) => {
  const { expect } = context;
  const client = await open(context);
  const copy = submit(client, new CopyOut());
  await copy.done;
  expect(copy.lines.map((line) => Number(line.split('\t')[0]))).toEqual(numbers);
});

test.concurrent('a stream of Kysely over the pool may take longer than the timeout', async ({ expect, onTestFinished }) => {
  const { pool, close } = connectPool(`${database.url}?query_timeout=${timeoutMs}`, 3, () => undefined);
  onTestFinished(close);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool, cursor: PortalCursor }) });
  const rows = sql<{ n: number }>`(${sql.raw(slowRows)})`.as('slow');
  const read: number[] = [];
  for await (const { n } of db.selectFrom(rows).select('slow.n').stream(1)) read.push(n);
  expect(read).toEqual(numbers);
});
