import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { WriteGroup, prepareGrouped } from '../../../src/database/driver/write-group.ts';
import { connectPool } from '../../../src/database/driver/pool.ts';
import type { Executor } from '../../../src/database/driver/prepared.ts';
import type { Statement } from '../../../src/database/driver/timeout-client.ts';
import { isOutage, LockNotHadError } from '../../../src/database/failure.ts';
import type { TimeoutPool } from '../../../src/database/driver/timeout-pool.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Divides a hundred by each row's number, which zero makes the statement fail with; leaves out negative ones. */
const divide = prepareGrouped<{ quotient: number; transaction: string }>(
  'test.divide',
  (rows) => sql`
    select n, 100 / divisor as quotient, pg_current_xact_id()::text as transaction
    from rows from (jsonb_to_recordset(${rows}::jsonb) as (divisor int)) with ordinality as input (divisor, n)
    where divisor >= 0`,
);

function open(): WriteGroup<{ quotient: number; transaction: string }> {
  const { pool, close } = connectPool(database.url, 4, () => undefined);
  onTestFinished(close);
  return new WriteGroup(pool, divide);
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

/** Fails with the SQLSTATE that a row names; else gives `ok`. `wait` seconds pass first. */
const fail = prepareGrouped<{ result: string }>(
  'test.fail',
  (rows) => sql`
    select n, case when pg_sleep(coalesce(wait, 0)) is not null and fails is not null then fail_with(fails) else 'ok' end as result
    from rows from (jsonb_to_recordset(${rows}::jsonb) as (fails text, wait float)) with ordinality as input (fails, wait, n)`,
);
const failWith = `create or replace function fail_with(state text) returns text language plpgsql as
  $$ begin raise exception using errcode = state; end $$`;

function openFailing(size = 4, now?: () => number) {
  const { db, pool, close } = connectPool(database.url, size, () => undefined);
  onTestFinished(close);
  return { db, pool, batches: new WriteGroup(pool, fail, now && { now }) };
}

const ok = { value: { result: 'ok' } };

test.each(['22012', '23514', '54001', '57014'])('a row that makes the statement fail with %s does so for itself alone', async (state) => {
  const { db, batches } = openFailing();
  await sql.raw(failWith).execute(db);
  const rows = [{}, { fails: state }, {}, { fails: state }, {}].map((row) => batches.run(JSON.stringify(row)));
  const failed = { reason: { code: state } };
  expect(await Promise.allSettled(rows)).toMatchObject([ok, failed, ok, failed, ok]);
});

test.each(['42622', '0A000', '55000'])(
  'a statement that fails with %s, which is of no row, fails for all its rows at once',
  async (state) => {
    const { db, batches } = openFailing();
    await sql.raw(failWith).execute(db);
    const rows = [{}, { fails: state }, {}].map((row) => batches.run(JSON.stringify(row)));
    const failed = { reason: { code: state } };
    expect(await Promise.allSettled(rows)).toMatchObject([failed, failed, failed]);
  },
);

test('a row that is cancelled, in the group and then alone, is given up alone; its neighbours succeed', async () => {
  const { db, batches } = openFailing();
  const cancel = async () => {
    const running = sql<{ done: boolean }>`
      select pg_cancel_backend(pid) as done from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and wait_event = 'PgSleep'`;
    await expect.poll(async () => (await running.execute(db)).rows.map(({ done }) => done)).toEqual([true]);
  };
  const outcomes = Promise.allSettled([{}, { wait: 60 }, {}].map((row) => batches.run(JSON.stringify(row))));
  await cancel();
  await cancel();
  expect(await outcomes).toMatchObject([ok, { reason: { code: '57014' } }, ok]);
});

test('the rows of a failed statement are tried again over its connection, not over one each at once', async () => {
  const { db, pool, batches } = openFailing(40);
  await sql.raw(failWith).execute(db);
  const rows = Array.from({ length: 64 }, (_, n) => batches.run(JSON.stringify(n === 32 ? { fails: '57014' } : {})));
  const outcomes = await Promise.allSettled(rows);
  expect(outcomes).toMatchObject(outcomes.map((_, n) => (n === 32 ? { reason: { code: '57014' } } : ok)));
  // It closes no connection that has been idle for less than a minute.
  expect(pool.totalCount).toBe(1);
});

test('a row of a failed statement that is older than twelve seconds is not tried again: 503 unavailable', async () => {
  let now = 0;
  const { db, batches } = openFailing(4, () => now);
  await sql.raw(failWith).execute(db);
  const rows = [{}, { fails: '57014', wait: 0.3 }].map((row) => batches.run(JSON.stringify(row)));
  const late = { reason: { code: 'unavailable', cause: { message: 'no time for another attempt' } } };
  const refused = expect(Promise.allSettled(rows)).resolves.toMatchObject([late, late]);
  await nextTurn();
  await nextTurn();
  now = 12_001;
  await refused;
});

test('the one row that a full group leaves is written beside it, not after it', async () => {
  const { db, pool, close } = connectPool(database.url, 4, () => undefined);
  onTestFinished(close);
  const lock = prepareGrouped<{ locked: string }>(
    'test.lock',
    (rows) => sql`
      select n, case when set_config('lock_timeout', '0', true) = '0' then pg_advisory_xact_lock(lock)::text end as locked
      from rows from (jsonb_to_recordset(${rows}::jsonb) as (lock int)) with ordinality as input (lock, n)`,
  );
  const group = new WriteGroup(pool, lock);
  const { rows } = await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(0)`.execute(trx);
    const rows = Array.from({ length: 64 }, (_, n) => group.run(JSON.stringify({ lock: n })));
    expect(await group.run('{"lock":64}')).toBeDefined();
    return { rows };
  });
  expect(await Promise.all(rows)).toHaveLength(64);
});

/** Takes the lock that each row names. */
const lockEach = prepareGrouped<{ locked: string }>(
  'test.lock-each',
  (rows) => sql`
    select n, pg_advisory_xact_lock(lock)::text as locked
    from rows from (jsonb_to_recordset(${rows}::jsonb) as (lock int)) with ordinality as input (lock, n)`,
);

test('a row that needs a lock of another transaction is refused alone, and waits for the lock in a statement of its own', async () => {
  const { db, pool, close } = connectPool(database.url, 4, () => undefined);
  onTestFinished(close);
  const group = new WriteGroup(pool, lockEach);
  const { alone } = await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(100)`.execute(trx);
    const rows = Array.from({ length: 64 }, (_, n) => group.run(JSON.stringify({ lock: n < 3 ? 100 : n })));
    const outcomes = await Promise.allSettled(rows);
    const refused = { reason: { name: 'LockNotHadError', cause: { code: '55P03' } } };
    expect(outcomes).toMatchObject(outcomes.map((_, n) => (n < 3 ? refused : { value: { locked: '' } })));
    await expect(group.run('{"lock":100}')).rejects.toThrow('lock');
    return { alone: group.runAlone('{"lock":100}') };
  });
  expect(await alone).toBeDefined();
});

test('the wait for a connection is no wait for a lock: the row that needs one is refused alone', async () => {
  const { pool, close } = connectPool(database.url, 1, () => undefined);
  onTestFinished(close);
  const other = connectPool(database.url, 1, () => undefined);
  onTestFinished(other.close);
  let now = 0;
  const group = new WriteGroup(pool, lockEach, { now: () => now });
  await other.db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(100)`.execute(trx);
    const only = await pool.acquire();
    const rows = Promise.allSettled([100, 1].map((lock) => group.run(JSON.stringify({ lock }))));
    await expect.poll(() => pool.waitingCount).toBe(1);
    now = 2_000;
    pool.release(only);
    expect(await rows).toMatchObject([{ reason: { name: 'LockNotHadError' } }, { value: { locked: '' } }]);
  });
});

test('503 — a lock that a row has not had in time is an outage, where the caller does not wait for it', () => {
  expect(isOutage(new LockNotHadError(undefined))).toBe(true);
});

test('a statement that waits for a lock of its table keeps the time limit of the connection, and fails for all its rows', async () => {
  const { db, pool, close } = connectPool(database.url, 4, () => undefined);
  onTestFinished(close);
  await sql`create table if not exists locked_table (n int)`.execute(db);
  let now = 0;
  const insertMany = prepareGrouped<{ done: boolean }>(
    'test.insert-many',
    (rows) => sql`
      with input as (
        select n from rows from (jsonb_to_recordset(${rows}::jsonb) as (a int)) with ordinality as input (a, n)
      ), written as (insert into locked_table select n from input returning n)
      select n, true as done from written`,
  );
  const sent: Statement[] = [];
  const executor: Executor = {
    async send(statement) {
      sent.push(statement);
      try {
        return await pool.send(statement);
      } finally {
        now += 2_000;
      }
    },
  };
  const group = new WriteGroup(executor, insertMany, { now: () => now });
  await db.transaction().execute(async (trx) => {
    await sql`lock table locked_table`.execute(trx);
    const outcomes = await Promise.allSettled([group.run('{}'), group.run('{}')]);
    expect(outcomes).toMatchObject([{ reason: { code: '55P03' } }, { reason: { code: '55P03' } }]);
  });
  expect(sent).toHaveLength(1);
});

test('a database in which every statement times out gets three of them for 64 rows, one at a time', async () => {
  const { db, pool } = openFailing();
  await sql.raw(failWith).execute(db);
  let now = 0;
  let underWay = 0;
  const atOnce: number[] = [];
  const executor: Executor = {
    async send(statement) {
      atOnce.push(++underWay);
      try {
        return await pool.send(statement);
      } finally {
        underWay--;
        // The statement timeout of the service.
        now += 5_000;
      }
    },
  };
  const group = new WriteGroup(executor, fail, { now: () => now });
  const outcomes = await Promise.allSettled(Array.from({ length: 64 }, () => group.run('{"fails":"57014"}')));
  expect(atOnce).toEqual([1, 1, 1]);
  const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? (outcome.reason as { code: string }).code : ''));
  expect(codes).toEqual(['57014', '57014', ...Array.from({ length: 62 }, () => 'unavailable')]);
});

test('what has had no turn within two seconds is 503 unavailable, and nothing is done for it', async () => {
  const { pool, close } = connectPool(database.url, 4, () => undefined);
  onTestFinished(close);
  let now = 0;
  const wait = prepareGrouped<{ waited: string }>(
    'test.wait',
    (rows) => sql`
      select n, pg_sleep(seconds)::text as waited
      from rows from (jsonb_to_recordset(${rows}::jsonb) as (seconds float)) with ordinality as input (seconds, n)`,
  );
  const batches = new WriteGroup(pool, wait, { now: () => now });
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
  const { pool, close } = connectPool('postgres://nobody@127.0.0.1:1/nothing', 4, () => undefined);
  onTestFinished(close);
  const batches = new WriteGroup(pool, divide);
  const outcomes = await Promise.allSettled(Array.from({ length: 500 }, () => batches.run(row(1))));
  expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? (outcome.reason as { code: string }).code : ''))).toEqual([
    ...Array.from({ length: 64 }, () => 'ECONNREFUSED'),
    // Nobody has been asked to do anything for these.
    ...Array.from({ length: 436 }, () => 'unavailable'),
  ]);
});

// The compiler accepts no pool without the bounds on time.
expectTypeOf<TimeoutPool>().toExtend<Executor>();
expectTypeOf<Pool>().not.toExtend<Executor>();

test('a connection is closed after use when its prepared statements have more than 300,000 characters together', async () => {
  const { pool, close } = connectPool(database.url, 2, () => undefined);
  onTestFinished(close);
  const text = `select pg_backend_pid() as pid -- ${'x'.repeat(29_966)}`;
  expect(text).toHaveLength(30_000);
  const pids: unknown[] = [];
  // What is prepared already does not count again.
  for (const name of ['a', 'a', 'a', 'b', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l']) {
    const { rows } = await pool.send({ name: `test.worn-${name}`, text, values: [] });
    pids.push((rows[0] as { pid: number }).pid);
  }
  expect(new Set(pids.slice(0, -1)).size).toBe(1);
  expect(new Set(pids).size).toBe(2);
});
