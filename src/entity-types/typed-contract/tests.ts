/** The schemas of the tests of a filter, by the type of the field. Types of entities share them. */
import type { FieldType, ScalarType } from '../../filter/fields.ts';
import type { Schema } from '../subschemas.ts';

export const referTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** An operand with one member, whose value is a text. */
const operandOf = (names: Readonly<Record<string, string>>): Schema => ({
  type: 'object',
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
  properties: Object.fromEntries(Object.entries(names).map(([name, description]) => [name, { type: 'string', description }])),
});
const variable = operandOf({ $var: 'A variable of the caller.' });

const presence = {
  $exists: { type: 'boolean', description: 'True if it has a value, null included; false if it is missing.' },
  $empty: { type: 'boolean', description: 'True if it is missing or null; false if it has a value besides null.' },
};

/** The value, or an operand that is none. */
const orOperand = (value: Schema): Schema => ({ anyOf: [value, referTo('OperandTest')] });

/**
 * The value itself, another operand, or operators. `value` is the schema of a value that is not null. Combinations have tests that refer to the schema by its name;
 * a test without a name has none inside of another.
 */
function testOf(name: string | undefined, description: string, value: Schema, operators: (value: Schema) => Schema): Schema {
  const tests = (combinations: Record<string, Schema>): Schema => ({
    description,
    anyOf: [
      withNull(value),
      referTo('OperandTest'),
      {
        type: 'object',
        minProperties: 1,
        additionalProperties: false,
        properties: { ...equality(value), ...operators(value), ...presence, ...combinations },
      },
    ],
  });
  return tests(combinationsOf(name === undefined ? tests({}) : referTo(name)));
}

/** Combinations of tests of one field. */
export function combinationsOf(test: Schema): Record<string, Schema> {
  const list = (description: string) => ({ type: 'array', description, items: test });
  return { $and: list('All of these tests of the field hold.'), $or: list('One of these tests of the field holds.'), $not: test };
}

function equality(value: Schema): Schema {
  const one = orOperand(withNull(value));
  const list = { anyOf: [{ type: 'array', maxItems: 1000, items: one }, variable] };
  return { $eq: one, $ne: one, $in: list, $nin: list };
}

/** As {@link equality}, for tests that take values alone. */
function equalityOfValues(value: Schema): Schema {
  const list = { type: 'array', maxItems: 1000, items: withNull(value) };
  return { $eq: withNull(value), $ne: withNull(value), $in: list, $nin: list };
}

const order = (value: Schema) => {
  const one = orOperand(value);
  return { $lt: one, $lte: one, $gt: one, $gte: one };
};
const none = () => ({});

/** The same values, and null. The schema has one `type`. */
function withNull(value: Schema): Schema {
  const { type, enum: values } = value;
  return { ...value, type: [...new Set([type, 'null'].flat())], ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }) };
}

const text = { type: 'string', maxLength: 1000 };
const foldedParts = {
  $prefix: { ...text, description: 'It begins so.' },
  $contains: { ...text, description: 'It has this part.' },
};
const parts = {
  $prefix: { anyOf: [text, variable], description: 'It begins so.' },
  $contains: { anyOf: [text, variable], description: 'It has this part.' },
};

/** What the contract is given besides the schemas of types, by name. */
export const sharedTests = {
  OperandTest: {
    description: 'The operand of a field in place of a value.',
    ...operandOf({
      $var: 'A variable of the caller: `user.name`, `profile.name`, `now`, `today`, or an attribute.',
      $field: 'Another field of the entity, with dots into objects.',
      $ago: 'The present time minus a duration of ISO 8601 such as `P30D`.',
    }),
  },
  TextTest: testOf('TextTest', 'A text, or operators. Texts compare by code points.', text, (value) => ({
    ...order(value),
    ...parts,
  })),
  FoldedTextTest: testOf('FoldedTextTest', 'A text, or operators. Texts compare by code points, but for `$fold`.', text, (value) => ({
    ...order(value),
    ...parts,
    $fold: {
      description: 'The same without regard to case and accents: a text, or operators.',
      anyOf: [
        withNull(text),
        { type: 'object', minProperties: 1, additionalProperties: false, properties: { ...equalityOfValues(text), ...foldedParts } },
      ],
    },
  })),
  NumberTest: testOf('NumberTest', 'A number, or operators.', { type: 'number' }, order),
  Int64Test: testOf('Int64Test', 'A 64-bit integer as text, or operators.', { type: 'string', format: 'int64' }, order),
  ReferenceTest: testOf('ReferenceTest', 'The key of an entity, or operators.', { type: 'string', format: 'int64' }, (value) => ({
    ...order(value),
    $match: { description: 'The entity fulfils this filter. One that the caller may not read fulfils none.', ...referTo('Filter') },
  })),
  DecimalTest: testOf('DecimalTest', 'A decimal as text, or operators: "1.50" equals "1.5".', { type: 'string', format: 'decimal' }, order),
  InstantTest: testOf('InstantTest', 'An instant (RFC 3339), or operators.', { type: 'string', format: 'date-time' }, order),
  DayTest: testOf('DayTest', 'A day (RFC 3339), or operators.', { type: 'string', format: 'date' }, order),
  BooleanTest: testOf('BooleanTest', 'A boolean, or operators.', { type: 'boolean' }, none),
  PresenceTest: {
    description: 'Whether there is a value at all.',
    anyOf: [
      { type: 'null' },
      {
        type: 'object',
        minProperties: 1,
        additionalProperties: false,
        properties: { $eq: { type: 'null' }, $ne: { type: 'null' }, ...presence, ...combinationsOf(referTo('PresenceTest')) },
      },
    ],
  },
} satisfies Record<string, Schema>;

export type SharedTest = keyof typeof sharedTests;

/** The types that a field can have by its schema alone, but for `enum`. */
type PlainType = Exclude<ScalarType, 'enum' | 'folded'>;

export const testNames: Readonly<Record<PlainType, SharedTest>> = {
  string: 'TextTest',
  number: 'NumberTest',
  int64: 'Int64Test',
  decimal: 'DecimalTest',
  'date-time': 'InstantTest',
  instant: 'InstantTest',
  date: 'DayTest',
  boolean: 'BooleanTest',
};

const values: Readonly<Record<PlainType | 'any', Schema>> = {
  string: text,
  number: { type: 'number' },
  int64: { type: 'string', format: 'int64' },
  decimal: { type: 'string', format: 'decimal' },
  'date-time': { type: 'string', format: 'date-time' },
  instant: { type: 'string', format: 'date-time' },
  date: { type: 'string', format: 'date' },
  boolean: { type: 'boolean' },
  any: { type: ['string', 'number', 'boolean', 'null'] },
};

/** The test of a field that has one of these texts. */
export function enumTest(texts: readonly string[] | undefined): Schema {
  return testOf(undefined, 'One of the values, or operators.', textOf(texts), none);
}

/** One of the texts; any text without them, as for an `enum` of null alone. */
const textOf = (texts: readonly string[] | undefined): Schema => ({ type: 'string', ...(texts && { enum: texts }) });

/** The test of an array: what it contains, one of `texts` if the items are an `enum`. Arrays of decimals and instants have no such test. */
export function arrayTest(items: Exclude<FieldType, object> | 'enum', texts?: readonly string[]): Schema {
  const isCompared = items !== 'folded' && items !== 'decimal' && items !== 'date-time' && items !== 'instant' && items !== 'object';
  const item = isCompared ? (items === 'enum' ? textOf(texts) : values[items]) : undefined;
  const contains = item && { $contains: { anyOf: [withNull(item), variable], description: 'It has this item.' } };
  const tests = (combinations: Record<string, Schema>): Schema => ({
    anyOf: [
      { type: 'null' },
      {
        type: 'object',
        minProperties: 1,
        additionalProperties: false,
        properties: { $eq: { type: 'null' }, $ne: { type: 'null' }, ...contains, ...presence, ...combinations },
      },
    ],
  });
  return tests(combinationsOf(tests({})));
}
