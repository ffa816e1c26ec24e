/**
 * Random filters that look through references, over random data and rights. What the service finds must be what a model without SQL says, whether it
 * finds the keys first or looks each up. `LISTS_CASES` and `LISTS_SEED` are as for random-lists.test.ts.
 */
import * as fc from 'fast-check';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { matchLimits } from '../../../src/entities/querying/match.ts';
import { declareType } from '../../support/entities.ts';
import { fulfils, sorted, type ModelRow, type ModelType } from '../../support/filter-model.ts';
import { keysIn, queryBy, seedMany } from '../../support/lists.ts';
import { depthOf, filtersOver, sortsOver } from '../../support/random-filters.ts';
import { useService } from '../../support/service.ts';

const cases = Number(process.env['LISTS_CASES'] ?? 300);
const seed = Number(process.env['LISTS_SEED'] ?? Date.now() % 1_000_000);
/** The random filters of each data set. A long run has 300 data sets, since a service has at most 1,000 types, and a type 1,500 columns. */
const queriesOfData = Math.max(50, Math.ceil(cases / 300));

const service = useService();
const callers: Record<string, { cookie: string }> = {};

beforeAll(async () => {
  for (const name of ['ada', 'bob']) {
    const grants = name === 'ada' ? undefined : { '*': { actions: ['read' as const], condition: 'own' as const } };
    callers[name] = { cookie: await service().openSession((await service().createUser(name, grants)).id) };
  }
});

type Json = Record<string, unknown>;

const modelTypes: Readonly<Record<string, ModelType>> = { s: 'string', n: 'number', to: 'int64', up: 'int64' };
const typeOf = (path: string): ModelType => modelTypes[path] ?? 'object';
/** The fields of an entity, and its reference. */
const fieldsWith = (reference: Record<string, fc.Arbitrary<string | null>> = {}): fc.Arbitrary<Json> =>
  fc.record(
    { s: fc.constantFrom('', 'a', 'ab', 'b', null), n: fc.constantFrom(0, 1, 1.5, null), ...reference },
    { requiredKeys: [], noNullPrototype: true },
  );
const key = { type: ['string', 'null'], format: 'int64' };
const properties = { s: { type: ['string', 'null'] }, n: { type: ['number', 'null'] } };

/** Filters over `s`, `n` and a reference, whose own filters are `inner`. */
function filtersThrough(reference: string, inner: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  const through = fc.oneof(
    inner.map(($match) => ({ [reference]: { $match } })),
    inner.map(($match) => ({ $not: { [reference]: { $match } } })),
    fc.tuple(inner, fc.boolean()).map(([$match, $exists]) => ({ [reference]: { $match, $exists } })),
  );
  const plain = filtersOver({ s: 'string', n: 'number' });
  return fc.oneof(
    through,
    fc.tuple(through, plain).map((both) => ({ $and: both })),
    fc.tuple(through, plain).map((both) => ({ $or: both })),
    fc.tuple(through, through).map((both) => ({ $or: both })),
  );
}

const mine = fc.constantFrom<Json>({ $createdBy: { $var: 'user.name' } }, { $createdBy: { $ne: { $var: 'user.name' } } });
const small = fc.oneof(
  { weight: 6, arbitrary: filtersOver({ s: 'string', n: 'number' }).filter((filter) => JSON.stringify(filter).length < 100) },
  { weight: 1, arbitrary: mine },
);
/** Filters of entities that refer to others. An index begins with the reference and `s`. */
const referring = fc.tuple(fc.constantFrom('a', 'ab', 'b'), small).map(([s, other]): Json => ({ s, $and: [other] }));
/** The filters may be five levels deep. */
const filters = filtersThrough('to', fc.oneof(small, filtersThrough('up', small))).filter((filter) => depthOf(filter) <= 5);

/** The filter with the keys of what each `$match` finds in place of it, and with the name of the caller. */
function resolved(filter: unknown, targets: readonly ModelRow[], caller: string): unknown {
  if (Array.isArray(filter)) return filter.map((one) => resolved(one, targets, caller));
  if (typeof filter !== 'object' || filter === null) return filter;
  if ('$var' in filter) return caller;
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]) => {
      const inner = resolved(value, targets, caller);
      if (name !== '$match') return [name, inner];
      return ['$in', targets.filter((row) => fulfils(row, inner as Json, typeOf)).map(({ $key }) => $key)];
    }),
  );
}

test(
  `filters through references agree with the model, in ${cases} cases (seed ${seed}) (rule 64)`,
  { timeout: 120_000 + cases * 200 },
  async () => {
    const usual = matchLimits.keys;
    onTestFinished(() => void (matchLimits.keys = usual));
    let [found, referredTo] = [0, 0];
    for (let round = 0; round * queriesOfData < cases; round++) {
      const [target, sale] = [`target${round}`, `sale${round}`];
      const sample = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number) => fc.sample(arbitrary, { numRuns, seed: seed + round });
      const indexes = { 'x-index': sample(fc.subarray([['s'], ['n'], ['up']]), 1)[0] };
      await declareType(service(), target, {
        type: 'object',
        properties: { ...properties, up: key },
        'x-references': { up: { to: target } },
        ...indexes,
      });
      await declareType(service(), sale, {
        type: 'object',
        properties: { ...properties, to: key },
        'x-references': { to: { to: target } },
        'x-index': [['to', 's']],
      });
      const roots = await store(target, sample(fieldsWith(), 4));
      const up = fc.constantFrom(...roots.map(({ $key }) => $key), null);
      const targets = [...roots, ...(await store(target, sample(fieldsWith({ up }), 4)))];
      const to = fc.constantFrom(...targets.map(({ $key }) => $key), null, '7000000');
      const sales = await store(sale, sample(fieldsWith({ to }), 10));
      const queries = fc.record({
        filter: filters,
        caller: fc.constantFrom('ada', 'bob'),
        sort: sortsOver(['s', 'to']),
        isLookedUp: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(queries, async ({ filter, caller, sort, isLookedUp }) => {
          const covered = (row: ModelRow) => caller === 'ada' || row.$createdBy === caller;
          const asked = resolved(filter, targets.filter(covered), caller) as Json;
          const expected = sales.filter((row) => covered(row) && fulfils(row, asked, typeOf));
          matchLimits.keys = isLookedUp ? 0 : usual;
          const query = { filter, limit: 100, sort, count: 'exact' as const };
          const answer = await queryBy(service(), callers[caller] ?? { cookie: '' }, sale, query);
          expect(answer.status, answer.text).toBe(200);
          expect(keysIn([answer.body])).toEqual(sorted(expected, sort, typeOf).map(({ $key }) => $key));
          expect(answer.body.count).toEqual({ value: expected.length, kind: 'exact' });
          if (expected.length > 0) found += 1;
        }),
        { numRuns: Math.min(queriesOfData, cases - round * queriesOfData), seed: seed + round },
      );
      const referred = fc
        .tuple(fc.constantFrom('$some', '$none'), referring, small, fc.constantFrom('$and', '$or'), fc.boolean())
        .filter(([, of, other]) => depthOf(of) <= 2 && depthOf(other) <= 3);
      await fc.assert(
        fc.asyncProperty(queries, referred, async ({ caller, isLookedUp }, [name, of, other, combinator, isNegated]) => {
          matchLimits.keys = isLookedUp ? 0 : usual;
          const covered = (row: ModelRow) => caller === 'ada' || row.$createdBy === caller;
          const filterBy = (test: Json): Json => ({ [combinator]: [isNegated ? { $not: test } : test, other] });
          const found = sales.filter((row) => covered(row) && fulfils(row, resolved(of, [], caller) as Json, typeOf));
          const keys = found.flatMap(({ fields }) => (typeof fields['to'] === 'string' ? [fields['to']] : []));
          const asked = filterBy({ $key: { [name === '$some' ? '$in' : '$nin']: keys } });
          const expected = targets.filter((row) => covered(row) && fulfils(row, resolved(asked, [], caller) as Json, typeOf));
          const query = { filter: filterBy({ [name]: { [`${sale}.to`]: of } }), limit: 100 };
          const answer = await queryBy(service(), callers[caller] ?? { cookie: '' }, target, query);
          expect(answer.status, answer.text).toBe(200);
          expect(keysIn([answer.body])).toEqual(expected.map(({ $key }) => $key));
          if (keys.length > 0 && expected.length > 0) referredTo += 1;
        }),
        { numRuns: Math.ceil(queriesOfData / 2), seed: seed + round },
      );
    }
    expect(found).toBeGreaterThan(cases / 4);
    expect(referredTo).toBeGreaterThan(cases / 20);
  },
);

/** Inserts the entities, of ada and bob in turn, and returns them as the model sees them. */
async function store(name: string, all: readonly Json[]): Promise<ModelRow[]> {
  const keys = await seedMany(service(), name, all, 'ada', 'bob');
  const rows = await service().db.selectFrom('entity').where('key', 'in', keys).orderBy('key').selectAll().execute();
  return rows.map((row) => ({
    $key: row.key,
    $version: Number(row.version),
    $createdAt: row.created_at.toISOString(),
    $createdBy: row.created_by,
    $updatedAt: row.updated_at.toISOString(),
    $updatedBy: row.updated_by,
    fields: row.fields,
  }));
}
