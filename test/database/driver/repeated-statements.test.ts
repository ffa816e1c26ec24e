/** Names of statements that are built for one request and come again. */
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { builder } from '../../../src/database/driver/prepared.ts';
import { RepeatedStatements } from '../../../src/database/driver/repeated-statements.ts';
import { openStore, type PostgresStore } from '../../../src/database/port.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
afterEach(() => vi.useRealTimers());

/** The name of the text when it comes for the second time. */
function nameOfSecond(statements: RepeatedStatements, text: string): string | undefined {
  expect(statements.nameOf(text)).toBe(undefined);
  return statements.nameOf(text);
}

const textsOf = (word: string, count: number) => Array.from({ length: count }, (_, index) => `${word} ${index}`);

test('a text has a name from the second time on, which is its own and the same in each process', () => {
  const [statements, others] = [new RepeatedStatements(), new RepeatedStatements()];
  const name = nameOfSecond(statements, 'select 1');
  expect(name).toMatch(/^repeated\.[0-9a-f]{32}$/);
  expect([statements.nameOf('select 1'), nameOfSecond(others, 'select 1')]).toEqual([name, name]);
  expect(nameOfSecond(statements, 'select 2')).toMatch(/^repeated\./);
  expect(nameOfSecond(others, 'select 2')).not.toBe(name);
});

test('40 texts have names at once, and one that is not used for a minute makes room', () => {
  vi.useFakeTimers();
  const statements = new RepeatedStatements();
  const names = textsOf('first', 40).map((text) => nameOfSecond(statements, text));
  expect(new Set(names).size).toBe(40);
  expect(names).not.toContain(undefined);
  expect(nameOfSecond(statements, 'one more')).toBe(undefined);
  vi.advanceTimersByTime(59_000);
  expect(statements.nameOf('first 7')).toBe(names[7]);
  expect(statements.nameOf('one more')).toBe(undefined);
  vi.advanceTimersByTime(2_000);
  const next = textsOf('second', 40).map((text) => nameOfSecond(statements, text));
  expect(next.filter((name) => name !== undefined)).toHaveLength(39);
  expect(statements.nameOf('first 7')).toBe(names[7]);
});

test('a text of more than 4,096 characters has none, and all that have one have 60,000 together', () => {
  const statements = new RepeatedStatements();
  expect(nameOfSecond(statements, 'x'.repeat(4_097))).toBe(undefined);
  const names = textsOf('x'.repeat(3_997), 20).map((text) => nameOfSecond(statements, text));
  expect(names.filter((name) => name !== undefined)).toHaveLength(15);
  expect(nameOfSecond(statements, 'short')).toMatch(/^repeated\./);
});

test('a name that is free makes room for as many characters as it had', () => {
  vi.useFakeTimers();
  const statements = new RepeatedStatements();
  for (const text of textsOf('x'.repeat(3_997), 15)) nameOfSecond(statements, text);
  expect(nameOfSecond(statements, 'y'.repeat(4_096))).toBe(undefined);
  vi.advanceTimersByTime(60_001);
  expect(statements.nameOf('y'.repeat(4_096))).toMatch(/^repeated\./);
  expect(nameOfSecond(statements, 'z'.repeat(4_096))).toMatch(/^repeated\./);
});

interface Prepared {
  custom: number;
  generic: number;
}

/** How often the connection of the store has planned the statement for its values, and for any. */
async function preparedLike(store: PostgresStore, part: string): Promise<Prepared[]> {
  const { rows } = await sql<Prepared>`
    select custom_plans::int as custom, generic_plans::int as generic from pg_prepared_statements
    where statement like ${`%${part}%`} and name like 'repeated.%'`.execute(store.db);
  return rows;
}

test.for<[string, (store: PostgresStore, text: string) => Promise<unknown>, Prepared[]]>([
  ['alone', (store, text) => store.queryRepeated(statementOf(text)), [{ custom: 5, generic: 4 }]],
  ['in a transaction', (store, text) => store.readOnly(1_000, (run) => run(statementOf(text), 'by-index')), [{ custom: 5, generic: 4 }]],
  ['in a transaction, planned for its values', (store, text) => store.readOnly(1_000, (run) => run(statementOf(text))), []],
  ['of one request', (store, text) => store.query(statementOf(text)), []],
])('PostgreSQL plans a statement that comes ten times: %s', async ([title, run, expected]) => {
  const store = openStore(database.url, 1, () => undefined);
  onTestFinished(() => store.close());
  const part = title.replaceAll(' ', '_');
  for (let done = 0; done < 10; done++) expect(await run(store, part)).toEqual([{ name: 'ada' }]);
  expect(await preparedLike(store, part)).toEqual(expected);
});

const statementOf = (part: string) =>
  sql<{ name: string }>`select ${'ada'}::text as name from (select 1) as ${sql.ref(part)}`.compile(builder);
