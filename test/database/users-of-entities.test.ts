/** Entities name users without a foreign key; a trigger of `user_account` checks what one would (decision 185). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pool } from 'pg';
import { createDatabase, openPool, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createDatabase();
  pool = openPool(database.url);
  await pool.query(`insert into user_account (name, display_name) select name, name from unnest('{ada,bob,eve}'::text[]) as name`);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const insert = `insert into entity (name, fields, created_by, updated_by) values ('note', '{}', $1, $2)`;

test('a user without entities can be deleted or renamed, and one whose name entities have cannot', async () => {
  await pool.query(insert, ['ada', 'bob']);
  expect((await pool.query(`delete from user_account where name = 'eve'`)).rowCount).toBe(1);
  for (const [name, change] of [
    ['ada', `delete from user_account where name = 'ada'`],
    ['bob', `update user_account set name = 'bobby' where name = 'bob'`],
  ] as const)
    await expect(pool.query(change)).rejects.toMatchObject({ code: '23503', message: `user ${name} has created or updated entities` });
  expect((await pool.query(`select name from user_account order by name`)).rows).toEqual([{ name: 'ada' }, { name: 'bob' }]);
});

test('the deletion of a user waits for an entity that is being created', async () => {
  await pool.query(`insert into user_account (name, display_name) values ('fay', 'Fay')`);
  const creating = await pool.connect();
  await creating.query('begin');
  await creating.query(insert, ['fay', 'fay']);
  const deleted = pool.query(`delete from user_account where name = 'fay'`).catch((error: unknown) => error);
  const waiting = `select count(*)::int as waiting from pg_locks where not granted and relation = 'entity'::regclass and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(async () => (await pool.query<{ waiting: number }>(waiting)).rows[0]?.waiting).toBe(1);
  await creating.query('commit');
  creating.release();
  expect(await deleted).toMatchObject({ code: '23503' });
});
