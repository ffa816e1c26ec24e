/** The extension of PostgreSQL whose indexes find parts of texts. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../../database/tables.ts';

/** What an operator runs, in the database of the service, where the service may not. */
export const createTrigrams = 'create extension pg_trgm';

/** One process at a time, since PostgreSQL refuses the second of two creations at once. */
const createOnce = `do $$ begin
  perform pg_advisory_xact_lock(hashtextextended('pg_trgm', 0));
  create extension if not exists pg_trgm;
end $$`;

/** Whether the database has the extension, or the role may create it. */
export async function mayHaveTrigrams(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ isPossible: boolean }>`
    select exists (select from pg_extension where extname = 'pg_trgm') or exists (
      select from pg_available_extension_versions where name = 'pg_trgm' and (
        (select rolsuper from pg_roles where rolname = current_user)
        or (trusted and has_database_privilege(current_database(), 'create'))
      )
    ) as "isPossible"`.execute(db);
  return rows[0]?.isPossible === true;
}

/** Creates the extension unless the database has it, and returns the schema that it is in. */
export async function ensureTrigrams(db: Kysely<Database>): Promise<string> {
  const present = await schemaOfTrigrams(db);
  if (present !== undefined) return present;
  await sql.raw(createOnce).execute(db);
  return (await schemaOfTrigrams(db)) ?? 'public';
}

async function schemaOfTrigrams(db: Kysely<Database>): Promise<string | undefined> {
  const { rows } = await sql<{ schema: string }>`
    select nspname as schema from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm'`.execute(db);
  return rows[0]?.schema;
}
