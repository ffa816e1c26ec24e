/**
 * Random values that fit a schema of openapi.yaml. It supports the keywords that requests use, and throws for any other, so that no keyword
 * is ignored silently.
 */
import * as fc from 'fast-check';
import { resolveReference, type Operation, type ParameterObject, type ComponentReference } from '../../src/contract/contract.ts';
import { isInt64 } from '../../src/json/int64.ts';
import { objectText } from './exact-json.ts';
import { document } from './operations.ts';

export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  items?: Schema | ComponentReference;
  required?: string[];
  properties?: Record<string, Schema | ComponentReference>;
  additionalProperties?: boolean | object;
  anyOf?: (Schema | ComponentReference)[];
}

const annotations = [
  'description',
  'examples',
  'example',
  'title',
  'default',
  'deprecated',
  'contentMediaType',
  'contentSchema',
  'x-expected',
];
const keywords = `type enum format pattern minLength maxLength minimum maximum minItems maxItems uniqueItems
  items required properties patternProperties additionalProperties anyOf`.split(/\s+/);

/** The schema itself. Throws when it has an unsupported keyword. */
export function readSchema(reference: object): Schema {
  const schema = resolveReference<Schema>(document, reference);
  const unread = Object.keys(schema).filter((keyword) => !keywords.includes(keyword) && !annotations.includes(keyword));
  if (unread.length > 0) throw new Error(`test/support/schema-values.ts and violations.ts do not support ${unread.join(', ')}`);
  return schema;
}

/** Whether the schema takes any member, without a schema of its members. */
export const isOpenObject = ({ type, properties, additionalProperties }: Schema): boolean =>
  type === 'object' && properties === undefined && additionalProperties === true;

/** Values that fit the schema; texts are short even where long ones are allowed. A recursive schema ends at the depth of 2. */
export function valuesOf(reference: object, depth = 0): fc.Arbitrary<unknown> {
  const schema = readSchema(reference);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valuesOf(one, depth)));
  switch (schema.type) {
    case 'string':
      return texts(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 1_000 });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return arrays(schema, depth);
    case 'object':
      return isOpenObject(schema) ? objectText.map((text) => JSON.parse(text) as unknown) : objects(schema, depth);
    default:
      throw new Error(`test/support/schema-values.ts does not support the type ${String(schema.type)}`);
  }
}

function texts({ format, pattern, minLength = 0, maxLength = 1_024 }: Schema): fc.Arbitrary<string> {
  const any = fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, minLength + 20) });
  const fits = (text: string) => text.length >= minLength && text.length <= maxLength && text.isWellFormed() && !text.includes('\0');
  switch (format) {
    case 'int64':
      return fc
        .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
        .map(String)
        .filter(isInt64);
    case 'uuid':
      return fc.uuid();
    case undefined:
    case 'password':
      break;
    default:
      throw new Error(`test/support/schema-values.ts does not support the format ${format}`);
  }
  if (pattern === undefined) return any.filter(fits);
  const expression = new RegExp(pattern, 'u');
  return fc.stringMatching(expression).filter((text) => expression.test(text) && fits(text));
}

function arrays({ items = {}, minItems = 0, maxItems = 10, uniqueItems = false }: Schema, depth: number): fc.Arbitrary<unknown[]> {
  const size = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 3) };
  return uniqueItems ? fc.uniqueArray(valuesOf(items, depth), size) : fc.array(valuesOf(items, depth), size);
}

function objects({ properties = {}, required = [] }: Schema, depth: number): fc.Arbitrary<unknown> {
  const wanted = Object.entries(properties).filter(([name]) => depth < 2 || required.includes(name));
  const members = Object.fromEntries(wanted.map(([name, property]) => [name, valuesOf(property, depth + 1)]));
  return fc.record(members, { requiredKeys: required, noNullPrototype: true });
}

/** One value that fits, always the same. */
export function sampleOf(reference: object): unknown {
  return fc.sample(valuesOf(reference), { numRuns: 1, seed: 1 })[0];
}

/** Values of the parameters that the operation requires in that place, always the same. */
export function requiredParameters({ parameters }: Operation, place: ParameterObject['in']): Record<string, string> {
  const wanted = parameters.filter((parameter) => parameter.in === place && parameter.required);
  return Object.fromEntries(wanted.map(({ name, schema, example }) => [name, String(example ?? sampleOf(schema))]));
}
