/**
 * How the rows of a page are found. Each access path bounds what a page costs before it runs (decisions 111 and 133). The process chooses it
 * from the query and the declared indexes alone.
 */
import { columnsUsed, splitFilter, type Column, type SplitFilter } from '../companion/fields.ts';
import { filterBeside, orderedRangeOf, type IndexRange, type OrderedRange } from '../companion/index-ranges.ts';
import { isEnvelopeName } from '../../filter/fields.ts';
import type { Order } from '../../filter/order.ts';
import { conjuncts, constantOf, isEveryEntity, testsOf, type Filter } from '../../filter/syntax.ts';
import type { BoundQuery, ColumnQuery, EntityQuery } from './bind.ts';

/** What a page may cost. The test with random lists lowers it, so that few rows reach it. */
export const listLimits = {
  /** The most rows that are looked at. */
  rows: 20_000,
  /** The most if the fields of each have to be read. */
  rowsWithFields: 5_000,
  /** The most tests of fields. */
  tests: 20_000,
  /** The most rows that are sorted without an index. */
  candidates: 10_000,
};

interface PathOver<Q> {
  query: Q;
  order: Order;
  /** The path instead of this one if it would cost too much; undefined if the query is then refused. */
  otherwise?: AccessPath | undefined;
}

/** The rows of the name in the order of their keys. */
export interface PrimaryKey extends PathOver<EntityQuery> {
  kind: 'primary key';
  /** The most rows that a page looks at; undefined if it looks at no row that it does not show. */
  budget: number | undefined;
}

/**
 * An index of the companion table that has the order. In an index-only scan it decides which rows a page has, so that a page reads no other
 * entity. In an index scan the rows are tested besides.
 */
export interface IndexScan extends PathOver<ColumnQuery> {
  kind: 'index scan' | 'index-only scan';
  range: OrderedRange;
  /** What the range leaves to be tested. */
  filter: SplitFilter;
  /** The columns that these tests and the order need. */
  columns: readonly Column[];
  /** The most rows of the index that a page looks at. */
  budget: number;
}

/** All rows of the name whose keys the filter allows, sorted if they are few. */
export interface EntitySort extends PathOver<EntityQuery> {
  kind: 'sort' | 'relevance';
  ranges: undefined;
}

/** All rows of some index ranges, sorted if they are few. */
export interface RangeSort extends PathOver<ColumnQuery> {
  kind: 'sort' | 'relevance';
  ranges: readonly IndexRange[];
}

export type AccessPath = PrimaryKey | IndexScan | EntitySort | RangeSort;

/** The path for the query, with those instead of it. */
export function accessPathOf(query: BoundQuery): AccessPath {
  const path = query.over === 'columns' ? columnPathOf(query) : entityPathOf(query);
  const { ranking } = query;
  if (!ranking) return path;
  if (query.over === 'columns') return sortsOf('relevance', query, ranking, path);
  return { kind: 'relevance', query, order: ranking, ranges: undefined, otherwise: path };
}

/** The path by the primary key; a sort if the query has one. */
export function entityPathOf(query: EntityQuery): PrimaryKey | EntitySort {
  const { order, filter, tests, permit } = query;
  if (order.columns.length > 0) return { kind: 'sort', query, order, ranges: undefined };
  const showsEachRow = constantOf(filter) === false || (conjuncts(tests).length === 0 && permit.owner === null);
  return { kind: 'primary key', query, order, budget: showsEachRow ? undefined : budgetOf(tests) };
}

function columnPathOf(query: ColumnQuery): AccessPath {
  const scan = indexScanOf(query);
  const isShortest = scan && (scan.kind === 'index-only scan' || query.candidates.length === 0);
  return isShortest ? scan : sortsOf('sort', query, query.order, scan);
}

/** Undefined if no index has the order. */
function indexScanOf(query: ColumnQuery): IndexScan | undefined {
  const { fields, columnOrder, filter, sort, order, page } = query;
  const range = columnOrder && orderedRangeOf(filter, columnOrder, fields);
  if (!range) return undefined;
  const beside = filterBeside(filter, range);
  const split = splitFilter(beside, fields);
  const isOnly = isEveryEntity(beside);
  return {
    kind: isOnly ? 'index-only scan' : 'index scan',
    query,
    order,
    range,
    filter: split,
    columns: columnsUsed(fields, beside, sort),
    budget: isOnly ? page.limit + 1 : budgetOf(split.ofFields, isEveryEntity(split.ofFields) ? 0 : 1),
  };
}

/** Sorts of each list of candidates in turn, and then `otherwise`. */
function sortsOf(kind: RangeSort['kind'], query: ColumnQuery, order: Order, otherwise: AccessPath | undefined): AccessPath {
  const sortOf = (ranges: readonly IndexRange[], next: AccessPath | undefined): RangeSort => ({
    kind,
    query,
    order,
    ranges,
    otherwise: next,
  });
  const [first = [{ prefix: [], limits: [] }], ...others] = query.candidates;
  return sortOf(
    first,
    others.reduceRight<AccessPath | undefined>((next, ranges) => sortOf(ranges, next), otherwise),
  );
}

/** The most rows that a page may look at, of which the filter tests `fields`. To look a row up by its key counts as `lookUps` tests. */
function budgetOf(fields: Filter, lookUps = 0): number {
  const ofFields = testsOf(fields).filter(({ field }) => !isEnvelopeName(field[0]));
  const tests = Math.max(
    lookUps,
    ofFields.reduce((total, test) => total + (test.kind === 'lookup' ? test.tests : 1), 0),
  );
  return tests === 0 ? listLimits.rows : Math.min(listLimits.rowsWithFields, Math.floor(listLimits.tests / tests));
}

/** Whether PostgreSQL finds each row of a page without looking at others, so that one statement suffices. */
export function isOneStatement(path: AccessPath): boolean {
  switch (path.kind) {
    case 'primary key':
      return path.budget === undefined;
    case 'index-only scan':
      return true;
    case 'index scan':
    case 'relevance':
    case 'sort':
      return false;
  }
}
