/** What PostgreSQL has of a companion table. A build that was interrupted may have left more, or less, than the type says. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';

/** The schema of the companion tables, and of others that the service makes while it runs. */
export const companionSchema = 'entity_data';

export interface PresentTable {
  columns: ReadonlySet<string>;
  /** The number of columns that the table has or had. */
  used: number;
  /** By name, without the primary key. False: invalid, since its creation was interrupted. */
  indexes: ReadonlyMap<string, boolean>;
  /** The foreign keys by name. False: holds for new rows, and has not been validated for the others. */
  references: ReadonlyMap<string, boolean>;
  /** The names of extended statistics. */
  statistics: ReadonlySet<string>;
}

interface Row {
  used: number;
  columns: string[];
  indexes: Record<string, boolean>;
  references: Record<string, boolean>;
  statistics: string[];
}

/** The table in the catalogue of PostgreSQL; undefined if there is none. */
export async function presentTable(db: Kysely<Database>, table: string): Promise<PresentTable | undefined> {
  const { rows } = await sql<Row>`
    select x.relnatts as used,
      array(select attname::text from pg_attribute where attrelid = x.oid and attnum > 0 and not attisdropped) as columns,
      (select coalesce(json_object_agg(relname, indisvalid and indisready), '{}') from pg_index join pg_class on pg_class.oid = indexrelid
        where indrelid = x.oid and not indisprimary) as indexes,
      (select coalesce(json_object_agg(conname, convalidated), '{}') from pg_constraint
        where conrelid = x.oid and contype = 'f') as "references",
      array(select stxname::text from pg_statistic_ext where stxrelid = x.oid) as statistics
    from pg_class as x where x.relname = ${table} and x.relnamespace = ${companionSchema}::regnamespace`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  return {
    columns: new Set(row.columns),
    used: row.used,
    indexes: new Map(Object.entries(row.indexes)),
    references: new Map(Object.entries(row.references)),
    statistics: new Set(row.statistics),
  };
}

/** The names of all companion tables, also of those that belong to no type. */
export async function listTables(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = ${companionSchema}::regnamespace and relkind = 'r' and relname ~ '^x[0-9]+$' order by oid`.execute(db);
  return rows.map(({ name }) => name);
}
