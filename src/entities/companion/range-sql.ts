/** SQL that reads ranges of the indexes of a companion table: in the order of an index, and candidates in no order. */
import { sql, type RawBuilder } from 'kysely';
import type { Companion, CompanionColumn } from './layout.ts';
import { limitOf } from '../../database/limit.ts';
import { matchesRow } from './search.ts';
import { inSchema } from './table.ts';
import { columnRef, keyColumn, pinnedValue, pinnedList } from './fields.ts';
import type { BoundValue, Limit } from './bounds.ts';
import type { RowPosition } from '../../filter/order.ts';
import type { IndexColumn, IndexRange, OrderedRange } from './index-ranges.ts';

type RangeCondition = RawBuilder<unknown>;

/**
 * The next rows of the range after a position, `limit` at most, in its order, with the key and the `columns`. The rows after a position are
 * several ranges of the index, one after the other. PostgreSQL reads the next one when it needs more rows. A comparison of rows would be
 * one range only for columns of one direction without nulls. A condition with `or` would be none.
 */
export function rowsInOrder(
  companion: Companion,
  range: OrderedRange,
  after: RowPosition | undefined,
  limit: number,
  columns: readonly CompanionColumn[],
): RawBuilder<unknown> {
  const limits = range.limits.map(limitCondition);
  const selected = sql.join([keyColumn, ...columns].map(columnRef));
  const key: IndexColumn = { ...keyColumn, descending: range.keyDescending };
  const order = [...range.columns, key];
  const rangeWith = (prefix: readonly RangeCondition[], conditions: readonly RangeCondition[]) => sql`(
    select ${selected} from ${inSchema(companion.table)} as x
    where ${allOf([...prefix, ...limits, ...conditions])}
    order by ${inOrder([...range.prefix.map(({ column }) => column), ...order])}
    limit ${limitOf(limit)})`;
  const rangesAfter = conditionsAfter(order, after);
  const scans = combinations(range.prefix).map((prefix) => {
    const each = rangesAfter.map((conditions) => rangeWith(prefix, conditions));
    return sql`(select * from (${sql.join(each, sql` union all `)}) as x limit ${limitOf(limit)})`;
  });
  const [only, ...others] = scans;
  if (only && others.length === 0) return only;
  return sql`(select * from (${sql.join(scans, sql` union all `)}) as x order by ${inOrder(order)} limit ${limitOf(limit)})`;
}

/** The ranges of an order after a position, as conditions, in this order. No value comes last ascending and first descending. */
function conditionsAfter(order: readonly IndexColumn[], after: RowPosition | undefined): RangeCondition[][] {
  if (!after) return [[]];
  const valueAt = (index: number) => (index === order.length - 1 ? after.key : (after.values[index] ?? null));
  return order
    .flatMap((column, index) => {
      const same = order.slice(0, index).map((before, at) => isValue(before, valueAt(at)));
      return conditionsBeyond(column, valueAt(index))
        .toReversed()
        .map((beyond) => same.concat(beyond));
    })
    .toReversed();
}

function conditionsBeyond(column: IndexColumn, value: string | null): RangeCondition[] {
  const reference = columnRef(column);
  if (value === null) return column.descending ? [sql`${reference} is not null`] : [];
  const beyond = sql`${reference} ${column.descending ? sql`<` : sql`>`} ${pinnedValue(column, value)}`;
  return column.descending || column.name === keyColumn.name ? [beyond] : [beyond, sql`${reference} is null`];
}

/** The rows of all ranges, each once, with the key and the `columns`. */
export function candidateRows(
  companion: Companion,
  ranges: readonly IndexRange[],
  columns: readonly CompanionColumn[],
): RawBuilder<unknown> {
  const selected = sql.join([keyColumn, ...columns].map(columnRef));
  return sql`(${sql.join(statementsOf(companion, ranges, selected), sql` union `)})`;
}

/** The number of rows of all ranges, `limit` at most. A row in two ranges counts twice. */
export function candidateCount(companion: Companion, ranges: readonly IndexRange[], limit: number): RawBuilder<unknown> {
  const counted = statementsOf(companion, ranges, sql`1`).map((one) => sql`(${one} limit ${limitOf(limit)})`);
  return sql`(select count(*)::int from (select 1 from (${sql.join(counted, sql` union all `)}) as part limit ${limitOf(limit)}) as counted)`;
}

function statementsOf(companion: Companion, ranges: readonly IndexRange[], selected: RawBuilder<unknown>): RawBuilder<unknown>[] {
  return ranges.flatMap(({ prefix, limits, words, substring }) => {
    const conditions = [
      ...limits.map(limitCondition),
      ...(words === undefined ? [] : [matchesRow(companion, words)]),
      ...(substring === undefined
        ? []
        : [sql`${columnRef(substring.column)} like ${`%${substring.text.replaceAll(/[\\%_]/g, '\\$&')}%`}::text`]),
    ];
    return listCombinations(prefix).map(
      (values) => sql`select ${selected} from ${inSchema(companion.table)} as x where ${allOf([...values, ...conditions])}`,
    );
  });
}

const limitCondition = ({ column, operator, value }: Limit): RangeCondition =>
  sql`${columnRef(column)} ${sql.raw(operator)} ${pinnedValue(column, value)}`;

const isValue = (column: CompanionColumn, value: BoundValue | null): RangeCondition =>
  value === null ? sql`${columnRef(column)} is null` : sql`${columnRef(column)} = ${pinnedValue(column, value)}`;

/** A list of conditions for each combination of values. */
function combinations(prefix: IndexRange['prefix']): RangeCondition[][] {
  return product(prefix.map(({ column, values }) => values.map((value) => isValue(column, value))));
}

/** The same with one condition for all values of a column, but for null. */
function listCombinations(prefix: IndexRange['prefix']): RangeCondition[][] {
  return product(
    prefix.map(({ column, values }) => {
      const given = values.filter((value) => typeof value === 'string');
      const isList = given.length > 1;
      const lists = isList ? [sql`${columnRef(column)} = any(${pinnedList(column, given)})`] : [];
      const single = values.filter((value) => value !== null && !(isList && typeof value === 'string'));
      return [...lists, ...[...single, ...(values.includes(null) ? [null] : [])].map((value) => isValue(column, value))];
    }),
  );
}

const product = (lists: readonly RangeCondition[][]): RangeCondition[][] =>
  lists.reduce<RangeCondition[][]>((done, list) => done.flatMap((before) => list.map((one) => [...before, one])), [[]]);

const allOf = (conditions: readonly RangeCondition[]) => (conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `));

export const inOrder = (order: readonly IndexColumn[]) =>
  sql.join(order.map((column) => sql`${columnRef(column)} ${column.descending ? sql`desc` : sql`asc`}`));
