/**
 * The order of a list as SQL. Entities without a value come last, descending first, and the key decides between equal ones. So the order is
 * total, and a page begins after the values of a row, whatever has become of the row since.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Field } from './fields.ts';
import { decidingTerms, type SortTerm } from './sort.ts';
import { sqlTypes, type Source } from './source.ts';
import type { Filter } from './syntax.ts';

/** An expression that rows are ordered by. */
export interface OrderColumn {
  expression: RawBuilder<unknown>;
  sqlType: string;
  /** The language whose order a text has; undefined for that of code points. */
  collation?: string | undefined;
  /** Whether a text is ordered by its first characters only. */
  isCut: boolean;
  descending: boolean;
}

/** A place in the list, between two rows: the values of the order columns of a row, as text, and its key. */
export interface RowPosition {
  values: readonly (string | null)[];
  key: string;
}

export interface Order {
  /** All columns before the key. */
  columns: readonly OrderColumn[];
  keyDescending: boolean;
}

/** Texts without an index are ordered by their first characters only, so that a position stays short. */
const orderedLength = 128;

/**
 * The order of the entities that the filter finds; without a sort that of the keys. `isIndexed` tells the fields with an index, whose texts have a
 * limit of their own.
 */
export function orderOf(
  sort: readonly SortTerm[],
  filter: Filter,
  source: Source,
  isIndexed: (term: SortTerm) => boolean = () => false,
): Order {
  return {
    columns: decidingTerms(sort, filter).flatMap((term) => columnsOf(term, source, isIndexed(term))),
    keyDescending: sort.at(-1)?.descending ?? false,
  };
}

/** The same rows from the last to the first. */
export function reverseOrder({ columns, keyDescending }: Order): Order {
  return { columns: columns.map((column) => ({ ...column, descending: !column.descending })), keyDescending: !keyDescending };
}

function columnsOf({ field, type, descending, collation }: SortTerm, source: Source, isIndexed: boolean): OrderColumn[] {
  if (type === 'any') return columnsOfAny(field, source, descending);
  const expression = source.typed(field, type, collation);
  const sqlType = sqlTypes[type];
  const isCut = sqlType === 'text' && !isIndexed;
  return [{ expression: isCut ? sql`left(${expression}, ${sql.lit(orderedLength)})` : expression, sqlType, collation, isCut, descending }];
}

/** Without a declared type numbers come before texts, and texts before booleans. */
function columnsOfAny(field: Field, source: Source, descending: boolean): OrderColumn[] {
  const kind = sql`jsonb_typeof(${source.json(field)})`;
  const text = sql`left(${source.typed(field, 'string')}, ${sql.lit(orderedLength)})`;
  const number = sql`coalesce(${source.typed(field, 'number')}, ${source.typed(field, 'boolean')}::int)`;
  const rank = sql`(case ${kind} when 'number' then 1 when 'string' then 2 when 'boolean' then 3 end)`;
  return [
    { expression: rank, sqlType: 'integer', isCut: false, descending },
    { expression: number, sqlType: 'numeric', isCut: false, descending },
    { expression: text, sqlType: 'text', isCut: true, descending },
  ];
}

/** SQL: whether the row is after `position` in this order. `table` is what the statement calls the table with the key. */
export function isAfter({ columns, keyDescending }: Order, { values, key }: RowPosition, table = 'entity'): RawBuilder<boolean> {
  const sameBefore: RawBuilder<unknown>[] = [];
  const ways: RawBuilder<unknown>[] = [];
  columns.forEach(({ expression, sqlType, descending }, index) => {
    const value = values[index] ?? null;
    const parameter = sql`${value}::${sql.raw(sqlType)}`;
    const beyond = descending
      ? value === null
        ? sql`${expression} is not null`
        : sql`${expression} < ${parameter}`
      : value === null
        ? sql`false`
        : sql`(${expression} > ${parameter} or ${expression} is null)`;
    ways.push(sql`(${sql.join([...sameBefore, beyond], sql` and `)})`);
    sameBefore.push(sql`${expression} is not distinct from ${parameter}`);
  });
  ways.push(sql`(${sql.join([...sameBefore, keyIsAfter(keyDescending, key, table)], sql` and `)})`);
  return sql<boolean>`(${sql.join(ways, sql` or `)})`;
}

/** SQL: whether the key is after this one. */
export function keyIsAfter(descending: boolean, key: string, table = 'entity'): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(`${table}.key`)} ${descending ? sql`<` : sql`>`} ${key}::bigint`;
}
