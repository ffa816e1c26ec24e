/** What must be true of the database before the service opens: it runs, it is migrated, and somebody can sign in. */
import { ConfigError, type Config } from './config.ts';
import { connect } from './database/connect.ts';
import { migrate } from './database/migrate.ts';
import { createPasswordGate } from './password/gate.ts';
import { hashPassword } from './password/hash.ts';
import { createPasswordPolicy } from './password/policy.ts';
import { createFirstAdministrator, generatePassword, hasUsers, type FirstAdministrator } from './users/first-administrator.ts';
import { normaliseUserName } from './users/name.ts';

export interface Prepared {
  /** Holds the password: never for a log. */
  url: string;
  /** For a person: which database this is, without secrets. */
  database: string;
  /** Only when one was made just now with a generated password, which nobody else knows. */
  administrator: FirstAdministrator | undefined;
  /** Leaves the embedded database; does nothing for any other. Close the pools first. */
  close(): Promise<void>;
}

/** The database of `config`: `DATABASE_URL`, or the embedded one in `DATA_DIR`. Throws one line for a person. */
export async function openDatabase(config: Config): Promise<Omit<Prepared, 'administrator'>> {
  if (config.databaseUrl) {
    const { host, pathname } = new URL(config.databaseUrl);
    return { url: config.databaseUrl, database: `PostgreSQL at ${host}${pathname}`, close: async () => undefined };
  }
  const { openEmbedded } = await import('./database/embedded.ts');
  const embedded = await openEmbedded(config.dataDir);
  return {
    url: embedded.url,
    database: `embedded PostgreSQL in ${config.dataDir} (${embedded.origin})`,
    close: () => embedded.stop(),
  };
}

/** Opens the database, applies what migrations it lacks, and makes the first administrator while no user exists. */
export async function prepareDatabase(config: Config): Promise<Prepared> {
  const opened = await openDatabase(config);
  try {
    await migrate(opened.url);
    return { ...opened, administrator: await ensureAdministrator(config, opened.url) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function ensureAdministrator(config: Config, url: string): Promise<FirstAdministrator | undefined> {
  const { db, close } = connect(url, 1, () => undefined);
  try {
    if (await hasUsers(db)) return undefined;
    const name = normaliseUserName(config.adminUser);
    if (name === undefined) throw new ConfigError([`ADMIN_USER must be 1 to 128 characters without control characters`]);
    const password = config.adminPassword ?? generatePassword();
    await refuseUnfit(config, name, password);
    const created = await createFirstAdministrator(db, name, await hashPassword(createPasswordGate(), password));
    return created && config.adminPassword === undefined ? { name, password } : undefined;
  } finally {
    await close();
  }
}

async function refuseUnfit(config: Config, userName: string, password: string): Promise<void> {
  const policy = await createPasswordPolicy(config);
  const faults = await policy.check(password, { pointer: '', userName, displayName: 'Administrator' });
  if (faults.length > 0) {
    throw new ConfigError([`ADMIN_PASSWORD is refused (${faults.map(({ code }) => code).join(', ')}); choose another one`]);
  }
}
