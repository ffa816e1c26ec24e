/** Says what a schema accepts in place of a refused value, in few words. */
import type { Expected } from './faults.ts';
import type { SchemaError } from '../json-schema/types.ts';

/** Maximum number of characters of a list or pattern in an answer, so that a small request causes no large answer (rule 75). */
const maximumLength = 200;

/** An accepted value of each format; the texts of a problem show it. */
const examples: Readonly<Record<string, string>> = {
  date: '2026-11-22',
  time: '14:30:00Z',
  'date-time': '2026-11-22T14:30:00Z',
  'iso-time': '14:30:00',
  'iso-date-time': '2026-11-22T14:30:00',
  duration: 'P3DT4H',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.7',
  ipv6: '2001:db8::7',
  uri: 'https://example.com/path',
  'uri-reference': '/path',
  'uri-template': '/path/{name}',
  uuid: '9f1c2a34-58d0-4b6e-9a71-0c5d8e3f2b17',
  'json-pointer': '/address/zip',
  'relative-json-pointer': '1/zip',
  regex: '^[a-z]+$',
  byte: 'YWRh',
  int64: '42',
  decimal: '12.50',
  // Of HTTP headers and form fields.
  'entity-tag': '"3"',
  'language-tag': 'de-CH',
};

/** The values as text, separated by commas; cut after {@link maximumLength} characters. */
export function listValues(values: Iterable<unknown>): string {
  let text = '';
  for (const value of values) {
    const next = typeof value === 'string' ? value : JSON.stringify(value);
    if (text.length + next.length > maximumLength) return text === '' ? shortened(next) : `${text}, …`;
    text += text === '' ? next : `, ${next}`;
  }
  return text;
}

const shortened = (text: string): string => (text.length > maximumLength ? `${text.slice(0, maximumLength)}…` : text);

/** One value, or one of several; undefined without any. */
export function oneOf(values: Iterable<unknown>): Expected | undefined {
  const all = [...values];
  if (all.length === 0) return undefined;
  return all.length === 1 ? { kind: 'value', values: { value: listValues(all) } } : { kind: 'one-of', values: { values: listValues(all) } };
}

/** One of the values, as a member of a fault; without any, no member. */
export function expectedOneOf(values: Iterable<string>): { expected?: Expected } {
  const expected = oneOf(values);
  return expected ? { expected } : {};
}

/** A value of the format, with an example, or one of the `other` values. In JSON an example that looks like a number has quotes. */
export function expectedFormat(format: string, isJson = false, other?: string): Expected {
  const text = examples[format];
  const example = isJson && text !== undefined && !Number.isNaN(Number(text)) ? JSON.stringify(text) : text;
  return { kind: 'format', values: { format, ...(example !== undefined && { example }), ...(other !== undefined && { other }) } };
}

/** The formats of numbers. All others are of texts. */
const numberFormats = new Set(['int32', 'float', 'double']);

/** The format of a schema with these types, and those of them that it does not concern. */
function ofFormat(format: string, types: readonly string[], isJson: boolean): Expected {
  const concerned = numberFormats.has(format) ? ['integer', 'number'] : ['string'];
  const others = types.filter((type) => !concerned.includes(type));
  return expectedFormat(format, isJson, others.length > 0 ? others.join(', ') : undefined);
}

/** The members of a schema that say what a value is. */
interface OwnSchema {
  const?: unknown;
  enum?: unknown[];
  format?: string;
  type?: string | string[];
  /** Beside `type`: whether null is accepted too. */
  nullable?: boolean;
}

const typesOf = ({ type, nullable }: OwnSchema): string[] => (type === undefined ? [] : [type, nullable ? 'null' : []].flat());

/** What a value of this schema is: its constant, its values, its format or its type; undefined for any other schema. */
function ofSchema(schema: unknown, isJson: boolean): Expected | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const own: OwnSchema = schema;
  const { const: constant, enum: values, format } = own;
  if (constant !== undefined) return oneOf([constant]);
  if (values) return oneOf(values);
  return format === undefined ? oneOf(typesOf(own)) : ofFormat(format, typesOf(own), isJson);
}

/** The extension `x-expected` of a schema: what its pattern accepts, as a kind and the values of its text. */
type Extension = { kind: string } & Record<string, string>;

function ofExtension({ kind, ...values }: Extension): Expected {
  return { kind, values } as Expected;
}

const limits = {
  minimum: 'at-least',
  maximum: 'at-most',
  exclusiveMinimum: 'more-than',
  exclusiveMaximum: 'less-than',
  multipleOf: 'multiple-of',
  minLength: 'minimum-length',
  maxLength: 'maximum-length',
  minItems: 'minimum-items',
  maxItems: 'maximum-items',
  minProperties: 'minimum-members',
  maxProperties: 'maximum-members',
} as const;

const isLimit = (keyword: string): keyword is keyof typeof limits => Object.hasOwn(limits, keyword);

/** The keywords beside `properties` by which a schema accepts other members, under `additionalProperties` and `unevaluatedProperties`. */
const accepting = {
  additionalProperties: ['patternProperties'],
  unevaluatedProperties: ['patternProperties', '$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'],
};

interface ParentSchema extends OwnSchema {
  properties?: Record<string, unknown>;
  'x-expected'?: Extension;
}

/** What the keyword of the error accepts; undefined for keywords that cannot be said in few words, such as `not`. `isJson`: the value is in a JSON body. */
export function expectedBy({ keyword, params, parentSchema = {} }: SchemaError, isJson: boolean): Expected | undefined {
  const schema: ParentSchema = parentSchema;
  const { properties = {}, format, 'x-expected': extension } = schema;
  if (isLimit(keyword)) return { kind: limits[keyword], values: { limit: Number(params['limit'] ?? params['multipleOf']) } };
  switch (keyword) {
    case 'type': {
      const types = typesOf(schema);
      return format !== undefined && types.includes('string') ? ofFormat(format, types, isJson) : oneOf(types);
    }
    case 'format':
      return ofFormat(String(params['format']), typesOf(schema), isJson);
    case 'enum':
      return oneOf(params['allowedValues'] as unknown[]);
    case 'const':
      return oneOf([params['allowedValue']]);
    case 'pattern':
      return extension ? ofExtension(extension) : { kind: 'pattern', values: { pattern: shortened(String(params['pattern'])) } };
    case 'uniqueItems':
      return { kind: 'different-items', values: {} };
    case 'required':
    case 'dependentRequired':
      return ofSchema(properties[String(params['missingProperty'])], isJson);
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return accepting[keyword].some((other) => Object.hasOwn(parentSchema, other)) ? undefined : oneOf(Object.keys(properties));
    default:
      return undefined;
  }
}

/** What one of several schemas accepts, if all of them say it as values. */
export function expectedByOneOf(alternatives: readonly (Expected | undefined)[]): Expected | undefined {
  const values = new Set<string>();
  for (const expected of alternatives) {
    if (expected?.kind === 'value') values.add(expected.values.value ?? '');
    else if (expected?.kind === 'one-of') values.add(expected.values.values ?? '');
    else if (expected?.kind === 'format') values.add(expected.values.format ?? '');
    else return undefined;
  }
  return oneOf(values);
}
