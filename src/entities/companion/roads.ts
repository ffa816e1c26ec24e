/**
 * Which indexes of a companion table serve a filter and a sort. The process chooses by the declared indexes alone. The estimates of PostgreSQL may be
 * wrong by a factor of 1,000, and then a list would take seconds (decision 133).
 */
import type { Companion } from './layout.ts';
import { boundsOf, type Bounds, type Limit, type BoundValues } from './bounds.ts';
import { areSortedWhole, columnOf, keyColumn, type Column } from './source.ts';
import { decidingTerms, type SortTerm } from '../../filter/sort.ts';
import { all, conjuncts, type Filter } from '../../filter/syntax.ts';

/** A column of an index, in the direction in which the index is read. */
export interface IndexColumn extends Column {
  descending: boolean;
}

/** A part of an index: its first columns have certain values, and the next one is within limits. */
export interface Range {
  fixed: readonly (BoundValues & { column: IndexColumn })[];
  limits: readonly Limit[];
  /** Instead, the part of the index of texts that matches these words. */
  words?: string;
  /** Instead, the part of an index of trigrams whose texts have this part. */
  part?: { column: Column; text: string };
}

/** A part of an index in the order of a sort. */
export interface Walk extends Range {
  /** The columns after the fixed ones, without the key. */
  columns: readonly IndexColumn[];
  keyDescending: boolean;
}

interface Index {
  columns: readonly IndexColumn[];
  /** Whether the key is its last column. */
  endsWithKey: boolean;
}

/** A walk with more lists of values reads an index in too many places. */
const maximumWalks = 10;

/** The order of a list over columns, of which each row has one value or none. */
export interface ColumnOrder {
  columns: readonly IndexColumn[];
  keyDescending: boolean;
}

/** The order of what the filter finds; undefined if it needs a field without a column, or texts of several indexes. */
export function columnOrderOf(sort: readonly SortTerm[], filter: Filter, companion: Companion): ColumnOrder | undefined {
  const terms = decidingTerms(sort, filter);
  if (!areSortedWhole(companion, terms)) return undefined;
  const columns = terms.flatMap(({ field, type, descending, collation }) => {
    const column = columnOf(companion, field, type, collation);
    return column ? [{ ...column, descending }] : [];
  });
  return columns.length === terms.length ? { columns, keyDescending: sort.at(-1)?.descending ?? false } : undefined;
}

/** The same rows from the last to the first. */
export function reversedWalk({ fixed, columns, keyDescending, limits }: Walk): Walk {
  return {
    fixed: fixed.map((one) => ({ ...one, column: reversed(one.column) })),
    limits,
    ...reversedColumns({ columns, keyDescending }),
  };
}

export function reversedColumns({ columns, keyDescending }: ColumnOrder): ColumnOrder {
  return { columns: columns.map(reversed), keyDescending: !keyDescending };
}

const reversed = (column: IndexColumn): IndexColumn => ({ ...column, descending: !column.descending });

/** The walk in this order that reads the fewest rows; undefined if no index has the order. */
export function walkOf(filter: Filter, order: ColumnOrder, companion: Companion): Walk | undefined {
  const bounds = boundsOf(conjuncts(filter), companion);
  const walks = indexesOf(companion).flatMap((index) => (index.endsWithKey ? walksOfIndex(index, order, bounds) : []));
  return walks.toSorted((a, b) => b.fixed.length - a.fixed.length || b.limits.length - a.limits.length)[0];
}

function walksOfIndex({ columns }: Index, order: ColumnOrder, bounds: Bounds): Walk[] {
  const count = columns.length - order.columns.length;
  if (count < 0) return [];
  const keyDescending = columns.at(-1)?.descending ?? false;
  const isReversed = keyDescending !== order.keyDescending;
  const directed = columns.map((column) => ({ ...column, descending: column.descending !== isReversed }));
  const rest = directed.slice(count);
  const isOrder = rest.every(({ name, descending }, at) => name === order.columns[at]?.name && descending === order.columns[at].descending);
  const fixed = fixedOf(directed.slice(0, count), bounds);
  const walks = fixed.reduce((product, { values }) => product * values.length, 1);
  if (!isOrder || fixed.length < count || walks > maximumWalks || !fixed.every(areDifferent)) return [];
  return [{ fixed, limits: limitsAt(rest[0] ?? keyColumn, bounds), columns: rest, keyDescending: order.keyDescending }];
}

/** Whether no two of the values are the same to PostgreSQL. An instant can be written in many ways. */
const areDifferent = ({ column, values }: BoundValues): boolean => column.type !== 'date-time' || values.length === 1;

/** The tests of the filter that the walk does not apply by itself. */
export function restOf(filter: Filter, { fixed, limits }: Walk): Filter {
  const served = new Set([...fixed.filter(({ isExact }) => isExact), ...limits].map(({ source }) => source));
  return all(conjuncts(filter).filter((condition) => !served.has(condition)));
}

/** Whether the range is narrowed by a field, and not by the key alone. */
export const isOfFields = ({ fixed, limits, words, part }: Range): boolean =>
  words !== undefined || part !== undefined || [...fixed, ...limits].some(({ column }) => column.name !== keyColumn.name);

/** For each column what it must have, up to the first that may have any value. */
function fixedOf(columns: readonly IndexColumn[], { values }: Bounds): Range['fixed'] {
  const found = columns.map((column) => {
    const one = values.find((each) => each.column.name === column.name);
    return one && { ...one, column };
  });
  const end = found.indexOf(undefined);
  return found.slice(0, end === -1 ? undefined : end).filter((one) => one !== undefined);
}

const limitsAt = ({ name }: Column, { limits }: Bounds): Limit[] => limits.filter(({ column }) => column.name === name);

/**
 * Parts of indexes that together have all rows that the filter allows, and others. The first list is likely to be the shortest; at most three. None: no
 * index helps. Only ranges for which `mayRead` is true are used.
 */
export function candidatesOf(filter: Filter, companion: Companion, mayRead: (range: Range) => boolean = () => true): Range[][] {
  const conditions = conjuncts(filter);
  const bounds = boundsOf(conditions, companion);
  const ofIndexes = indexesOf(companion)
    .flatMap((index) => rangeOf(index, bounds))
    .concat(conditions.flatMap(rangeOfWords))
    .concat(conditions.flatMap((condition) => rangeOfPart(condition, companion)))
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ range }) => [range]);
  const ofAlternatives = conditions.flatMap((condition) => {
    if (condition.kind !== 'any' || condition.of.length === 0) return [];
    const each = condition.of.map((alternative) => candidatesOf(alternative, companion)[0]);
    return each.every((ranges) => ranges !== undefined) ? [each.flat()] : [];
  });
  return [...ofIndexes, ...ofAlternatives].filter((ranges) => ranges.every(mayRead)).slice(0, 3);
}

/** The part of the index that the bounds leave, with a weight that is the larger the fewer rows it is likely to have. */
function rangeOf({ columns, endsWithKey }: Index, bounds: Bounds): { range: Range; weight: number }[] {
  const all = endsWithKey ? [...columns, { ...keyColumn, descending: false }] : columns;
  const fixed = fixedOf(all, bounds);
  const next = all[fixed.length];
  const limits = next ? limitsAt(next, bounds) : [];
  if (fixed.length + limits.length === 0) return [];
  const isOneRow = next === undefined && fixed.every(({ values }) => values.length === 1 && values[0] !== null);
  return [{ range: { fixed, limits }, weight: (isOneRow ? 1_000 : 0) + 10 * fixed.length + Math.min(limits.length, 2) }];
}

/** More words leave fewer rows, but one word may leave many. */
const weightOfWords = 15;

function rangeOfWords(condition: Filter): { range: Range; weight: number }[] {
  return condition.kind === 'search' ? [{ range: { fixed: [], limits: [], words: condition.words }, weight: weightOfWords }] : [];
}

/** Counting the rows of equal values costs less, so it is tried before; a range leaves more rows. */
const weightOfPart = 5;

/** An index of trigrams has three letters or digits at once. */
function rangeOfPart(condition: Filter, companion: Companion): { range: Range; weight: number }[] {
  if (condition.kind !== 'substring' || !/[\p{L}\p{N}]{3}/u.test(condition.value)) return [];
  const column = columnOf(companion, condition.field, condition.type);
  if (!column || !companion.substrings.some((each) => each.column === column.name)) return [];
  return [{ range: { fixed: [], limits: [], part: { column, text: condition.value } }, weight: weightOfPart }];
}

function indexesOf({ columns, indexes, uniques }: Companion): Index[] {
  const typed = (name: string, descending: boolean): IndexColumn => {
    const column = columns.find((each) => each.name === name);
    if (!column) throw new Error(`there is no column ${name}`);
    return { name, type: column.type, descending };
  };
  return [
    { columns: [], endsWithKey: true },
    ...indexes.map((index) => ({ columns: index.columns.map(({ name, descending }) => typed(name, descending)), endsWithKey: true })),
    ...uniques.map((unique) => ({ columns: unique.columns.map((name) => typed(name, false)), endsWithKey: false })),
  ];
}
