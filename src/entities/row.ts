/** The row of an entity as every statement gives it back. */
import { sql } from 'kysely';
import type { CoverageSource } from '../rights/coverage.ts';
import { shownFields, type FieldView } from '../rights/field-view.ts';

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

/** The same with the fields of the view, for a row at the source. */
export const entityRowColumns = (view: FieldView, source: CoverageSource) =>
  [...rowColumns, sql<string>`${shownFields(view, source)}::text`.as('fields')] as const;

/** The same for one in words: all but the fields, and with all of them. */
export const rowColumnList = sql`name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy"`;
export const columnList = sql`${rowColumnList}, fields::text as fields`;

/** The row of an entity in the trash, with the facts of its deletion. */
export interface TrashedRow extends EntityRow {
  deletedAt: Date;
  deletedBy: string;
  expiresAt: Date;
}
