/** Random entities, filters and sorts over few names and values, so that tests often hold. Every filter fits the grammar and the types. */
import * as fc from 'fast-check';
import type { ModelType } from './filter-model.ts';

/** The fields of the declared type, by their dotted names. */
export const declaredFields: Readonly<Record<string, ModelType>> = {
  s: 'string',
  n: 'number',
  i: 'int64',
  d: 'decimal',
  t: 'date-time',
  day: 'date',
  b: 'boolean',
  e: 'enum',
  l: 'array',
  'o.s': 'string',
  'o.n': 'number',
};

/** The same with the index of {@link foldedIndex}. */
export const indexedFields = { ...declaredFields, s: 'foldable' } as const;
export const foldedIndex = { field: 's', fold: true };

/** The JSON Schema of {@link declaredFields}. */
export const declaredSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    s: { type: ['string', 'null'] },
    n: { type: ['number', 'null'] },
    i: { type: ['string', 'null'], format: 'int64' },
    d: { type: ['string', 'null'], format: 'decimal' },
    t: { type: ['string', 'null'], format: 'date-time' },
    day: { type: ['string', 'null'], format: 'date' },
    b: { type: ['boolean', 'null'] },
    e: { enum: ['red', 'green', 'blue', null] },
    l: { type: ['array', 'null'], items: { type: 'string' } },
    o: { type: ['object', 'null'], additionalProperties: false, properties: { s: { type: 'string' }, n: { type: 'number' } } },
  },
};

/** The names of undeclared fields. `0` would be an index of an array for `#>`. */
export const openNames = ['a', 'b', '0', 'o.a', 'o.0'];

const texts = fc.constantFrom(
  '',
  'a',
  'ab',
  'b',
  '1',
  'é',
  'Z',
  '\u{1F600}',
  '\uFFFD',
  '100%_',
  "it's",
  '"',
  '\\',
  'abc',
  'xabc%_',
  'xABC\\',
  'ÉA',
  'AB',
);
const numbers = fc.constantFrom(0, 1, 1.5, -2, 1e21, 1e-7, 100);
const scalars = fc.oneof(texts, numbers, fc.boolean());

/** A text with an index without regard to case and accents. */
type Foldable = 'foldable';

const valuesOf: Readonly<Record<Exclude<ModelType, 'array' | 'object'>, fc.Arbitrary<string | number | boolean>>> = {
  any: scalars,
  string: texts,
  number: numbers,
  int64: fc.constantFrom('0', '1', '-5', '9007199254740992', '9007199254740993', '9223372036854775807'),
  decimal: fc.constantFrom('0', '1.5', '1.50', '10', '9', '10.0', '-3.25', '10000000000000000000000000.3', '10000000000000000000000000.4'),
  'date-time': fc.constantFrom('2026-01-01T10:00:00Z', '2026-01-01T12:00:00+02:00', '2026-01-01T10:00:00.5Z', '0001-01-01T00:00:00Z'),
  date: fc.constantFrom('2026-01-01', '2026-02-28', '0001-01-01', '9999-12-31'),
  boolean: fc.boolean(),
  enum: fc.constantFrom('red', 'green', 'blue'),
};

/** Texts that were stored before the type was declared, and are no values of it. */
const unfitNumbers = fc.constantFrom('01.5', '007', '-0', '1e3', '99999999999999999999', '-9223372036854775809');

const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 4, nil: null });
const items = fc.array(texts, { maxLength: 3 });

/** The fields of an entity of the declared type. */
export const declaredEntity: fc.Arbitrary<Record<string, unknown>> = fc.record(
  {
    s: sometimes(valuesOf.string),
    n: sometimes(valuesOf.number),
    i: sometimes(fc.oneof({ weight: 3, arbitrary: valuesOf.int64 }, unfitNumbers, fc.constant('1.5'))),
    d: sometimes(fc.oneof({ weight: 3, arbitrary: valuesOf.decimal }, unfitNumbers)),
    t: sometimes(valuesOf['date-time']),
    day: sometimes(valuesOf.date),
    b: sometimes(valuesOf.boolean),
    e: sometimes(valuesOf.enum),
    l: sometimes(items),
    o: sometimes(fc.record({ s: valuesOf.string, n: valuesOf.number }, { requiredKeys: [], noNullPrototype: true })),
  },
  { requiredKeys: [], noNullPrototype: true },
);

const mixed = fc.oneof({ weight: 6, arbitrary: scalars }, { weight: 1, arbitrary: fc.constant(null) }, fc.array(scalars, { maxLength: 3 }));
const object = fc.dictionary(fc.constantFrom('a', '0'), mixed, { maxKeys: 2, noNullPrototype: true });

/** The fields of an entity without a declared type. */
export const openEntity: fc.Arbitrary<Record<string, unknown>> = fc.record(
  { a: mixed, b: mixed, '0': mixed, o: fc.oneof(object, mixed) },
  { requiredKeys: [], noNullPrototype: true },
);

const ordered: readonly ModelType[] = ['any', 'string', 'number', 'int64', 'decimal', 'date-time', 'date'];

/** The operands that are no values, by the type of the field that is compared with them: `{"$var": …}` and `{"$field": …}`. */
export type Operands = Readonly<Partial<Record<ModelType, { scalars: readonly object[]; lists: readonly object[] }>>>;

/** A test of a field by an operand that is no value. */
function operandTestOf(type: ModelType | Foldable, operands: Operands): fc.Arbitrary<unknown>[] {
  const { scalars: single = [], lists = [] } = operands[type === 'foldable' ? 'string' : type] ?? {};
  const names = ['$eq', '$ne', ...(ordered.includes(type as ModelType) ? ['$lt', '$lte', '$gt', '$gte'] : [])];
  const tests: fc.Arbitrary<unknown>[] = [];
  if (single.length > 0) {
    const operand = fc.constantFrom(...single);
    tests.push(
      operand,
      fc.tuple(fc.constantFrom(...names), operand).map(([name, one]) => ({ [name]: one })),
      fc.tuple(fc.constantFrom('$in', '$nin'), operand).map(([name, one]) => ({ [name]: [one, null] })),
    );
  }
  if (lists.length > 0)
    tests.push(fc.tuple(fc.constantFrom('$in', '$nin'), fc.constantFrom(...lists)).map(([name, one]) => ({ [name]: one })));
  return tests;
}

/** Tests of one field, and combinations of them. */
function combinedTestOf(type: ModelType | Foldable, operands: Operands): fc.Arbitrary<unknown> {
  const special = operandTestOf(type, operands);
  const plain = special.length === 0 ? testOf(type) : fc.oneof({ weight: 2, arbitrary: testOf(type) }, ...special);
  return fc.oneof(
    { weight: 5, arbitrary: plain },
    fc.array(plain, { minLength: 1, maxLength: 2 }).map(($and) => ({ $and })),
    fc.array(plain, { minLength: 1, maxLength: 2 }).map(($or) => ({ $or })),
    plain.map(($not) => ({ $not })),
  );
}

/** One test of a field: an object with operators, or a value. */
function testOf(type: ModelType | Foldable): fc.Arbitrary<unknown> {
  if (type === 'foldable') {
    const list = fc.array(sometimes(texts), { maxLength: 3 });
    const tests = fc.record(
      { $eq: sometimes(texts), $ne: texts, $in: list, $nin: list, $prefix: texts, $contains: texts },
      { requiredKeys: [], noNullPrototype: true },
    );
    const operators = tests.filter((test) => Object.keys(test).length > 0);
    return fc.oneof({ weight: 2, arbitrary: testOf('string') }, fc.record({ $fold: fc.oneof(texts, operators) }));
  }
  const presence = fc.oneof(fc.record({ $exists: fc.boolean() }), fc.record({ $empty: fc.boolean() }), fc.constant(null));
  if (type === 'object') return presence;
  if (type === 'array') return fc.oneof(presence, fc.record({ $contains: texts }));
  const value = valuesOf[type];
  const order = type === 'any' ? fc.oneof(texts, numbers) : value;
  return fc.oneof(
    presence,
    value,
    fc.record({ $eq: sometimes(value) }),
    fc.record({ $ne: sometimes(value) }),
    fc.record({ $in: fc.array(sometimes(value), { minLength: 1, maxLength: 4 }) }),
    fc.record({ $nin: fc.array(sometimes(value), { minLength: 1, maxLength: 4 }) }),
    ...(ordered.includes(type)
      ? [fc.record({ $gte: order, $lt: order }, { noNullPrototype: true }), fc.record({ $gt: order }), fc.record({ $lte: order })]
      : []),
    ...(type === 'string' || type === 'any' ? [fc.record({ $prefix: texts }), fc.record({ $contains: texts })] : []),
    ...(type === 'any' ? [fc.record({ $contains: sometimes(scalars) })] : []),
  );
}

/** `{"o": {"s": test}}` for the name `o.s`. */
const nested = (name: string, test: unknown): Record<string, unknown> =>
  name.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), test) as Record<string, unknown>;

const envelopeTest = fc.oneof(
  fc.record({ $version: testOf('number') }),
  fc.record({ $createdBy: fc.constantFrom('ada', 'bob') }),
  fc.record({ $createdAt: fc.record({ $gt: fc.constantFrom('2026-01-01T00:00:00.001Z', '2026-01-01T00:00:00.0035Z') }) }),
  fc.record({ $key: fc.oneof(valuesOf.int64, fc.record({ $gt: fc.constantFrom('10', '1000') })) }),
);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The number of objects inside each other, as the limit of filters counts them. */
export function depthOf(filter: Record<string, unknown>): number {
  const inner = Object.entries(filter).map(([name, value]) => {
    if (name === '$some' || name === '$none') return Object.values(value as Record<string, Record<string, unknown>>).map(depthOf);
    if (['$and', '$or', '$not'].includes(name)) return [value].flat().map((one) => depthOf(one as Record<string, unknown>));
    return [testDepth(value)];
  });
  return 1 + Math.max(0, ...inner.flat());
}

/** The same of the test of a field. */
function testDepth(test: unknown): number {
  if (!isObject(test)) return 0;
  const inner = Object.entries(test).map(([name, value]) => {
    if (name === '$match') return [depthOf(value as Record<string, unknown>)];
    if (['$and', '$or', '$not'].includes(name)) return [value].flat().map((one) => 1 + testDepth(one));
    return [name.startsWith('$') ? 0 : 1 + testDepth(value)];
  });
  return Math.max(0, ...inner.flat());
}

/** A random filter over these fields, at most five levels deep. */
export function filtersOver(
  fields: Readonly<Record<string, ModelType | Foldable>>,
  operands: Operands = {},
): fc.Arbitrary<Record<string, unknown>> {
  const field = fc
    .constantFrom(...Object.entries(fields))
    .chain(([name, type]) => combinedTestOf(type, operands).map((test) => nested(name, test)));
  const leaf = fc.oneof({ weight: 8, arbitrary: field }, { weight: 1, arbitrary: envelopeTest }, { weight: 1, arbitrary: fc.constant({}) });
  const { filter } = fc.letrec<{ filter: Record<string, unknown> }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 2, depthSize: 'small' },
      leaf,
      fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map(($and) => ({ $and })),
      fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map(($or) => ({ $or })),
      tie('filter').map(($not) => ({ $not })),
    ),
  }));
  return filter.filter((one) => depthOf(one) <= 5);
}

/** A random sort of up to three of these fields. */
export function sortsOver(fields: readonly string[]): fc.Arbitrary<string[]> {
  const term = fc.record({ name: fc.constantFrom(...fields, '$version', '$createdBy', '$createdAt'), down: fc.boolean() });
  return fc
    .uniqueArray(term, { maxLength: 3, selector: ({ name }) => name })
    .map((terms) => terms.map(({ name, down }) => (down ? `-${name}` : name)));
}

const indexedNames = [...Object.keys(declaredFields).filter((name) => name !== 'l'), '$createdAt', '$updatedAt'];

/** Random indexes over scalar fields of the declared type and members of the envelope, as `x-index` has them. Some begin with the creator. */
export const declaredIndexes: fc.Arbitrary<string[][]> = fc.uniqueArray(
  fc
    .tuple(
      fc.uniqueArray(fc.record({ name: fc.constantFrom(...indexedNames), down: fc.boolean() }), {
        minLength: 1,
        maxLength: 3,
        selector: ({ name }) => name,
      }),
      fc.nat(2),
    )
    .map(([terms, lot]) => (lot === 0 ? ['$createdBy'] : []).concat(terms.map(({ name, down }) => (down ? `-${name}` : name)))),
  { minLength: 1, maxLength: 5, selector: String },
);

/**
 * Queries that one of the indexes may serve: a filter on its first fields, and a sort by the others, forwards or backwards. Half of those of an index that
 * begins with the creator do not name it.
 */
export function queriesOver(indexes: readonly string[][]): fc.Arbitrary<{ filter: Record<string, unknown>; sort: string[] }> {
  return fc
    .record({
      index: fc.constantFrom(...indexes),
      count: fc.nat(2),
      isReversed: fc.boolean(),
      rest: filtersOver(indexedFields),
      isFree: fc.boolean(),
      isOfOwner: fc.boolean(),
    })
    .chain(({ index: terms, count, isReversed, rest, isFree, isOfOwner }) => {
      const index = isOfOwner && terms[0] === '$createdBy' ? terms.slice(1) : terms;
      const names = index.map((term) => term.replace('-', ''));
      const fixed = fc.tuple(...names.slice(0, count).map((name) => equalityAt(name).map((test) => nested(name, test))));
      const sort = index
        .slice(count)
        .map((term) => (term.startsWith('-') === isReversed ? term.replace('-', '') : `-${term.replace('-', '')}`));
      return fixed.map((filters) => ({ filter: { $and: [...filters, isFree ? {} : rest] }, sort }));
    })
    .filter(({ filter }) => depthOf(filter) <= 5);
}

function equalityAt(name: string): fc.Arbitrary<unknown> {
  if (name === '$createdBy') return fc.constantFrom('ada', 'bob', { $in: ['ada', 'bob'] });
  if (name.startsWith('$')) return fc.constantFrom('2026-01-01T00:00:00.001Z', '2026-01-02T00:00:00Z');
  return equalityOf(declaredFields[name] ?? 'any');
}

function equalityOf(type: ModelType): fc.Arbitrary<unknown> {
  if (type === 'object' || type === 'array') return fc.constant(null);
  const value = valuesOf[type];
  return fc.oneof(
    value,
    fc.record({ $in: fc.array(sometimes(value), { minLength: 1, maxLength: 3 }) }),
    fc.constant(null),
    fc.constant({ $empty: true }),
  );
}
