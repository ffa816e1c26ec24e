/** What single conditions of a filter say about columns, where an index can use it. */
import { isDeepStrictEqual } from 'node:util';
import { foldText } from './values.ts';
import { keyColumn, type BoundFields } from './fields.ts';
import type { CompanionColumn } from './layout.ts';
import type { Field } from '../../filter/fields.ts';
import { boundedFold } from '../../filter/fold.ts';
import type { ClockOperand, Filter, Operand, Test } from '../../filter/syntax.ts';

/** A value of a column, or the time of the statement. */
export type BoundValue = string | ClockOperand;

/** The column has one of these values; null means no value. */
export interface BoundValues {
  column: CompanionColumn;
  values: readonly (BoundValue | null)[];
  /** Whether the filter says no more than this. */
  isExact: boolean;
  source: Filter;
}

/** The value of the column is on one side of this one. That is all that the filter says. */
export interface Limit {
  column: CompanionColumn;
  operator: '<' | '<=' | '>' | '>=';
  value: BoundValue;
  source: Filter;
}

export interface Bounds {
  values: BoundValues[];
  limits: Limit[];
}

/** What the conditions, which all have to hold, say about columns. */
export function boundsOf(conditions: readonly Filter[], fields: BoundFields): Bounds {
  return {
    values: conditions.flatMap((source) => valuesOf(source, fields).map((one) => Object.assign(one, { source }))),
    limits: conditions.flatMap((source) => limitsOf(source, fields).map((one) => Object.assign(one, { source }))),
  };
}

type Unsourced<T> = Omit<T, 'source'>;

function valuesOf(filter: Filter, fields: BoundFields): Unsourced<BoundValues>[] {
  switch (filter.kind) {
    case 'compare':
      return filter.operator === '=' ? boundValues(filter.operand).flatMap((value) => equalTo(filter, [value], fields)) : [];
    case 'in':
      return equalTo(filter, filter.values.map(String), fields);
    case 'null':
      return empty(filter, fields);
    case 'not':
      return filter.of.kind === 'exists' ? empty(filter.of, fields) : [];
    case 'any':
      return oneOf(filter.of.map((each) => valuesOf(each, fields)));
    default:
      return [];
  }
}

/** The value of the operand; none for one that differs from row to row or is not known. */
function boundValues(operand: Operand): BoundValue[] {
  if (operand.kind === 'value') return [String(operand.value)];
  return operand.kind === 'clock' ? [operand] : [];
}

function equalTo({ field, type }: Extract<Test, { type: unknown }>, values: BoundValue[], fields: BoundFields): Unsourced<BoundValues>[] {
  return columnsWith(field, fields)
    .filter((column) => column.type === type)
    .map((column) => ({ column, values: different(column, values.map(storedAs(column))), isExact: !column.fold }));
}

/** The text as the column has it. One that is too long for a folded column stays too long, so that it equals none. */
const storedAs =
  ({ fold, maximumLength = Infinity }: CompanionColumn) =>
  (value: BoundValue): BoundValue =>
    fold && typeof value === 'string' ? boundedFold(value, maximumLength, foldText) : value;

/** Null, or a missing field: a column cannot tell one from the other, nor from a value of another type. */
function empty({ field }: Pick<Test, 'field'>, fields: BoundFields): Unsourced<BoundValues>[] {
  return columnsWith(field, fields)
    .filter((column) => !column.fold && column !== keyColumn)
    .map((column) => ({ column, values: [null], isExact: false }));
}

/** All columns with values of the field. Equal texts are equal in the order of each language, and folded for a unique rule. */
function columnsWith(field: Field, { companion }: BoundFields): CompanionColumn[] {
  return [keyColumn, ...(companion?.columns ?? [])].filter((column) => isDeepStrictEqual(column.field, field));
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

function different<T extends BoundValue | null>({ type }: CompanionColumn, values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [type === 'decimal' && typeof value === 'string' ? trimmed(value) : value, value])).values()];
}

/** A decimal without zeros at the end, so that equal ones have equal texts. */
const trimmed = (decimal: string): string => (decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal);

function limitsOf(filter: Filter, fields: BoundFields): Unsourced<Limit>[] {
  if (filter.kind === 'compare' && filter.operator !== '=') {
    const { operator } = filter;
    const { column } = fields.of(filter.field, filter.type);
    return column ? boundValues(filter.operand).map((value) => ({ column, operator, value })) : [];
  }
  if (filter.kind !== 'prefix' || filter.operand.kind !== 'value' || filter.operand.value === '') return [];
  const { column } = fields.of(filter.field, filter.type);
  if (!column) return [];
  const value = String(filter.operand.value);
  const end = afterPrefix(value);
  return [{ column, operator: '>=', value }, ...(end === undefined ? [] : [{ column, operator: '<' as const, value: end }])];
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
