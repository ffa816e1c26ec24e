/** The row of an entity as every statement gives it back. */
import { sql } from 'kysely';

export interface EntityRow {
  name: string;
  key: string;
  version: string;
  createdAt: Date;
  createdBy: string;
  updatedAt: Date;
  updatedBy: string;
  /** JSON text, digit for digit. */
  fields: string;
}

/** All but the fields, for a query that Kysely builds. */
export const rowColumns = [
  'name',
  'key',
  'version',
  'created_at as createdAt',
  'created_by as createdBy',
  'updated_at as updatedAt',
  'updated_by as updatedBy',
] as const;

export const columns = [...rowColumns, sql<string>`fields::text`.as('fields')] as const;

/** The same for one in words: all but the fields, and all. */
export const rowColumnList = sql.join(rowColumns.map(aliased));
export const columnList = sql`${rowColumnList}, fields::text as fields`;

function aliased(column: string) {
  const [name = '', alias = name] = column.split(' as ');
  return sql`${sql.ref(name)} as ${sql.ref(alias)}`;
}
