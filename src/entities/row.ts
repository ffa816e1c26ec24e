/** The row of an entity as every statement gives it back. */
import { sql } from 'kysely';

export interface EntityRow {
  name: string;
  key: string;
  version: string;
  /** As PostgreSQL writes it, see `instantOf` of database/timestamp.ts. */
  createdAt: string;
  createdBy: string;
  updatedAt: string;
  updatedBy: string;
  /** JSON text, digit for digit. */
  fields: string;
}

/** All but the fields, for a query that Kysely builds. */
export const rowColumns = [
  'name',
  'key',
  'version',
  sql<string>`created_at::text`.as('createdAt'),
  'created_by as createdBy',
  sql<string>`updated_at::text`.as('updatedAt'),
  'updated_by as updatedBy',
] as const;

export const entityRowColumns = [...rowColumns, sql<string>`fields::text`.as('fields')] as const;

/** The same for one in words: all but the fields, and all. */
export const rowColumnList = sql`name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy"`;
export const columnList = sql`${rowColumnList}, fields::text as fields`;

/** The row of an entity in the trash, with the facts of its deletion. */
export interface TrashedRow extends EntityRow {
  deletedAt: Date;
  deletedBy: string;
  expiresAt: Date;
}
