/**
 * The indexes of a companion table that serve a filter and a sort. The process chooses by the declared indexes alone. The estimates of PostgreSQL may be
 * wrong by a factor of 1,000, and then a list would take seconds (decision 133).
 */
import type { Companion, CompanionColumn } from './layout.ts';
import { boundsOf, type Bounds, type Limit, type BoundValues } from './bounds.ts';
import { areSortedWhole, keyColumn, type BoundFields } from './fields.ts';
import type { SortTerm } from '../../filter/sort.ts';
import { all, conjuncts, type Filter } from '../../filter/syntax.ts';

/** A column of an index, in the direction in which the index is read. */
export interface IndexColumn extends CompanionColumn {
  descending: boolean;
}

/** Some entries of an index: its first columns have certain values, and the next one is within limits. */
export interface IndexRange {
  prefix: readonly (BoundValues & { column: IndexColumn })[];
  limits: readonly Limit[];
  /** Instead, the entries of the index of texts that match these words. */
  words?: string;
  /** Instead, the entries of an index of trigrams whose texts contain this one. */
  substring?: { column: CompanionColumn; text: string };
}

/** A range in the order of a sort. */
export interface OrderedRange extends IndexRange {
  /** The columns after the prefix, without the key. */
  columns: readonly IndexColumn[];
  keyDescending: boolean;
}

interface Index {
  columns: readonly IndexColumn[];
  /** Whether the key is its last column. */
  endsWithKey: boolean;
}

/** A range with more combinations of values reads an index in too many places. */
const maximumCombinations = 10;

/** The columns of these terms, which decide about an order; undefined if it needs a field without a column, or texts of several indexes. */
export function columnOrderOf(terms: readonly SortTerm[], fields: BoundFields): readonly IndexColumn[] | undefined {
  if (!areSortedWhole(fields, terms)) return undefined;
  const columns = terms.flatMap(({ field, type, descending, collation }) => {
    const { column } = fields.of(field, type, collation);
    return column ? [{ ...column, descending }] : [];
  });
  return columns.length === terms.length ? columns : undefined;
}

/** The same rows from the last to the first. */
export function reverseRange({ prefix, columns, keyDescending, limits }: OrderedRange): OrderedRange {
  return {
    prefix: prefix.map((one) => ({ ...one, column: reverseColumn(one.column) })),
    limits,
    columns: columns.map(reverseColumn),
    keyDescending: !keyDescending,
  };
}

export const reverseColumn = (column: IndexColumn): IndexColumn => ({ ...column, descending: !column.descending });

/** An order of a list over columns, of which each row has one value or none. */
type ColumnOrder = Pick<OrderedRange, 'columns' | 'keyDescending'>;

/** The range in this order with the fewest rows; undefined if no index has the order. */
export function orderedRangeOf(filter: Filter, order: ColumnOrder, fields: BoundFields<Companion>): OrderedRange | undefined {
  const bounds = boundsOf(conjuncts(filter), fields);
  const ranges = indexesOf(fields.companion).flatMap((index) => (index.endsWithKey ? orderedRangesIn(index, order, bounds) : []));
  return ranges.toSorted((a, b) => b.prefix.length - a.prefix.length || b.limits.length - a.limits.length)[0];
}

function orderedRangesIn({ columns }: Index, order: ColumnOrder, bounds: Bounds): OrderedRange[] {
  const count = columns.length - order.columns.length;
  if (count < 0) return [];
  const keyDescending = columns.at(-1)?.descending ?? false;
  const isReversed = keyDescending !== order.keyDescending;
  const directed = columns.map((column) => ({ ...column, descending: column.descending !== isReversed }));
  const ordered = directed.slice(count);
  const isOrder = ordered.every(
    ({ name, descending }, at) => name === order.columns[at]?.name && descending === order.columns[at].descending,
  );
  const prefix = prefixOf(directed.slice(0, count), bounds);
  const combinations = prefix.reduce((product, { values }) => product * values.length, 1);
  if (!isOrder || prefix.length < count || combinations > maximumCombinations || !prefix.every(areDifferent)) return [];
  return [{ prefix, limits: limitsAt(ordered[0] ?? keyColumn, bounds), columns: ordered, keyDescending: order.keyDescending }];
}

/** Whether no two of the values are the same to PostgreSQL. An instant can be written in many ways, and a day can be that of the statement. */
const areDifferent = ({ column, values }: BoundValues): boolean =>
  values.length === 1 || (column.type !== 'date-time' && !values.some((value) => typeof value === 'object' && value !== null));

/** The filter without the conditions that every row of the range fulfils. */
export function filterBeside(filter: Filter, { prefix, limits }: IndexRange): Filter {
  const served = new Set([...prefix.filter(({ isExact }) => isExact), ...limits].map(({ source }) => source));
  return all(conjuncts(filter).filter((condition) => !served.has(condition)));
}

/** Whether the range is narrowed by a field, and not by the key alone. */
export const isOfFields = ({ prefix, limits, words, substring }: IndexRange): boolean =>
  words !== undefined || substring !== undefined || [...prefix, ...limits].some(({ column }) => column.name !== keyColumn.name);

/** For each column what it must have, up to the first that may have any value. */
function prefixOf(columns: readonly IndexColumn[], { values }: Bounds): IndexRange['prefix'] {
  const found = columns.map((column) => {
    const one = values.find((each) => each.column.name === column.name);
    return one && { ...one, column };
  });
  const end = found.indexOf(undefined);
  return found.slice(0, end === -1 ? undefined : end).filter((one) => one !== undefined);
}

const limitsAt = ({ name }: CompanionColumn, { limits }: Bounds): Limit[] => limits.filter(({ column }) => column.name === name);

/**
 * Ranges that together have all rows that the filter allows, and others. The first list is likely to be the shortest; at most three. None: no
 * index helps. Only ranges for which `mayRead` is true are used.
 */
export function candidatesOf(
  filter: Filter,
  fields: BoundFields<Companion>,
  mayRead: (range: IndexRange) => boolean = () => true,
): IndexRange[][] {
  const conditions = conjuncts(filter);
  const bounds = boundsOf(conditions, fields);
  const ofIndexes = indexesOf(fields.companion)
    .flatMap((index) => rangeOf(index, bounds))
    .concat(conditions.flatMap(rangeOfWords))
    .concat(conditions.flatMap((condition) => rangeOfSubstring(condition, fields)))
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ range }) => [range]);
  const ofAlternatives = conditions.flatMap((condition) => {
    if (condition.kind !== 'any' || condition.of.length === 0) return [];
    const each = condition.of.map((alternative) => candidatesOf(alternative, fields)[0]);
    return each.every((ranges) => ranges !== undefined) ? [each.flat()] : [];
  });
  return [...ofIndexes, ...ofAlternatives].filter((ranges) => ranges.every(mayRead)).slice(0, 3);
}

/** The range that the bounds leave of the index, with a weight that is the larger the fewer rows it is likely to have. */
function rangeOf({ columns, endsWithKey }: Index, bounds: Bounds): { range: IndexRange; weight: number }[] {
  const all = endsWithKey ? [...columns, { ...keyColumn, descending: false }] : columns;
  const prefix = prefixOf(all, bounds);
  const next = all[prefix.length];
  const limits = next ? limitsAt(next, bounds) : [];
  if (prefix.length + limits.length === 0) return [];
  const isOneRow = next === undefined && prefix.every(({ values }) => values.length === 1 && values[0] !== null);
  return [{ range: { prefix, limits }, weight: (isOneRow ? 1_000 : 0) + 10 * prefix.length + Math.min(limits.length, 2) }];
}

/** More words leave fewer rows, but one word may leave many. */
const weightOfWords = 15;

function rangeOfWords(condition: Filter): { range: IndexRange; weight: number }[] {
  return condition.kind === 'search' ? [{ range: { prefix: [], limits: [], words: condition.words }, weight: weightOfWords }] : [];
}

/** Counting the rows of equal values costs less, so it is tried before; a range leaves more rows. */
const weightOfSubstring = 5;

/** An index of trigrams has three letters or digits at once. */
function rangeOfSubstring(condition: Filter, fields: BoundFields): { range: IndexRange; weight: number }[] {
  if (condition.kind !== 'substring' || condition.operand.kind !== 'value') return [];
  const text = String(condition.operand.value);
  if (!/[\p{L}\p{N}]{3}/u.test(text)) return [];
  const { column, index } = fields.of(condition.field, condition.type);
  if (!column || index === undefined) return [];
  return [{ range: { prefix: [], limits: [], substring: { column, text } }, weight: weightOfSubstring }];
}

function indexesOf({ columns, indexes, uniques }: Companion): Index[] {
  const typed = (name: string, descending: boolean): IndexColumn => {
    const column = columns.find((each) => each.name === name);
    if (!column) throw new Error(`there is no column ${name}`);
    return { ...column, descending };
  };
  return [
    { columns: [], endsWithKey: true },
    ...indexes.map((index) => ({ columns: index.columns.map(({ name, descending }) => typed(name, descending)), endsWithKey: true })),
    ...uniques.map((unique) => ({ columns: unique.columns.map((name) => typed(name, false)), endsWithKey: false })),
  ];
}
