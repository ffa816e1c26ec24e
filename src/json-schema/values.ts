/** Keywords that test a value of any type, a number or a text. */
import { isMultipleOf } from './multiple-of.ts';
import type { SchemaCheck } from './run.ts';
import { isSameJson } from './same-json.ts';
import type { Keyword, KeywordPlace } from './keyword.ts';
import type { Format } from './types.ts';

const isType: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** `nullable: true` of OpenAPI 3.0 adds null to the types beside it. */
function typeCheck(type: string | string[], { schema }: KeywordPlace): SchemaCheck {
  const tests = [type, schema['nullable'] === true ? 'null' : []].flat().flatMap((name) => isType[name] ?? []);
  const [only] = tests;
  const fits = tests.length === 1 && only ? only : (value: unknown) => tests.some((test) => test(value));
  return (value, run) => fits(value) || run.refuse('type', { type }, schema);
}

function enumCheck(values: unknown[], { schema }: KeywordPlace): SchemaCheck {
  const scalars = new Set(values.filter((value) => typeof value !== 'object' || value === null));
  const others = values.filter((value) => typeof value === 'object' && value !== null);
  return (value, run) =>
    scalars.has(value) || others.some((other) => isSameJson(other, value)) || run.refuse('enum', { allowedValues: values }, schema);
}

function constCheck(wanted: unknown, { schema }: KeywordPlace): SchemaCheck {
  return (value, run) => isSameJson(wanted, value) || run.refuse('const', { allowedValue: wanted }, schema);
}

/** A keyword of numbers that compares the value with its own. */
function limitOfNumbers(keyword: string, fits: (value: number, limit: number) => boolean): [string, Keyword] {
  const check = (limit: number, { schema }: KeywordPlace): SchemaCheck => {
    return (value, run) => fits(value as number, limit) || run.refuse(keyword, { limit }, schema);
  };
  return [keyword, { kind: 'number', check }];
}

function multipleOfCheck(multipleOf: number, { schema }: KeywordPlace): SchemaCheck {
  return (value, run) => isMultipleOf(value as number, multipleOf) || run.refuse('multipleOf', { multipleOf }, schema);
}

/** Whether the text has more than `length` characters: code points, not halves of pairs. */
export function isLongerThan(text: string, length: number): boolean {
  if (text.length <= length || text.length > 2 * length) return text.length > length;
  let excess = text.length - length;
  // Each pair makes one character of two halves.
  for (let index = 0; index < text.length && excess > 0; index += 1) {
    if ((text.codePointAt(index) ?? 0) <= 0xffff) continue;
    excess -= 1;
    index += 1;
  }
  return excess > 0;
}

function maxLengthCheck(limit: number, { schema }: KeywordPlace): SchemaCheck {
  return (value, run) => !isLongerThan(value as string, limit) || run.refuse('maxLength', { limit }, schema);
}

function minLengthCheck(limit: number, { schema }: KeywordPlace): SchemaCheck {
  return (value, run) => isLongerThan(value as string, limit - 1) || run.refuse('minLength', { limit }, schema);
}

/** A text that `maxLength` beside the keyword refuses is not tested: testing may take time in proportion to its length. */
function tested(schema: Record<string, unknown>, test: (text: string) => boolean): (text: unknown) => boolean {
  const { maxLength } = schema;
  return typeof maxLength === 'number' ? (text) => isLongerThan(text as string, maxLength) || test(text as string) : (test as never);
}

function patternCheck(pattern: string, place: KeywordPlace): SchemaCheck | undefined {
  const compiled = place.pattern(pattern);
  if (!compiled) return undefined;
  const fits = tested(place.schema, (text) => compiled.test(text));
  return (value, run) => fits(value) || run.refuse('pattern', { pattern }, place.schema);
}

function formatCheck(format: string, place: KeywordPlace): SchemaCheck | undefined {
  const definition = place.format(format);
  if (!definition) return undefined;
  const { kind } = definition;
  const test = definition.fits as (value: unknown) => boolean;
  if (kind === 'number') return (value, run) => typeof value !== kind || test(value) || run.refuse('format', { format }, place.schema);
  const { maxLength } = place.schema;
  const isLong = (text: string) => typeof maxLength === 'number' && isLongerThan(text, maxLength);
  return (value, run) =>
    typeof value !== kind ||
    isLong(value as string) ||
    run.fitsFormat(definition, value as string) ||
    run.refuse('format', { format }, place.schema);
}

/** A keyword that compares a text with its own, by the format beside it. A text that does not fit the format is left to `format`. */
function limitOfFormat(keyword: string, fits: (order: number) => boolean): [string, Keyword] {
  const check = (limit: string, place: KeywordPlace): SchemaCheck | undefined => {
    const name = place.schema['format'];
    const format: Format | undefined = typeof name === 'string' ? place.format(name) : undefined;
    const compare = format?.compare;
    if (!format || !compare || !format.fits(limit as never) || compare(limit, limit) === undefined) return place.refuse();
    return (value, run) => {
      if (!format.fits(value as never)) return true;
      const order = compare(value as string, limit);
      return (order !== undefined && fits(order)) || run.refuse(keyword, { limit }, place.schema);
    };
  };
  return [keyword, { kind: 'string', check }];
}

export const valueKeywords: readonly [string, Keyword][] = [
  ['type', { kind: 'any', check: typeCheck }],
  limitOfNumbers('minimum', (value, limit) => value >= limit),
  limitOfNumbers('maximum', (value, limit) => value <= limit),
  limitOfNumbers('exclusiveMinimum', (value, limit) => value > limit),
  limitOfNumbers('exclusiveMaximum', (value, limit) => value < limit),
  ['multipleOf', { kind: 'number', check: multipleOfCheck }],
  ['maxLength', { kind: 'string', check: maxLengthCheck }],
  ['minLength', { kind: 'string', check: minLengthCheck }],
  ['pattern', { kind: 'string', check: patternCheck }],
  ['format', { kind: 'any', check: formatCheck }],
  limitOfFormat('formatMinimum', (order) => order >= 0),
  limitOfFormat('formatMaximum', (order) => order <= 0),
  limitOfFormat('formatExclusiveMinimum', (order) => order > 0),
  limitOfFormat('formatExclusiveMaximum', (order) => order < 0),
  ['enum', { kind: 'any', check: enumCheck }],
  ['const', { kind: 'any', check: constCheck }],
];
