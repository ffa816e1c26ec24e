/**
 * The columns of a companion table that the statements of lists read. Their rows are keys; the condition of the permit is beside the entity of each
 * key. Numbers over the entities of a rule need none where an index begins with a field that the rule fixes.
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import type { Companion } from '../companion/layout.ts';
import { fixedIndexesOf, isFixedRow } from '../companion/fixed-rows.ts';
import { limitOf } from '../../database/limit.ts';
import { matchesRow } from '../companion/search.ts';
import { inSchema } from '../companion/table.ts';
import { builder } from '../../database/driver/prepared.ts';
import { columnRef, columnsUsed, isOfColumn, keyColumn, splitFilter, type BoundFields } from '../companion/fields.ts';
import { filterCondition } from '../../filter/compile.ts';
import { entitySource } from '../../filter/source.ts';
import { isAfter, keyIsAfter, reverseOrder } from '../../filter/order.ts';
import { candidateCount, candidateRows, inOrder, rowsInOrder } from '../companion/range-sql.ts';
import { reverseColumn, reverseRange, type IndexRange } from '../companion/index-ranges.ts';
import { all, conjuncts, everyEntity, isEveryEntity, testsOf, type Filter } from '../../filter/syntax.ts';
import type { CoveredRows, CoverageRule } from '../../rights/coverage.ts';
import type { CoveredRows as CoveredPath, IndexScan, RangeSort } from './access-path.ts';
import { splitKeys, type BoundQuery, type EntityQuery } from './bind.ts';
import { entityOf, shownRows, type ListPermit } from '../shown-rows.ts';
import type { CursorPosition } from './cursors.ts';
import {
  coveredBeside,
  directionOf,
  selectRows,
  selectedBeside,
  type SelectedRows,
  type PageRows,
  type ScanEnd,
} from './list-statements.ts';

/**
 * The rows of the scan that fulfil the filter, in the order of the page. There may be fewer than the page has room for, although the list
 * goes on.
 */
export function indexRows(path: IndexScan, cursor: CursorPosition | undefined): PageRows {
  const { query, filter, columns } = path;
  // The scan is in the order of the page, so its first rows that fulfil all are the page.
  const cut = isEveryEntity(filter.ofFields) ? sql`limit ${limitOf(query.page.limit + 1)}` : sql``;
  return {
    from: sql`(select * from ${entriesOf(path, cursor, columns)} as x where ${filterCondition(filter.ofColumns, query.fields)} ${cut}) as x
      cross join ${entityOf(query.permit, sql.ref('x.key'))}`,
    where: filterCondition(filter.ofFields, query.fields),
    after: undefined,
    isInOrder: true,
  };
}

/** The last row of the scan; no row if the index ends before the budget does. */
export function indexEndQuery(path: IndexScan, cursor: CursorPosition | undefined): CompiledQuery<ScanEnd> {
  const values = path.range.columns.map((column) => sql`${columnRef(column)}::text`);
  return sql<ScanEnd>`
    select x.key, array[${sql.join(values)}]::text[] as position from ${entriesOf(path, cursor, path.range.columns)} as x
    offset ${limitOf(entriesLimit(path) - 1)} limit 1`.compile(builder);
}

function entriesOf(path: IndexScan, cursor: CursorPosition | undefined, columns: IndexScan['columns']): RawBuilder<unknown> {
  const range = cursor?.direction === 'prev' ? reverseRange(path.range) : path.range;
  return rowsInOrder(path.query.fields.companion, range, cursor, entriesLimit(path), columns);
}

/** The most entries of the index that a page reads. */
const entriesLimit = ({ budget, query }: IndexScan) => budget ?? query.page.limit + 1;

/** The candidates that fulfil the filter, in no order. If columns decide, PostgreSQL reads the entities of the page and one more alone. */
export function candidatesRows({ kind, query, ranges, order: forwards }: RangeSort, cursor: CursorPosition | undefined): PageRows {
  const { fields, permit, sort, page } = query;
  const filter = unserved(query.filter, ranges);
  const { ofColumns, ofFields } = splitFilter(filter, fields);
  const columnOrder = kind === 'sort' && isEveryEntity(ofFields) ? query.columnOrder : undefined;
  const isBackwards = cursor?.direction === 'prev';
  const order = isBackwards ? reverseOrder(forwards) : forwards;
  const columns = isBackwards ? columnOrder?.map(reverseColumn) : columnOrder;
  const next = columns
    ? sql`and ${cursor ? isAfter(order, cursor, 'x') : sql`true`}
        order by ${inOrder([...columns, { ...keyColumn, descending: order.keyDescending }])} limit ${limitOf(page.limit + 1)}`
    : sql``;
  // The filter names what the rule fixes too, so without the fence the planner may test `pinned` once and read another index, past rows of others (rule 64).
  const fence = permit.coverage.kind === 'all' ? sql`` : sql`offset 0`;
  return {
    from: sql`(
        select * from (select * from ${candidateRows(fields.companion, ranges, columnsUsed(fields, filter, sort))} as x ${fence}) as x
        where ${filterCondition(ofColumns, fields)} ${next}
      ) as x cross join ${entityOf(permit, sql.ref('x.key'))}`,
    where: filterCondition(ofFields, fields),
    after: cursor,
    isInOrder: false,
  };
}

/** The covered rows of the ranges that fulfil the filter: in the order of their keys, or in no order. */
export function coveredRows({ query, covered, ranges, order }: CoveredPath, cursor: CursorPosition | undefined): PageRows {
  const isByKey = order.columns.length === 0;
  const descending = order.keyDescending !== (cursor?.direction === 'prev');
  const after = isByKey && cursor ? sql`where ${keyIsAfter(descending, cursor.key, 'x')}` : sql``;
  const inKeyOrder = isByKey ? sql`${after} order by x.key ${directionOf(descending)}` : sql``;
  return {
    from: sql`(select x.key from ${candidateRows(covered.companion, ranges, [])} as x ${inKeyOrder}) as x
      cross join ${entityOf(covered.permit, sql.ref('x.key'))}`,
    where: sql`${filterCondition(query.keys, query.fields)} and ${filterCondition(query.tests, query.fields)}`,
    after: isByKey ? undefined : cursor,
    isInOrder: isByKey,
  };
}

/** All covered rows that fulfil the filter, by the ranges of the rule if an index serves it. */
function selectedCovered(query: EntityQuery): SelectedRows {
  const { covered, keys, tests, fields } = query;
  const [ranges] = covered?.candidates ?? [];
  if (!covered || !ranges) return selectRows(query);
  return {
    from: sql`${candidateRows(covered.companion, ranges, [])} as x cross join ${entityOf(covered.permit, sql.ref('x.key'))}`,
    where: sql`${filterCondition(keys, fields)} and ${filterCondition(tests, fields)}`,
  };
}

/** The filter without the words of the ranges: tests of columns are cheap, to match words is not. */
function unserved(filter: Filter, ranges: readonly IndexRange[]): Filter {
  return areOfWords(ranges) ? all(conjuncts(filter).filter(({ kind }) => kind !== 'search')) : filter;
}

export const areOfWords = (ranges: readonly IndexRange[]): boolean => ranges.some(({ words }) => words !== undefined);

/** How many rows the ranges have together, `limit` at most. */
export function rangesQuery(companion: Companion, ranges: readonly IndexRange[], limit: number): CompiledQuery<{ count: number }> {
  return sql<{ count: number }>`select ${candidateCount(companion, ranges, limit)} as count`.compile(builder);
}

/** The entities that fulfil the filter. Those of all users, and those of a rule with an index, need no look at the table of entities. */
function selectedByColumns(fields: BoundFields<Companion>, permit: ListPermit, filter: Filter): SelectedRows {
  const { companion } = fields;
  const source = { ...fields, matches: (words: string) => matchesRow(companion, words) };
  const { coverage } = permit;
  const { keys, tests } = coverage.kind === 'all' ? { keys: everyEntity, tests: filter } : splitKeys(filter);
  const { ofColumns, ofFields } = splitFilter(tests, fields, (test) => test.kind === 'search' || isOfColumn(fields, test));
  const columns = filterCondition(ofColumns, source);
  const rows = coverage.kind === 'all' ? sql`${inSchema(companion.table)} as x` : rowsOfRule(fields, permit, coverage, keys);
  if (isEveryEntity(ofFields)) return { from: rows, where: columns };
  const conditions = sql`${columns} and ${filterCondition(ofFields, source)}`;
  if (coverage.kind === 'all') return selectedBeside(permit, rows, conditions);
  return { from: sql`${rows} cross join ${entityOf(permit, sql.ref('x.key'))}`, where: conditions };
}

/**
 * SQL: the rows `x` of the entities that the rule covers and that fulfil the tests of `keys`, by an index that begins with a fixed field, or of
 * all entities of the name that the permit covers. Behind the fence PostgreSQL reads them before it tests a value, so its work does not depend on
 * the values of rows of others (rule 64).
 */
function rowsOfRule(fields: BoundFields<Companion>, permit: CoveredRows, rule: CoverageRule, keys: Filter): RawBuilder<unknown> {
  const table = sql`${inSchema(fields.companion.table)} as x`;
  const fixed = fixedIndexesOf(fields.companion, rule);
  const areWanted = filterCondition(keys, fields);
  if (!fixed) return coveredBeside(permit, table, areWanted);
  return sql`(select x.* from ${table} where ${isFixedRow(fixed)} and ${areWanted} offset 0) as x`;
}

/** The entities of a query, for a count. */
export function selectedRowsOf(query: BoundQuery): SelectedRows {
  return query.over === 'columns' ? selectedByColumns(query.fields, query.permit, query.filter) : selectedCovered(query);
}

/** The entities of an aggregation. Without columns of the companion table it needs none. */
export function aggregatedRows(fields: BoundFields, permit: ListPermit, filter: Filter, needsColumns: boolean): SelectedRows {
  const { companion } = fields;
  const isNeeded =
    needsColumns ||
    (permit.coverage.kind === 'rule' && companion && fixedIndexesOf(companion, permit.coverage)) ||
    testsOf(filter).some((test) => test.kind === 'search' || isOfColumn(fields, test));
  if (isNeeded && companion) return selectedByColumns({ ...fields, companion }, permit, filter);
  return selectRows({ ...shownRows(permit), fields: entitySource, ...splitKeys(filter) });
}
