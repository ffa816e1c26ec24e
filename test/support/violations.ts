/** For each keyword of a schema, a value that breaks it and, as far as possible, no other: the server must refuse it. */
import { createAjv } from './ajv.ts';
import { isOpenObject, readSchema, sampleOf, type Schema } from './schema-values.ts';

export interface Violation {
  /** The violated keyword. */
  keyword: string;
  /** JSON pointer to the fault; empty for the value itself. */
  pointer: string;
  /** The whole value, with this one fault. */
  value: unknown;
}

type Put = (value: unknown) => unknown;

/** The violations of the otherwise valid value `valid`. `typed` is false for parameters and forms, where every value is text. */
export function violationsOf(reference: object, valid: unknown, typed: boolean): Violation[] {
  return [...walk(readSchema(reference), valid, '', (value) => value, typed)];
}

function* walk(schema: Schema, valid: unknown, pointer: string, put: Put, typed: boolean): Generator<Violation> {
  const one = (keyword: string, value: unknown, at = pointer): Violation => ({ keyword, pointer: at, value: put(value) });
  if (schema.anyOf) yield one('anyOf', strangerTo(schema));
  if (schema.type !== undefined && typed) yield one('type', strangerTo({ type: schema.type }));
  if (schema.enum) yield one('enum', typeof schema.enum[0] === 'string' ? `${schema.enum.join('')}?` : { not: 'listed' });
  if (schema.minimum !== undefined) yield one('minimum', schema.minimum - 1);
  if (schema.maximum !== undefined) yield one('maximum', schema.maximum + 1);
  if (schema.type === 'integer') yield one('type', (schema.minimum ?? 0) + 0.5);
  if (schema.minLength) yield one('minLength', 'x'.repeat(schema.minLength - 1));
  if (schema.maxLength !== undefined) yield one('maxLength', 'x'.repeat(schema.maxLength + 1));
  if (schema.pattern !== undefined) for (const value of mismatches(schema)) yield one('pattern', value);
  if (schema.format !== undefined && schema.format !== 'password') yield one('format', misformatted(schema.format));
  if (Array.isArray(valid)) yield* walkItems(schema, valid, pointer, put, typed);
  else if (typeof valid === 'object' && valid !== null && !isOpenObject(schema))
    yield* walkMembers(schema, valid as Record<string, unknown>, pointer, put, typed);
}

function* walkItems(schema: Schema, valid: unknown[], pointer: string, put: Put, typed: boolean): Generator<Violation> {
  const { items = {}, minItems = 0, maxItems, uniqueItems } = schema;
  const item = valid[0] ?? sampleOf(items);
  if (minItems > 0) yield { keyword: 'minItems', pointer, value: put(valid.slice(0, minItems - 1)) };
  if (maxItems !== undefined) yield { keyword: 'maxItems', pointer, value: put(Array.from({ length: maxItems + 1 }, () => item)) };
  if (uniqueItems) yield { keyword: 'uniqueItems', pointer, value: put([item, item]) };
  yield* walk(readSchema(items), item, `${pointer}/0`, (value) => put([value, ...valid.slice(1)]), typed);
}

/** A recursive schema is not followed below this number of steps. */
const maximumSteps = 4;

function* walkMembers(schema: Schema, valid: Record<string, unknown>, pointer: string, put: Put, typed: boolean): Generator<Violation> {
  if (pointer.split('/').length > maximumSteps) return;
  const { properties = {}, required = [], additionalProperties } = schema;
  const without = (name: string) => Object.fromEntries(Object.entries(valid).filter(([member]) => member !== name));
  for (const name of required) yield { keyword: 'required', pointer: `${pointer}/${name}`, value: put(without(name)) };
  for (const name of additionalProperties === false ? ['surplus', 'toString'] : [])
    yield { keyword: 'additionalProperties', pointer: `${pointer}/${name}`, value: put({ ...valid, [name]: 'x' }) };
  for (const [name, property] of Object.entries(properties)) {
    const member = valid[name] ?? sampleOf(property);
    yield* walk(readSchema(property), member, `${pointer}/${name}`, (value) => put({ ...valid, [name]: value }), typed);
  }
}

/** A value whose type the schema refuses. */
function strangerTo(schema: object): unknown {
  const validate = createAjv().compile(schema);
  const found = [[], { a: 1 }, 'text', true, null].find((value) => !validate(value));
  if (found === undefined) throw new Error(`every type fits ${JSON.stringify(schema)}`);
  return found;
}

const odd = [
  '*',
  '!',
  ' a',
  'a ',
  '%',
  'é',
  '１',
  '0x10',
  '-0',
  '01',
  '1e3',
  'a/b',
  'a\u0001b',
  '\u0085',
  'a,b',
  '"',
  "'",
  '4fT9xKq2LmZ',
  'a'.repeat(65),
  'a\n',
];

/** Texts that break the pattern and fit the schema's other keywords. */
function mismatches({ pattern = '', minLength = 0, maxLength = Infinity }: Schema): string[] {
  const expression = new RegExp(pattern, 'u');
  const found = odd.filter((text) => !expression.test(text) && text.length >= minLength && text.length <= maxLength);
  if (found.length === 0) throw new Error(`test/support/violations.ts has no text that ${pattern} refuses`);
  return found;
}

function misformatted(format: string): string {
  const known: Record<string, string> = {
    int64: '9223372036854775808',
    uuid: '9f1c2a34-58d0-4b6e-9a71-0c5d8e3f2b1',
    'date-time': '2026-13-01',
  };
  const value = known[format];
  if (value === undefined) throw new Error(`test/support/violations.ts has no text that is not ${format}`);
  return value;
}
