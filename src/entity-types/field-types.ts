/**
 * The types of the fields for filters and sorts, read from the JSON Schema of a declared type. A field has the format that is in force for
 * all of its values, wherever the schema says it: behind `allOf`, `anyOf`, `oneOf`, `if` and `$ref`.
 */
import { isSameJson } from '../json-schema/same-json.ts';
import type { Field, FieldType, FieldTypes, ScalarType } from '../filter/fields.ts';
import { fitsType } from '../filter/values.ts';
import { AlternativesReader, mentionsMember, type Alternative } from './alternatives.ts';
import { isSchemaObject, targetOf, typeNamesOf, type Schema } from './subschemas.ts';

const formats: Readonly<Record<string, ScalarType>> = { int64: 'int64', decimal: 'decimal', 'date-time': 'date-time', date: 'date' };

/**
 * The fields of `schema`, a JSON Schema of an object. A field that it leaves open is of the type `any`; one that it refuses does not exist.
 */
export function fieldTypesOf(schema: Schema): FieldTypes {
  const reader = readerOf(schema);
  const known = new Map<string, { type: FieldType | undefined }>();
  return {
    typeOf(field) {
      const name = JSON.stringify(field);
      const found = known.get(name) ?? { type: typeOfAlternatives(reader, alternativesAt(reader, schema, field)) };
      if (known.size === maximumKnown) known.clear();
      if (name.length <= maximumNameLength) known.set(name, found);
      return found.type;
    },
    declares: (field) => isMentioned(reader, schema, field),
    textsOf(field) {
      const alternatives = alternativesAt(reader, schema, field);
      const shapes = shapesOf(alternatives);
      const isArray = typeof typeOfShapes(shapes, () => []) === 'object';
      const texts = enumTexts(isArray ? itemShapes(reader, alternatives) : shapes);
      return texts?.length === 0 ? undefined : texts;
    },
  };
}

/** The readers by their documents, so that each document is taken apart once. */
const readers = new WeakMap<Schema, AlternativesReader>();

function readerOf(schema: Schema): AlternativesReader {
  const reader = readers.get(schema) ?? new AlternativesReader(schema);
  readers.set(schema, reader);
  return reader;
}

/** Bounds what {@link fieldTypesOf} stores, since callers name fields: how many, and the characters of each. */
const maximumKnown = 2_000;
const maximumNameLength = 200;

/** The most fields that {@link declaredFields} lists. */
const maximumListed = 1_000;

/**
 * The fields that `properties` of the schema name, in their order: those of an inner object in its place, unless its schema is inside of
 * itself. It leaves out names that cannot be addressed.
 */
export function declaredFields(schema: Schema): Field[] {
  const fields: Field[] = [];
  const reader = readerOf(schema);
  const list = (at: unknown, field: Field, around: readonly unknown[], alternatives: readonly Alternative[]): void => {
    if (fields.length === maximumListed) return;
    const found = referredBy(at, schema);
    const isObject = field.length === 0 || typeOfAlternatives(reader, alternatives) === 'object';
    const properties = isObject && isSchemaObject(found) && !around.includes(found) ? found['properties'] : undefined;
    const members = isSchemaObject(properties)
      ? Object.entries(properties).filter(([name, member]) => isAddressable(name) && member !== false)
      : [];
    for (const [name, member] of members) list(member, [...field, name], [...around, found], reader.membersOf(alternatives, name));
    if (members.length === 0 && field.length > 0) fields.push(field);
  };
  list(schema, [], [], reader.alternativesOf(schema));
  return fields;
}

const isAddressable = (name: string): boolean => /^[^$.,][^.,]*$/.test(name);

/** Whether the schema of the field accepts null. */
export function allowsNull(schema: Schema, field: Field): boolean {
  return shapesOf(alternativesAt(readerOf(schema), schema, field)).some(({ types }) => types.has('null'));
}

/** The formats that the texts of the field may have. */
export function formatsOf(schema: Schema, field: Field): ReadonlySet<string> {
  const schemas = alternativesAt(readerOf(schema), schema, field).flat();
  return new Set(schemas.flatMap(({ format }) => (typeof format === 'string' ? [format] : [])));
}

/** Whether the schema says something of the field; false if it only leaves open that an object has it. */
export function declaresField(schema: Schema, field: Field): boolean {
  return isMentioned(readerOf(schema), schema, field);
}

function isMentioned(reader: AlternativesReader, schema: Schema, field: Field): boolean {
  return field.every((name, index) => mentionsMember(alternativesAt(reader, schema, field.slice(0, index)), name));
}

function alternativesAt(reader: AlternativesReader, schema: Schema, field: Field): readonly Alternative[] {
  return field.reduce((at, name) => reader.membersOf(at, name), reader.alternativesOf(schema));
}

function typeOfAlternatives(reader: AlternativesReader, alternatives: readonly Alternative[]): FieldType | undefined {
  return typeOfShapes(shapesOf(alternatives), () => itemShapes(reader, alternatives));
}

function itemShapes(reader: AlternativesReader, alternatives: readonly Alternative[]): Shape[] {
  const arrays = alternatives.filter((alternative) => shapeOf(alternative).types.has('array'));
  return shapesOf(reader.itemsOf(arrays));
}

/** The common part of the values of an alternative. */
interface Shape {
  /** The JSON types; `number` stands for integers too. */
  types: ReadonlySet<string>;
  /** The only values, as `enum` and `const` name them; undefined for any. */
  values: readonly unknown[] | undefined;
  /** How texts compare. */
  format: ScalarType;
}

const allTypes: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'array', 'object', 'null']);

/** The shapes of the alternatives that a value can have. */
function shapesOf(alternatives: readonly Alternative[]): Shape[] {
  return alternatives.map(shapeOf).filter(({ types }) => types.size > 0);
}

function shapeOf(alternative: Alternative): Shape {
  let types = allTypes;
  let values: readonly unknown[] | undefined;
  const found = new Set<ScalarType>();
  for (const schema of alternative) {
    const allowed = typesOf(schema);
    types = new Set([...types].filter((type) => allowed.has(type)));
    const own = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : undefined;
    if (own) values = values ? values.filter((value) => own.some((each) => isSameJson(each, value))) : own;
    const { format } = schema;
    if (typeof format === 'string' && Object.hasOwn(formats, format)) found.add(formats[format] ?? 'string');
  }
  const fitting = values?.filter((value) => types.has(jsonType(value)));
  return { types: fitting ? new Set(fitting.map(jsonType)) : types, values: fitting, format: formatOf(found) };
}

/** The format of a text that has all of these: a 64-bit integer is a decimal too. No text has two others, so they compare as texts. */
function formatOf(found: ReadonlySet<ScalarType>): ScalarType {
  const [format = 'string', ...others] = found;
  if (others.length === 0) return format;
  return found.size === 2 && found.has('int64') && found.has('decimal') ? 'int64' : 'string';
}

/** Undefined if no value fits. `items` returns the shapes of items, if it is an array. */
function typeOfShapes(shapes: readonly Shape[], items: () => readonly Shape[]): FieldType | undefined {
  if (shapes.length === 0) return undefined;
  if (enumTexts(shapes)) return 'enum';
  const types = new Set(shapes.flatMap((shape) => [...shape.types]));
  const [type, ...others] = [...types].filter((each) => each !== 'null');
  const isScalarList = shapes.some(({ values }) => values?.some((value) => typeof value === 'number' || typeof value === 'boolean'));
  if (others.length > 0 || isScalarList) return 'any';
  switch (type) {
    case 'string':
      return commonFormat(shapes);
    case 'number':
    case 'boolean':
    case 'object':
      return type;
    case 'array': {
      const itemType = typeOfShapes(items(), () => []);
      return { items: typeof itemType === 'string' && itemType !== 'object' ? itemType : 'any' };
    }
    default:
      return 'any';
  }
}

/** The format of all texts; `string` if there are several, or texts without a format. */
function commonFormat(shapes: readonly Shape[]): ScalarType {
  const open = shapes.filter(({ types, values }) => !values && types.has('string'));
  const [format = 'string', ...others] = new Set(open.map((shape) => shape.format));
  const named = shapes.flatMap(({ values = [] }) => values.filter((value) => typeof value === 'string'));
  return others.length === 0 && named.every((text) => fitsType(format, text)) ? format : 'string';
}

/** The texts of `enum` or `const`; undefined for a field that may have other values than texts and null. */
function enumTexts(shapes: readonly Shape[]): string[] | undefined {
  if (shapes.every(({ values }) => !values)) return undefined;
  const named = shapes.filter(({ types }) => [...types].some((type) => type !== 'null'));
  const texts = named.flatMap(({ values }) => values ?? [undefined]).filter((value) => value !== null);
  return texts.every((value) => typeof value === 'string') ? [...new Set(texts)] : undefined;
}

/** The target of a `$ref`. */
function referredBy(schema: unknown, root: Schema): unknown {
  let found = schema;
  for (let steps = 0; isSchemaObject(found) && typeof found['$ref'] === 'string'; steps += 1) {
    if (steps === 16) return true;
    found = targetOf(root, found['$ref']);
  }
  return found;
}

const jsonType = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

function typesOf(schema: Schema): ReadonlySet<string> {
  const names = typeNamesOf(schema)?.map((each) => (each === 'integer' ? 'number' : each));
  return names ? new Set([...names, ...(schema['nullable'] === true ? ['null'] : [])]) : allTypes;
}
