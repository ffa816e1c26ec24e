/** The SQL types of companion columns, and how the value of a row reaches its column. */
import { sql, type RawBuilder } from 'kysely';
import { collationName, sqlTypes } from '../../filter/source.ts';
import type { CompanionColumn } from './layout.ts';

/** SQL: the type of the column, for `create table`. */
export function columnType({ type, collation }: Pick<CompanionColumn, 'type' | 'collation'>): RawBuilder<unknown> {
  return sqlTypes[type] === 'text' ? sql`text collate ${collationName(collation)}` : sql.raw(sqlTypes[type]);
}

/** SQL: the type of the value as {@link CompanionValues} has it, for `jsonb_to_recordset`. */
export function inputType({ type }: Pick<CompanionColumn, 'type'>): RawBuilder<unknown> {
  return sql.raw(type === 'date-time' ? 'text' : sqlTypes[type]);
}

/** SQL: what the column stores for `value`, which is of the {@link inputType}. */
export function storedValue({ type }: Pick<CompanionColumn, 'type'>, value: RawBuilder<unknown>): RawBuilder<unknown> {
  return type === 'date-time' ? sql`entity_instant(${value})` : value;
}
