import { sql } from 'kysely';
import { afterAll, beforeAll, describe, test, type TestContext } from 'vitest';
import { connectPool } from '../../../src/database/driver/pool.ts';
import { isOutage, inTransaction, withUnknownOutcome } from '../../../src/database/failure.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { Proxy } from '../../support/proxy.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** A pool with one connection made, and what can clamp it off. */
async function open({ onTestFinished }: TestContext, parameters = '') {
  const proxy = await Proxy.open(database.url);
  const connection = connectPool(`${proxy.urlOf(database.url)}${parameters}`, 3, () => undefined);
  onTestFinished(async () => {
    proxy.abandon();
    await connection.close();
    await proxy.close();
  });
  await ask.execute(connection.db);
  return { proxy, ...connection };
}

const ask = sql<{ one: number }>`select 1 as one`;

describe('a server that says nothing any more on a connection of the pool', { concurrent: true, timeout: 20_000 }, () => {
  test('ends a transaction as an outage, and the connection with it (rules 76 and 88)', async (context) => {
    const { expect } = context;
    const { proxy, db, pool } = await open(context);
    const transaction = inTransaction(db, async (trx) => {
      await ask.execute(trx);
      proxy.stall();
      await ask.execute(trx);
    });
    await expect(transaction).rejects.toSatisfy(isOutage);
    expect(pool.totalCount).toBe(0);
    proxy.abandon();
    expect((await ask.execute(db)).rows).toEqual([{ one: 1 }]);
  });

  test('leaves it open whether a COMMIT was received (rule 77)', async (context) => {
    const { proxy, db } = await open(context);
    const transaction = inTransaction(db, async (trx) => {
      await ask.execute(trx);
      proxy.stall();
    });
    await context.expect(transaction).rejects.toMatchObject({ code: 'outcome-unknown' });
  });

  test('leaves it open whether a single write was received (rule 77)', async (context) => {
    const { proxy, db, pool } = await open(context);
    proxy.stall();
    await context.expect(withUnknownOutcome(ask.execute(db))).rejects.toMatchObject({ code: 'outcome-unknown' });
    context.expect(pool.totalCount).toBe(0);
  });

  test('is waited for as long as the address of the database says (rule 88)', async (context) => {
    const { expect } = context;
    const [{ proxy, db, pool }, other] = await Promise.all([open(context, '?query_timeout=1500'), open(context)]);
    proxy.stall();
    other.proxy.stall();
    const order: string[] = [];
    const waits = [
      ask.execute(other.db).catch(() => order.push('as long as always')),
      expect(ask.execute(db))
        .rejects.toSatisfy(isOutage)
        .then(() => order.push('1.5 s')),
    ];
    await Promise.all(waits);
    expect(order).toEqual(['1.5 s', 'as long as always']);
    expect(pool.totalCount).toBe(0);
  });

  test('is not thought to be gone while it answers others: their connections stay, as when a commit waits for a standby', async (context) => {
    const { expect } = context;
    const { pool, reads, close } = connectPool(`${database.url}?query_timeout=1000`, 8, () => undefined);
    context.onTestFinished(close);
    const processes = async () => {
      const { rows } = await reads.send({ name: undefined, text: 'select pg_backend_pid() as pid', values: [] });
      return (rows[0] as { pid: number }).pid;
    };
    await expect.poll(async () => [await processes(), reads.connections.open]).toEqual([expect.any(Number), 2]);
    const before = new Set([await processes(), await processes(), await processes()]);
    const outcomes: unknown[] = [];
    const waiting = pool.query('select pg_sleep(4)').catch((error: unknown) => outcomes.push(error));
    const after = new Set<number>();
    while (outcomes.length === 0) after.add(await processes());
    await waiting;
    expect(outcomes).toEqual([expect.toSatisfy(isOutage)]);
    for (let n = 0; n < 3; n++) after.add(await processes());
    expect(after).toEqual(before);
    expect(reads.connections.open).toBe(2);
  });

  test('is not thought to have answered when a value could not be sent', async (context) => {
    const { expect } = context;
    const { proxy, db } = await open(context, '?query_timeout=1500');
    const circular: Record<string, unknown> = {};
    circular['itself'] = circular;
    await db.connection().execute(async (one) => {
      await expect(sql`select ${circular}::jsonb`.execute(one)).rejects.toThrow('circular');
      proxy.stall();
      await expect(ask.execute(one)).rejects.toSatisfy(isOutage);
    });
  });
});
