/** Says what a schema accepts in place of a refused value, in few words. */
import type { Expected } from '../faults.ts';

/** An error of Ajv. With its option `verbose` it has the schema around the keyword. */
export interface SchemaError {
  keyword: string;
  instancePath: string;
  schemaPath: string;
  params: Record<string, unknown>;
  /** For an error inside `propertyNames`: the name. */
  propertyName?: string;
  parentSchema?: object;
}

/** Maximum number of characters of a list or pattern in an answer, so that a small request causes no large answer (rule 75). */
const maximumLength = 200;

/** An accepted value of each format; the texts of a problem show it. */
const examples: Readonly<Record<string, string>> = {
  date: '2026-11-22',
  time: '14:30:00Z',
  'date-time': '2026-11-22T14:30:00Z',
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

/** A value of the format, with an example. */
export function expectedFormat(format: string): Expected {
  const example = examples[format];
  return { kind: 'format', values: { format, ...(example !== undefined && { example }) } };
}

/** What a value of this schema is: its constant, its values, its format or its type; undefined for any other schema. */
function ofSchema(schema: unknown): Expected | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { const: constant, enum: values, format, type } = schema as { const?: unknown; enum?: unknown[]; format?: string; type?: unknown };
  if (constant !== undefined) return oneOf([constant]);
  if (values) return oneOf(values);
  if (format !== undefined) return expectedFormat(format);
  return type === undefined ? undefined : oneOf([type].flat());
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

/** What the keyword of the error accepts; undefined for keywords that cannot be said in few words, such as `not`. */
export function expectedBy({ keyword, params, parentSchema = {} }: SchemaError): Expected | undefined {
  const { properties = {}, format } = parentSchema as { properties?: Record<string, unknown>; format?: string };
  if (isLimit(keyword)) return { kind: limits[keyword], values: { limit: Number(params['limit'] ?? params['multipleOf']) } };
  switch (keyword) {
    case 'type':
      return format !== undefined && params['type'] === 'string' ? expectedFormat(format) : oneOf(String(params['type']).split(','));
    case 'format':
      return expectedFormat(String(params['format']));
    case 'enum':
      return oneOf(params['allowedValues'] as unknown[]);
    case 'const':
      return oneOf([params['allowedValue']]);
    case 'pattern':
      return { kind: 'pattern', values: { pattern: shortened(String(params['pattern'])) } };
    case 'uniqueItems':
      return { kind: 'different-items', values: {} };
    case 'required':
    case 'dependentRequired':
      return ofSchema(properties[String(params['missingProperty'])]);
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
