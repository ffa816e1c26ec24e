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
import { bodyLimits } from '../../src/filter/limits.ts';
import { parseFilter } from '../../src/filter/parse.ts';
import { entitySource, sqlTypes } from '../../src/filter/source.ts';
import { not, type Filter } from '../../src/filter/syntax.ts';
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
    const value = own[name] as string | number | boolean | undefined | readonly string[];
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

describe('references and missing variables', () => {
  const projects = Array.from({ length: 6 }, (_, index) => ({ public: index === 0, dept: index % 2 === 0 ? 'a' : 'b' }));
  const fields: FieldTypes = {
    ...undeclaredFields,
    referrerOf: (reference) =>
      reference === 'member.project'
        ? { name: 'member', by: ['project'], fields: undeclaredFields, lackedIndex: () => undefined }
        : undefined,
  };
  let rows: ModelRow[];
  let members: ModelRow[];

  beforeAll(async () => {
    rows = await storeRows(client, 'project', projects);
    const users = ['ada', 'bob', 'eve', 'ada', 'bob', null];
    members = await storeRows(
      client,
      'member',
      users.map((user, index) => ({ project: rows[index % 4]?.$key, user, role: index % 3 === 0 ? 'lead' : 'guest' })),
    );
  });

  /** The filter with look-ups in place of `$some`, as a statement has them. */
  function withLookups(filter: Filter): Filter {
    switch (filter.kind) {
      case 'not':
        return not(withLookups(filter.of));
      case 'all':
      case 'any':
        return { ...filter, of: filter.of.map(withLookups) };
      case 'some': {
        const of = withLookups(filter.of);
        return {
          kind: 'lookup',
          name: 'member',
          field: ['$key'],
          type: 'int64',
          of,
          source: entitySource,
          tests: 1,
          exists: (key, condition) => sql<boolean>`exists (select from (select ${key} as key) as reference cross join lateral (
            select entity.* from entity where entity.name = 'member' and entity.fields ->> 'project' = reference.key::text) as entity where ${condition})`,
        };
      }
      default:
        return filter;
    }
  }

  async function found(filter: unknown, own: Record<string, unknown>): Promise<number[]> {
    const read = parsed(filter, fields);
    const bound = await keysOf('project', filterCondition(withLookups(withVariables(read, variablesWith(own))), entitySource));
    expect(await keysOf('project', filterCondition(withLookups(read), entitySource, sourceOf(own)))).toEqual(bound);
    const model = {
      typeOf: () => 'any' as const,
      variables: modelOf(own),
      referrers: { 'member.project': { rows: members, typeOf: () => 'any' as const, by: 'project' } },
    };
    expect(bound).toEqual(rows.filter((row) => fulfils(row, filter as Record<string, unknown>, model)).map(({ $key }) => $key));
    return bound.map((key) => rows.findIndex(({ $key }) => $key === key));
  }

  const x = { $var: 'u.string' };
  test.for<[object, number[], number[]]>([
    [{ dept: x }, [], [0, 2, 4]],
    [{ dept: { $ne: x } }, [], [1, 3, 5]],
    [{ $not: { dept: x } }, [], [1, 3, 5]],
    [{ dept: { $not: x } }, [], [1, 3, 5]],
    [{ $not: { $not: { dept: x } } }, [], [0, 2, 4]],
    [{ $or: [{ public: true }, { dept: x }] }, [0], [0, 2, 4]],
    [{ dept: { $nin: ['b', x] } }, [], []],
    [{ dept: { $in: ['b', x] } }, [1, 3, 5], [0, 1, 2, 3, 4, 5]],
    [{ $some: { 'member.project': { user: x } } }, [], []],
    [{ $none: { 'member.project': { user: x } } }, [4, 5], [0, 1, 2, 3, 4, 5]],
    [{ $not: { $some: { 'member.project': { user: x } } } }, [4, 5], [0, 1, 2, 3, 4, 5]],
    [{ $not: { $none: { 'member.project': { user: { $ne: x } } } } }, [], [0, 1, 2, 3]],
    [{ $none: { 'member.project': { user: { $ne: x } } } }, [4, 5], [4, 5]],
    [{ $none: { 'member.project': { role: 'lead', user: x } } }, [1, 2, 4, 5], [0, 1, 2, 3, 4, 5]],
  ])('%j covers %j without the variable, and %j with it', async ([filter, without, present]) => {
    expect(await found(filter, {})).toEqual(without);
    expect(await found(filter, { 'u.string': 'a' })).toEqual(present);
  });

  test('an empty list is a list: $in of it finds nothing, $nin everything', async () => {
    for (const [own, $in, $nin] of [
      [{ 'l.string': [] }, [], [0, 1, 2, 3, 4, 5]],
      [{}, [], []],
      [{ 'l.string': ['a'] }, [0, 2, 4], [1, 3, 5]],
    ] as const) {
      expect(await found({ dept: { $in: { $var: 'l.string' } } }, own)).toEqual($in);
      expect(await found({ dept: { $nin: { $var: 'l.string' } } }, own)).toEqual($nin);
    }
  });

  test(`no random rule covers more because a variable is missing, and some cover less (seed ${seed})`, async () => {
    const names = { dept: ['u.string', 'v.string'], user: ['u.string', 'v.string'] };
    const tests = (name: 'dept' | 'user', some: readonly string[]) =>
      fc
        .tuple(fc.constantFrom('$eq', '$ne', '$in', '$nin'), fc.constantFrom(...names[name].map(($var) => ({ $var })), ...some))
        .map(([operator, operand]) => ({ [name]: { [operator]: operator.endsWith('in') ? [operand] : operand } }));
    const member = fc.oneof(
      tests('user', ['ada']),
      fc.tuple(tests('user', ['bob']), fc.constantFrom({ role: 'lead' }, { role: { $ne: 'lead' } })).map(([a, b]) => ({ $or: [a, b] })),
      tests('user', ['ada']).map(($not) => ({ $not })),
    );
    const related = fc.tuple(fc.constantFrom('$some', '$none'), member).map(([name, of]) => ({ [name]: { 'member.project': of } }));
    const leaf: fc.Arbitrary<Record<string, unknown>> = fc.oneof(tests('dept', ['a']), related, fc.constant({ public: true }));
    const rules = fc.oneof(
      leaf,
      leaf.map(($not) => ({ $not })),
      fc.tuple(leaf, leaf).map(($or) => ({ $or })),
      fc.tuple(leaf, leaf).map(($and) => ({ $not: { $and } })),
    );
    const value = fc.constantFrom('a', 'b', 'ada', 'bob');
    let narrowed = 0;
    await fc.assert(
      fc.asyncProperty(rules, value, fc.option(value, { nil: undefined }), async (rule, u, v) => {
        const own = v === undefined ? {} : { 'v.string': v };
        const present = await found(rule, { ...own, 'u.string': u });
        const missing = await found(rule, own);
        expect(missing.filter((row) => !present.includes(row))).toEqual([]);
        if (missing.length < present.length) narrowed += 1;
      }),
      { numRuns: 300, seed },
    );
    expect(narrowed).toBeGreaterThan(15);
  });
});
