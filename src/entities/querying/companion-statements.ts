/**
 * The columns of a companion table that the statements of lists read. Their rows are keys; the condition of the permit is beside the entity of each
 * key. Numbers over own entities need none where an index begins with the creator.
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import type { Companion } from '../companion/layout.ts';
import { isOwnRow, ownPart } from '../companion/own-rows.ts';
import { limitOf } from '../../database/limit.ts';
import { matchesRow } from '../companion/search.ts';
import { inSchema } from '../companion/table.ts';
import { builder } from '../../database/driver/prepared.ts';
import { columnRef, companionSource, isOfColumn, keyColumn, type Column } from '../companion/source.ts';
import { filterCondition } from '../../filter/compile.ts';
import { isAfter, type Order, type RowPosition } from '../../filter/order.ts';
import { candidateCount, candidateRows, inOrder, walkRows } from '../companion/range-sql.ts';
import type { ColumnOrder, Range, Walk } from '../companion/roads.ts';
import { all, conjuncts, everyEntity, testsOf, type Filter, type Test } from '../../filter/syntax.ts';
import { entitySource } from '../../filter/source.ts';
import type { PermitValues } from '../../rights/row-predicate.ts';
import {
  coveredBeside,
  entityOf,
  selectRows,
  selectedBeside,
  splitKeys,
  type SelectedRows,
  type PageRows,
  type WalkEnd,
} from './list-statements.ts';

/** The conditions of a filter that columns alone decide, and the others. */
export interface SplitFilter {
  ofColumns: Filter;
  ofFields: Filter;
}

/** A condition with alternatives is one of columns only if all its tests are. */
export function splitFilter(filter: Filter, companion: Companion): SplitFilter {
  return split(filter, (test) => isOfColumn(companion, test));
}

function split(filter: Filter, isOfColumns: (test: Test) => boolean): SplitFilter {
  const { columns = [], fields = [] } = Object.groupBy(conjuncts(filter), (condition) =>
    testsOf(condition).every(isOfColumns) ? 'columns' : 'fields',
  );
  return { ofColumns: all(columns), ofFields: all(fields) };
}

export const isEverything = (filter: Filter): boolean => filter.kind === 'all' && filter.of.length === 0;

/** The rows that a page reads along an index. */
export interface IndexWalk {
  companion: Companion;
  permit: PermitValues;
  walk: Walk;
  after: RowPosition | undefined;
  /** The most rows of the index that PostgreSQL may look at. */
  budget: number;
  /** What the walk leaves to be tested. */
  rest: SplitFilter;
  /** The columns that the tests and the order need. */
  columns: readonly Column[];
}

/**
 * The rows of the walk that fulfil the rest of the filter, in the order of the page. There may be fewer than `limit`, although the list
 * goes on.
 */
export function indexRows(query: IndexWalk, limit: number): PageRows {
  const { companion, permit, walk, after, budget, rest, columns } = query;
  const source = companionSource(companion);
  const rows = walkRows(companion, walk, after, budget, columns);
  // The walk is in the order of the page, so its first rows that fulfil all are the page.
  const cut = isEverything(rest.ofFields) ? sql`limit ${limitOf(limit + 1)}` : sql``;
  return {
    from: sql`(select * from ${rows} as x where ${filterCondition(rest.ofColumns, source)} ${cut}) as x
      cross join ${entityOf(permit, sql.ref('x.key'))}`,
    where: filterCondition(rest.ofFields, source),
    after: undefined,
    isInOrder: true,
  };
}

/** The last row of the walk; no row if the index ends before the budget does. */
export function indexEndQuery({ companion, walk, after, budget }: IndexWalk): CompiledQuery<WalkEnd> {
  const values = walk.columns.map((column) => sql`${columnRef(column)}::text`);
  return sql<WalkEnd>`
    select x.key, array[${sql.join(values)}]::text[] as position from ${walkRows(companion, walk, after, budget, walk.columns)} as x
    offset ${limitOf(budget - 1)} limit 1`.compile(builder);
}

/** The candidates of a page, which are sorted. */
export interface Candidates {
  companion: Companion;
  permit: PermitValues;
  ranges: readonly Range[];
  filter: SplitFilter;
  after: RowPosition | undefined;
  order: Order;
  /** The order over columns; undefined if it needs fields. */
  columnOrder: ColumnOrder | undefined;
  /** The columns that the tests and the order need. */
  columns: readonly Column[];
}

/** The candidates that fulfil the filter, in no order. If columns decide, PostgreSQL reads the entities of `limit + 1` alone. */
export function candidatesRows(query: Candidates, limit: number): PageRows {
  const { companion, permit, ranges, filter, after, order, columnOrder, columns } = query;
  const source = companionSource(companion);
  const isDecidedByColumns = columnOrder && isEverything(filter.ofFields);
  const next = isDecidedByColumns
    ? sql`and ${after ? isAfter(order, after, 'x') : sql`true`}
        order by ${inOrder([...columnOrder.columns, { ...keyColumn, descending: order.keyDescending }])} limit ${limitOf(limit + 1)}`
    : sql``;
  // The filter names the creator too, so without the fence the planner may test `pinned` once and walk another index, past rows of others (rule 64).
  const fence = permit.owner === null ? sql`` : sql`offset 0`;
  return {
    from: sql`(
        select * from (select * from ${candidateRows(companion, ranges, columns)} as x ${fence}) as x
        where ${filterCondition(filter.ofColumns, source)} ${next}
      ) as x cross join ${entityOf(permit, sql.ref('x.key'))}`,
    where: filterCondition(filter.ofFields, source),
    after,
    isInOrder: false,
  };
}

/** How many rows the ranges have together, `limit` at most. */
export function rangesQuery(companion: Companion, ranges: readonly Range[], limit: number): CompiledQuery<{ count: number }> {
  return sql<{ count: number }>`select ${candidateCount(companion, ranges, limit)} as count`.compile(builder);
}

/**
 * The entities that fulfil the filter. Where columns decide, those of all users, and those of an owner with an index, need no look at the
 * table of entities.
 */
export function selectedByColumns(companion: Companion, permit: PermitValues, filter: Filter): SelectedRows {
  const source = { ...companionSource(companion), matches: (words: string) => matchesRow(companion, words) };
  const { keys, rest } = permit.owner === null ? { keys: everyEntity, rest: filter } : splitKeys(filter);
  const { ofColumns, ofFields } = split(rest, (test) => test.kind === 'search' || isOfColumn(companion, test));
  const columns = filterCondition(ofColumns, source);
  const rows = permit.owner === null ? sql`${inSchema(companion.table)} as x` : rowsOfOwner(companion, permit, permit.owner, keys);
  if (isEverything(ofFields)) return { from: rows, where: columns };
  const conditions = sql`${columns} and ${filterCondition(ofFields, source)}`;
  if (permit.owner === null) return selectedBeside(permit, rows, conditions);
  return { from: sql`${rows} cross join ${entityOf(permit, sql.ref('x.key'))}`, where: conditions };
}

/**
 * SQL: the rows `x` of entities of `owner` that fulfil the tests of `keys`, by an index that begins with the creator, or of all entities
 * of the name that the permit covers. Behind the fence PostgreSQL reads them before it tests a value, so its work does not depend on the
 * values of rows of others (rule 64).
 */
function rowsOfOwner(companion: Companion, permit: PermitValues, owner: string, keys: Filter): RawBuilder<unknown> {
  const table = sql`${inSchema(companion.table)} as x`;
  const isOwn = isOwnRow(companion, owner);
  const areWanted = filterCondition(keys, companionSource(companion));
  return isOwn ? sql`(select x.* from ${table} where ${isOwn} and ${areWanted} offset 0) as x` : coveredBeside(permit, table, areWanted);
}

/** The entities of an aggregation. Without columns of the companion table it needs none. */
export function aggregatedRows(
  companion: Companion | undefined,
  permit: PermitValues,
  filter: Filter,
  needsColumns: boolean,
): SelectedRows {
  const hasIndex = permit.owner !== null && companion !== undefined && ownPart(companion) !== undefined;
  const isTested = (test: Test) => companion !== undefined && (test.kind === 'search' || isOfColumn(companion, test));
  if (companion && (needsColumns || hasIndex || testsOf(filter).some(isTested))) return selectedByColumns(companion, permit, filter);
  return selectRows({ permit, source: entitySource, table: sql`entity`, ...splitKeys(filter) });
}
