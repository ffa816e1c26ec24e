/**
 * What contradicts itself in a document, so that no value of some type can fit it. It looks at each schema alone, and so finds only what
 * is certain.
 */
import type { Fault } from '../problems/faults.ts';
import { pointerTo } from '../problems/pointer.ts';
import { reportedFaults } from './document.ts';
import { deepestSchema, isSchemaObject, walkSchemas, type Schema } from './subschemas.ts';

const numbers = ['number', 'integer'];
/** A lower and an upper limit of the values of some types, and whether a value may be equal to both. */
const limits: readonly [types: string[], lower: string, upper: string, mayBeEqual: boolean][] = [
  [['string'], 'minLength', 'maxLength', true],
  [['array'], 'minItems', 'maxItems', true],
  [['object'], 'minProperties', 'maxProperties', true],
  [numbers, 'minimum', 'maximum', true],
  [numbers, 'minimum', 'exclusiveMaximum', false],
  [numbers, 'exclusiveMinimum', 'maximum', false],
  [numbers, 'exclusiveMinimum', 'exclusiveMaximum', false],
];

/** The keywords beside which `unevaluatedProperties: false` may accept a property that `properties` does not name. */
const evaluating = [
  'patternProperties',
  'additionalProperties',
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependentSchemas',
];

/**
 * The faults of a document that contradicts itself, each at one of the two keywords. Those that the document in force has at the same
 * place are left out. So a type from before this was refused can be applied again, which each start with `ENTITY_TYPES_DIR` does.
 * `faultsOfDocument` must have accepted both.
 */
export function faultsOfContradictions(document: Schema | null, inForce: Schema | undefined): Fault[] {
  if (document === null) return [];
  const known = new Set(contradictionsOf(inForce ?? {}).map((fault) => JSON.stringify(fault)));
  return reportedFaults(
    document,
    contradictionsOf(document).filter((fault) => !known.has(JSON.stringify(fault))),
  );
}

function contradictionsOf(document: Schema): Fault[] {
  const faults: Fault[] = [];
  walkSchemas(document, deepestSchema, (schema, at) => {
    const found = isSchemaObject(schema) ? [...limitsOf(schema), ...propertiesOf(schema), ...valuesOf(schema)] : [];
    for (const { path, keyword } of found) faults.push({ pointer: at + pointerTo(path), code: 'contradictory', values: { keyword } });
  });
  return faults;
}

interface Contradiction {
  path: (string | number)[];
  /** The keyword that the value contradicts. */
  keyword: string;
}

function limitsOf(schema: Schema): Contradiction[] {
  const crossed = limits.filter(([types, lower, upper, mayBeEqual]) => {
    const [least, most] = [schema[lower], schema[upper]];
    if (typeof least !== 'number' || typeof most !== 'number' || !acceptsSome(schema, types)) return false;
    return mayBeEqual ? least > most : least >= most;
  });
  return crossed.map(([, lower, upper]) => ({ path: [lower], keyword: upper }));
}

/** The required properties that the schema refuses, and the number of properties that it cannot have. */
function propertiesOf(schema: Schema): Contradiction[] {
  const { required = [], properties = {}, minProperties = 0, maxProperties = Infinity } = schema;
  if (!Array.isArray(required) || !isSchemaObject(properties) || !acceptsSome(schema, ['object'])) return [];
  const closing = closingKeyword(schema);
  const found = required.flatMap((name: string, index): Contradiction[] => {
    const isNamed = Object.hasOwn(properties, name);
    const keyword = isNamed ? (properties[name] === false ? 'properties' : undefined) : closing;
    return keyword === undefined ? [] : [{ path: ['required', index], keyword }];
  });
  if (required.length > Number(maxProperties)) found.push({ path: ['required'], keyword: 'maxProperties' });
  const most = Object.values(properties).filter((property) => property !== false).length;
  if (closing !== undefined && Number(minProperties) > most) found.push({ path: ['minProperties'], keyword: closing });
  return found;
}

/** The keyword by which the schema has no properties but those that `properties` names. */
function closingKeyword(schema: Schema): string | undefined {
  if (schema['additionalProperties'] === false && !('patternProperties' in schema)) return 'additionalProperties';
  const isClosed = schema['unevaluatedProperties'] === false && !evaluating.some((keyword) => keyword in schema);
  return isClosed ? 'unevaluatedProperties' : undefined;
}

/** The values of `enum` and `const` that are not of the type beside them. */
function valuesOf(schema: Schema): Contradiction[] {
  const { enum: listed } = schema;
  const values = Array.isArray(listed) ? listed.map((value: unknown, index) => ({ value, path: ['enum', index] })) : [];
  if ('const' in schema) values.push({ value: schema['const'], path: ['const'] });
  const misfits = values.filter(({ value }) => !acceptsSome(schema, typesOfValue(value)));
  return misfits.map(({ path }) => ({ path, keyword: 'type' }));
}

/** Whether the `type` of the schema names one of the types; true without `type`. */
function acceptsSome({ type, nullable }: Schema, types: readonly string[]): boolean {
  if (type === undefined) return true;
  const accepted: unknown[] = nullable === true ? ['null', type].flat() : [type].flat();
  return types.some((each) => accepted.includes(each));
}

function typesOfValue(value: unknown): string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? numbers : [typeof value];
}
