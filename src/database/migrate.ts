/**
 * Brings a database to the schema of `migrations/*.sql`: each file once, in the order of their names, in one transaction under Kysely's
 * advisory lock, so that any number of replicas may start together.
 */
import { readdir, readFile } from 'node:fs/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator, type Migration, type MigrationProvider } from 'kysely/migration';
import { Pool } from 'pg';

const directory = new URL('migrations/', import.meta.url);

/** The numbered files as Kysely migrations. There is no way down: a released schema is changed by a further file. */
const provider: MigrationProvider = {
  async getMigrations() {
    const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
    const entries = files.map(async (file): Promise<[string, Migration]> => {
      const text = await readFile(new URL(file, directory), 'utf8');
      return [file.slice(0, -'.sql'.length), { up: async (db) => void (await sql.raw(text).execute(db)) }];
    });
    return Object.fromEntries(await Promise.all(entries));
  },
};

/** Where Kysely notes what it has applied. */
interface MigrationTable {
  [DEFAULT_MIGRATION_TABLE]: { name: string };
}

async function withMigrator<T>(databaseUrl: string, work: (migrator: Migrator, db: Kysely<MigrationTable>) => Promise<T>): Promise<T> {
  // One connection of its own, without the pool's timeouts: waiting for another replica's migration may take long.
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 1,
    application_name: 'entity-service migrate',
    connectionTimeoutMillis: 10_000,
  });
  pool.on('error', () => undefined);
  const db = new Kysely<MigrationTable>({ dialect: new PostgresDialect({ pool }) });
  try {
    return await work(new Migrator({ db, provider }), db);
  } finally {
    await db.destroy();
  }
}

/** Applies what is missing and returns the names of what it applied. Throws, with nothing of the failed file left behind. */
export function migrate(databaseUrl: string): Promise<string[]> {
  return withMigrator(databaseUrl, async (migrator) => {
    const { error, results } = await migrator.migrateToLatest();
    if (error) throw error;
    return (results ?? []).map((result) => result.migrationName);
  });
}

export interface MigrationState {
  /** What the database lacks, in order. */
  pending: string[];
  /** What it has that this version does not know: a later version has migrated it. */
  unknown: string[];
}

/** Compares the database with `migrations/`; changes nothing. */
export function migrationState(databaseUrl: string): Promise<MigrationState> {
  return withMigrator(databaseUrl, async (migrator, db) => {
    const known = await migrator.getMigrations();
    const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
    const applied = tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)
      ? await db.selectFrom(DEFAULT_MIGRATION_TABLE).select('name').orderBy('name').execute()
      : [];
    return {
      pending: known.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name),
      unknown: applied.map(({ name }) => name).filter((name) => !known.some((migration) => migration.name === name)),
    };
  });
}
