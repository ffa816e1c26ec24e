/** Types and values that are written to take long, or to break out of what is made of them. */

export interface HostileType {
  about: string;
  document: object;
  /** Fields of entities, for the case that the type is accepted. */
  values: object[];
}

const names = (count: number, memberOf: (n: number) => unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, memberOf(n)]));
const times = <T>(count: number, each: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => each(n));
const nested = (levels: number, wrap: (inner: object) => object): object =>
  times(levels, () => wrap).reduce((inner, each) => each(inner), {});

const oddNames = [
  'constructor',
  '__proto__',
  'for(let a',
  '*/',
  'errors++;',
  'toString',
  '`${a}`',
  '\u2028',
  "'",
  '"',
  '\\',
  '',
  'x'.repeat(9_000),
];

const evilPatterns = [
  '(a+)+$',
  '(a|a)*$',
  '(a|aa)+$',
  '^(a+)+$',
  '(.*a){20}',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '([a-zA-Z]+)*$',
  '(a|a?)+$',
  '((a*)*)*$',
  '^(\\d+)*$',
  '(x+x+)+y',
  '^[ab]*a[ab]{290}$',
  '^[ab]*a[ab]{100}$',
  '(?=(a+))a*b',
  '(a)\\1+$',
  '(?<!a+)b',
  '(a{1000}){1000}',
  'a{1000}'.repeat(20),
  '[\\p{L}\\p{N}]'.repeat(150),
  '(?i)[a-\uffff]',
  '^(.|\\n)*$',
  '(([^a])*)*$',
  '^(.*?,){30}P',
  '(',
  '[',
  'a**',
  '\\',
  '(?:a?){60}a{60}',
  '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$',
  '^(([a-zA-Z0-9_\\-])+(\\.[a-zA-Z0-9_\\-]+)*)+@x$',
  '^\\s+|\\s+$',
  '(\\w+\\s*)+:',
  '^(?:(?:\\w+)\\.?)*$',
  '\\bx(?:[^"]|"")*?y',
  '(?:[^<]*<[^>]*>)*z',
  '^(?:.*?a){12}$',
  '(?:(?:a|b)*c?)*d',
  '([\\s\\S]*?)*x',
  '[\\s\\S]'.repeat(200),
];
const painfulTexts = ['a'.repeat(900_000) + '!', 'ab'.repeat(50_000), 'x'.repeat(30_000), '1,'.repeat(1_000), '\u{1f600}'.repeat(200_000)];

const items = (schema: unknown) => ({ properties: { a: { type: 'array', items: schema } } });
const same = (value: unknown, count = 9_900) => ({ a: times(count, () => value) });

/** What is accepted, or nearly so, with values that need all of its work. */
const products: HostileType[] = [
  { about: 'allOf', document: items({ allOf: times(90, (n) => ({ minimum: -n })) }), values: [same(5), same(-1_000)] },
  { about: 'anyOf', document: items({ anyOf: times(90, (n) => ({ minimum: n + 10 })) }), values: [same(5), same(500)] },
  {
    about: 'oneOf',
    document: { properties: { ...items({ oneOf: [...times(90, (n) => ({ minimum: n + 10 })), true] }).properties, b: { type: 'string' } } },
    values: [same(5), { ...same(5), b: 1 }],
  },
  { about: 'enum of objects', document: items({ enum: times(290, (n) => ({ a: n })) }), values: [same({ a: -1 }, 4_900)] },
  { about: 'enum of too many objects', document: items({ enum: times(2_000, (n) => ({ a: { n } })) }), values: [] },
  { about: 'multipleOf', document: items({ multipleOf: 5e-324 }), values: [same(Number.MAX_VALUE), same(0.1)] },
  {
    about: 'uniqueItems',
    document: { properties: { a: { type: 'array', uniqueItems: true, maxItems: 1_000 } } },
    values: [{ a: times(1_000, (n) => ({ n, text: 'y'.repeat(900) })) }],
  },
  { about: 'unbounded uniqueItems', document: { properties: { a: { uniqueItems: true } } }, values: [] },
  {
    about: 'unevaluatedProperties',
    document: { anyOf: times(40, () => ({ patternProperties: { '^n': true } })), unevaluatedProperties: false },
    values: [names(9_000, (n) => n)],
  },
  {
    about: 'unevaluatedItems',
    document: { properties: { a: { anyOf: times(40, () => ({ contains: { minimum: 0 } })), unevaluatedItems: false } } },
    values: [{ a: times(9_900, (n) => n) }],
  },
  {
    about: 'patternProperties',
    document: {
      patternProperties: Object.fromEntries(times(10, (n) => [`^(a|b)*${n}$`, { type: 'number' }])),
      additionalProperties: false,
    },
    values: [Object.fromEntries(times(9_900, (n) => [`${'ab'.repeat(20)}${n}`, 1]))],
  },
  { about: 'sizes', document: { allOf: times(90, () => ({ minProperties: 3, maxProperties: 9_999 })) }, values: [names(9_900, () => 1)] },
  {
    about: 'lengths',
    document: { properties: { a: { allOf: times(90, (n) => ({ minLength: 300_000 + n })) } } },
    values: [{ a: 'ü'.repeat(450_000) }, { a: '\u{1f600}'.repeat(240_000) }],
  },
  {
    about: 'format regex',
    document: { properties: { a: { format: 'regex' } } },
    values: [
      '\\p{L}'.repeat(180_000),
      '[\\p{L}1]'.repeat(100_000),
      '[\\s\\S]'.repeat(140_000),
      '('.repeat(900_000),
      '(?<a'.repeat(200_000),
    ].map((a) => ({ a })),
  },
  { about: 'formats', document: items({ allOf: times(90, () => ({ format: 'regex' })) }), values: [same('\\p{L}'.repeat(15))] },
  { about: 'required', document: items({ required: times(9_000, (n) => `n${n}`) }), values: [same({})] },
  { about: 'properties', document: { properties: names(9_990, () => ({})) }, values: [names(9_900, (n) => n)] },
  { about: 'levels', document: nested(500, (inner) => ({ properties: { a: inner } })), values: [nested(500, (inner) => ({ a: inner }))] },
  { about: 'levels of not', document: nested(60, (inner) => ({ not: inner })), values: [nested(60, (inner) => ({ a: inner }))] },
  { about: 'circle', document: { properties: { a: { $ref: '#' } } }, values: [] },
  {
    about: 'circle of two',
    document: { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    values: [],
  },
  {
    about: 'doubling references',
    document: { $ref: '#/$defs/n0', $defs: names(40, (n) => ({ allOf: times(2, () => ({ $ref: `#/$defs/n${n + 1}` })) })) },
    values: [],
  },
];

const named: HostileType[] = oddNames.flatMap((name) => [
  {
    about: 'an odd name',
    document: { properties: { [name]: { type: 'string', enum: [name] } }, required: [name], dependentRequired: { [name]: [name] } },
    values: [{ [name]: name }, { [name]: 1 }, JSON.parse(`{"__proto__":{"a":1},"constructor":1}`) as object],
  },
  { about: 'an odd keyword', document: { [name]: name, properties: { a: { [name]: {} } } }, values: [{ a: 1 }] },
]);

const patterned: HostileType[] = evilPatterns.flatMap((pattern) => [
  { about: 'an evil pattern', document: { properties: { a: { type: 'string', pattern } } }, values: painfulTexts.map((a) => ({ a })) },
  {
    about: 'an evil pattern for short texts',
    document: { patternProperties: { [pattern]: {} }, properties: { a: { pattern, maxLength: 1_000 } } },
    values: [{ a: 'a'.repeat(1_000) }, names(5_000, (n) => n)],
  },
]);

const keywords = (
  '$schema $id $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $comment $defs allOf anyOf oneOf not if then else dependentSchemas prefixItems items ' +
  'contains properties patternProperties additionalProperties propertyNames unevaluatedItems unevaluatedProperties type enum const multipleOf maximum ' +
  'exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties ' +
  'minProperties required dependentRequired title description default deprecated readOnly writeOnly examples format contentEncoding contentMediaType ' +
  'contentSchema x-unique x-references x-search x-history x-soft-delete x-if-match x-collation x-title x-description x-labels x-form x-zone x-label'
).split(' ');
const oddValues = [
  null,
  true,
  -1,
  1e308,
  5e-324,
  '',
  '\u0000',
  '#',
  '#/',
  'x'.repeat(50_000),
  [],
  [[]],
  {},
  { a: {} },
  times(500, (n) => n),
  [null, 'a', {}],
];

const misused: HostileType[] = keywords.flatMap((keyword) =>
  oddValues.map((value) => ({
    about: `${keyword} with an odd value`,
    document: { [keyword]: value, properties: { a: { [keyword]: value } } },
    values: [{ a: 1 }, { a: ['x', {}, null] }],
  })),
);

/** At least a thousand, the slow ones first. */
export const hostileTypes: readonly HostileType[] = [...products, ...patterned, ...named, ...misused];
