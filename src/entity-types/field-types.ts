/** The types of fields for filters and sorts, read from the JSON Schema of a declared type. It reads what a schema says for certain. */
import type { Field, FieldType, FieldTypes, ScalarType } from '../filter/fields.ts';
import type { Schema } from './subschemas.ts';

/** What a schema may consist of besides `properties`, so that a field may have a type that `properties` does not show. */
const compositions = [
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'not',
  'dependentSchemas',
  'patternProperties',
  'unevaluatedProperties',
  '$dynamicRef',
];

const formats: Readonly<Record<string, ScalarType>> = { int64: 'int64', decimal: 'decimal', 'date-time': 'date-time', date: 'date' };

/** The fields of `schema`, a JSON Schema of an object. A field that it leaves open is of the type `any`; one that it refuses does not exist. */
export function fieldTypesOf(schema: Schema): FieldTypes {
  const schemaAt = (field: Field): unknown => {
    let found: unknown = schema;
    for (const name of field) {
      found = memberOf(referredBy(found, schema), name);
      if (found === undefined) return undefined;
    }
    return referredBy(found, schema);
  };
  return {
    typeOf(field) {
      const found = schemaAt(field);
      return found === undefined ? undefined : typeOfSchema(found, schema);
    },
    textsOf(field) {
      const found = schemaAt(field);
      const isArray = typeof typeOfSchema(found, schema) !== 'string';
      const texts = isSchema(found) ? enumTexts(isArray ? itemsOf(found, schema) : found) : undefined;
      return texts?.length === 0 ? undefined : texts;
    },
  };
}

/** The texts of `enum` or `const`; undefined for a schema that accepts other values than texts and null. */
function enumTexts(schema: unknown): string[] | undefined {
  if (!isSchema(schema) || isComposed(schema)) return undefined;
  const values = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : undefined;
  const texts = values?.filter((value) => value !== null);
  return texts?.every((value) => typeof value === 'string') ? texts : undefined;
}

/** The most fields that {@link declaredFields} lists. */
const maximumListed = 1_000;

/**
 * The fields that `properties` of the schema name, in their order: those of an inner object in its place, unless its schema is inside of itself. It leaves out names
 * that cannot be addressed.
 */
export function declaredFields(schema: Schema): Field[] {
  const fields: Field[] = [];
  const list = (at: unknown, field: Field, around: readonly unknown[]): void => {
    if (fields.length === maximumListed) return;
    const found = referredBy(at, schema);
    const isObject = field.length === 0 || typeOfSchema(found, schema) === 'object';
    const properties = isObject && isSchema(found) && !around.includes(found) ? found['properties'] : undefined;
    const members = isSchema(properties)
      ? Object.entries(properties).filter(([name, member]) => isAddressable(name) && member !== false)
      : [];
    for (const [name, member] of members) list(member, [...field, name], [...around, found]);
    if (members.length === 0 && field.length > 0) fields.push(field);
  };
  list(schema, [], []);
  return fields;
}

const isAddressable = (name: string): boolean => /^[^$.,][^.,]*$/.test(name);

/** Whether the schema of the field accepts null, as far as its `type`, `enum` and `const` say. */
export function allowsNull(schema: Schema, field: Field): boolean {
  const found = field.reduce<unknown>((at, name) => memberOf(referredBy(at, schema), name), schema);
  const target = referredBy(found, schema);
  if (!isSchema(target)) return target === true;
  if (Array.isArray(target['enum'])) return target['enum'].includes(null);
  return 'const' in target ? target['const'] === null : typesOf(target).includes('null');
}

/** Whether the schema says something of the field; false if it only leaves open that an object has it. */
export function declaresField(schema: Schema, field: Field): boolean {
  let found: unknown = schema;
  for (const name of field) {
    const target = referredBy(found, schema);
    found = memberOf(target, name);
    const isNamed = isSchema(target) && isSchema(target['properties']) && Object.hasOwn(target['properties'], name);
    if (found === true && !isNamed && !(isSchema(target) && isComposed(target))) return false;
  }
  return true;
}

/** The schema of a member; true if any value fits, undefined if there is no such member. */
function memberOf(schema: unknown, name: string): unknown {
  if (!isSchema(schema)) return schema === false ? undefined : true;
  const { properties, additionalProperties = true } = schema;
  if (isSchema(properties) && Object.hasOwn(properties, name)) return properties[name] === false ? undefined : properties[name];
  if (!typesOf(schema).includes('object')) return undefined;
  if (isComposed(schema)) return true;
  return additionalProperties === false ? undefined : additionalProperties;
}

function typeOfSchema(schema: unknown, root: Schema): FieldType {
  if (!isSchema(schema) || isComposed(schema)) return 'any';
  if (enumTexts(schema)) return 'enum';
  if (Array.isArray(schema['enum']) || 'const' in schema) return 'any';
  const types = typesOf(schema).filter((type) => type !== 'null');
  const [type] = types;
  if (types.length !== 1) return types.join() === 'integer,number' || types.join() === 'number,integer' ? 'number' : 'any';
  switch (type) {
    case 'string':
      return (typeof schema['format'] === 'string' && Object.hasOwn(formats, schema['format']) && formats[schema['format']]) || 'string';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array': {
      const items = typeOfSchema(itemsOf(schema, root), root);
      return { items: typeof items === 'string' && items !== 'object' ? items : 'any' };
    }
    case 'object':
      return 'object';
    default:
      return 'any';
  }
}

/** The schema of all items of an array; true if the first ones have schemas of their own. */
function itemsOf(schema: Schema, root: Schema): unknown {
  return 'prefixItems' in schema || referredBy(schema['items'], root);
}

/** The target of a `$ref` to the document itself. Any other reference, and one in a circle, may be anything. */
function referredBy(schema: unknown, root: Schema): unknown {
  let found = schema;
  for (let steps = 0; isSchema(found) && '$ref' in found; steps += 1) {
    const { $ref } = found;
    if (steps === 16 || typeof $ref !== 'string' || !/^#\/[^%]*$/.test($ref)) return true;
    const names = $ref.slice(2).split('/');
    found =
      names.reduce<unknown>((at, name) => (isSchema(at) ? at[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined), root) ?? true;
  }
  return found;
}

const allTypes = ['string', 'number', 'boolean', 'array', 'object', 'null'];

function typesOf({ type }: Schema): string[] {
  if (type === undefined) return allTypes;
  return (Array.isArray(type) ? type : [type]).map(String);
}

const isSchema = (schema: unknown): schema is Schema => typeof schema === 'object' && schema !== null;
const isComposed = (schema: Schema): boolean => compositions.some((keyword) => keyword in schema);
