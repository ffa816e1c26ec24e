/** What single conditions of a filter say about columns, where an index can use it. */
import { isDeepStrictEqual } from 'node:util';
import { foldText } from './values.ts';
import type { Companion, CompanionColumn } from './layout.ts';
import { collatedColumnsOf, columnOf, foldedColumnOf, type Column } from './source.ts';
import { boundedFold } from '../../filter/fold.ts';
import type { Filter, Test } from '../../filter/syntax.ts';

/** The column has one of these values; null means no value. */
export interface BoundValues {
  column: Column;
  values: readonly (string | null)[];
  /** Whether the filter says no more than this. */
  isExact: boolean;
  source: Filter;
}

/** The value of the column is on one side of this one. That is all that the filter says. */
export interface Limit {
  column: Column;
  operator: '<' | '<=' | '>' | '>=';
  value: string;
  source: Filter;
}

export interface Bounds {
  values: BoundValues[];
  limits: Limit[];
}

/** What the conditions, which all have to hold, say about columns. */
export function boundsOf(conditions: readonly Filter[], companion: Companion): Bounds {
  return {
    values: conditions.flatMap((source) => valuesOf(source, companion).map((one) => Object.assign(one, { source }))),
    limits: conditions.flatMap((source) => limitsOf(source, companion).map((one) => Object.assign(one, { source }))),
  };
}

type Unsourced<T> = Omit<T, 'source'>;

function valuesOf(filter: Filter, companion: Companion): Unsourced<BoundValues>[] {
  switch (filter.kind) {
    case 'compare':
      return filter.operator === '=' ? equalTo(filter, [String(filter.value)], companion) : [];
    case 'in':
      return equalTo(filter, filter.values.map(String), companion);
    case 'null':
      return empty(filter, companion);
    case 'not':
      return filter.of.kind === 'exists' ? empty(filter.of, companion) : [];
    case 'any':
      return oneOf(filter.of.map((each) => valuesOf(each, companion)));
    default:
      return [];
  }
}

function equalTo({ field, type }: Extract<Test, { type: unknown }>, values: string[], companion: Companion): Unsourced<BoundValues>[] {
  const column = columnOf(companion, field, type);
  const foldedColumn = foldedColumnOf(companion, field, type);
  return [
    ...[...(column ? [column] : []), ...collatedColumnsOf(companion, field, type)].map((each) => ({
      column: each,
      values: different(each, values),
      isExact: true,
    })),
    ...(foldedColumn
      ? [{ column: foldedColumn, values: different(foldedColumn, values.map(foldedFor(foldedColumn))), isExact: false }]
      : []),
  ];
}

/** The text as the column has it. One that is too long for the column stays too long, so that it equals none. */
const foldedFor =
  ({ maximumLength = Infinity }: CompanionColumn) =>
  (text: string): string =>
    boundedFold(text, maximumLength, foldText);

/** Null, or a missing field: a column cannot tell one from the other, nor from a value of another type. */
function empty({ field }: Pick<Test, 'field'>, { columns }: Companion): Unsourced<BoundValues>[] {
  return columns
    .filter((column) => !column.fold && isDeepStrictEqual(column.field, field))
    .map((column) => ({ column, values: [null], isExact: false }));
}

/** The columns about which each alternative says something. */
function oneOf(alternatives: readonly Unsourced<BoundValues>[][]): Unsourced<BoundValues>[] {
  const [first = [], ...others] = alternatives;
  return first.flatMap(({ column, ...one }) => {
    const same = others.map((other) => other.find((each) => each.column.name === column.name));
    if (!same.every((each) => each !== undefined)) return [];
    const values = [...one.values, ...same.flatMap((each) => each.values)];
    return [{ column, values: different(column, values), isExact: one.isExact && same.every(({ isExact }) => isExact) }];
  });
}

function different<T extends string | null>({ type }: Column, values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [type === 'decimal' && value !== null ? trimmed(value) : value, value])).values()];
}

/** A decimal without zeros at the end, so that equal ones have equal texts. */
const trimmed = (decimal: string): string => (decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal);

function limitsOf(filter: Filter, companion: Companion): Unsourced<Limit>[] {
  if (filter.kind === 'compare' && filter.operator !== '=') {
    const column = columnOf(companion, filter.field, filter.type);
    return column ? [{ column, operator: filter.operator, value: String(filter.value) }] : [];
  }
  if (filter.kind !== 'prefix' || filter.value === '') return [];
  const column = columnOf(companion, filter.field, filter.type);
  if (!column) return [];
  const end = afterPrefix(filter.value);
  return [{ column, operator: '>=', value: filter.value }, ...(end === undefined ? [] : [{ column, operator: '<' as const, value: end }])];
}

/** The least text by code points that comes after all that begin with `prefix`; undefined if there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const codes = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  const at = codes.findLastIndex((code) => code !== 0x10ffff);
  const code = codes[at];
  if (code === undefined) return undefined;
  // The code points of surrogates are no characters.
  return String.fromCodePoint(...codes.slice(0, at), code === 0xd7ff ? 0xe000 : code + 1);
}
