/**
 * Filters with variables, fields and times as operands: a caller's, whose values are put in their place, and a rule's, whose values come with the statement. Both
 * are compared with a model that knows no SQL. `LISTS_SEED` repeats a run.
 */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builder } from '../../src/database/driver/prepared.ts';
import { fieldTypesOf } from '../../src/entity-types/field-types.ts';
import { filterCondition } from '../../src/filter/compile.ts';
import { undeclaredFields, type FieldTypes } from '../../src/filter/fields.ts';
import { bodyLimits, parseFilter } from '../../src/filter/parse.ts';
import { entitySource, sqlTypes } from '../../src/filter/source.ts';
import { withVariables, type Variables, type VariableSource, type VariableType } from '../../src/filter/variables.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { fulfils, type ModelRow, type ModelType, type ModelVariables, type TypeOf } from '../support/filter-model.ts';
import { storeRows } from '../support/filter-rows.ts';
import {
  declaredEntity,
  declaredFields,
  declaredSchema,
  filtersOver,
  openEntity,
  openNames,
  type Operands,
} from '../support/random-filters.ts';

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

/** Two variables and a list of each type; a caller lacks some of them. */
const types: Record<string, VariableType> = {};
const values: Record<string, fc.Arbitrary<string | number | boolean>> = {
  string: fc.constantFrom('', 'a', 'ab', 'é', "it's", '%'),
  number: fc.constantFrom(0, 1, 1.5, -2, 1e21),
  int64: fc.constantFrom('0', '-5', '9007199254740993', '9223372036854775807'),
  decimal: fc.constantFrom('0', '1.50', '9', '10000000000000000000000000.3'),
  'date-time': fc.constantFrom('2026-01-01T10:00:00Z', '2026-01-01T12:00:00+02:00', '2026-01-01T10:00:00.5Z'),
  date: fc.constantFrom('2026-01-01', '9999-12-31'),
  boolean: fc.boolean(),
  enum: fc.constantFrom('red', 'green'),
};
for (const type of Object.keys(values) as (keyof typeof sqlTypes)[]) {
  types[`u.${type}`] = type;
  types[`v.${type}`] = type;
  types[`l.${type}`] = { items: type };
}

const callers: fc.Arbitrary<Record<string, unknown>> = fc.record(
  Object.fromEntries(
    Object.entries(values).flatMap(([type, value]) => [
      [`u.${type}`, fc.option(value, { nil: undefined, freq: 3 })],
      [`v.${type}`, fc.option(value, { nil: undefined, freq: 3 })],
      [`l.${type}`, fc.option(fc.array(value, { maxLength: 3 }), { nil: undefined, freq: 3 })],
    ]),
  ),
);

const variablesWith = (own: Record<string, unknown>): Variables => ({
  names: Object.keys(types),
  typeOf: (name) => types[name],
  valueOf: (name) => own[name] as string | undefined,
  timeZone: 'UTC',
});

/** The values as a statement brings them. */
const sourceOf = (own: Record<string, unknown>): VariableSource => ({
  value(name) {
    const type = types[name] ?? 'string';
    const value = own[name];
    if (typeof type === 'object') return sql`${Array.isArray(value) ? value.map(String) : null}::${sql.raw(sqlTypes[type.items])}[]`;
    return sql`${value === undefined ? null : String(value)}::${sql.raw(sqlTypes[type])}`;
  },
  timeZone: sql`null::text`,
});

const modelOf = (own: Record<string, unknown>): ModelVariables =>
  Object.fromEntries(
    Object.entries(types).map(([name, type]) => [
      name,
      { type: (typeof type === 'object' ? type.items : type) as ModelType, value: own[name] },
    ]),
  );

async function keysOf(name: string, condition: ReturnType<typeof filterCondition>): Promise<string[]> {
  const query = sql<{ key: string }>`select key::text from entity where name = ${name} and ${condition} order by entity.key`.compile(
    builder,
  );
  const { rows } = await client.query<{ key: string }>(query.sql, [...query.parameters]);
  return rows.map(({ key }) => key);
}

function parsed(filter: unknown, fields: FieldTypes) {
  const read = parseFilter(filter, fields, bodyLimits, variablesWith({}));
  if ('faults' in read) throw new Error(JSON.stringify([filter, read.faults]));
  return read.filter;
}

/** The keys as a caller's own filter finds them, and as a rule with the same caller does. */
async function bothWays(name: string, filter: unknown, fields: FieldTypes, own: Record<string, unknown>): Promise<string[]> {
  const read = parsed(filter, fields);
  const bound = await keysOf(name, filterCondition(withVariables(read, variablesWith(own)), entitySource));
  expect(await keysOf(name, filterCondition(read, entitySource, sourceOf(own)))).toEqual(bound);
  return bound;
}

const typed: TypeOf = (path) => declaredFields[path] ?? (path === 'o' ? 'object' : 'any');
const openFields = Object.fromEntries(openNames.map((name): [string, ModelType] => [name, 'any']));

const operandsOf = (fields: Readonly<Record<string, ModelType>>): Operands =>
  Object.fromEntries(
    [...Object.keys(values), 'any'].map((type) => {
      const same = Object.keys(fields).filter((name) => fields[name] === type);
      const known = type === 'any' ? ['string', 'number', 'int64', 'decimal', 'date'] : [type];
      const scalars = [
        ...known.flatMap((one) => [`u.${one}`, `v.${one}`]).map(($var) => ({ $var })),
        ...same.map(($field) => ({ $field })),
      ];
      return [type, { scalars, lists: known.map((one) => ({ $var: `l.${one}` })) }];
    }),
  );

describe.for([
  ['open', openEntity, filtersOver(openFields, operandsOf(openFields)), undeclaredFields, () => 'any'],
  ['declared', declaredEntity, filtersOver(declaredFields, operandsOf(declaredFields)), fieldTypesOf(declaredSchema), typed],
] as const satisfies [string, unknown, unknown, FieldTypes, TypeOf][])(
  'random filters with operands: %s',
  ([name, entity, filters, fields, typeOf]) => {
    test(`a caller, a rule and the model agree, whichever variables are missing (seed ${seed})`, async () => {
      const rows = await storeRows(client, name, fc.sample(entity, { numRuns: 60, seed }));
      let [found, missing] = [0, 0];
      await fc.assert(
        fc.asyncProperty(filters, callers, async (filter, own) => {
          const expected = rows.filter((row) => fulfils(row, filter, { typeOf, variables: modelOf(own) })).map(({ $key }) => $key);
          if (expected.length > 0 && expected.length < rows.length) found += 1;
          const names = [...JSON.stringify(filter).matchAll(/"\$var":"([^"]+)"/g)].map(([, one = '']) => one);
          if (names.some((one) => own[one] === undefined)) missing += 1;
          expect(await bothWays(name, filter, fields, own)).toEqual(expected);
        }),
        { numRuns: 500, seed },
      );
      expect(found).toBeGreaterThan(100);
      expect(missing).toBeGreaterThan(50);
    });
  },
);
