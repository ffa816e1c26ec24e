/** Filters as PostgreSQL answers them, compared with a model that knows no SQL. `LISTS_SEED` repeats a run. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builder } from '../../src/database/driver/prepared.ts';
import { fieldTypesOf } from '../../src/entity-types/field-types.ts';
import { filterCondition } from '../../src/filter/compile.ts';
import { undeclaredFields, type FieldTypes } from '../../src/filter/fields.ts';
import { bodyLimits } from '../../src/filter/limits.ts';
import { parseFilter } from '../../src/filter/parse.ts';
import { entitySource } from '../../src/filter/source.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { fulfils, type ModelRow, type ModelType, type TypeOf } from '../support/filter-model.ts';
import { storeRows } from '../support/filter-rows.ts';
import { declaredEntity, declaredFields, declaredSchema, filtersOver, openEntity, openNames } from '../support/random-filters.ts';

const seed = Number(process.env['LISTS_SEED'] ?? Date.now() % 1_000_000);
let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`insert into user_account (name, display_name) values ('ada', 'Ada'), ('bob', 'Bob')`);
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const store = (name: string, all: readonly object[]): Promise<ModelRow[]> => storeRows(client, name, all);

/** The keys of the entities called `name` that fulfil the filter, as PostgreSQL says. */
async function keysOf(name: string, filter: unknown, types: FieldTypes): Promise<string[]> {
  const parsed = parseFilter(filter, types, bodyLimits);
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  const query = sql<{ key: string }>`
    select key::text from entity where name = ${name} and ${filterCondition(parsed.filter, entitySource)} order by entity.key`.compile(
    builder,
  );
  const { rows } = await client.query<{ key: string }>(query.sql, [...query.parameters]);
  return rows.map(({ key }) => key);
}

const open: TypeOf = () => 'any';
const typed: TypeOf = (path) => declaredFields[path] ?? (path === 'o' ? 'object' : 'any');
const openFields = Object.fromEntries(openNames.map((name): [string, ModelType] => [name, 'any']));

describe.for([
  ['open', openEntity, filtersOver(openFields), undeclaredFields, open],
  ['declared', declaredEntity, filtersOver(declaredFields), fieldTypesOf(declaredSchema), typed],
] as const)('random filters over fields: %s', ([name, entity, filters, types, typeOf]) => {
  test(`the answers of PostgreSQL and of the model agree (seed ${seed})`, async () => {
    const rows = await store(name, fc.sample(entity, { numRuns: 120, seed }));
    let found = 0;
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const expected = rows.filter((row) => fulfils(row, filter, typeOf)).map(({ $key }) => $key);
        if (expected.length > 0 && expected.length < rows.length) found += 1;
        expect(await keysOf(name, filter, types)).toEqual(expected);
      }),
      { numRuns: 600, seed },
    );
    expect(found).toBeGreaterThan(200);
  });
});

describe('two-valued logic', () => {
  const keys = (filter: object, name = 'logic') => keysOf(name, filter, undeclaredFields);
  let all: string[];
  beforeAll(async () => {
    const rows = await store('logic', [
      { city: 'London' },
      { city: 'Paris' },
      { city: null },
      {},
      { city: ['London'] },
      { city: { a: 1 } },
    ]);
    all = rows.map(({ $key }) => $key);
  });

  test('$ne is exactly what $eq is not: entities without a value are among the answers', async () => {
    const london = await keys({ city: 'London' });
    expect(london).toEqual([all[0]]);
    const others = all.filter((key) => !london.includes(key));
    expect(await keys({ city: { $ne: 'London' } })).toEqual(others);
    expect(await keys({ $not: { city: 'London' } })).toEqual(others);
    expect(await keys({ city: { $nin: ['London'] } })).toEqual(others);
    expect(await keys({ $not: { $and: [{ city: 'London' }, {}] } })).toEqual(others);
  });

  test('null, missing and both are told apart', async () => {
    expect(await keys({ city: null })).toEqual([all[2]]);
    expect(await keys({ city: { $exists: false } })).toEqual([all[3]]);
    expect(await keys({ city: { $empty: true } })).toEqual([all[2], all[3]]);
    expect(await keys({ city: { $exists: true, $ne: null } })).toEqual([all[0], all[1], all[4], all[5]]);
  });

  test('a test below a missing object, or below a text, is a test of a missing field', async () => {
    expect(await keys({ city: { a: 1 } })).toEqual([all[5]]);
    expect(await keys({ city: { a: { $ne: 1 } } })).toEqual(all.slice(0, 5));
    expect(await keys({ city: { 0: 'London' } })).toEqual([]);
  });
});

describe('values', () => {
  test.for<[string, object[], object, number[]]>([
    ['int64 beyond doubles', [{ i: '9007199254740992' }, { i: '9007199254740993' }], { i: '9007199254740993' }, [1]],
    ['decimals by value', [{ d: '1.5' }, { d: '1.50' }, { d: '1.51' }], { d: { $lte: '1.500' } }, [0, 1]],
    ['instants by value', [{ t: '2026-01-01T12:00:00+02:00' }, { t: '2026-01-01T12:00:00Z' }], { t: '2026-01-01T10:00:00Z' }, [0]],
    ['texts by code point', [{ s: 'z' }, { s: 'Z' }, { s: 'é' }, { s: '\u{1F600}' }, { s: '\uFFFD' }], { s: { $gt: 'é' } }, [3, 4]],
    ['% and _ as themselves', [{ s: '100%_a' }, { s: '100xxa' }], { s: { $prefix: '100%_' } }, [0]],
  ])('%s', async ([name, rows, filter, expected]) => {
    const keys = (await store(name, rows)).map(({ $key }) => $key);
    expect(await keysOf(name, filter, fieldTypesOf(declaredSchema))).toEqual(expected.map((index) => keys[index]));
  });

  test('stored before the type was declared, they match no test of the type, and raise no error', async () => {
    const wrong = [
      'x',
      '',
      'now',
      'infinity',
      '2026-02-30T00:00:00Z',
      '0000-01-01T00:00:00Z',
      '9'.repeat(40),
      'NaN',
      5,
      true,
      null,
      [],
      {},
    ];
    const names = ['s', 'n', 'i', 'd', 't', 'day', 'b', 'e'];
    const values: Record<string, unknown> = {
      s: 'y',
      n: 1,
      i: '1',
      d: '1',
      t: '2026-01-01T00:00:00Z',
      day: '2026-01-01',
      b: false,
      e: 'red',
    };
    const stored = await store(
      'wrong',
      wrong.map((value) => Object.fromEntries(names.map((name) => [name, value]))),
    );
    for (const name of names) {
      for (const test of [{ $eq: values[name] }, { $in: [values[name]] }])
        expect(await keysOf('wrong', { [name]: test }, fieldTypesOf(declaredSchema)), name).toEqual([]);
      expect(await keysOf('wrong', { [name]: { $ne: values[name] } }, fieldTypesOf(declaredSchema)), name).toHaveLength(stored.length);
    }
  });

  test('of a thousand hostile texts, as names and as values, none becomes SQL (rule 90)', async () => {
    const hostile = [
      "'",
      "''",
      '"',
      '\\',
      '$1',
      '${a}',
      '--',
      '/*',
      ';drop table entity',
      "'; select 1; --",
      '%',
      '_',
      '{}',
      '{a,b}',
      '}',
      '::text',
    ];
    const texts = Array.from(
      { length: 1_000 },
      (_, index) => `${hostile[index % hostile.length]}${hostile[(index * 7) % hostile.length]}${index}`,
    );
    const rows = await store(
      'hostile',
      texts.map((text) => ({ v: text, [`_${text}`]: 1 })),
    );
    for (let start = 0; start < texts.length; start += 50) {
      const some = texts.slice(start, start + 50);
      const expected = rows.slice(start, start + 50).map(({ $key }) => $key);
      expect(await keysOf('hostile', { v: { $in: some } }, undeclaredFields)).toEqual(expected);
      expect(await keysOf('hostile', { $or: some.map((text) => ({ [`_${text}`]: 1 })) }, undeclaredFields)).toEqual(expected);
    }
  });

  test('the text of a statement has no text of the caller (rule 90)', () => {
    const parsed = parseFilter(
      { city: 'London', Nested: { Part: { $prefix: 'West' } }, $createdBy: 'Mallory' },
      undeclaredFields,
      bodyLimits,
    );
    if ('faults' in parsed) throw new Error('refused');
    const { sql: text } = filterCondition(parsed.filter, entitySource).compile(builder);
    for (const own of ['city', 'London', 'Nested', 'Part', 'West', 'Mallory']) expect(text).not.toContain(own);
  });
});
