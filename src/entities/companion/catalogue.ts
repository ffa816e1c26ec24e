/** What PostgreSQL has of a companion table. A build that was interrupted may have left more, or less, than the type says. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '../../database/tables.ts';

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
  name: string;
  used: number;
  columns: string[];
  indexes: Record<string, boolean>;
  references: Record<string, boolean>;
  statistics: string[];
}

/** The table in the catalogue of PostgreSQL; undefined if there is none. */
export async function presentTable(db: Kysely<Database>, table: string): Promise<PresentTable | undefined> {
  return (await presentTables(db, sql`x.relname = ${table}`)).get(table);
}

/** All companion tables in the catalogue by name, also those that belong to no type, without those that the role of this connection may not change. */
export function listPresentTables(db: Kysely<Database>): Promise<Map<string, PresentTable>> {
  return presentTables(db, sql`x.relkind = 'r' and x.relname ~ '^x[0-9]+$' and pg_has_role(x.relowner, 'usage')`);
}

async function presentTables(db: Kysely<Database>, condition: RawBuilder<unknown>): Promise<Map<string, PresentTable>> {
  const { rows } = await sql<Row>`
    select x.relname::text as name, x.relnatts as used,
      array(select attname::text from pg_attribute where attrelid = x.oid and attnum > 0 and not attisdropped) as columns,
      (select coalesce(json_object_agg(relname, indisvalid and indisready), '{}') from pg_index join pg_class on pg_class.oid = indexrelid
        where indrelid = x.oid and not indisprimary) as indexes,
      (select coalesce(json_object_agg(conname, convalidated), '{}') from pg_constraint
        where conrelid = x.oid and contype = 'f') as "references",
      array(select stxname::text from pg_statistic_ext where stxrelid = x.oid) as statistics
    from pg_class as x where ${condition} and x.relnamespace = ${companionSchema}::regnamespace`.execute(db);
  const tables = rows.map(({ name, used, columns, indexes, references, statistics }): [string, PresentTable] => [
    name,
    {
      columns: new Set(columns),
      used,
      indexes: new Map(Object.entries(indexes)),
      references: new Map(Object.entries(references)),
      statistics: new Set(statistics),
    },
  ]);
  return new Map(tables);
}

/** Whether a foreign key of another companion table leads to the table. */
export async function isReferredTo(db: Kysely<Database>, table: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_constraint join pg_class as x on x.oid = confrelid join pg_class as other on other.oid = conrelid
    where contype = 'f' and x.relname = ${table} and x.relnamespace = ${companionSchema}::regnamespace
      and other.relnamespace = x.relnamespace and other.oid <> x.oid limit 1`.execute(db);
  return rows.length > 0;
}

/** The names of all companion tables, also of those that belong to no type. */
export async function listTables(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = ${companionSchema}::regnamespace and relkind = 'r' and relname ~ '^x[0-9]+$' order by oid`.execute(db);
  return rows.map(({ name }) => name);
}
