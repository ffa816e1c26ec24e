/**
 * The document of an entity type: a JSON Schema (2020-12) of the fields, with service keywords at its top. Every fault has a pointer into
 * the document.
 */
import { ruleKeywords } from '../entities/companion/rule-layout.ts';
import { formatNames } from '../contract/formats.ts';
import { retentionOf } from '../entities/retention.ts';
import { maximumFaults, type Fault } from '../problems/faults.ts';
import type { TypeSource } from './store.ts';
import { looksLikeName, pathOf, pointerTo, positionsIn } from '../problems/pointer.ts';
import { faultsOf } from '../problems/validation-faults.ts';
import { metaSchema } from '../json-schema/meta-schema.ts';
import { compileSchema, InvalidSchema } from '../json-schema/validator.ts';
import { fieldTypesOf } from './field-types.ts';
import { expansionOf, hasScalarItems } from './expansion.ts';
import { faultsOfFormFields, faultsOfGroups, faultsOfZone, formKeyword, zoneKeyword } from './keywords/form.ts';
import { faultsOfLabels, labelsKeyword } from './keywords/labels.ts';
import { faultsOfTexts } from './keywords/texts.ts';
import { anchorKeywords, faultsOfDialect, faultsOfMeaning, faultsOfName, faultsOfOlderForm, repeatedKeywords } from './keywords.ts';
import { faultsOfRules, withoutRules } from './rule-keywords.ts';
import { longestText } from '../sandbox/pattern-meter.ts';
import { linearPatternSize } from '../sandbox/linear-pattern.ts';
import { costlyPatternIn, patternsOf } from './patterns.ts';
import { deepestSchema, isSchemaObject, targetOf, walkSchemas, type Schema } from './subschemas.ts';
import { validatorOptions } from './validator.ts';

/** Characters of a document as JSON. */
const maximumLength = 262_144;
/** Schemas of a caller's document, references replaced by what they refer to. A body has at most 10,000 values. */
const maximumExpansion = 1_000;
/** What a caller's document may cost for one value: see {@link Expansion}. */
const maximumWork = 300;
/** Schemas of a caller's document that apply to one value (decision 193). */
const maximumApplied = 100;
/** Instructions of the largest pattern of a caller that needs no `maxLength` beside it (decision 201). */
const maximumUnboundedProgram = 128;
/** Items that `uniqueItems` of a caller's document compares, unless they are scalars. */
const maximumUnique = 1_000;

const ifMatchKeyword = 'x-if-match';
const historyKeyword = 'x-history';
export const trashKeyword = 'x-soft-delete';
/** Beside a property at the top: `*` in the lists of grants leaves the field out. */
const sensitiveKeyword = 'x-sensitive';
/** The keywords of the service at the top of a document, besides those of rules. */
export const serviceKeywords: readonly string[] = [ifMatchKeyword, historyKeyword, trashKeyword, formKeyword, zoneKeyword];
const pointerExample = '{"$ref":"#/$defs/…"}';
/** A pointer that all readers of a document resolve as {@link targetOf} does. */
const plainPointer = /^#(?:\/[\p{L}\p{M}\p{N}_.$~-]+)*$/u;

const form = compileSchema(metaSchema, validatorOptions('files'));

/** The schema that fields are validated with: the document without its service keywords. */
export function schemaOf(document: Schema): Schema {
  return withoutRules(Object.fromEntries(Object.entries(document).filter(([keyword]) => !serviceKeywords.includes(keyword))));
}

/** The fields that the document calls sensitive. */
export function sensitiveFields({ properties }: Schema): Set<string> {
  if (!isSchemaObject(properties)) return new Set();
  const sensitive = Object.entries(properties).filter(([, schema]) => isSchemaObject(schema) && schema[sensitiveKeyword] === true);
  return new Set(sensitive.map(([name]) => name));
}

/** Whether an update or a delete needs If-Match. */
export function requiresIfMatch(document: Schema): boolean {
  return document[ifMatchKeyword] === 'required';
}

/**
 * The faults of a document, at most {@link maximumFaults}; none if it can be applied. A document that a caller sends (`api`) must also
 * bound the work of its validation, because callers are not operators (rule 70). It may still take long, so it is checked in a sandbox
 * (rule 101); `report` receives the pointer of each schema before its patterns are compiled.
 */
export function faultsOfDocument(document: unknown, source: TypeSource, report: (pointer: string) => void = () => undefined): Fault[] {
  if (!isSchemaObject(document)) return [{ pointer: '', code: 'invalid-type', values: { allowed: 'object' } }];
  if (JSON.stringify(document).length > maximumLength) return [{ pointer: '', code: 'too-long', values: { maximum: maximumLength } }];
  const schemas = new Map<string, unknown>();
  const complete = walkSchemas(document, deepestSchema, (schema, pointer) => schemas.set(pointer, schema));
  if (!complete) return [{ pointer: '', code: 'too-deep', values: { limit: deepestSchema } }];
  const costly = source === 'api' ? costlyPatternIn(document) : undefined;
  if (costly !== undefined) return reportedFaults(document, [{ pointer: costly, code: 'too-costly' }]);
  const walked = { document, schemas: new Set(schemas.values()), source, report };
  const faults = [...schemas].flatMap(([pointer, schema]) => faultsOfSchema(walked, schema, pointer)).concat(faultsOfForm(document));
  if (faults.length === 0) {
    const types = fieldTypesOf(schemaOf(document));
    faults.push(...faultsOfRules(document, types), ...faultsOfFormFields(document, types));
  }
  if (faults.length === 0) faults.push(...(source === 'api' ? faultsOfExpansion(document) : []), ...faultsOfCompilation(document, source));
  return reportedFaults(document, faults);
}

/** The first fault of each place, at most {@link maximumFaults}, with pointers that an answer may have. */
export function reportedFaults(document: Schema, faults: readonly Fault[]): Fault[] {
  const positionOf = positionsIn(document);
  const distinct = new Map(faults.toReversed().map((fault) => [fault.pointer, fault]));
  return [...distinct.values()]
    .toReversed()
    .slice(0, maximumFaults)
    .map((fault) => placed(fault, positionOf));
}

/** The fault, whose pointer repeats the name of a property only if it looks like one (rule 75). */
function placed(fault: Fault, positionOf: (path: readonly string[]) => number | undefined): Fault {
  const path = pathOf(fault.pointer ?? '');
  const depth = path.findIndex((step) => !looksLikeName(step) && !repeatedKeywords.has(step));
  if (depth === -1) return fault;
  const position = positionOf(path.slice(0, depth + 1));
  return { ...fault, pointer: pointerTo(path.slice(0, depth)), ...(position !== undefined && { position }) };
}

interface Walked {
  document: Schema;
  /** All schemas of the document. A `$ref` into an example or a value of `enum` leads to none of them. */
  schemas: ReadonlySet<unknown>;
  source: TypeSource;
  report(pointer: string): void;
}

function faultsOfSchema(walked: Walked, schema: unknown, pointer: string): Fault[] {
  if (typeof schema === 'boolean') return [];
  if (!isSchemaObject(schema)) return [{ pointer, code: 'invalid-type', values: { allowed: 'object, boolean' } }];
  if (patternsOf(schema).length > 0) walked.report(pointer);
  const found = faultsOfMeaning(walked.document['$schema'], schema, pointer);
  const own = Object.entries(schema).flatMap(([keyword, value]) => {
    const place = `${pointer}/${keyword.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (keyword === labelsKeyword) return faultsOfLabels(schema, place);
    return faultsOfKeyword(walked, keyword, value, place, pointer === '').concat(
      walked.source === 'api' ? faultsOfWork(schema, keyword, value, place) : [],
    );
  });
  return [...found, ...own];
}

function faultsOfKeyword({ document, schemas, source }: Walked, keyword: string, value: unknown, pointer: string, atTop: boolean): Fault[] {
  const serviceFaults = atTop ? faultsOfServiceKeyword(keyword, value, pointer) : undefined;
  if (serviceFaults) return serviceFaults;
  if (atTop && ruleKeywords.some((each) => each === keyword)) return [];
  if (keyword === sensitiveKeyword) return faultsOfSensitive(value, pointer);
  const textFaults = faultsOfTexts(keyword, value, pointer);
  if (textFaults) return textFaults;
  const faults = [...faultsOfName(keyword, pointer), ...faultsOfOlderForm(keyword, value, pointer)];
  if (faults.length > 0) return faults;
  // The parts of a document are no documents of their own.
  if (!atTop && (keyword === '$schema' || (keyword === '$id' && source === 'api')))
    return [{ pointer, code: 'not-supported', values: { surplus: keyword, ...(keyword === '$id' && { instead: pointerExample }) } }];
  if (keyword === 'format' && typeof value === 'string' && !formatNames.includes(value))
    return [{ pointer, code: 'invalid-value', values: { allowed: formatNames.join(', ') } }];
  if (keyword === '$ref' && typeof value === 'string') {
    const isPointer = /^#(\/|$)/.test(value);
    const isInside = isPointer ? schemas.has(targetOf(document, value)) : value.startsWith('#');
    return isInside ? [] : [{ pointer, code: 'invalid-value', values: { allowed: '#/$defs/…' } }];
  }
  return [];
}

/** Grants name fields at the top alone, so that a keyword elsewhere would hide nothing. */
function faultsOfSensitive(value: unknown, pointer: string): Fault[] {
  const path = pathOf(pointer);
  if (path.length !== 3 || path[0] !== 'properties')
    return [{ pointer, code: 'not-supported', values: { instead: '{"properties":{"…":{"x-sensitive":true}}}' } }];
  return value === true ? [] : [{ pointer, code: 'invalid-value', values: { allowed: 'true' } }];
}

/** The faults of a keyword of the service at the top of a document; undefined for any other, also for those of rules. */
export function faultsOfServiceKeyword(keyword: string, value: unknown, pointer: string): Fault[] | undefined {
  const refused = (allowed: string): Fault[] => [{ pointer, code: 'invalid-value', values: { allowed } }];
  switch (keyword) {
    case ifMatchKeyword:
      return value === 'required' ? [] : refused('required');
    case historyKeyword:
      return retentionOf(value) === undefined ? refused('{"keep":"P30D"}') : [];
    case trashKeyword:
      return value === true || retentionOf(value) !== undefined ? [] : refused('true, {"keep":"P30D"}');
    case formKeyword:
      return faultsOfGroups(value, pointer);
    case zoneKeyword:
      return faultsOfZone(value, pointer);
    default:
      return undefined;
  }
}

/** The page to which a refusal of a pattern leads. */
const patternSyntax = 'RE2: https://github.com/google/re2/wiki/Syntax';

/** That of a pattern in a file. */
const operatorPatternSyntax = 'ECMA 262 with the flag u';

/** What a caller's document may not say, because validating fields could take long. */
function faultsOfWork(schema: Schema, keyword: string, value: unknown, pointer: string): Fault[] {
  if (anchorKeywords.has(keyword) || (keyword === '$ref' && typeof value === 'string' && !plainPointer.test(value)))
    return [{ pointer, code: 'not-supported', values: { instead: pointerExample } }];
  if (keyword === 'pattern' && typeof value === 'string') return faultsOfPattern(schema, value, pointer);
  if (keyword === 'patternProperties' && isSchemaObject(value) && !Object.keys(value).every((pattern) => linearPatternSize(pattern)))
    return [{ pointer, code: 'not-supported', values: { instead: patternSyntax } }];
  if (keyword === 'uniqueItems' && value === true && !(Number(schema['maxItems']) <= maximumUnique) && !hasScalarItems(schema))
    return [{ pointer, code: 'too-many-values', values: { limit: maximumUnique } }];
  return [];
}

/** A pattern that RE2 does not have or that is too large, and a large one for texts of any length. */
function faultsOfPattern({ maxLength }: Schema, pattern: string, pointer: string): Fault[] {
  const found = linearPatternSize(pattern);
  if (!found) return [{ pointer, code: 'not-supported', values: { instead: patternSyntax } }];
  const maximum = longestText(found.weight);
  if (found.size <= maximumUnboundedProgram || Number(maxLength) <= maximum) return [];
  return [{ pointer: pointer.replace(/pattern$/, 'maxLength'), code: 'invalid-value', values: { maximum } }];
}

/** Faults of the values of keywords, by the meta-schema of JSON Schema. */
function faultsOfForm(document: Schema): Fault[] {
  const { $schema, ...schema } = schemaOf(document);
  const dialect = faultsOfDialect($schema);
  if (dialect.length > 0) return dialect;
  const types = [schema['type'] ?? 'object'].flat();
  if (!types.includes('object')) return [{ pointer: '/type', code: 'invalid-value', values: { allowed: 'object' } }];
  const errors = form.errorsOf(schema);
  return errors.length === 0 ? [] : [...faultsOf(errors, 'body', schema).faults];
}

function faultsOfExpansion(document: Schema): Fault[] {
  const expansion = expansionOf(document, maximumExpansion);
  if ('recursiveReference' in expansion)
    return [{ pointer: expansion.recursiveReference.slice(1), code: 'not-supported', values: { instead: '{"type":"object"}' } }];
  const exceeded = [
    { count: expansion.size, limit: maximumExpansion },
    { count: expansion.work, limit: maximumWork },
    { count: expansion.applied, limit: maximumApplied },
  ].find(({ count, limit }) => count > limit);
  return exceeded ? [{ pointer: '', code: 'too-many-values', values: { limit: exceeded.limit } }] : [];
}

/**
 * What is found only when a validator is made: a pattern that is none, a limit that its format cannot have, schemas that apply each other
 * for ever.
 */
function faultsOfCompilation(document: Schema, source: TypeSource): Fault[] {
  try {
    compileSchema(schemaOf(document), validatorOptions(source));
    return [];
  } catch (error) {
    if (!(error instanceof InvalidSchema)) throw error;
    return error.faults.map(({ path }): Fault => {
      const [pointer, isPattern] = [pointerTo(path), path.at(-1) === 'pattern' || path.at(-2) === 'patternProperties'];
      return isPattern
        ? { pointer, code: 'invalid-value', values: { allowed: operatorPatternSyntax } }
        : { pointer, code: 'invalid-value' };
    });
  }
}
