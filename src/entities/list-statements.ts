/**
 * The statements of lists. Their shape depends on the query, so they have no name and PostgreSQL plans each with its values. Every statement that
 * returns rows has the condition of the permit, `rowsCovered`, beside the filter of the caller (rule 64).
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import { builder } from '../database/driver/prepared.ts';
import { filterCondition } from '../filter/compile.ts';
import { isAfter, keyIsAfter, type Order, type RowPosition } from '../filter/order.ts';
import { entitySource } from '../filter/source.ts';
import type { Filter } from '../filter/syntax.ts';
import { rowsCovered, type PermitValues } from '../rights/row-predicate.ts';
import type { Include } from './include.ts';
import { referencesOf } from './include-statements.ts';
import { rowColumnList, type EntityRow } from './row.ts';
import { projectedFields, type Projection } from './projection.ts';

/** A row of a page; null in place of fields and references that the page has no room for. `references` is undefined without includes. */
export type ListRow = Omit<EntityRow, 'fields'> & {
  fields: string | null;
  position: (string | null)[];
  references?: (string | null)[] | null;
};

/** The rows that a list is about. */
export interface Selection {
  permit: PermitValues;
  /** The tests of the key, which the primary key serves. */
  keys: Filter;
  /** All other tests. */
  rest: Filter;
}

export interface PageQuery extends Selection {
  order: Order;
  /** The row after which the page begins. */
  after: RowPosition | undefined;
  limit: number;
  /** The most rows in the order of their keys that PostgreSQL may look at; undefined if all may be looked at. */
  budget: number | undefined;
  /** The most bytes of fields as JSON text. The first row comes in any case. */
  bytes: number;
  projection: Projection | undefined;
  /** The references whose keys each row has. */
  includes: readonly Include[];
}

const covered = (permit: PermitValues) => rowsCovered((name) => sql`${permit[name]}`);
const directionOf = (descending: boolean) => (descending ? sql`desc` : sql`asc`);
const orderBy = (columns: readonly RawBuilder<unknown>[]) => sql.join(columns);

/** One row more than the page, which shows whether there are more, and only in its place. */
export function pageQuery(query: PageQuery): CompiledQuery<ListRow> {
  const { permit, keys, rest, order, after, limit, budget, bytes, projection, includes } = query;
  const aliases = order.columns.map(({ descending }, index) => sql`${sql.ref(`s${index}`)} ${directionOf(descending)}`);
  const inOrder = orderBy([...aliases, sql`key ${directionOf(order.keyDescending)}`]);
  const values = order.columns.map(({ expression }, index) => sql`, ${expression} as ${sql.ref(`s${index}`)}`);
  const texts = order.columns.map((_, index) => sql`${sql.ref(`s${index}`)}::text`);
  const conditions = [
    covered(permit),
    ...(budget === undefined ? [filterCondition(keys, entitySource)] : []),
    filterCondition(rest, entitySource),
  ];
  const named = { ...order, columns: order.columns.map((column, index) => ({ ...column, expression: sql.ref(`s${index}`) })) };
  // Behind `offset 0` PostgreSQL evaluates each value once for a row, however often the condition names it.
  const fence = order.columns.length > 0 ? sql`offset 0` : sql``;
  const fits = sql`row_number() over page = 1 or (sum(bytes) over page <= ${bytes} and row_number() over page <= ${limit})`;
  const references = includes.length > 0 ? sql`, case when ${fits} then ${referencesOf(includes)} end as references` : sql``;
  return sql<ListRow>`
    select ${rowColumnList}, array[${sql.join(texts)}]::text[] as position,
      case when ${fits} then ${projectedFields(projection)} end as fields ${references}
    from (
      select * from (
        select entity.*${sql.join(values, sql``)}
        from ${budget === undefined ? sql`entity` : sql`(${nextByKey(query, sql`entity.*`)} limit ${budget}) as entity`}
        where ${sql.join(conditions, sql` and `)} ${fence}
      ) as entity
      where ${after && budget === undefined ? isAfter(named, after) : sql`true`}
      order by ${inOrder}
      limit ${limit + 1}
    ) as entity
    window page as (order by ${inOrder} rows unbounded preceding)
    order by ${inOrder}`.compile(builder);
}

/** The rows of the name in the order of their keys. They are not restricted to the permit; the query around them has to do that. */
function nextByKey({ permit, keys, order: { keyDescending }, after }: PageQuery, columns: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select ${columns} from entity
    where entity.name = ${permit.name} and ${filterCondition(keys, entitySource)}
      ${after ? sql`and ${keyIsAfter(keyDescending, after.key)}` : sql``}
    order by entity.key ${directionOf(keyDescending)}`;
}

/** The last key that the budget of the page lets PostgreSQL look at; no row if the list ends before. */
export function budgetEndQuery(query: PageQuery, budget: number): CompiledQuery<{ key: string }> {
  return sql<{ key: string }>`${nextByKey(query, sql`entity.key`)} offset ${budget - 1} limit 1`.compile(builder);
}

/** How many rows of the name the tests of the key leave, `limit` at most. The permit does not matter, since it has no index. */
export function candidatesQuery({ permit, keys }: Selection, limit: number): CompiledQuery<{ count: number }> {
  return sql<{ count: number }>`
    select count(*)::int as count from (
      select from entity where entity.name = ${permit.name} and ${filterCondition(keys, entitySource)} limit ${limit}
    ) as candidates`.compile(builder);
}

/** How many rows the list has; `limit` at most, if there is one. */
export function countQuery(selection: Selection, limit: number | undefined): CompiledQuery<{ count: string }> {
  return sql<{ count: string }>`
    select count(*) as count from (${selected(selection)} ${limit === undefined ? sql`` : sql`limit ${limit}`}) as counted`.compile(
    builder,
  );
}

/** How many rows the planner expects. */
export function estimateQuery(selection: Selection): CompiledQuery<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }> {
  return sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`explain (format json) ${selected(selection)}`.compile(builder);
}

const selected = ({ permit, keys, rest }: Selection) => sql`
  select from entity
  where ${sql.join([covered(permit), filterCondition(keys, entitySource), filterCondition(rest, entitySource)], sql` and `)}`;
