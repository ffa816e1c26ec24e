/**
 * The document of an entity type: a JSON Schema (2020-12) of the fields, with service keywords at its top. Every fault has a pointer into the
 * document.
 */
import { createAjv } from '../contract/ajv.ts';
import { firstError } from '../contract/every-error.ts';
import { maximumFaults, type Fault } from '../errors.ts';
import type { TypeSource } from '../database/tables.ts';
import { looksLikeName, pathOf, pointerTo, positionsIn } from '../http/pointer.ts';
import { faultsOf } from '../http/validation-faults.ts';
import { expansionOf } from './expansion.ts';
import { linearPattern } from './linear-pattern.ts';
import { isSchemaObject, targetOf, walkSchemas, type Schema } from './subschemas.ts';

/** Characters of a document as JSON. */
const maximumLength = 262_144;
const deepestSchema = 32;
/** Schemas of a caller's document, references replaced by what they refer to. A body has at most 10,000 values. */
const maximumExpansion = 2_000;
/** Items that `uniqueItems` of a caller's document compares with each other. */
const maximumUnique = 1_000;

const ifMatchKeyword = 'x-if-match';
/** Service keywords that this version does not enforce. */
const plannedKeywords = new Set(['x-unique', 'x-index', 'x-references', 'x-search', 'x-history', 'x-soft-delete']);
/** Nothing is added to fields, and all fields can be read. */
const unsupportedKeywords = new Set(['default', 'writeOnly']);
/** A caller's references are JSON pointers only, so that {@link expansionOf} follows all of them. */
const referenceKeywords = new Set(['$id', '$anchor', '$dynamicAnchor', '$dynamicRef']);
const scalarTypes = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'null']);

const ajv = createAjv({ allErrors: true, verbose: true });
const knownKeywords = new Set([...Object.keys(ajv.RULES.keywords), '$anchor', '$dynamicAnchor', '$dynamicRef']);
const formats = Object.keys(ajv.formats);

/** The schema that fields are validated with: the document without its service keywords. */
export function schemaOf({ [ifMatchKeyword]: _, ...schema }: Schema): Schema {
  return schema;
}

/** Whether an update or a delete needs If-Match. */
export function requiresIfMatch(document: Schema): boolean {
  return document[ifMatchKeyword] === 'required';
}

/**
 * The faults of a document, at most {@link maximumFaults}; none if it can be applied. A document that a caller sends (`api`) must also bound the work
 * of its validation, because callers are not operators (rule 70).
 */
export function faultsOfDocument(document: unknown, source: TypeSource): Fault[] {
  if (!isSchemaObject(document)) return [{ pointer: '', code: 'invalid-type', values: { allowed: 'object' } }];
  if (JSON.stringify(document).length > maximumLength) return [{ pointer: '', code: 'too-long', values: { maximum: maximumLength } }];
  const faults: Fault[] = [];
  const complete = walkSchemas(document, deepestSchema, (schema, pointer) =>
    faults.push(...faultsOfSchema(document, schema, pointer, source)),
  );
  if (!complete) return [{ pointer: '', code: 'too-deep', values: { limit: deepestSchema } }];
  faults.push(...faultsOfForm(document));
  if (faults.length === 0) faults.push(...(source === 'api' ? faultsOfExpansion(document) : []), ...faultsOfCompilation(document));
  const positionOf = positionsIn(document);
  return distinct(faults)
    .slice(0, maximumFaults)
    .map((fault) => placed(fault, positionOf));
}

/** The fault, whose pointer repeats the name of a property only if it looks like one (rule 75). */
function placed(fault: Fault, positionOf: (path: readonly string[]) => number | undefined): Fault {
  const path = pathOf(fault.pointer ?? '');
  const depth = path.findIndex((step) => !looksLikeName(step) && !knownKeywords.has(step));
  if (depth === -1) return fault;
  const position = positionOf(path.slice(0, depth + 1));
  return { ...fault, pointer: pointerTo(path.slice(0, depth)), ...(position !== undefined && { position }) };
}

function faultsOfSchema(document: Schema, schema: unknown, pointer: string, source: TypeSource): Fault[] {
  if (typeof schema === 'boolean') return [];
  if (!isSchemaObject(schema)) return [{ pointer, code: 'invalid-type', values: { allowed: 'object, boolean' } }];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const place = `${pointer}/${keyword.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return faultsOfKeyword(document, keyword, value, place, pointer === '').concat(
      source === 'api' ? faultsOfWork(schema, keyword, value, place) : [],
    );
  });
}

function faultsOfKeyword(document: Schema, keyword: string, value: unknown, pointer: string, atTop: boolean): Fault[] {
  if (keyword === ifMatchKeyword && atTop)
    return value === 'required' ? [] : [{ pointer, code: 'invalid-value', values: { allowed: 'required' } }];
  if (unsupportedKeywords.has(keyword) || (plannedKeywords.has(keyword) && atTop)) return [{ pointer, code: 'not-supported' }];
  // A validator with $async would answer with a promise, which is true.
  if (keyword === '$async' || !knownKeywords.has(keyword)) return [{ pointer, code: 'unknown' }];
  if (keyword === 'format' && typeof value === 'string' && !formats.includes(value))
    return [{ pointer, code: 'invalid-value', values: { allowed: formats.join(', ') } }];
  if (keyword === '$ref' && typeof value === 'string') {
    const isInside = value.startsWith('#') && (!/^#(\/|$)/.test(value) || targetOf(document, value) !== undefined);
    return isInside ? [] : [{ pointer, code: 'invalid-value', values: { allowed: '#/$defs/…' } }];
  }
  return [];
}

/** What a caller's document may not say, because validating fields could take long. */
function faultsOfWork(schema: Schema, keyword: string, value: unknown, pointer: string): Fault[] {
  if (referenceKeywords.has(keyword) || (keyword === '$ref' && typeof value === 'string' && !/^#(\/|$)/.test(value)))
    return [{ pointer, code: 'not-supported' }];
  if (keyword === 'pattern' && typeof value === 'string' && !linearPattern(value)) return [{ pointer, code: 'not-supported' }];
  if (keyword === 'patternProperties' && isSchemaObject(value) && !Object.keys(value).every((pattern) => linearPattern(pattern)))
    return [{ pointer, code: 'not-supported' }];
  if (keyword === 'uniqueItems' && value === true && !(Number(schema['maxItems']) <= maximumUnique) && !hasScalarItems(schema))
    return [{ pointer, code: 'too-many-values', values: { limit: maximumUnique } }];
  return [];
}

function hasScalarItems({ items }: Schema): boolean {
  return isSchemaObject(items) && items['type'] !== undefined && [items['type']].flat().every((type) => scalarTypes.has(type));
}

/** Faults of the values of keywords, by the meta-schema of JSON Schema. */
function faultsOfForm(document: Schema): Fault[] {
  const { $schema = 'https://json-schema.org/draft/2020-12/schema', ...schema } = schemaOf(document);
  if ($schema !== 'https://json-schema.org/draft/2020-12/schema') return [{ pointer: '/$schema', code: 'invalid-value' }];
  const types = [schema['type'] ?? 'object'].flat();
  if (!types.includes('object')) return [{ pointer: '/type', code: 'invalid-value', values: { allowed: 'object' } }];
  if (ajv.validateSchema(schema) === true) return [];
  return [...faultsOf(firstError(ajv.errors ?? []), 'body', schema).faults];
}

function faultsOfExpansion(document: Schema): Fault[] {
  const expansion = expansionOf(document, maximumExpansion);
  if ('recursiveReference' in expansion) return [{ pointer: expansion.recursiveReference.slice(1), code: 'not-supported' }];
  return expansion.size > maximumExpansion ? [{ pointer: '', code: 'too-many-values', values: { limit: maximumExpansion } }] : [];
}

/** What is found only when a validator is made: a reference without a target, a pattern that is none. */
function faultsOfCompilation(document: Schema): Fault[] {
  try {
    createAjv().compile(schemaOf(document));
    return [];
  } catch (error) {
    const [, pointer = ''] = /(?:at "#|path "#|in schema #)([^" ]*)/.exec(String(error)) ?? [];
    return [{ pointer, code: 'invalid-value' }];
  }
}

/** The first fault of each place. */
function distinct(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.toReversed().map((fault) => [fault.pointer, fault])).values()].toReversed();
}
