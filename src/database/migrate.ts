/**
 * Brings a database to the schema of `migrations/*.sql`: each file once, in the order of their names, in one transaction under Kysely's
 * advisory lock, so that any number of replicas may start together.
 */
import { readdir, readFile } from 'node:fs/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator, type Migration, type MigrationProvider } from 'kysely/migration';
import { Pool } from 'pg';

import { DirectAddressError } from './failure.ts';
import type { Database } from './tables.ts';
import { VerifiedClient } from './driver/verified-client.ts';

const directory = new URL('migrations/', import.meta.url);

/** The migrations of this version, in the order in which they are applied. */
export async function knownMigrations(): Promise<string[]> {
  const files = await readdir(directory);
  return files
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();
}

/** The numbered files as Kysely migrations. There is no way down: a released schema is changed by a further file. */
const provider: MigrationProvider = {
  async getMigrations() {
    const entries = (await knownMigrations()).map(async (name): Promise<[string, Migration]> => {
      const text = await readFile(new URL(`${name}.sql`, directory), 'utf8');
      return [name, { up: async (db) => void (await sql.raw(text).execute(db)) }];
    });
    return Object.fromEntries(await Promise.all(entries));
  },
};

async function withMigrator<T>(databaseUrl: string, work: (migrator: Migrator, db: Kysely<Database>) => Promise<T>): Promise<T> {
  // One connection of its own, without the pool's timeouts: waiting for another replica's migration may take long.
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 1,
    application_name: 'entity-service migrate',
    connectionTimeoutMillis: 10_000,
    // The pool makes its clients with its own options, which its types leave out.
    Client: VerifiedClient as unknown as new () => VerifiedClient,
  });
  pool.on('error', () => undefined);
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  try {
    return await work(new Migrator({ db, provider }), db);
  } finally {
    await db.destroy();
  }
}

/**
 * Autovacuum does not count a change of the schema as a change of the table. An empty table is left out: the planner takes one that was never
 * analysed for ten pages and plans for an index, but one that is known to be empty for a table to read as a whole.
 */
const analyzeTables = sql`
  do $$ declare filled regclass; begin
    for filled in
      select oid from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and pg_relation_size(oid) > 0
    loop
      execute format('analyze %s', filled);
    end loop;
  end $$`;

/**
 * Applies what is missing, as far as the migration `upTo` if that is given, analyses all filled tables if anything was, and returns the names
 * of what it applied. `directUrl` must not pool by transaction. Throws {@link DirectAddressError}: nothing is changed if {@link pendingMigrations} refuses the database, and nothing of a failed
 * file is left.
 */
export async function migrate(directUrl: string, upTo?: string): Promise<string[]> {
  try {
    return await withMigrator(directUrl, async (migrator, db) => {
      const pending = await pendingMigrations(db);
      // Kysely would take a later schema back.
      if (upTo !== undefined && !pending.includes(upTo)) return [];
      const { error, results = [] } = upTo === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(upTo);
      if (error) throw error;
      if (results.length > 0) await analyzeTables.execute(db);
      return results.map((result) => result.migrationName);
    });
  } catch (error) {
    throw new DirectAddressError(error);
  }
}

export interface MigrationState {
  /** What the database lacks, in order. */
  pending: string[];
  /** What it has that this version does not know. */
  unknown: string[];
}

/** Compares the database with `migrations/`; changes nothing. */
export async function migrationState(db: Kysely<Database>): Promise<MigrationState> {
  const known = await knownMigrations();
  const applied = await appliedMigrations(db);
  return {
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

/**
 * What the database lacks, in order. Throws an error for the operator when the database has a migration that this version does not know: a later
 * version has migrated it, or an unreleased one has made it (decision 92).
 */
export async function pendingMigrations(db: Kysely<Database>): Promise<string[]> {
  const { pending, unknown } = await migrationState(db);
  if (unknown.length === 0) return pending;
  // A later version has all migrations of this one.
  if (pending.length === 0) {
    throw new Error(`the database has migrations of a later version (${unknown.join(', ')}): use that version, or a later one`);
  }
  throw new Error(
    `an unreleased version made the database (${unknown.join(', ')}), and no version upgrades it: use an empty database, or keep the data as decision 92 in docs/decisions.md tells`,
  );
}

async function appliedMigrations(db: Kysely<Database>): Promise<string[]> {
  const { rows: found } = await sql<{ name: string | null }>`select to_regclass(${DEFAULT_MIGRATION_TABLE})::text as name`.execute(db);
  if (!found[0]?.name) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name`.execute(db);
  return rows.map(({ name }) => name);
}
