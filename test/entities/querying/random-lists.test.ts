/**
 * Random data, filters, sorts, sizes of pages and rights. All pages together must be what a model without SQL says, forwards and backwards.
 * `npm run test:lists` runs 100,000 cases; `LISTS_SEED` repeats a run.
 */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { listLimits } from '../../../src/entities/querying/access-path.ts';
import { declareIndexed } from '../../support/companion.ts';
import { fulfils, sorted, type ModelRow, type ModelType, type TypeOf } from '../../support/filter-model.ts';
import { keysIn, listPath, seedMany, writeTypes, type EntityPage, type ListQuery } from '../../support/lists.ts';
import {
  declaredEntity,
  declaredFields,
  declaredIndexes,
  declaredSchema,
  filtersOver,
  foldedIndex,
  indexedFields,
  openEntity,
  openNames,
  queriesOver,
  sortsOver,
} from '../../support/random-filters.ts';
import { useService, type ProblemBody } from '../../support/service.ts';

const cases = Number(process.env['LISTS_CASES'] ?? 600);
const seed = Number(process.env['LISTS_SEED'] ?? Date.now() % 1_000_000);
/** The random queries of each data set. A long run has 300 data sets, since a service has at most 1,000 types, and a type 1,500 columns. */
const queriesOfData = Math.max(50, Math.ceil(cases / 300));

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
  {
    name: 'open',
    isIndexed: false,
    entity: openEntity,
    filters: filtersOver(openFields),
    sorts: sortsOver(openNames),
    typeOf: () => 'any',
  },
  {
    name: 'declared',
    isIndexed: false,
    entity: declaredEntity,
    filters: filtersOver(declaredFields),
    sorts: sortsOver(scalarFields),
    typeOf: (path) => declaredFields[path] ?? 'object',
  },
  {
    name: 'indexed',
    isIndexed: true,
    entity: declaredEntity,
    filters: filtersOver(indexedFields),
    sorts: sortsOver(scalarFields),
    typeOf: (path) => declaredFields[path] ?? 'object',
  },
] as const satisfies { typeOf: TypeOf; [member: string]: unknown }[];

/** With these few rows reach the limits: walks end in the middle, and sorts are refused. */
const lowered = { rows: 4, rowsWithFields: 3, tests: 200, candidates: 2 };
const usual = { ...listLimits };

const get = async (caller: string, name: string, query: ListQuery): Promise<EntityPage | undefined> => {
  const answer = await service().inject({ method: 'GET', url: listPath(name, query), headers: callers[caller] ?? {} });
  if (answer.statusCode === 422) expect(answer.json<ProblemBody>().code).toBe('query-too-expensive');
  else expect(answer.statusCode, answer.body).toBe(200);
  return answer.statusCode === 200 ? answer.json<EntityPage>() : undefined;
};

/**
 * All pages from the first to the last, and then, with `isBack`, back again, which must be the same. Undefined for a query that is too expensive; one
 * page is so if all are.
 */
async function walk(caller: string, name: string, query: ListQuery, isBack: boolean): Promise<string[] | undefined> {
  const first = await get(caller, name, query);
  if (!first) return undefined;
  const forwards = [first];
  const pageAt = async (cursor: string) => {
    const page = await get(caller, name, { ...query, cursor });
    if (!page) throw new Error('a page is too expensive, and the one before was not');
    return page;
  };
  for (let next = first.next; next; next = forwards.at(-1)?.next ?? null) forwards.push(await pageAt(next));
  if (!isBack) return keysIn(forwards);
  // An empty page has no way back.
  const start = forwards.findLastIndex(({ prev }) => prev !== null);
  const backwards = forwards.slice(start, start + 1);
  for (let prev = backwards[0]?.prev; prev; prev = backwards[0]?.prev) backwards.unshift(await pageAt(prev));
  if (start > 0) expect(keysIn(backwards)).toEqual(keysIn(forwards.slice(0, start + 1)));
  return keysIn(forwards);
}

test(`pages agree with the model, in ${cases} cases (seed ${seed})`, { timeout: 120_000 + cases * 200 }, async () => {
  let [found, pages, refused] = [0, 0, 0];
  onTestFinished(() => void Object.assign(listLimits, usual));
  for (let round = 0; round * queriesOfData < cases; round++) {
    const kind = kinds[round % kinds.length] ?? kinds[0];
    const indexes = fc.sample(declaredIndexes, { numRuns: 1, seed: seed + round })[0] ?? [];
    const rows = await store(kind.name, fc.sample(kind.entity, { numRuns: 7, seed: seed + round }), kind.isIndexed ? indexes : undefined);
    Object.assign(listLimits, kind.isIndexed && round % 2 === 0 ? lowered : usual);
    const wanted = fc.record({ filter: kind.filters, sort: kind.sorts });
    const queries: fc.Arbitrary<{
      query: { filter: Record<string, unknown>; sort: string[] };
      limit: number;
      caller: string;
      lot: number;
    }> = fc.record({
      query: kind.isIndexed ? fc.oneof(wanted, queriesOver(indexes)) : wanted,
      limit: fc.constantFrom(2, 4, 50),
      caller: fc.constantFrom('ada', 'bob'),
      lot: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(queries, async ({ caller, lot, query, limit }) => {
        const covered = rows.filter((row) => caller === 'ada' || row.$createdBy === caller);
        const expected = sorted(
          covered.filter((row) => fulfils(row, query.filter, kind.typeOf)),
          query.sort,
          kind.typeOf,
        );
        const keys = await walk(caller, kind.name, { ...query, limit }, lot === 0);
        if (keys === undefined) return void (refused += 1);
        if (expected.length > 0) found += 1;
        if (expected.length > limit) pages += 1;
        expect(keys).toEqual(expected.map(({ $key }) => $key));
      }),
      { numRuns: Math.min(queriesOfData, cases - round * queriesOfData), seed: seed + round },
    );
  }
  expect(found).toBeGreaterThan(cases / 4);
  expect(pages).toBeGreaterThan(cases / 20);
  expect(refused).toBeLessThan(cases / 4);
});

/** Replaces the entities of the name, with these indexes, and returns them as the model sees them. */
async function store(name: string, all: object[], indexes: string[][] | undefined): Promise<ModelRow[]> {
  const { db } = service();
  await db.deleteFrom('entity').where('name', '=', name).execute();
  await seedMany(service(), name, all, 'ada', 'bob');
  const part = { field: 's', substring: true };
  const parts = indexes && indexes.length % 2 === 0 ? [part, { ...part, fold: true }] : [];
  if (indexes) await declareIndexed(service(), name, { ...declaredSchema, 'x-index': [...indexes, foldedIndex, ...parts] });
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
