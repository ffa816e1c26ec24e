import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Batches, prepareBatch } from '../../src/database/batch.ts';
import { connect } from '../../src/database/connect.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Divides a hundred by each row's number, which zero makes the statement fail with; leaves out negative ones. */
const divide = prepareBatch<{ quotient: number; transaction: string }>(
  'test.divide',
  (rows) => sql`
    select n, 100 / divisor as quotient, pg_current_xact_id()::text as transaction
    from rows from (jsonb_to_recordset(${rows}::jsonb) as (divisor int)) with ordinality as input (divisor, n)
    where divisor >= 0`,
);

function open(): Batches<{ quotient: number; transaction: string }> {
  const { pool, close } = connect(database.url, 4, () => undefined);
  onTestFinished(close);
  return new Batches(pool, divide);
}

const row = (divisor: number) => JSON.stringify({ divisor });

test('many rows asked for at once share few transactions, and each gets its own result', async () => {
  const batches = open();
  const divisors = Array.from({ length: 100 }, (_, n) => n + 1);
  const results = await Promise.all(divisors.map((divisor) => batches.run(row(divisor))));
  expect(results.map((result) => result?.quotient)).toEqual(divisors.map((divisor) => Math.floor(100 / divisor)));
  expect(new Set(results.map((result) => result?.transaction)).size).toBeLessThan(10);
});

test('a row for which the statement does nothing gets nothing', async () => {
  const batches = open();
  const results = await Promise.all([10, -1, 20].map((divisor) => batches.run(row(divisor))));
  expect(results.map((result) => result?.quotient)).toEqual([10, undefined, 5]);
});

test('a row that makes the statement fail does so for itself alone', async () => {
  const batches = open();
  const outcomes = await Promise.allSettled([10, 0, 20, 0].map((divisor) => batches.run(row(divisor))));
  expect(outcomes).toMatchObject([
    { value: { quotient: 10 } },
    { reason: { code: '22012' } },
    { value: { quotient: 5 } },
    { reason: { code: '22012' } },
  ]);
});

test('what has had no turn within two seconds is 503 unavailable, and nothing is done for it', async () => {
  const { pool, close } = connect(database.url, 4, () => undefined);
  onTestFinished(close);
  let now = 0;
  const wait = prepareBatch<{ waited: string }>(
    'test.wait',
    (rows) => sql`
      select n, pg_sleep(seconds)::text as waited
      from rows from (jsonb_to_recordset(${rows}::jsonb) as (seconds float)) with ordinality as input (seconds, n)`,
  );
  const batches = new Batches(pool, wait, () => now);
  // Three are under way at once, each with a turn of its own.
  const underWay = [];
  for (let time = 0; time < 3; time++) {
    underWay.push(batches.run('{"seconds":0.2}'));
    await nextTurn();
  }
  const late = batches.run('{"seconds":0}');
  const refused = expect(late).rejects.toMatchObject({ code: 'unavailable' });
  now = 2_001;
  await refused;
  expect(await Promise.all(underWay)).toHaveLength(3);
});

test('rows are given up at once when the database cannot be reached, those that wait for their turn too', async () => {
  const { pool, close } = connect('postgres://nobody@127.0.0.1:1/nothing', 4, () => undefined);
  onTestFinished(close);
  const batches = new Batches(pool, divide);
  const outcomes = await Promise.allSettled(Array.from({ length: 500 }, () => batches.run(row(1))));
  expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? (outcome.reason as { code: string }).code : ''))).toEqual([
    ...Array.from({ length: 64 }, () => 'ECONNREFUSED'),
    // Nobody has been asked to do anything for these.
    ...Array.from({ length: 436 }, () => 'unavailable'),
  ]);
});
