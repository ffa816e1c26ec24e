/** Random grants, rows and operations over few fields and values, so that rules often hold. */
import * as fc from 'fast-check';
import type { Json, ModelAction, ModelGrant } from './rights-model.ts';
import type { Operation, Step } from './rights-world.ts';

export const fieldNames = ['u', 'a', 'b', 'n', 'm', 'o', 'p'];
/** They stand for the keys to which the field `p` refers. */
export const targetNames = ['place0', 'place1', 'place2'];

const places = ['north', 'south', 'east'];
const record = (model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Json> =>
  fc.record(model, { requiredKeys: [], noNullPrototype: true });

const values = {
  a: fc.constantFrom(...places),
  b: fc.constantFrom(...places),
  n: fc.constantFrom(0, 1, 2),
  m: fc.constantFrom('1.5', '1.50', '2'),
  o: fc.constantFrom({ s: 'north' }, { s: 'south' }),
  p: fc.constantFrom(...targetNames),
};
const rarelyNull = (value: fc.Arbitrary<unknown>) => fc.option(value, { freq: 8 });

/** The fields of a row. `u` is unique, so the caller of these adds it. */
const fields = record(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, rarelyNull(value)])));
const uniqueValue = fc.constantFrom(...Array.from({ length: 6 }, (_, index) => `u${index}`));
const unfit = fc.constant('none');
const sentFields = record({
  ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, rarelyNull(value)])),
  n: fc.oneof({ weight: 10, arbitrary: rarelyNull(values.n) }, { weight: 1, arbitrary: unfit }),
  u: rarelyNull(uniqueValue),
});
/** Without values that the type refuses. */
const fitFields = sentFields.map(({ n, ...others }) => (n === 'none' ? others : { ...others, ...(n !== undefined && { n }) }));
const patch = fc.oneof({ weight: 3, arbitrary: record({ a: values.a, n: values.n, m: values.m, p: values.p }) }, sentFields);

const region = { $var: 'user.region' };
const regions = { $var: 'user.regions' };
const ownName = { $var: 'user.name' };
const textTest = fc.oneof(
  { weight: 4, arbitrary: values.a },
  fc.constantFrom<unknown>(
    region,
    { $in: regions },
    { $ne: region },
    { $nin: regions },
    { $not: region },
    { $exists: true },
    { $empty: true },
    { $ne: 'north' },
    { $in: ['north', 'east'] },
    { $field: 'b' },
  ),
);
/** The tests of the entity that `p` leads to. Those of its referrers have what an index needs. */
const staffTest = fc
  .constantFrom<unknown>(
    'north',
    region,
    { $in: regions },
    { $in: places, $ne: region },
    { $in: places, $nin: regions },
    { $in: places, $not: region },
  )
  .map((of) => ({ 'staff.place': { of } }));
const targetTest: fc.Arbitrary<Json> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<unknown>('north', region, { $in: regions }, { $ne: region }, { $nin: regions }, { $not: region }, { $exists: false })
      .map((a) => ({ a })),
  },
  staffTest.map(($some) => ({ $some })),
  staffTest.map(($none) => ({ $none })),
  staffTest.map(($some) => ({ $or: [{ a: region }, { $not: { $some } }] })),
  fc.constantFrom<Json>({}, { $createdBy: ownName }, { $not: { $createdBy: ownName } }),
);
const referenceTest = fc.oneof(
  { weight: 3, arbitrary: targetTest.map(($match) => ({ p: { $match } })) },
  targetTest.map(($match) => ({ p: { $not: { $match } } })),
  fc.constantFrom<Json>({ p: 'place0' }, { p: { $exists: false } }),
);
const fieldTest = fc.oneof(
  textTest.map((a) => ({ a })),
  textTest.map((b) => ({ b })),
  fc.constantFrom<unknown>(0, 1, { $gt: 0 }, { $lte: 1 }, { $exists: false }).map((n) => ({ n })),
  fc.constantFrom<unknown>('1.5', { $gte: '1.5' }, { $exists: true }).map((m) => ({ m })),
  fc.constantFrom<unknown>({ s: 'north' }, { s: { $ne: 'north' } }).map((o) => ({ o })),
);
const envelopeTest = fc.constantFrom<Json>(
  { $createdBy: ownName },
  { $not: { $createdBy: ownName } },
  { $updatedBy: ownName },
  { $version: 1 },
  { $version: { $gt: 1 } },
);

const filterOver = (test: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.oneof(
    { weight: 4, arbitrary: test },
    fc.array(test, { minLength: 2, maxLength: 3 }).map(($and) => ({ $and })),
    { weight: 2, arbitrary: fc.array(test, { minLength: 2, maxLength: 3 }).map(($or) => ({ $or })) },
    test.map(($not) => ({ $not })),
  );
const ruleFilter = filterOver(fc.oneof({ weight: 4, arbitrary: fieldTest }, envelopeTest, { weight: 2, arbitrary: referenceTest }));

const fieldList = fc.oneof(
  fc.constantFrom(['*'], ['*', '-m'], ['*', '-a', '-b'], ['**'], ['**', '-n'], ['*', 'm'], []),
  fc.subarray(fieldNames, { minLength: 1, maxLength: 4 }),
);
const preset = fc.constantFrom<Json>({ a: 'north' }, { b: 'north' }, { b: region }, { a: 'north', n: 1 });
const rule = record({ filter: ruleFilter, check: ruleFilter, read: fieldList, write: fieldList });
const envelopeList = fc.constantFrom(['*'], ['**'], []);
const envelopeRule = record({ filter: envelopeTest, check: envelopeTest, read: envelopeList, write: envelopeList });

/** A grant, and whether it is one on all names. */
export interface RandomGrant extends ModelGrant {
  isOfAll: boolean;
}

const actions = fc.subarray<ModelAction>(['read', 'update', 'create', 'delete'], { minLength: 1 });
const grant: fc.Arbitrary<RandomGrant> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ actions, rule, isOfAll: fc.constant(false) }) },
  { weight: 2, arbitrary: fc.record({ actions, condition: fc.constantFrom('any' as const, 'own' as const), isOfAll: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ actions, rule: envelopeRule, isOfAll: fc.constant(true) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      actions: fc.constant<ModelAction[]>(['create']),
      rule: fc.record({ set: preset, write: fieldList, check: ruleFilter }, { requiredKeys: ['set'], noNullPrototype: true }),
      isOfAll: fc.constant(false),
    }),
  },
  { weight: 1, arbitrary: fc.record({ actions, rule: fc.constant({}), isUnbound: fc.constant(true), isOfAll: fc.constant(false) }) },
);

export interface RandomRow {
  isOwn: boolean;
  isTrashed: boolean;
  hasUnique: boolean;
  /** The fields of each version. */
  versions: Json[];
}

const row: fc.Arbitrary<RandomRow> = fc.record({
  isOwn: fc.boolean(),
  isTrashed: fc.nat(4).map((lot) => lot === 4),
  hasUnique: fc.nat(3).map((lot) => lot < 3),
  versions: fc.array(fields, { minLength: 1, maxLength: 3, size: 'max' }),
});

const place = fc.nat(5);
const sortField = fc.constantFrom('a', 'b', 'n', 'm', 'u', '$version', '$createdBy').chain((name) => fc.constantFrom(name, `-${name}`));
const sort = fc.uniqueArray(sortField, { maxLength: 2, selector: (term) => term.replace('-', '') });
/** Filters of callers have no variables. */
const sentTest = fc.oneof(
  fc.constantFrom<Json>({ $version: 1 }, { a: { $exists: true } }, { a: { $ne: 'north' } }),
  fc.constantFrom<unknown>('1.5', { $gte: '1.5' }, { $exists: true }).map((m) => ({ m })),
  values.b.map((b) => ({ b })),
  fc.constantFrom<unknown>(0, { $gt: 0 }, { $exists: false }).map((n) => ({ n })),
  fc.constantFrom<unknown>({ s: 'north' }, { s: { $ne: 'north' } }).map((o) => ({ o })),
);
const filter = fc.oneof({ weight: 2, arbitrary: filterOver(sentTest) }, { weight: 1, arbitrary: fc.constant({}) });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ op: fc.constant('create' as const), fields: fitFields }),
  { weight: 2, arbitrary: fc.record({ op: fc.constant('update' as const), place, fields: fitFields }) },
  fc.record({ op: fc.constant('delete' as const), place }),
  fc.record({ op: fc.constant('get' as const), place }),
);
const kind = <K extends string>(...names: readonly K[]) => fc.constantFrom(...names);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: kind('get'), place, fields: fc.subarray(['a', 'm', 'n'], { maxLength: 2 }) }),
  { weight: 3, arbitrary: fc.record({ kind: kind('list', 'query', 'export'), filter, sort }) },
  fc.record({ kind: kind('search'), word: values.b }),
  fc.record({ kind: kind('aggregate'), filter, by: fc.subarray(['a'], { maxLength: 1 }), sum: fc.subarray(['n'], { maxLength: 1 }) }),
  { weight: 2, arbitrary: fc.record({ kind: kind('create'), fields: sentFields }) },
  fc.record({ kind: kind('upsert'), fields: patch.chain((one) => rarelyNull(uniqueValue).map((u) => Object.assign({}, one, { u }))) }),
  fc.record({ kind: kind('bulk'), items: fc.array(sentFields, { minLength: 1, maxLength: 3 }) }),
  { weight: 4, arbitrary: fc.record({ kind: kind('update'), place, fields: patch }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('delete', 'history', 'trashed', 'undelete'), place }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('version', 'restore'), place, version: fc.integer({ min: 1, max: 3 }) }) },
  fc.record({ kind: kind('trash') }),
  { weight: 2, arbitrary: fc.record({ kind: kind('batch'), steps: fc.array(step, { minLength: 1, maxLength: 3 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: kind('import'),
      mode: kind('update', 'replace'),
      rows: fc.uniqueArray(
        fitFields.chain((one) => uniqueValue.map((u) => Object.assign({}, one, { u }))),
        { minLength: 1, maxLength: 3, selector: ({ u }) => u },
      ),
    }),
  },
);

/** Operations that `checkOwnPermission` explains. */
const explainable: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: kind('get'), place, fields: fc.constant([]) }),
  { weight: 3, arbitrary: fc.record({ kind: kind('create'), fields: sentFields }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('update'), place, fields: patch }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('delete'), place }) },
);

export interface RandomCase {
  isDeclared: boolean;
  grants: RandomGrant[];
  /** Undefined where the caller lacks the variable. */
  region: string | undefined;
  regions: string[] | undefined;
  sensitive: string[];
  rows: RandomRow[];
  operations: Operation[];
}

/** The number of operations of most cases. */
export const operationsOfCase = 8;

const casesOf = (each: fc.Arbitrary<Operation>): fc.Arbitrary<RandomCase> =>
  fc.record({
    isDeclared: fc.boolean(),
    grants: fc.array(grant, { minLength: 1, maxLength: 4, size: 'max' }),
    region: fc.option(values.a, { nil: undefined }),
    regions: fc.option(fc.subarray(places), { nil: undefined }),
    sensitive: fc.nat(3).map((lot) => (lot === 0 ? ['m'] : [])),
    rows: fc.array(row, { minLength: 1, maxLength: 5, size: 'max' }),
    operations: fc.array(each, { minLength: 1, maxLength: operationsOfCase, size: 'max' }),
  });

export const randomCases = casesOf(operation);
export const explainableCases = casesOf(explainable);
