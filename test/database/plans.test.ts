/** What PostgreSQL does to answer the service. */
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
// Makes all prepared statements.
import '../../src/app.ts';
import { connectPool, type Connection } from '../../src/database/driver/pool.ts';
import { preparedStatements } from '../../src/database/driver/statement-names.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { knownMigrations } from '../../src/database/migration-files.ts';
import { analyzeGrownTables } from '../../src/database/statistics.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { execute, undoLaterMigrations } from '../support/sql.ts';

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

/** The tables that grow with use and that requests read. Roles, grants and profiles are few. */
const growing = [
  'user_account',
  'user_profile',
  'identity',
  'session',
  'superseded_token',
  'api_key',
  'entity',
  'idempotency',
  'login_attempt',
];

/** A node that reads a table, or an index of it without a condition that says where to begin. */
const wholeScan = /(?<kind>Seq|Index(?: Only)?) Scan (?:Backward )?(?:using \w+ )?on (?<table>\w+)[^\n]*(?!\n *Index Cond)(?:\n|$)/g;

/** What the prepared statements read as a whole of growing tables, as `statement: Seq Scan on table`. */
async function wholeScans(): Promise<string[]> {
  // Other test files, which run in this process too, prepare statements of their own under names with this prefix.
  const statements = [...preparedStatements()].filter(([name]) => !name.startsWith('test.'));
  expect(statements.length).toBeGreaterThan(10);
  const plans = await Promise.all(statements.map(async ([name, text]) => ({ name, plan: await planOf(text) })));
  return plans.flatMap(({ name, plan }) =>
    [...plan.matchAll(wholeScan)].flatMap(({ groups: { kind = '', table = '' } = {} }) =>
      growing.includes(table) ? [`${name}: ${kind} Scan on ${table}`] : [],
    ),
  );
}

/** Adds users with a row in each growing table until there are `count`. */
async function fillTo(count: number): Promise<void> {
  const { db } = connection;
  const { rows } = await sql<{ users: number }>`select count(*)::int as users from user_account`.execute(db);
  const n = sql.raw(`generate_series(${(rows[0]?.users ?? 0) + 1}, ${count}) as n`);
  const hash = sql`sha256(n::text::bytea)`;
  for (const inserted of [
    sql`user_account (name, display_name) select 'user' || n, 'User' from ${n}`,
    sql`user_profile (user_id, profile_id, is_default) select n, (select id from profile), true from ${n}`,
    sql`identity (issuer, subject, user_id) select 'https://issuer.example', n, n from ${n}`,
    sql`session (token_hash, user_id, method, locale, credential_version, idle_expires_at, expires_at)
      select ${hash}, n, 'password', 'en', 1, now() + interval '1 hour', now() + interval '1 hour' from ${n}`,
    sql`superseded_token (token_hash, session_id, refreshed) select ${hash}, id, true from ${n} join session on user_id = n`,
    sql`api_key (id, key_hash, user_id, name, expires_at)
      select lpad(n::text, 12, '0'), ${hash}, n, 'key', now() + interval '1 hour' from ${n}`,
    sql`entity (name, fields, created_by, updated_by) select 'customer', jsonb_build_object('n', n), 'user' || n, 'user' || n from ${n}`,
    sql`idempotency (user_name, entity, key, fingerprint, entity_key) select 'user' || n, 'customer', 'key', ${hash}, n from ${n}`,
    sql`login_attempt (kind, subject) select 'account', ${hash} from ${n}`,
  ])
    await sql`insert into ${inserted}`.execute(db);
}

test('in a new database statements go by an index, because nothing has analysed its empty tables', async () => {
  const { rows } = await sql<{
    name: string;
  }>`select relname as name from pg_class where relname = any(${growing}) and reltuples >= 0`.execute(connection.db);
  expect(rows).toEqual([]);
  expect((await wholeScans()).filter((scan) => scan.includes('Seq Scan'))).toEqual([]);
});

test('a table of one page is read as a whole, also where an index exists', async () => {
  await sql`insert into profile (name, label) values ('reader', 'Reader')`.execute(connection.db);
  await fillTo(20);
  await sql`analyze`.execute(connection.db);
  expect(await wholeScans()).toEqual(expect.arrayContaining(['entity.find: Seq Scan on entity', 'session.find: Seq Scan on session']));
  expect(await analyzeGrownTables(connection.db)).toEqual([]);
});

test('a plan kept from when the table had one page is replaced when the table has grown', async () => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(() => client.end());
  const find = { name: 'find', text: 'select fields from entity where name = $1 and key = $2', values: ['customer', '1'] };
  // PostgreSQL decides after five runs whether it keeps a plan for all values.
  for (let run = 0; run < 10; run++) await client.query(find);
  const keptPlan = async () => {
    const { rows } = await client.query<Record<string, string>>(`explain execute find('customer', 1)`);
    return rows.map((row) => Object.values(row)[0]).join('\n');
  };
  expect(await keptPlan()).toMatch(/Seq Scan on entity/);

  await fillTo(5_000);
  expect(await keptPlan()).toMatch(/Seq Scan on entity/);
  expect((await analyzeGrownTables(connection.db)).toSorted()).toEqual(growing.toSorted());
  expect(await keptPlan()).toMatch(/Index Scan using entity_pkey/);
});

test('in tables of 5,000 rows every statement goes by an index, and they are not analysed again before they have doubled', async () => {
  expect(await wholeScans()).toEqual([]);
  expect(await analyzeGrownTables(connection.db)).toEqual([]);
  await fillTo(9_000);
  expect(await analyzeGrownTables(connection.db)).toEqual([]);
  await fillTo(12_000);
  expect((await analyzeGrownTables(connection.db)).length).toBeGreaterThan(5);
  expect(await wholeScans()).toEqual([]);
});

test('companion tables that have grown are analysed too, since a list that comes again keeps its plan', async () => {
  const { db } = connection;
  onTestFinished(() => execute(database.url, 'drop table entity_data.x1'));
  await execute(database.url, 'create table entity_data.x1 (key bigint primary key, c1 text)');
  const fill = (from: number, to: number) =>
    execute(database.url, `insert into entity_data.x1 select n, repeat('x', 40) from generate_series(${from}, ${to}) as n`);
  await fill(1, 20);
  await sql`analyze entity_data.x1`.execute(db);
  expect(await analyzeGrownTables(db)).toEqual([]);
  await fill(21, 5_000);
  expect(await analyzeGrownTables(db)).toEqual(['entity_data.x1']);
  expect(await analyzeGrownTables(db)).toEqual([]);
});

test('a service analyses tables that have grown by itself', async () => {
  const service = await TestService.start();
  onTestFinished(() => service.stop());
  const { db } = service;
  await sql`insert into login_attempt (kind, subject) select 'account', sha256(n::text::bytea) from generate_series(1, 5000) n`.execute(db);
  const analysed = sql<{ rows: number }>`select reltuples::int as rows from pg_class where relname = 'login_attempt'`;
  await expect.poll(async () => (await analysed.execute(db)).rows, { timeout: 20_000 }).toEqual([{ rows: 5_000 }]);
});

test('migrations analyse filled tables and leave empty ones alone', async () => {
  const other = await createDatabase();
  onTestFinished(() => other.drop());
  await execute(other.url, `insert into user_account (name, display_name) select 'user' || n, 'User' from generate_series(1, 40) n`);
  await execute(other.url, undoLaterMigrations);
  expect(await migrateDatabase(other.url)).toEqual((await knownMigrations()).filter((name) => name > '0011'));
  const { db, close } = connectPool(other.url, 1, () => undefined);
  onTestFinished(close);
  const { rows } = await sql`
    select relname, reltuples::int from pg_class where relname in ('user_account', 'entity', 'session') order by relname`.execute(db);
  expect(rows).toEqual([
    { relname: 'entity', reltuples: -1 },
    { relname: 'session', reltuples: -1 },
    { relname: 'user_account', reltuples: 40 },
  ]);
});

test('no connection changes how PostgreSQL plans', async () => {
  const changed = `select name from pg_settings where name in ('enable_seqscan', 'jit', 'plan_cache_mode') and source <> 'default'`;
  const { pool, reads } = connection;
  expect((await pool.query(changed)).rows).toEqual([]);
  const read = async () => (await reads.send({ name: undefined, text: changed, values: [] })).rows;
  await expect.poll(async () => (await read(), reads.connections.open)).toBeGreaterThan(0);
  expect(await read()).toEqual([]);
});
