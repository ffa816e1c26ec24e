/** The keywords of a type's document: which are known, and what to write in place of others. */
import type { Fault } from '../problems/faults.ts';
import { schemaKeywords } from './subschemas.ts';

/** Nothing is added to fields, and all fields can be read. */
const withoutEffect = new Set(['default', 'writeOnly']);
/** A caller's references are JSON pointers only, so that the costs of all of them can be counted. */
export const anchorKeywords: ReadonlySet<string> = new Set(['$anchor', '$dynamicAnchor', '$dynamicRef']);

const supported = new Set(
  [...schemaKeywords, ...anchorKeywords].concat(
    ['$schema', '$id', '$ref', '$comment', '$vocabulary', 'title', 'description', 'examples', 'example', 'deprecated', 'readOnly'],
    ['type', 'nullable', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength', 'contentMediaType', 'contentEncoding'],
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'uniqueItems', 'minContains'],
    ['maxContains', 'required', 'minProperties', 'maxProperties', 'dependentRequired', 'discriminator', 'xml', 'externalDocs'],
    ['formatMinimum', 'formatMaximum', 'formatExclusiveMinimum', 'formatExclusiveMaximum', 'contentSchema'],
  ),
);

/** Keywords of other drafts, and what says the same in 2020-12. */
const successors: Readonly<Record<string, string>> = {
  id: '$id',
  dependencies: 'dependentRequired, dependentSchemas',
  additionalItems: 'prefixItems, items',
  $recursiveRef: '$ref',
  $recursiveAnchor: '$defs',
  divisibleBy: 'multipleOf',
  extends: 'allOf',
  disallow: 'not',
};

/** The names in a pointer that an answer may repeat although they do not look like names. */
export const repeatedKeywords: ReadonlySet<string> = new Set([...supported, ...withoutEffect, ...Object.keys(successors)]);

/** The fault of a keyword that no document may have; none for one that is supported. */
export function faultsOfName(keyword: string, pointer: string): Fault[] {
  if (withoutEffect.has(keyword)) return [{ pointer, code: 'not-supported', values: { removed: keyword } }];
  if (supported.has(keyword)) return [];
  const instead = Object.hasOwn(successors, keyword) ? successors[keyword] : undefined;
  return [{ pointer, code: 'unknown', ...(instead !== undefined && { values: { instead } }) }];
}

/** The fault of a keyword whose value has the form of draft 3 or 4, and of `items` as a list, which drafts before 2020-12 have. */
export function faultsOfOlderForm(keyword: string, value: unknown, pointer: string): Fault[] {
  const instead = newerForm(keyword, value);
  return instead === undefined ? [] : [{ pointer, code: 'not-supported', values: { instead } }];
}

function newerForm(keyword: string, value: unknown): string | undefined {
  if (keyword === 'items' && Array.isArray(value)) return 'prefixItems';
  if (typeof value !== 'boolean') return undefined;
  if (keyword === 'exclusiveMinimum' || keyword === 'exclusiveMaximum') return `{"${keyword}":1}`;
  return keyword === 'required' ? '{"required":["…"],"properties":{…}}' : undefined;
}

const draft = (path: string) => [`http://json-schema.org/${path}`, `https://json-schema.org/${path}`];
const drafts: readonly string[] = [
  'draft/2020-12/schema',
  'draft/2019-09/schema',
  'draft-07/schema',
  'draft-06/schema',
  'draft-04/schema',
].flatMap(draft);
const accepted = new Set([...drafts, 'https://spec.openapis.org/oas/3.1/dialect/base']);

/**
 * The faults of `$schema`. A document of an older draft is read as 2020-12, where its keywords mean the same; those that do not are
 * refused by their names or forms, or by {@link faultsOfMeaning}.
 */
export function faultsOfDialect(dialect: unknown): Fault[] {
  const isAccepted = typeof dialect === 'string' && accepted.has(dialect.replace(/#$/, ''));
  if (dialect === undefined || isAccepted) return [];
  return [{ pointer: '/$schema', code: 'invalid-value', values: { allowed: 'https://json-schema.org/draft/2020-12/schema' } }];
}

/** Keywords that say nothing about a value, so that they may stand beside `$ref` in draft 7 too. */
const silent = new Set(
  ['$ref', '$id', '$schema', '$comment', '$defs', 'definitions', 'title', 'description', 'examples', 'example'].concat([
    'x-sensitive',
    'x-title',
    'x-description',
    'x-labels',
  ]),
);

/** What a schema means in the document's older draft, and not in 2020-12. */
export function faultsOfMeaning(dialect: unknown, schema: Record<string, unknown>, pointer: string): Fault[] {
  if (typeof dialect !== 'string') return [];
  const isOlder = /draft-0[467]\/schema/.test(dialect);
  if (isOlder && '$ref' in schema && !Object.keys(schema).every((keyword) => silent.has(keyword)))
    return [{ pointer: `${pointer}/$ref`, code: 'not-supported', values: { instead: '{"allOf":[{"$ref":…}]}' } }];
  if (dialect.includes('2019-09') && 'contains' in schema && 'unevaluatedItems' in schema)
    return [{ pointer: `${pointer}/contains`, code: 'not-supported', values: { instead: '{"not":{"not":{"contains":…}}}' } }];
  return [];
}
