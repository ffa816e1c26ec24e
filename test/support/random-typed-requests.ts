/**
 * Random types, and requests with right and wrong values for entities of these types. A type composes its schema of all keywords that combine schemas, and
 * has rules on its fields. Few names, so that requests meet the types and the entities of others.
 */
import * as fc from 'fast-check';
import type { RandomRequest } from './random-requests.ts';
import { fieldCases, formatValues } from './random-values.ts';

type Json = Record<string, unknown>;
const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 1, nil: undefined });

const fieldNames = ['a', 'b', 'c', 'd', 'o'];
/** The names of the types. */
export const types = Array.from({ length: 12 }, (_, index) => `fuzzed${index}`);
const typeName = pick(...types);
const field = pick(...fieldNames);
const dotted = fc.oneof({ weight: 6, arbitrary: field }, pick('o.a', 'o.o.b', 'x', '$createdBy', '$key', ''));
const signed = fc.tuple(pick('', '', '-'), dotted).map((parts) => parts.join(''));
const key = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 3_000 }).map(String) }, pick('0', '9223372036854775807', 'x'));

const scalar = fc.oneof({ weight: 5, arbitrary: formatValues }, pick<unknown>(null, true, 0, -1.5, 1e300, '', 'WOOL', 'a'.repeat(700)));
const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: scalar },
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(field, scalar, { maxKeys: 3, noNullPrototype: true }),
  key.map((number) => ({ a: number })),
);
const fields = fc.dictionary(fc.oneof({ weight: 9, arbitrary: field }, pick('x', 'a b', '$x', '')), value, {
  maxKeys: 5,
  noNullPrototype: true,
});

const constants = fc.oneof(fc.record({ const: value }), fc.record({ enum: fc.array(value, { minLength: 1, maxLength: 4 }) }));
const pattern = pick('^a', '\\p{L}+', '^[\\w.]*$', '(a|b)*', '^\\s', '(?=a)', '[', '^(?:x|y){1,3}$');
const limits = fc.record(
  {
    type: pick<unknown>('string', 'number', 'integer', ['string', 'null'], 'object', 'array', 'boolean'),
    minLength: fc.nat(3),
    maxLength: fc.nat(600),
    pattern,
    minimum: fc.integer({ min: -5, max: 5 }),
    multipleOf: pick(0.01, 1, 0.1),
    maxItems: fc.nat(5),
    uniqueItems: fc.boolean(),
    format: pick('int64', 'decimal', 'date-time', 'uuid', 'time', 'date', 'nonsense'),
  },
  { requiredKeys: [], noNullPrototype: true },
);

const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const some = fc.array(tie('schema'), { minLength: 1, maxLength: 3 });
  const members = fc.dictionary(field, tie('schema'), { maxKeys: 3, noNullPrototype: true });
  return {
    schema: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.oneof(limits, constants, pick<unknown>(true, false, {}, { $ref: '#/$defs/s' }, { $ref: '#/$defs/none' }, { $ref: '#' })),
      some.map((allOf) => ({ allOf })),
      some.map((anyOf) => ({ anyOf })),
      some.map((oneOf) => ({ oneOf })),
      tie('schema').map((not) => ({ not })),
      fc
        .tuple(tie('schema'), tie('schema'), fc.nat(2))
        .map(([condition, branch, lot]) =>
          Object.fromEntries([['if', condition], ...['then', 'else'].slice(0, lot).map((name) => [name, branch] as const)]),
        ),
      fc.record(
        { properties: members, unevaluatedProperties: fc.oneof(fc.boolean(), tie('schema')) },
        { requiredKeys: ['properties'], noNullPrototype: true },
      ),
      fc.tuple(pattern, tie('schema')).map(([name, inner]) => ({ patternProperties: { [name]: inner }, additionalProperties: false })),
      some.map((prefixItems) => ({ type: 'array', prefixItems, unevaluatedItems: false })),
      fc.record(
        { contains: tie('schema'), minContains: fc.nat(2), items: tie('schema') },
        { requiredKeys: ['contains'], noNullPrototype: true },
      ),
      fc.record(
        { dependentSchemas: members, required: fc.array(field, { maxLength: 2 }), propertyNames: tie('schema') },
        { requiredKeys: [], noNullPrototype: true },
      ),
    ),
  };
});

const dictionaryOf = <T>(inner: fc.Arbitrary<T>, name: fc.Arbitrary<string>) =>
  fc.dictionary(name, inner, { maxKeys: 1, noNullPrototype: true });

/** Rules on fields with these names. */
const rulesOver = (name: fc.Arbitrary<string>) => {
  const names = fc.uniqueArray(name, { minLength: 1, maxLength: 2 });
  const ordered = names.chain((some) => fc.tuple(...some.map((one) => pick(one, one, `-${one}`))));
  const textIndex = fc.tuple(name, pick({ fold: true }, { substring: true }, { fold: true, substring: true }));
  return fc.record(
    {
      'x-unique': fc.array(fc.record({ fields: names, fold: fc.constant(false) }), { maxLength: 2 }),
      'x-index': fc.array(
        fc.oneof(
          ordered,
          textIndex.map(([at, kind]) => Object.assign({ field: at }, kind)),
        ),
        { maxLength: 3 },
      ),
      'x-references': dictionaryOf(fc.record({ to: typeName, onDelete: pick('restrict', 'cascade', 'set-null') }), name),
      'x-search': fc.record({ fields: names, language: pick('simple', 'english') }),
      'x-collation': dictionaryOf(pick('de', 'und', 'xq'), name),
      'x-soft-delete': fc.constant(true),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
};
type Rules = Json & { 'x-index'?: unknown };
/** Most name the first field, few have more than one rule. */
const rules: fc.Arbitrary<Rules> = fc.oneof(
  { weight: 3, arbitrary: rulesOver(fc.constant('a')).map((all) => Object.fromEntries(Object.entries(all).slice(0, 1))) },
  {
    weight: 1,
    arbitrary: rulesOver(pick('a', 'b')).map(({ 'x-index': indexes, 'x-unique': uniques }) => ({
      'x-index': indexes ?? [],
      'x-unique': uniques ?? [],
    })),
  },
  { weight: 1, arbitrary: rulesOver(dotted) },
);

/** Fields with a format behind a composition, one of a random schema, and rules of which each names fields at random. */
export const document: fc.Arbitrary<Json> = fc
  .record({
    plain: fc.array(fieldCases, { minLength: 1, maxLength: 3 }),
    other: sometimes(schema),
    beside: sometimes(schema),
    rule: rules,
    defs: fc.oneof({ weight: 3, arbitrary: fc.constant({ minLength: 1 }) }, schema),
  })
  .map(({ plain, other, beside, rule, defs }) => {
    const properties: Json = {};
    const $defs: Json = { s: defs };
    for (const [index, { document: one }] of plain.entries()) {
      // Each has definitions of its own.
      const own = (part: unknown): unknown => JSON.parse(JSON.stringify(part).replaceAll('#/$defs/d', `#/$defs/f${index}d`));
      properties[fieldNames[index] ?? 'a'] = own(one.properties.v);
      for (const [name, definition] of Object.entries(one.$defs)) $defs[`f${index}${name}`] = own(definition);
    }
    if (other !== undefined) properties['o'] = other;
    const more = typeof beside === 'object' && beside !== null && !('type' in beside) ? beside : {};
    const own = 'properties' in more ? (more.properties as Json) : {};
    return Object.assign({ type: 'object' }, more, { properties: Object.assign({}, own, properties), $defs }, rule);
  });

const operators = ['$eq', '$ne', '$lt', '$lte', '$gt', '$gte', '$in', '$nin', '$prefix', '$contains', '$exists', '$fold', '$match', '$x'];
const test = fc.oneof(
  value,
  fc
    .tuple(pick(...operators), fc.oneof(value, fc.array(scalar, { maxLength: 3 }), fc.boolean()))
    .map(([name, operand]) => ({ [name]: operand })),
  fc.tuple(pick('$eq', '$in', '$prefix', '$contains'), scalar).map(([name, operand]) => ({ $fold: { [name]: operand } })),
);
const { filter } = fc.letrec<{ filter: Json }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.dictionary(fc.oneof({ weight: 8, arbitrary: field }, pick('$key', '$createdAt', 'x')), test, { maxKeys: 2, noNullPrototype: true }),
    fc.array(tie('filter'), { maxLength: 2 }).map(($or) => ({ $or })),
    tie('filter').map(($not) => ({ $not })),
    fc.tuple(field, tie('filter')).map(([name, $match]) => ({ [name]: { $match } })),
  ),
}));
const query = fc.record(
  {
    filter,
    sort: fc.array(signed, { maxLength: 2 }),
    search: pick('a', 'wool "x" or -b'),
    count: pick('exact', 'capped'),
    limit: pick(1, 50),
    fields: fc.array(dotted, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ['filter'], noNullPrototype: true },
);
const aggregation = fc.record(
  {
    filter,
    groupBy: fc.array(fc.oneof(dotted, fc.record({ path: dotted, by: pick('year', 'hour') })), { maxLength: 2 }),
    measures: fc
      .tuple(pick('$count', '$sum', '$max', '$avg'), dotted)
      .map(([name, path]) => ({ m: { [name]: name === '$count' ? true : path } })),
    having: fc.record({ m: test }),
  },
  { requiredKeys: ['measures'], noNullPrototype: true },
);
const cell = fc.oneof(formatValues.map(String), pick('', 'null', '"a"', '"', "'-1"));
const csv = fc
  .tuple(fc.array(dotted, { minLength: 1, maxLength: 3 }), fc.array(fc.array(cell, { maxLength: 3 }), { maxLength: 4 }))
  .map(([names, rows]) => [names, ...rows].map((row) => row.join(',')).join('\n'));
const operation = fc.oneof(
  fc.record({ op: fc.constant('create'), name: typeName, fields }),
  fc.record({ op: fc.constant('update'), name: typeName, key, fields }),
  fc.record({ op: pick('delete', 'get'), name: typeName, key }),
);

interface Sketch {
  method?: string;
  path: string;
  type?: string;
  headers?: Record<string, string>;
  payload?: unknown;
}

/** The requests on one type. */
const sketches = (name: string): fc.Arbitrary<Sketch> => {
  const at = `/rest/entity/${name}`;
  const post = (path: string, payload: fc.Arbitrary<unknown>) => payload.map((sent) => ({ path, payload: sent }));
  const by = fc.array(dotted, { minLength: 1, maxLength: 2 }).map((names) => encodeURIComponent(names.join()));
  return fc.oneof(
    {
      weight: 2,
      arbitrary: fc.tuple(document, pick<Record<string, string>>({ 'if-none-match': '*' }, { 'if-match': '*' })).map(([sent, headers]) => ({
        method: 'PUT',
        path: `/rest/entity-type/${name}`,
        headers,
        payload: sent,
      })),
    },
    {
      weight: 1,
      arbitrary: post(
        `/rest/entity-type/${name}/plan`,
        document.map((sent) => ({ document: sent })),
      ),
    },
    { weight: 8, arbitrary: post(at, fields) },
    { weight: 3, arbitrary: fc.tuple(key, fields).map(([one, payload]) => ({ path: `${at}/${one}`, payload })) },
    { weight: 3, arbitrary: fc.tuple(by, fields).map(([rule, payload]) => ({ path: `${at}/upsert?by=${rule}`, payload })) },
    { weight: 6, arbitrary: post(`${at}/query`, query) },
    {
      weight: 3,
      arbitrary: fc.tuple(filter, signed).map(([sent, sort]) => ({
        method: 'GET',
        path: `${at}?${new URLSearchParams({ filter: JSON.stringify(sent), sort }).toString()}`,
      })),
    },
    { weight: 2, arbitrary: post(`${at}/aggregate`, aggregation) },
    { weight: 1, arbitrary: post(`${at}/export`, fc.record({ filter, format: pick('csv', 'ndjson') })) },
    { weight: 1, arbitrary: fc.tuple(by, csv).map(([rule, payload]) => ({ path: `${at}/import?by=${rule}`, type: 'text/csv', payload })) },
    { weight: 1, arbitrary: csv.map((payload) => ({ path: `${at}/import`, type: 'text/csv', payload })) },
    {
      weight: 1,
      arbitrary: fc.array(fields, { maxLength: 3 }).map((some) => ({
        path: `${at}/import`,
        type: 'application/x-ndjson',
        payload: some.map((one) => JSON.stringify(one)).join('\n'),
      })),
    },
    {
      weight: 2,
      arbitrary: fc
        .array(operation, { minLength: 1, maxLength: 3 })
        .map((operations) => ({ path: '/rest/batch', payload: { operations } })),
    },
    { weight: 1, arbitrary: key.map((one) => ({ method: 'DELETE', path: `${at}/${one}` })) },
    { weight: 1, arbitrary: key.map((one) => ({ method: 'GET', path: `${at}/${one}` })) },
  );
};

/** Requests of a caller with all rights, by the last of the keys. */
export const typedRequests: fc.Arbitrary<RandomRequest> = typeName
  .chain(sketches)
  .map(({ method = 'POST', path, type = 'application/json', headers, payload }) => ({
    method,
    url: path,
    headers: ({ keys }) => ({ ...headers, 'x-api-key': keys.at(-1) ?? '', ...(payload !== undefined && { 'content-type': type }) }),
    payload: payload === undefined || typeof payload === 'string' ? payload : JSON.stringify(payload),
  }));
