/**
 * Random data, filters, sorts, sizes of pages and rights. All pages together must be what a model without SQL says, forwards and backwards.
 * `npm run test:lists` runs 100,000 cases; `LISTS_SEED` repeats a run.
 */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { fulfils, sorted, type ModelRow, type ModelType, type TypeOf } from '../support/filter-model.ts';
import { keysIn, listPath, seedMany, writeTypes, type EntityPage, type ListQuery } from '../support/lists.ts';
import {
  declaredEntity,
  declaredFields,
  declaredSchema,
  filtersOver,
  openEntity,
  openNames,
  sortsOver,
} from '../support/random-filters.ts';
import { useService } from '../support/service.ts';

const cases = Number(process.env['LISTS_CASES'] ?? 600);
const seed = Number(process.env['LISTS_SEED'] ?? Date.now() % 1_000_000);
/** Each data set serves this number of random queries. */
const queriesOfData = 50;

const service = useService({ ENTITY_TYPES_DIR: await writeTypes({ declared: declaredSchema }) });
const callers: Record<string, { cookie: string }> = {};

beforeAll(async () => {
  for (const name of ['ada', 'bob']) {
    const grants = name === 'ada' ? undefined : { '*': { actions: ['read' as const], condition: 'own' as const } };
    callers[name] = { cookie: await service().openSession((await service().createUser(name, grants)).id) };
  }
});

const openFields = Object.fromEntries(openNames.map((name): [string, ModelType] => [name, 'any']));
const scalarFields = Object.keys(declaredFields).filter((name) => name !== 'l');
const kinds = [
  { name: 'open', entity: openEntity, filters: filtersOver(openFields), sorts: sortsOver(openNames), typeOf: () => 'any' },
  {
    name: 'declared',
    entity: declaredEntity,
    filters: filtersOver(declaredFields),
    sorts: sortsOver(scalarFields),
    typeOf: (path) => declaredFields[path] ?? 'object',
  },
] as const satisfies { typeOf: TypeOf; [member: string]: unknown }[];

const get = async (caller: string, name: string, query: ListQuery): Promise<EntityPage> => {
  const answer = await service().inject({ method: 'GET', url: listPath(name, query), headers: callers[caller] ?? {} });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<EntityPage>();
};

/** All pages from the first to the last, and then, with `isBack`, back again, which must be the same. */
async function walk(caller: string, name: string, query: ListQuery, isBack: boolean): Promise<string[]> {
  const forwards = [await get(caller, name, query)];
  for (let next = forwards[0]?.next; next; next = forwards.at(-1)?.next) forwards.push(await get(caller, name, { ...query, cursor: next }));
  if (!isBack) return keysIn(forwards);
  const backwards = forwards.slice(-1);
  for (let prev = backwards[0]?.prev; prev; prev = backwards[0]?.prev)
    backwards.unshift(await get(caller, name, { ...query, cursor: prev }));
  expect(keysIn(backwards)).toEqual(keysIn(forwards));
  return keysIn(forwards);
}

test(`pages agree with the model, in ${cases} cases (seed ${seed})`, { timeout: 60_000 + cases * 100 }, async () => {
  let [found, pages] = [0, 0];
  for (let round = 0; round * queriesOfData < cases; round++) {
    const kind = kinds[round % 2] ?? kinds[0];
    const rows = await store(kind.name, fc.sample(kind.entity, { numRuns: 7, seed: seed + round }));
    const queries: fc.Arbitrary<{ filter: Record<string, unknown>; sort: string[]; limit: number; caller: string; lot: number }> =
      fc.record({
        filter: kind.filters,
        sort: kind.sorts,
        limit: fc.constantFrom(1, 3, 5, 50),
        caller: fc.constantFrom('ada', 'bob'),
        lot: fc.nat(3),
      });
    await fc.assert(
      fc.asyncProperty(queries, async ({ caller, lot, ...query }) => {
        const covered = rows.filter((row) => caller === 'ada' || row.$createdBy === caller);
        const expected = sorted(
          covered.filter((row) => fulfils(row, query.filter, kind.typeOf)),
          query.sort,
          kind.typeOf,
        );
        if (expected.length > 0) found += 1;
        if (expected.length > query.limit) pages += 1;
        expect(await walk(caller, kind.name, query, lot === 0)).toEqual(expected.map(({ $key }) => $key));
      }),
      { numRuns: Math.min(queriesOfData, cases - round * queriesOfData), seed: seed + round },
    );
  }
  expect(found).toBeGreaterThan(cases / 4);
  expect(pages).toBeGreaterThan(cases / 20);
});

/** Replaces the entities of the name, and returns them as the model sees them. */
async function store(name: string, all: object[]): Promise<ModelRow[]> {
  const { db } = service();
  await db.deleteFrom('entity').where('name', '=', name).execute();
  await seedMany(service(), name, all, 'ada', 'bob');
  const rows = await db
    .selectFrom('entity')
    .where('name', '=', name)
    .orderBy('key')
    .select(['key', 'version', 'created_by', 'updated_by', 'created_at', 'updated_at', sql<string>`fields::text`.as('fields')])
    .execute();
  return rows.map((row) => ({
    $key: row.key,
    $version: Number(row.version),
    $createdAt: row.created_at.toISOString(),
    $createdBy: row.created_by,
    $updatedAt: row.updated_at.toISOString(),
    $updatedBy: row.updated_by,
    fields: JSON.parse(row.fields) as Record<string, unknown>,
  }));
}
