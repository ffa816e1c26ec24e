/**
 * The statements of lists, whose shape depends on the query. Every statement that returns rows has the condition of the permit,
 * `rowsOfPermit`, beside the filter of the caller (rule 64).
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import { builder } from '../../database/driver/prepared.ts';
import { limitOf } from '../../database/limit.ts';
import { filterCondition } from '../../filter/compile.ts';
import { isAfter, keyIsAfter, type Order, type RowPosition } from '../../filter/order.ts';
import { entitySource, type Source } from '../../filter/source.ts';
import { pinnedValue } from '../companion/fields.ts';
import { conjuncts, type Filter } from '../../filter/syntax.ts';
import { rowsOfPermit, type CoveredRows } from '../../rights/coverage.ts';
import { referencesOf } from './include-statements.ts';
import { rowColumnList, type EntityRow, type TrashedRow } from '../row.ts';
import type { EntityQuery, PageShape } from './bind.ts';
import { projectedFields } from './projection.ts';
import { shownRows, type ListPermit } from '../shown-rows.ts';
import { trashColumnList } from '../trash.ts';

/** A row of a page; null in place of fields and references that the page has no room for. `references` is undefined without includes. */
export type ListRow = Omit<EntityRow, 'fields'> & {
  fields: string | null;
  position: (string | null)[];
  references?: (string | null)[] | null;
} & Partial<Omit<TrashedRow, keyof EntityRow>>;

/** Where the rows of a page come from. */
export interface PageRows {
  /** A table expression with the row `entity`, which has the condition of the permit. */
  from: RawBuilder<unknown>;
  /** What the rows have to fulfil besides. */
  where: RawBuilder<unknown>;
  /** The row after which the page begins; undefined if `from` begins there. */
  after: RowPosition | undefined;
  /** Whether `from` is in the order of the page, so that its first rows suffice. */
  isInOrder: boolean;
}

export interface PageQuery extends PageRows, PageShape {
  order: Order;
}

export const directionOf = (descending: boolean) => (descending ? sql`desc` : sql`asc`);

/** One row more than the page, which shows whether there are more, and only in its place. */
export function pageQuery(query: PageQuery): CompiledQuery<ListRow> {
  const { from, where, order, after, isInOrder, limit, bytes, projection, includes = [], isTrash } = query;
  const aliases = order.columns.map(({ descending }, index) => sql`${sql.ref(`s${index}`)} ${directionOf(descending)}`);
  const inOrder = sql.join([...aliases, sql`key ${directionOf(order.keyDescending)}`]);
  const values = order.columns.map(({ expression }, index) => sql`, ${expression} as ${sql.ref(`s${index}`)}`);
  const texts = order.columns.map((_, index) => sql`${sql.ref(`s${index}`)}::text`);
  const named = { ...order, columns: order.columns.map((column, index) => ({ ...column, expression: sql.ref(`s${index}`) })) };
  // Behind `offset 0` PostgreSQL evaluates each value once for a row, however often the condition names it.
  const fence = isInOrder ? sql`limit ${limitOf(limit + 1)}` : order.columns.length > 0 ? sql`offset 0` : sql``;
  const fits = sql`row_number() over page = 1 or (sum(bytes) over page <= ${bytes} and row_number() over page <= ${limit})`;
  const references = includes.length > 0 ? sql`, case when ${fits} then ${referencesOf(includes)} end as references` : sql``;
  return sql<ListRow>`
    select ${rowColumnList}${isTrash ? sql`, ${trashColumnList}` : sql``}, array[${sql.join(texts)}]::text[] as position,
      case when ${fits} then ${projectedFields(projection)} end as fields ${references}
    from (
      select * from (
        select entity.*${sql.join(values, sql``)}
        from ${from}
        where ${where} ${fence}
      ) as entity
      where ${after ? isAfter(named, after) : sql`true`}
      order by ${inOrder}
      limit ${limitOf(limit + 1)}
    ) as entity
    window page as (order by ${inOrder} rows unbounded preceding)
    order by ${inOrder}`.compile(builder);
}

/** The rows of `entity` or of the trash that a query is about. */
export type EntityRows = Pick<EntityQuery, 'table' | 'keys' | 'tests'> & { permit: CoveredRows; fields: Source };

/** Whether the tests list keys. Then PostgreSQL looks each key up or reads the whole name; which is cheaper depends on their number. */
export const hasKeyList = (keys: Filter): boolean => conjuncts(keys).some(({ kind }) => kind === 'in');

/**
 * SQL: the name in a condition. Pinned, so that PostgreSQL reads the rows in the order of their keys (decision 133), unless there is a
 * list of keys.
 */
const nameOf = (name: string, keys: Filter) => (hasKeyList(keys) ? sql`${name}` : pinnedValue({ type: 'string' }, name));

/** All rows of the query, of which a page takes those after its position. */
export function selectedRows(query: EntityRows, after: RowPosition | undefined): PageRows {
  const { permit, table, keys } = query;
  return { from: table, where: conditionsOf(query, nameOf(permit.entity, keys)), after, isInOrder: false };
}

/** Some rows of a name in the order of their keys. */
export interface KeyScan {
  keyDescending: boolean;
  after: RowPosition | undefined;
  /** The most rows that PostgreSQL may look at. */
  budget: number;
}

/** The rows of the query among those of the scan. */
export function scannedRows({ permit, fields, table, keys, tests }: EntityRows, scan: KeyScan): PageRows {
  return {
    from: sql`(${nextByKey(table, permit.entity, keys, scan, sql`entity.*`)} limit ${limitOf(scan.budget)}) as entity`,
    where: sql`${rowsOfPermit(permit)} and ${filterCondition(tests, fields)}`,
    after: undefined,
    isInOrder: true,
  };
}

/** The last row at which PostgreSQL may look for a page. */
export interface ScanEnd {
  key: string;
  position: (string | null)[];
}

/** The last row of the scan; no row if the list ends before the budget does. */
export function scanEndQuery({ permit, table, keys }: EntityRows, scan: KeyScan): CompiledQuery<ScanEnd> {
  return sql<ScanEnd>`
    ${nextByKey(table, permit.entity, keys, scan, sql`entity.key, '{}'::text[] as position`)} offset ${limitOf(scan.budget - 1)} limit 1`.compile(
    builder,
  );
}

/** The rows of the name in the order of their keys. They are not restricted to the permit; the query around them has to do that. */
function nextByKey(
  table: RawBuilder<unknown>,
  name: string,
  keys: Filter,
  { keyDescending, after }: KeyScan,
  columns: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select ${columns} from ${table}
    where entity.name = ${nameOf(name, keys)} and ${filterCondition(keys, entitySource)}
      ${after ? sql`and ${keyIsAfter(keyDescending, after.key)}` : sql``}
    order by entity.key ${directionOf(keyDescending)}`;
}

/** How many rows of the name the tests of the key leave, `limit` at most. The permit does not matter, since it has no index. */
export function candidatesQuery({ permit, table, keys }: EntityRows, limit: number): CompiledQuery<{ count: number }> {
  return sql<{ count: number }>`
    select count(*)::int as count from (
      select from ${table} where entity.name = ${permit.entity} and ${filterCondition(keys, entitySource)} limit ${limitOf(limit)}
    ) as candidates`.compile(builder);
}

/** All rows of a list, in no order. The planner chooses how to read them. */
export interface SelectedRows {
  from: RawBuilder<unknown>;
  where: RawBuilder<unknown>;
}

/** The rows of the query for a count or an aggregation, which read all of them. */
export function selectRows(query: EntityRows): SelectedRows {
  const { permit, fields, table, keys, tests } = query;
  if (permit.coverage.kind === 'all') return { from: table, where: conditionsOf(query) };
  // Behind the fence PostgreSQL reads the covered rows before it tests a value, so its work does not depend on the values of others (rule 64).
  const rows = sql`(select entity.* from ${table} where ${rowsOfPermit(permit)} and ${filterCondition(keys, fields)} offset 0) as entity`;
  return { from: rows, where: filterCondition(tests, fields) };
}

/**
 * SQL: the rows of `table`, which has the name `x`, of the entities that the permit covers, and that fulfil `where`. They are read before
 * the statement around tests a value, too.
 */
export function coveredBeside(permit: CoveredRows, table: RawBuilder<unknown>, where: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select x.* from entity join ${table} on x.key = entity.key where ${rowsOfPermit(permit)} and ${where} offset 0) as x`;
}

/** The entities of all users with a row in `table`, which has the name `x`, that fulfil `where`. */
export function selectedBeside(permit: ListPermit, table: RawBuilder<unknown>, where: RawBuilder<unknown>): SelectedRows {
  const rows = shownRows(permit);
  return { from: sql`${rows.table} join ${table} on x.key = entity.key`, where: sql`${rowsOfPermit(rows.permit)} and ${where}` };
}

function conditionsOf({ permit, fields, keys, tests }: EntityRows, name?: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql.join([rowsOfPermit(permit, 'entity', name), filterCondition(keys, fields), filterCondition(tests, fields)], sql` and `);
}

/** How many rows there are; `limit` at most, if there is one. */
export function countQuery({ from, where }: SelectedRows, limit: number | undefined): CompiledQuery<{ count: string }> {
  return sql<{ count: string }>`
    select count(*) as count from (select from ${from} where ${where} ${limit === undefined ? sql`` : sql`limit ${limit}`}) as counted`.compile(
    builder,
  );
}

/** How many rows the planner expects. */
export function estimateQuery({ from, where }: SelectedRows): CompiledQuery<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }> {
  return sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`explain (format json) select from ${from} where ${where}`.compile(
    builder,
  );
}
