/** Which statements PostgreSQL keeps under a name. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { connectPool } from '../../../src/database/driver/pool.ts';
import { builder, prepare } from '../../../src/database/driver/prepared.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const double = prepare<{ n: number }, { doubled: number }>('test.double', (value) =>
  sql<{ doubled: number }>`select ${value('n')}::int * 2 as doubled`.compile(builder),
);
const triple = prepare<{ n: number }, { tripled: number }>('test.triple', (value) =>
  sql<{ tripled: number }>`select ${value('n')}::int * 3 as tripled`.compile(builder),
);

/** One connection, and what it keeps under which name. */
function open() {
  const { db, pool, close } = connectPool(database.url, 1, () => undefined);
  onTestFinished(close);
  const names = async () =>
    (await sql<{ name: string }>`select name from pg_prepared_statements order by name`.execute(db)).rows.map(({ name }) => name);
  return { db, pool, names };
}

test('a prepared statement has its name, over the pool as well as through Kysely', async () => {
  const { db, pool, names } = open();
  expect(await double(pool, { n: 21 })).toEqual([{ doubled: 42 }]);
  expect((await db.executeQuery(triple.query({ n: 2 }))).rows).toEqual([{ tripled: 6 }]);
  expect(await names()).toEqual(['test.double', 'test.triple']);
});

test('any other statement has none, however many there are', async () => {
  const { db, pool, names } = open();
  for (let n = 0; n < 400; n++) await sql`select ${n}::int as ${sql.ref(`column${n}`)}`.execute(db);
  await db.selectFrom('user_account').where('name', '=', 'ada').select('id').execute();
  expect(await names()).toEqual([]);
  await double(pool, { n: 1 });
  expect(await names()).toEqual(['test.double']);
});

test('two statements cannot have one name', () => {
  expect(() => prepare('test.double', () => sql`select 1`.compile(builder))).toThrow('two prepared statements are called test.double');
});
