import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectPool, type Connection } from '../../../src/database/driver/pool.ts';
import { ServerUnresponsiveError } from '../../../src/database/failure.ts';
import { ReadPipeline } from '../../../src/database/driver/read-pipeline.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

interface Echo {
  n: number;
  pid: number;
}

/** A statement that comes back with its number and the process that has run it, after so many seconds. */
const echo = (n: number, seconds = 0) => ({
  name: 'echo',
  text: 'select $1::int as n, pg_backend_pid() as pid, pg_sleep($2)::text',
  values: [n, seconds],
});

async function ask({ reads }: Connection, n: number, seconds?: number): Promise<Echo> {
  const { rows } = await reads.send(echo(n, seconds));
  return rows[0] as Echo;
}

/** Asks until both connections for reads are open. */
async function bothOpen(connection: Connection): Promise<void> {
  await expect
    .poll(async () => {
      await Promise.all([ask(connection, 0, 0.01), ask(connection, 0, 0.01)]);
      return connection.reads.connections.open;
    })
    .toBe(2);
}

async function open(): Promise<Connection> {
  const connection = connectPool(database.url, 8, () => undefined);
  onTestFinished(() => connection.close());
  await bothOpen(connection);
  return connection;
}

test('thirty statements asked at once are answered over two connections, each with its own row', async () => {
  const connection = await open();
  const rows = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(connection, n)));
  expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  expect(new Set(rows.map(({ pid }) => pid)).size).toBe(2);
});

test('one that fails does so alone', async () => {
  const connection = await open();
  const fail = { name: 'fail', text: 'select 1 / $1::int', values: [0] };
  const outcomes = await Promise.allSettled([
    ask(connection, 1),
    connection.reads.send(fail),
    connection.reads.send(fail),
    ask(connection, 2),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  await bothOpen(connection);
});

test('statements that take long on both connections keep no later one waiting', async () => {
  const connection = await open();
  const finished: number[] = [];
  const note = ({ n }: Echo) => finished.push(n);
  const long = [1, 2].map((n) => ask(connection, n, 2).then(note));
  await connection.pool.query('select pg_sleep(0.5)');
  await Promise.all([...long, ask(connection, 3, 0.1).then(note)]);
  expect(finished[0]).toBe(3);
});

test('those under way when their connections break are answered all the same, and later ones over new connections', async () => {
  const connection = await open();
  const before = await Promise.all([ask(connection, 1), ask(connection, 2)]);
  const asked = Promise.all([ask(connection, 3, 1), ask(connection, 4, 1)]);
  const pids = `'{${before.map(({ pid }) => pid).join()}}'::int[]`;
  const active = `select from pg_stat_activity where pid = any(${pids}) and state = 'active'`;
  await expect.poll(async () => (await connection.pool.query(active)).rowCount).toBe(2);
  await connection.pool.query(`select pg_terminate_backend(pid) from unnest(${pids}) as pid`);
  expect((await asked).map(({ n }) => n)).toEqual([3, 4]);
  await bothOpen(connection);
});

/** The server's processes behind the connections for reads. */
async function processesOf(connection: Connection): Promise<Set<number>> {
  const answers = await Promise.all(Array.from({ length: 4 }, (_, n) => ask(connection, n, 0.01)));
  return new Set(answers.map(({ pid }) => pid));
}

test('one that failed is asked once, and its connection is kept, where only the statement is at fault', async () => {
  const connection = await open();
  const before = await processesOf(connection);
  await connection.pool.query('create sequence asked');
  // A sequence also counts what is rolled back. The domain's constraint refuses negative numbers.
  const fail = { name: undefined, text: `select cast((nextval('asked') * $1)::int as information_schema.cardinal_number)`, values: [-1] };
  await expect(connection.reads.send(fail)).rejects.toMatchObject({ code: '23514' });
  expect((await connection.pool.query('select last_value::int as times, is_called from asked')).rows).toEqual([
    { times: 1, is_called: true },
  ]);
  expect(await processesOf(connection)).toEqual(before);
});

test('one that failed for what may be left behind on its connection is asked once, and that connection is replaced', async () => {
  const connection = await open();
  const before = await processesOf(connection);
  await connection.pool.query('create sequence spoilt');
  const fail = { name: undefined, text: `select 1 / (nextval('spoilt') * $1)`, values: [0] };
  await expect(connection.reads.send(fail)).rejects.toMatchObject({ code: '22012' });
  expect((await connection.pool.query('select last_value::int as times, is_called from spoilt')).rows).toEqual([
    { times: 1, is_called: true },
  ]);
  await bothOpen(connection);
  const after = await processesOf(connection);
  expect(after.size).toBe(2);
  expect([...after].filter((pid) => before.has(pid))).toHaveLength(1);
});

test('one whose text its connection has forgotten is answered all the same, and the connection is replaced', async () => {
  const connection = await open();
  const before = await processesOf(connection);
  const forget = { name: undefined, text: 'deallocate all', values: [] };
  await Promise.all([connection.reads.send(forget), connection.reads.send(forget)]);
  const rows = await Promise.all([ask(connection, 1), ask(connection, 2)]);
  expect(rows.map(({ n }) => n)).toEqual([1, 2]);
  await bothOpen(connection);
  expect([...(await processesOf(connection))].filter((pid) => before.has(pid))).toEqual([]);
});

describe('a statement without an answer in its time', () => {
  /** One connection for reads, on which a statement has 1.2 s; and how often its server was taken for silent. */
  async function openOne() {
    const { pool, close } = connectPool(database.url, 3, () => undefined);
    const silences: number[] = [];
    const options = { connectionString: database.url, connectionTimeoutMillis: 1_000, query_timeout: 1_200 };
    const reads = new ReadPipeline(1, options, pool, { onError: () => undefined, onSilence: () => silences.push(1) });
    onTestFinished(() => reads.close().then(close));
    const { rows } = await reads.send(echo(0));
    expect(rows).toHaveLength(1);
    await expect.poll(() => reads.connections.open).toBe(1);
    return { reads, silences };
  }

  test('that is queued behind others is retried once, and the server does not count as lost', async () => {
    const { reads, silences } = await openOne();
    const results = await Promise.all([1, 2, 3, 4].map((n) => reads.send(echo(n, 0.5))));
    expect(results.map(({ rows }) => (rows[0] as Echo).n)).toEqual([1, 2, 3, 4]);
    expect(silences).toEqual([]);
  });

  test('of a silent server is given up, and the connection with it', async () => {
    const { reads, silences } = await openOne();
    await expect(reads.send(echo(1, 2))).rejects.toThrow(ServerUnresponsiveError);
    expect(silences).toEqual([1]);
    expect(reads.connections.open).toBe(0);
  });
});

test('where there are few connections, reads share the pool with everything else', async () => {
  const connection = connectPool(database.url, 3, () => undefined);
  onTestFinished(() => connection.close());
  const rows = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(connection, n)));
  expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(connection.reads.connections.open).toBe(0);
  expect(connection.pool.totalCount).toBeLessThanOrEqual(3);
});
