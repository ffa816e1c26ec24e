/**
 * A query over the entities of a name, bound to where its values are: the columns of the companion table if one of its indexes or columns is
 * of use, else the rows of `entity`.
 */
import type { RawBuilder } from 'kysely';
import type { Companion } from '../companion/layout.ts';
import { areSortedWhole, bindToColumns, bindToEntities, columnsUsed, splitFilter, type BoundFields } from '../companion/fields.ts';
import { candidatesOf, columnOrderOf, isOfFields, type IndexColumn, type IndexRange } from '../companion/index-ranges.ts';
import { fixedFilter, fixedIndexesOf, isFixedRange } from '../companion/fixed-rows.ts';
import { searchRank } from '../companion/search.ts';
import { orderOf, type Order } from '../../filter/order.ts';
import { decidingTerms, type SortTerm } from '../../filter/sort.ts';
import { all, conjuncts, constantOf, noEntity, type Filter } from '../../filter/syntax.ts';
import { isKey } from '../../filter/fields.ts';
import { shownCompanion, shownRows, type ListPermit } from '../shown-rows.ts';
import type { Include } from './include.ts';
import type { Projection } from './projection.ts';

/** The part of the rows that a page has. */
export interface PageShape {
  limit: number;
  /** The most bytes of fields as JSON text. The first row comes in any case. */
  bytes: number;
  projection?: Projection | undefined;
  /** The references whose keys each row has. */
  includes?: readonly Pick<Include, 'field'>[];
  /** Whether the rows are those in the trash. */
  isTrash?: boolean;
}

/** The rows that a caller wants. */
export interface WantedRows extends PageShape {
  filter: Filter;
  sort: readonly SortTerm[];
  /** The words of the filter whose best matches come first; undefined for the order of the sort. */
  relevantTo?: string | undefined;
}

interface Bound<F extends BoundFields> {
  permit: ListPermit;
  /** With the fixed values of the rule if their indexes are read. */
  filter: Filter;
  sort: readonly SortTerm[];
  fields: F;
  order: Order;
  /** The order of the best matches, which come first; undefined if the order of the query is the only one. */
  ranking: Order | undefined;
  page: PageShape;
}

export interface EntityQuery extends Bound<BoundFields> {
  over: 'entities';
  /** The table of the rows, which has the name `entity` in the statement. */
  table: RawBuilder<unknown>;
  /** The tests of the key, which the primary key serves. */
  keys: Filter;
  /** All other tests. */
  tests: Filter;
  /** Undefined if the rows are those of all users, or if no index serves the rule of the caller. */
  covered: CoveredRanges | undefined;
}

/** The ranges of indexes that have all rows of a rule. The filter of the caller does not narrow them, so their cost tells of the rule alone (rule 64). */
export interface CoveredRanges {
  permit: ListPermit;
  companion: Companion;
  /** Each list has all rows that the rule covers, and others; the first is likely to be the shortest. */
  candidates: readonly (readonly IndexRange[])[];
}

export interface ColumnQuery extends Bound<BoundFields<Companion>> {
  over: 'columns';
  /** Undefined if the order needs a field without a column. */
  columnOrder: readonly IndexColumn[] | undefined;
  /** Each list has all rows that the filter allows, and others; the first is likely to be the shortest. */
  candidates: readonly IndexRange[][];
}

export type BoundQuery = EntityQuery | ColumnQuery;

/** Binds the query. `companion` is the companion table of the type, if statements may read it. */
export function bindQuery(wanted: WantedRows, permit: ListPermit, companion: Companion | undefined): BoundQuery {
  const isPossible = companion && constantOf(wanted.filter) !== false;
  return (isPossible && columnQueryOf(wanted, permit, shownCompanion(companion, permit.view))) || bindToRows(wanted, permit, companion);
}

/** Binds the query to the rows of `entity` or of the trash, whatever indexes there are. */
export function bindToRows(wanted: WantedRows, permit: ListPermit, companion: Companion | undefined): EntityQuery {
  const rows = shownRows(permit, wanted.isTrash);
  const fields = bindToEntities(companion && shownCompanion(companion, permit.view));
  const covered = wanted.isTrash ? undefined : coveredRangesOf(permit, companion);
  // The rule may cover no entity, whatever it has.
  const isEmpty = permit.coverage.kind === 'rule' && permit.coverage.candidates && constantOf(permit.coverage.candidates) === false;
  const filter = isEmpty && !wanted.isTrash ? noEntity : wanted.filter;
  return { over: 'entities', ...boundTo(fields, { ...wanted, filter }, rows.permit), table: rows.table, ...splitKeys(filter), covered };
}

/** A rule reads fields that it hides, too. */
function coveredRangesOf(permit: ListPermit, companion: Companion | undefined): CoveredRanges | undefined {
  const { coverage } = permit;
  if (!companion || coverage.kind === 'all' || !coverage.candidates) return undefined;
  const candidates = candidatesOf(coverage.candidates, bindToColumns(companion));
  return candidates.length === 0 ? undefined : { permit, companion, candidates };
}

/** Undefined if no column and no index is of use. A query of some rows uses the indexes that begin with what its rule fixes alone. */
function columnQueryOf(wanted: WantedRows, permit: ListPermit, companion: Companion): ColumnQuery | undefined {
  const { coverage } = permit;
  if (coverage.kind === 'all') return usefulQuery(wanted, permit, companion);
  const fixed = fixedIndexesOf(companion, coverage);
  const filter = fixedFilter(wanted.filter, coverage);
  return fixed && usefulQuery({ ...wanted, filter }, permit, fixed.companion, isFixedRange(fixed));
}

function usefulQuery(
  wanted: WantedRows,
  permit: ListPermit,
  companion: Companion,
  mayRead?: (range: IndexRange) => boolean,
): ColumnQuery | undefined {
  const { filter, sort } = wanted;
  const fields = bindToColumns(companion);
  const columnOrder = columnOrderOf(decidingTerms(sort, filter), fields);
  const candidates = candidatesOf(filter, fields, mayRead);
  const used = columnsUsed(fields, splitFilter(filter, fields).ofColumns, columnOrder ? sort : []);
  if (used.length === 0 && !candidates.some((ranges) => ranges.some(isOfFields))) return undefined;
  return { over: 'columns', ...boundTo(fields, wanted, permit), columnOrder, candidates };
}

function boundTo<F extends BoundFields>(fields: F, { filter, sort, relevantTo, ...page }: WantedRows, permit: ListPermit): Bound<F> {
  // Texts that one index has are sorted whole, whether or not this query uses the index.
  const isWhole = areSortedWhole(fields, decidingTerms(sort, filter));
  const isIndexed = ({ field, type, collation }: SortTerm) => isWhole && fields.of(field, type, collation).column !== undefined;
  const ranking = fields.companion && relevantTo !== undefined ? rankingOf(fields.companion, relevantTo) : undefined;
  return { permit, filter, sort, fields, order: orderOf(sort, filter, fields, isIndexed), ranking, page };
}

const rankingOf = (companion: Companion, words: string): Order => ({
  columns: [{ expression: searchRank(companion, words), sqlType: 'real', isCut: false, descending: true }],
  keyDescending: false,
});

/** The filter in two halves. `keys` are those of its conditions that the primary key serves; they say nothing of the values of entities. */
export function splitKeys(filter: Filter): Pick<EntityQuery, 'keys' | 'tests'> {
  const { keys = [], tests = [] } = Object.groupBy(conjuncts(filter), (test) =>
    ((test.kind === 'compare' && test.operand.kind === 'value') || test.kind === 'in') && isKey(test.field) ? 'keys' : 'tests',
  );
  return { keys: all(keys), tests: all(tests) };
}
