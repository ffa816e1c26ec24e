/** Read-only transactions, whose statements travel together with what comes before them. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { builder } from '../../src/database/driver/prepared.ts';
import { openStore, type PostgresStore } from '../../src/database/port.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** It has one connection for these statements. */
let store: PostgresStore;
beforeEach(() => {
  const opened = openStore(database.url, 1, () => undefined);
  onTestFinished(() => opened.close());
  store = opened;
});

interface State {
  pid: number;
  limit: string;
  tables: string;
  isReadOnly: string;
  isolation: string;
}

/** The connection, and what holds for its statements. */
const state = sql<State>`
  select pg_backend_pid() as pid, current_setting('statement_timeout') as limit, current_setting('enable_seqscan') as tables,
    current_setting('transaction_read_only') as "isReadOnly", current_setting('transaction_isolation') as isolation`.compile(builder);
const failing = sql`select 1 / 0`.compile(builder);

const stateOutside = async () => (await store.query(state))[0];

test('the limits hold for the statements of the transaction, and end with it', async () => {
  const before = await stateOutside();
  const [inside] = await store.readOnly(1_000, (run) => run(state));
  expect(inside).toMatchObject({ pid: before?.pid, tables: 'off', isReadOnly: 'on', isolation: 'repeatable read' });
  expect(inside?.limit).toMatch(/^(?:1s|9\d\dms)$/);
  expect(before).toMatchObject({ limit: '5s', tables: 'on', isReadOnly: 'off', isolation: 'read committed' });
  expect(await stateOutside()).toEqual(before);
});

test('the limits end with the transaction after a failure too, and the connection stays', async () => {
  const before = await stateOutside();
  const reading = store.readOnly(1_000, async (run) => [...(await run(state)), ...(await run(failing))]);
  await expect(reading).rejects.toThrow('division by zero');
  expect(await stateOutside()).toEqual(before);
});

test('a failure of the caller, and one of the first statement, end the transaction too', async () => {
  const before = await stateOutside();
  const mine = new Error('mine');
  const reading = store.readOnly(1_000, async (run) => {
    await run(state);
    throw mine;
  });
  await expect(reading).rejects.toBe(mine);
  await expect(store.readOnly(1_000, (run) => run(failing))).rejects.toThrow('division by zero');
  expect(await stateOutside()).toEqual(before);
});

test('statements that are sent at once have their own limits and answers', async () => {
  const seen = await store.readOnly(1_000, (run) => Promise.all([run(state, 'any'), run(state), run(state, 'any')]));
  expect(seen.map(([row]) => [row?.tables, row?.isReadOnly])).toEqual([
    ['on', 'on'],
    ['off', 'on'],
    ['on', 'on'],
  ]);
});

test('work without a statement begins no transaction', async () => {
  expect(await store.readOnly(1_000, async () => 'nothing')).toBe('nothing');
  expect(await stateOutside()).toMatchObject({ isReadOnly: 'off' });
});
