/** What the ways to find the rows of a page have in common. Each bounds what a page costs before it runs (decisions 111 and 133). */
import type { CompiledQuery } from 'kysely';
import type { Companion } from '../companion/layout.ts';
import type { Run, Scans } from '../../database/read-transaction.ts';
import { searchRank } from '../companion/search.ts';
import { areSortedWhole, columnOf } from '../companion/source.ts';
import { isEnvelopeName } from '../../filter/fields.ts';
import { orderOf, type Order, type RowPosition } from '../../filter/order.ts';
import type { Source } from '../../filter/source.ts';
import { decidingTerms, type SortTerm } from '../../filter/sort.ts';
import { testsOf, type Filter } from '../../filter/syntax.ts';
import type { PermitValues } from '../../rights/row-predicate.ts';
import type { PageRows, SelectedRows, WalkEnd } from './list-statements.ts';

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

/** The query of a list. */
export interface RoadQuery {
  permit: PermitValues;
  filter: Filter;
  sort: readonly SortTerm[];
  /** The companion table of the type, if statements may read it. */
  companion: Companion | undefined;
  /** Whether the entities are those in the trash. */
  isTrash?: boolean;
  /** The words whose best matches come first; undefined for the order of the sort. */
  relevantTo?: string | undefined;
}

/** The part of a list that a page needs. */
export interface Part {
  after: RowPosition | undefined;
  isBackwards: boolean;
  limit: number;
}

export interface FoundRows extends PageRows {
  /** Reads the last row at which the page may look; undefined if the page looks at no row that it does not show. */
  end: CompiledQuery<WalkEnd> | undefined;
  /** How PostgreSQL may find them. */
  scans: Scans;
}

export interface Road {
  /** The order of the list. */
  order: Order;
  /** Whether PostgreSQL finds each row of a page without looking at others. */
  isCheap: boolean;
  /** The rows of a page; undefined if they would be sorted without an index and are too many. */
  find(run: Run, part: Part): Promise<FoundRows | undefined>;
  /** All entities of the list. */
  selected: SelectedRows;
}

/** Whether the count says that the rows may be sorted. */
export const areFew = ([row]: readonly { count: number }[]): boolean => row !== undefined && row.count <= listLimits.candidates;

/** The most rows that a page may look at, of which the filter tests `fields`. To look a row up by its key counts as `lookUps` tests. */
export function budgetOf(fields: Filter, lookUps = 0): number {
  const ofFields = testsOf(fields).filter(({ field }) => !isEnvelopeName(field[0]));
  const tests = Math.max(
    lookUps,
    ofFields.reduce((total, test) => total + (test.kind === 'lookup' ? test.tests : 1), 0),
  );
  return tests === 0 ? listLimits.rows : Math.min(listLimits.rowsWithFields, Math.floor(listLimits.tests / tests));
}

/**
 * The order of the list over the values of `source`. Texts that one index has are sorted whole, whether or not this list uses the index.
 */
export function orderFor({ sort, filter, companion, relevantTo }: RoadQuery, source: Source): Order {
  if (companion && relevantTo !== undefined) {
    const column = { expression: searchRank(companion, relevantTo), sqlType: 'real', isCut: false, descending: true };
    return { columns: [column], keyDescending: false };
  }
  const isWhole = companion !== undefined && areSortedWhole(companion, decidingTerms(sort, filter));
  return orderOf(
    sort,
    filter,
    source,
    ({ field, type, collation }) => isWhole && columnOf(companion, field, type, collation) !== undefined,
  );
}
