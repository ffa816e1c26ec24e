/** What PostgreSQL does to answer the service. */
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql, type CompiledQuery } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectPool, type Connection } from '../../src/database/driver/pool.ts';
import type { Database } from '../../src/database/tables.ts';
import { insertSession } from '../../src/sessions/insert.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let connection: Connection;

beforeAll(async () => {
  database = await createDatabase();
  connection = connectPool(database.url, 8, () => undefined);
});
afterAll(async () => {
  await connection.close();
  await database.drop();
});

const planOf = async (statement: string) => {
  const { rows } = await sql.raw<Record<string, string>>(`explain (generic_plan) ${statement}`).execute(connection.db);
  return rows.map((row) => Object.values(row)[0]).join('\n');
};

test('a statement planned while its table is empty goes by the index, and so stays quick when the table grows before it is planned again', async () => {
  // As autovacuum does, after which PostgreSQL no longer takes an empty table for one that it knows nothing of.
  await sql`analyze`.execute(connection.db);
  for (const condition of [
    'session where user_id = 1 and revoked_at is null',
    `session where token_hash = ''`,
    `user_account where name = 'ada'`,
    `login_attempt where kind = 'account' and subject = ''`,
    'role_grant where role_id = 1',
    `entity where name = 'customer' and key = 1`,
  ]) {
    const plan = await planOf(`select * from ${condition}`);
    expect(plan).toMatch(/Index/);
    expect(plan).not.toMatch(/Seq Scan/);
  }
});

test('every connection is set so, those for reads too, whatever the address of the database says of others', async () => {
  const settings = `select current_setting('enable_seqscan') as seqscan, current_setting('jit') as jit`;
  const url = new URL(database.url);
  url.searchParams.set('options', '-c search_path=public');
  const other = connectPool(url.href, 8, () => undefined);
  for (const { pool, reads } of [connection, other]) {
    expect((await pool.query(settings)).rows).toEqual([{ seqscan: 'off', jit: 'off' }]);
    const read = async () => (await reads.send({ name: undefined, text: settings, values: [] })).rows;
    await expect.poll(async () => (await read(), reads.connections.open)).toBeGreaterThan(0);
    expect(await read()).toEqual([{ seqscan: 'off', jit: 'off' }]);
  }
  await other.close();
});

test('opening a session takes no longer for the latest of many users', async () => {
  await sql`insert into user_account (name, display_name) select 'user' || n, 'User' from generate_series(1, 5000) n`.execute(
    connection.db,
  );
  await sql`insert into profile (name, label) select 'profile' || n, 'Profile' from generate_series(1, 5000) n`.execute(connection.db);
  await sql`insert into user_profile (user_id, profile_id, is_default)
    select user_account.id, profile.id, true from user_account join profile on replace(user_account.name, 'user', 'profile') = profile.name`.execute(
    connection.db,
  );
  await sql`analyze`.execute(connection.db);
  const plan = await planOf(await statementOf((db) => insertSession(db, session, lifetimes, { origin, userName: 'ada', events: [] })));
  expect(plan).toMatch(/Nested Loop/);
  expect(plan).not.toMatch(/Merge|Hash|Seq Scan/);
});

const lifetimes = { sessionIdleSeconds: 1_800, sessionAbsoluteSeconds: 28_800 };
const origin = { requestId: '', address: '', userAgent: undefined };
const session = {
  tokenHash: Buffer.alloc(32),
  userId: '1',
  credentialVersion: 1,
  method: 'password',
  issuer: null,
  scopes: null,
  locale: undefined,
  authenticatedAt: undefined,
} as const;

/** The text of the statement that `work` runs, which gets no rows. */
async function statementOf(work: (db: Kysely<Database>) => Promise<unknown>): Promise<string> {
  const queries: CompiledQuery[] = [];
  const db = new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void queries.push(query),
  });
  await work(db);
  return queries[0]?.sql ?? '';
}
