/**
 * How the rows of a page are found. Each access path bounds what a page costs before it runs (decisions 111 and 133). The process chooses it
 * from the query and the declared indexes alone.
 */
import { columnsUsed, splitFilter, type SplitFilter } from '../companion/fields.ts';
import { filterBeside, orderedRangeOf, type IndexRange, type OrderedRange } from '../companion/index-ranges.ts';
import type { CompanionColumn } from '../companion/layout.ts';
import { isEnvelopeName, isOfEnvelope } from '../../filter/fields.ts';
import type { Order } from '../../filter/order.ts';
import { comparedFields, conjuncts, constantOf, isEveryEntity, testsOf, type Filter } from '../../filter/syntax.ts';
import { looksLikeName } from '../../problems/pointer.ts';
import type { Coverage } from '../../rights/coverage.ts';
import type { BoundQuery, ColumnQuery, CoveredRanges, EntityQuery } from './bind.ts';

/** The most that a page may cost. The test with random lists lowers it, so that few rows reach it. */
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
  /** The most rows at which a page looks; undefined if it looks at none that it does not show, so that one statement suffices. */
  budget: number | undefined;
  /** The path instead of this one if it would cost too much; undefined if the query is then refused. */
  otherwise?: AccessPath | undefined;
}

/** The rows of the name in the order of their keys. */
interface PrimaryKey extends PathOver<EntityQuery> {
  kind: 'primary key';
}

/**
 * An index of the companion table that has the order. In an index-only scan it decides which rows a page has, so that a page reads no other
 * entity. In an index scan the rows are tested besides.
 */
export interface IndexScan extends PathOver<ColumnQuery> {
  kind: 'index scan' | 'index-only scan';
  range: OrderedRange;
  /** The tests that the range leaves. */
  filter: SplitFilter;
  /** The columns that these tests and the order need. */
  columns: readonly CompanionColumn[];
}

/** All rows of the name whose keys the filter allows, sorted if they are few. */
interface EntitySort extends PathOver<EntityQuery> {
  kind: 'sort' | 'relevance';
  budget: number;
  ranges: undefined;
}

/** All rows of some index ranges, sorted if they are few. */
export interface RangeSort extends PathOver<ColumnQuery> {
  kind: 'sort' | 'relevance';
  budget: number;
  ranges: readonly IndexRange[];
}

/**
 * The rows that the rule of the caller covers, by index ranges that the rule leaves. The rule is tested on each before the filter of the caller. They are sorted if they are
 * few, or read by key.
 */
export interface CoveredRows extends PathOver<EntityQuery> {
  kind: 'covered rows';
  budget: number;
  covered: CoveredRanges;
  ranges: readonly IndexRange[];
}

export type AccessPath = PrimaryKey | IndexScan | EntitySort | RangeSort | CoveredRows;

/** The path for the query, with those instead of it. */
export function accessPathOf(query: BoundQuery): AccessPath {
  const { ranking } = query;
  if (query.over === 'columns') return ranking ? sortsOf('relevance', query, ranking, columnPathOf(query)) : columnPathOf(query);
  const path = coveredPathOf(query, entityPathOf(query));
  return ranking ? { kind: 'relevance', query, order: ranking, budget: listLimits.candidates, ranges: undefined, otherwise: path } : path;
}

/** The ranges of the rule in turn, and then `otherwise`. A filter that leaves nothing needs none. */
function coveredPathOf(query: EntityQuery, otherwise: PrimaryKey | EntitySort): AccessPath {
  const { covered, order, filter } = query;
  if (!covered || constantOf(filter) === false) return otherwise;
  return covered.candidates.reduceRight<AccessPath>(
    (next, ranges) => ({ kind: 'covered rows', query, order, budget: listLimits.candidates, covered, ranges, otherwise: next }),
    otherwise,
  );
}

/** The path by the primary key; a sort if the query has one. */
function entityPathOf(query: EntityQuery): PrimaryKey | EntitySort {
  const { order, filter, tests, permit } = query;
  if (order.columns.length > 0) return { kind: 'sort', query, order, budget: listLimits.candidates, ranges: undefined };
  const showsEachRow = constantOf(filter) === false || (conjuncts(tests).length === 0 && permit.coverage.kind === 'all');
  return { kind: 'primary key', query, order, budget: showsEachRow ? undefined : budgetOf(tests) };
}

function columnPathOf(query: ColumnQuery): AccessPath {
  const scan = indexScanOf(query);
  return scan && (scan.budget === undefined || query.candidates.length === 0) ? scan : sortsOf('sort', query, query.order, scan);
}

/** Undefined if no index has the order. */
function indexScanOf(query: ColumnQuery): IndexScan | undefined {
  const { fields, columnOrder, filter: wanted, sort, order } = query;
  const range = columnOrder && orderedRangeOf(wanted, { columns: columnOrder, keyDescending: order.keyDescending }, fields);
  if (!range) return undefined;
  const beside = filterBeside(wanted, range);
  const filter = splitFilter(beside, fields);
  const path = { query, order, range, filter, columns: columnsUsed(fields, beside, sort) };
  if (isEveryEntity(beside)) return { ...path, kind: 'index-only scan', budget: undefined };
  return { ...path, kind: 'index scan', budget: budgetOf(filter.ofFields, isEveryEntity(filter.ofFields) ? 0 : 1) };
}

/** Sorts of each list of candidates in turn, and then `otherwise`. */
function sortsOf(kind: RangeSort['kind'], query: ColumnQuery, order: Order, otherwise: AccessPath | undefined): AccessPath {
  const sortOf = (ranges: readonly IndexRange[], next: AccessPath | undefined): RangeSort => {
    return { kind, query, order, budget: listLimits.candidates, ranges, otherwise: next };
  };
  const [first = [{ prefix: [], limits: [] }], ...others] = query.candidates;
  const next = others.reduceRight<AccessPath | undefined>((after, ranges) => sortOf(ranges, after), otherwise);
  return sortOf(first, next);
}

/** The most rows that a page may look at, of which the filter tests `fields`. To look a row up by its key counts as `lookUps` tests. */
function budgetOf(fields: Filter, lookUps = 0): number {
  const ofFields = testsOf(fields).filter(
    (test) => test.kind === 'lookup' || !comparedFields(test).every(({ field }) => isEnvelopeName(field[0])),
  );
  const count = ofFields.reduce((total, test) => total + (test.kind === 'lookup' ? test.tests : 1), 0);
  const tests = Math.max(lookUps, count);
  return tests === 0 ? listLimits.rows : Math.min(listLimits.rowsWithFields, Math.floor(listLimits.tests / tests));
}

/**
 * One line about the path, as `index scan of (city), at most 5000 rows`. It has names of declared fields and numbers, and no value of a
 * filter.
 */
export function describePath(path: AccessPath): string {
  const budget = path.budget === undefined ? '' : `, at most ${path.budget} rows`;
  return path.kind + describePlace(path) + budget;
}

function describePlace(path: AccessPath): string {
  switch (path.kind) {
    case 'primary key':
      return '';
    case 'index-only scan':
    case 'index scan': {
      const prefix = path.range.prefix.map(({ column }) => nameOf(column));
      const order = path.range.columns.map((column) => (column.descending ? '-' : '') + nameOf(column));
      return ` of (${[...prefix, ...order].join(', ') || '$key'})${prefix.length === 0 ? '' : `, prefix (${prefix.join(', ')})`}`;
    }
    case 'covered rows':
    case 'relevance':
    case 'sort':
      return ` of ${path.ranges?.map(describeRange).join(' or ') ?? 'the primary key'}`;
  }
}

/** The columns that narrow the range. */
function describeRange({ prefix, limits, words, substring }: IndexRange): string {
  if (words !== undefined) return 'the words';
  if (substring) return `the trigrams of (${nameOf(substring.column)})`;
  const names = new Set([...prefix, ...limits].map(({ column }) => nameOf(column)));
  return names.size === 0 ? 'the primary key' : `(${[...names].join(', ')})`;
}

/** The field of a column; the name of the column if the field must not be repeated (rule 75). */
const nameOf = ({ name, field }: CompanionColumn) => (isOfEnvelope(field) || field.every(looksLikeName) ? field.join('.') : name);

/**
 * The description in the texts for its caller; nothing for a caller of some rows. How the service reads a list depends on how many entities others
 * have (rule 161).
 */
export function shownPath({ coverage }: { coverage: Coverage }, path: AccessPath): { path?: string } {
  return coverage.kind === 'all' ? { path: describePath(path) } : {};
}
