/** What must be true of the database before the service opens: it runs, is migrated, and a user can sign in. */
import { rm } from 'node:fs/promises';
import { ConfigError, type Config } from '../config/settings.ts';
import { databaseName } from '../config/database-address.ts';
import { openStore } from '../database/port.ts';
import { migrateDatabase } from '../database/migrate.ts';
import { encodingAdvice } from '../database/encoding.ts';
import { pendingMigrations } from '../database/migration-state.ts';
import { storesPreparedStatements, preparedStatementsAdvice } from '../database/prepared-statements.ts';
import { VerifiedClient } from '../database/driver/verified-client.ts';
import { describeFault } from '../locales/describe.ts';
import { Admission } from '../admission/admission.ts';
import { hashPassword } from '../credentials/hash.ts';
import { readPeppers, type Peppers } from '../credentials/pepper.ts';
import { createPasswordPolicy } from '../credentials/policy.ts';
import { createFirstAdministrator, generatePassword, hasUsers } from '../administration/first-administrator.ts';
import { foreignTablesAdvice, listForeignTables } from '../entities/companion/table.ts';
import { passwordDirectoryFor, writePassword, type MadeAdministrator } from './first-password.ts';

const oldestVersion = 15;

export interface PreparedDatabase extends AsyncDisposable {
  /** Holds the password: never for a log. */
  url: string;
  /** The same database without a pooler that pools by transaction. */
  directUrl: string;
  /** The embedded database for the role that may receive its log; undefined with any other. Holds the password too. */
  archiveUrl: string | undefined;
  /** For a person: which database this is, without secrets. */
  database: string;
  /** Only when one was made just now with a generated password. */
  administrator: MadeAdministrator | undefined;
  /** Fulfilled with the reason when this process cannot have its embedded database any more; pending for ever with any other. */
  lost: Promise<Error>;
  /** Leaves the embedded database; does nothing for any other. Close the pools first. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Called with the reason when an embedded server that has ended does not start again. */
  onError?: (error: Error) => void;
  /** Called with one line for the operator each time that a migration begins to wait. */
  onWait?: (line: string) => void;
  /** Ends the opening when it fires. A server that was started for it stops, and the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
}

/** The database of `config`: `DATABASE_URL`, or the embedded one in `DATA_DIR`. Throws one line for a person. */
export async function openDatabase(config: Config, options: OpenOptions = {}): Promise<Omit<PreparedDatabase, 'administrator'>> {
  const { databaseUrl, databaseDirectUrl = databaseUrl } = config;
  if (databaseUrl !== undefined && databaseDirectUrl !== undefined) {
    return {
      url: databaseUrl.reveal(),
      directUrl: databaseDirectUrl.reveal(),
      archiveUrl: undefined,
      database: `PostgreSQL at ${databaseUrl.toString()}`,
      lost: Promise.withResolvers<Error>().promise,
      close: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    };
  }
  const { openEmbedded } = await import('../embedded/embedded.ts');
  const embedded = await openEmbedded(config.dataDir, options);
  return {
    url: embedded.url,
    directUrl: embedded.url,
    archiveUrl: embedded.archiveUrl,
    database: `embedded PostgreSQL in ${config.dataDir} (${embedded.origin})`,
    lost: embedded.lost,
    close: () => embedded.stop(),
    [Symbol.asyncDispose]: () => embedded.stop(),
  };
}

/**
 * Opens the database, applies what migrations it lacks, and makes the first administrator while no user exists. Throws before anything is
 * started when ADMIN_PASSWORD could not be used.
 */
export async function prepareDatabase(config: Config, options: OpenOptions = {}): Promise<PreparedDatabase> {
  const { signal } = options;
  await assertAdminPasswordAllowed(config);
  const peppers = await readPeppers(config.passwordPepperFile);
  const password = config.adminPassword?.reveal() ?? generatePassword(config.passwordMinLength);
  const opened = await openDatabase(config, options);
  // The stop of an embedded server ends the statement that runs, also a long migration.
  const close = () => void opened.close().catch(() => undefined);
  signal?.addEventListener('abort', close, { once: true });
  try {
    signal?.throwIfAborted();
    await assertServerSuits(opened);
    if (!(await storesPreparedStatements(opened.url)))
      throw new ConfigError([`${opened.database} (DATABASE_URL) ${preparedStatementsAdvice}`]);
    await ensureSchema(opened, options);
    await assertCompanionOwner(opened);
    signal?.removeEventListener('abort', close);
    signal?.throwIfAborted();
    // From here on a stop waits: the password of an administrator that was created must be printed.
    const administrator = await ensureAdministrator(config, password, peppers, opened.url);
    return { ...opened, administrator: config.adminPassword ? undefined : administrator };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function assertAdminPasswordAllowed(config: Config): Promise<void> {
  const policy = await createPasswordPolicy(config);
  if (config.adminPassword === undefined) return;
  const faults = await policy.check(config.adminPassword.reveal(), {
    pointer: '',
    userName: config.adminUser,
    displayName: 'Administrator',
  });
  if (faults.length === 0) return;
  const reasons = faults.map((fault) => describeFault('en', fault).detail).join(' ');
  throw new ConfigError([`ADMIN_PASSWORD is refused, choose another one or leave it out: ${reasons}`]);
}

async function assertServerSuits({ url, database }: { url: string; database: string }): Promise<void> {
  await using client = new VerifiedClient({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ version: number; encoding: string }>(
    `select current_setting('server_version_num')::int / 10000 as version, current_setting('server_encoding') as encoding`,
  );
  const { version = 0, encoding = 'unknown' } = rows[0] ?? {};
  if (version < oldestVersion) throw new ConfigError([`${database} has version ${version}, and ${oldestVersion} or later is needed`]);
  const advice = encodingAdvice(encoding);
  if (advice !== undefined) throw new ConfigError([`${database} ${advice}`]);
  await assertTablesInPath(client, database);
}

/** With another search_path than that of the tables, migrations would make them again in another schema. */
async function assertTablesInPath(client: VerifiedClient, database: string): Promise<void> {
  const { rows } = await client.query<{ elsewhere: string | null; path: string }>(
    `select min(quote_ident(nspname)) as elsewhere, current_setting('search_path') as path
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where relname = 'kysely_migration' and to_regclass('kysely_migration') is null`,
  );
  const { elsewhere = null, path } = rows[0] ?? {};
  if (elsewhere !== null)
    throw new ConfigError([
      `${database} has its tables in the schema ${elsewhere}, which search_path (${path}) leaves out: set it for the role`,
    ]);
}

/** After a restore the tables of entity types may belong to the owner alone. Every write of these types would then fail. */
async function assertCompanionOwner({ url, database }: Pick<PreparedDatabase, 'url' | 'database'>): Promise<void> {
  await using store = openStore(url, 1, () => undefined);
  const tables = await listForeignTables(store.db);
  if (tables.length > 0) throw new ConfigError([`${database}: ${foreignTablesAdvice(tables)}`]);
}

/** Applies migrations only when there are some, so that a role which may not make tables can start on a database that has them all. */
async function ensureSchema({ url, directUrl }: Pick<PreparedDatabase, 'url' | 'directUrl'>, { onWait }: OpenOptions): Promise<void> {
  if ((await readPendingMigrations(url)).length > 0) await migrateDatabase(directUrl, { onWait });
}

async function readPendingMigrations(url: string): Promise<string[]> {
  await using store = openStore(url, 1, () => undefined);
  return await pendingMigrations(store.db);
}

/** The administrator that it has made; undefined if the database has users. */
async function ensureAdministrator(
  config: Config,
  password: string,
  peppers: Peppers,
  url: string,
): Promise<MadeAdministrator | undefined> {
  await using store = openStore(url, 1, () => undefined);
  if (await hasUsers(store.db)) return undefined;
  const { adminUser: name } = config;
  const directory = config.adminPassword ? undefined : passwordDirectoryFor(config);
  let file: string | undefined;
  const hash = await hashPassword({ admission: new Admission(), peppers }, password);
  const writeFile = async () => {
    if (directory !== undefined) file = await writePassword(directory, password, config.databaseUrl ? databaseName(url) : 'embedded');
  };
  const isMade = await createFirstAdministrator(store, name, hash, writeFile).catch(async (error: unknown) => {
    // Its password opens nothing, unless the connection was lost during the commit.
    if (file !== undefined && !(await hasUsers(store.db).catch(() => true))) await rm(file, { force: true });
    throw error;
  });
  return isMade ? { name, password, file } : undefined;
}
