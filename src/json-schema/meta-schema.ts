/** The form of a schema: the meta-schema of JSON Schema 2020-12 in one schema, with `nullable` of OpenAPI 3.0 and the limits of formats. */
import type { JsonSchema } from './types.ts';

const schema = { $ref: '#' };
const schemas = { type: 'object', additionalProperties: schema };
const list = { type: 'array', minItems: 1, items: schema };
const count = { type: 'integer', minimum: 0 };
const number = { type: 'number' };
const text = { type: 'string' };
const truth = { type: 'boolean' };
const anchor = { type: 'string', pattern: '^[A-Za-z_][-A-Za-z0-9._]*$' };
const names = { type: 'array', items: text, uniqueItems: true };
const typeName = { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] };

const properties: JsonSchema = {
  $id: { type: 'string', format: 'uri-reference', pattern: '^[^#]*#?$' },
  $schema: { type: 'string', format: 'uri' },
  $ref: { type: 'string', format: 'uri-reference' },
  $anchor: anchor,
  $dynamicRef: { type: 'string', format: 'uri-reference' },
  $dynamicAnchor: anchor,
  $vocabulary: { type: 'object', propertyNames: { format: 'uri' }, additionalProperties: truth },
  $comment: text,
  $defs: schemas,
  definitions: schemas,
  prefixItems: list,
  items: schema,
  contains: schema,
  additionalProperties: schema,
  properties: schemas,
  patternProperties: schemas,
  dependentSchemas: schemas,
  propertyNames: schema,
  ...Object.fromEntries(['if', 'then', 'else'].map((keyword) => [keyword, schema])),
  allOf: list,
  anyOf: list,
  oneOf: list,
  not: schema,
  unevaluatedItems: schema,
  unevaluatedProperties: schema,
  type: { anyOf: [typeName, { type: 'array', items: typeName, minItems: 1, uniqueItems: true }] },
  const: true,
  enum: { type: 'array', minItems: 1 },
  multipleOf: { type: 'number', exclusiveMinimum: 0 },
  maximum: number,
  exclusiveMaximum: number,
  minimum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  pattern: text,
  maxItems: count,
  minItems: count,
  uniqueItems: truth,
  maxContains: count,
  minContains: count,
  maxProperties: count,
  minProperties: count,
  required: names,
  dependentRequired: { type: 'object', additionalProperties: names },
  format: text,
  formatMinimum: text,
  formatMaximum: text,
  formatExclusiveMinimum: text,
  formatExclusiveMaximum: text,
  contentEncoding: text,
  contentMediaType: text,
  contentSchema: schema,
  title: text,
  description: text,
  deprecated: truth,
  readOnly: truth,
  writeOnly: truth,
  examples: { type: 'array' },
  nullable: truth,
};

/** The value of each keyword that the validator and the documents of OpenAPI know; others may have any value. */
export const metaSchema: JsonSchema = { type: ['object', 'boolean'], properties };

/** Keywords that no verdict depends on, and those whose values the compiler tests by itself. */
const untested = new Set(
  `$id $schema $anchor $dynamicAnchor $vocabulary $comment contentEncoding contentMediaType contentSchema title description deprecated readOnly writeOnly
  examples`.split(/\s+/),
);
/** The values with which the validator is made, and no other ones. */
export const validationSchema: JsonSchema = {
  type: ['object', 'boolean'],
  properties: {
    ...Object.fromEntries(Object.entries(properties).filter(([keyword]) => !untested.has(keyword))),
    $ref: text,
    $dynamicRef: text,
  },
};
