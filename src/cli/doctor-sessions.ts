/** The checks of `doctor` that concern what the server gives to each session: its settings, and prepared statements behind a pooler. */
import type { Config } from '../config/settings.ts';
import { sessionSettings } from '../database/driver/session-settings.ts';
import { VerifiedClient } from '../database/driver/verified-client.ts';
import { storesPreparedStatements, preparedStatementsAdvice } from '../database/prepared-statements.ts';
import { failedCheck, okCheck, warningCheck, type CheckFinding } from './check.ts';

/** The limits that the service sets where no pooler ignores them, in milliseconds. A shorter one ends statements that the service waits for. */
const limits = { statement_timeout: 5_000, lock_timeout: 2_000, idle_in_transaction_session_timeout: 10_000, transaction_timeout: 10_000 };

/** Settings that the service leaves alone, because they need the rights of a superuser or belong to the operator. */
const needed: readonly (readonly [name: string, value: string, consequence: string])[] = [
  ['session_replication_role', 'origin', 'no trigger and no reference holds'],
  ['row_security', 'on', 'statements on tables with policies fail'],
  ['zero_damaged_pages', 'off', 'damaged rows disappear in silence'],
  ['ignore_checksum_failure', 'off', 'damaged rows are served'],
];

/** Whether a pooler on the way keeps the prepared statements of each connection. */
export async function checkPreparedStatements(url: string): Promise<CheckFinding> {
  return (await storesPreparedStatements(url))
    ? okCheck('each connection has its own')
    : failedCheck(`DATABASE_URL ${preparedStatementsAdvice}`);
}

/** The defaults of the database and the role at `url` that differ from what the code relies on. Each connection sets them, except behind a transaction pooler. */
export async function checkSessionSettings(url: string, { databaseDirectUrl }: Pick<Config, 'databaseDirectUrl'>): Promise<CheckFinding> {
  const { role, path, elsewhere, settings } = await readSession(url);
  if (elsewhere !== null)
    return failedCheck(
      `the tables are in the schema ${elsewhere}, which search_path of the role ${role} (${path}) leaves out: alter role ${role} set search_path = ${elsewhere}`,
    );
  const wrong = needed.filter(([name, value]) => settings[name] !== undefined && settings[name] !== value);
  if (wrong.length > 0)
    return failedCheck(
      wrong.map(([name, value, consequence]) => `${name} is not ${value}, so ${consequence}: ${setting(role, name, value)}`).join('; '),
    );
  const short = Object.entries(limits).filter(([name, limit]) => {
    const given = Number(settings[name] ?? 0);
    return given > 0 && given < limit;
  });
  const limited = short.map(([name, limit]) => `${name} is ${settings[name]} ms: ${setting(role, name, `${limit}ms`)}`);
  const different = sessionSettings.filter(([name, value]) => settings[name] !== value);
  // Without a pooler each connection sets these.
  const untrue = databaseDirectUrl ? different.map(([name, value]) => `${name} is ${settings[name]}: ${setting(role, name, value)}`) : [];
  if (limited.length + untrue.length > 0) return warningCheck([...limited, ...untrue].join('; '));
  if (different.length === 0) return okCheck('as the service needs them');
  return okCheck(`each connection sets ${different.map(([name]) => name).join(', ')}`);
}

const setting = (role: string, name: string, value: string) => `alter role ${role} set ${name} = '${value}'`;

interface Session {
  role: string;
  path: string;
  /** The schema that has the tables, if this session does not look there. */
  elsewhere: string | null;
  /** Times in milliseconds. A server of an earlier version lacks some. */
  settings: Record<string, string>;
}

/** The settings that a session has before it sets anything. */
async function readSession(url: string): Promise<Session> {
  await using client = new VerifiedClient({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  const names = [...Object.keys(limits), ...[...needed, ...sessionSettings].map(([name]) => name)];
  const { rows } = await client.query<Session>(
    `select quote_ident(current_user) as role, current_setting('search_path') as path,
        (select min(quote_ident(nspname)) from pg_class join pg_namespace on pg_namespace.oid = relnamespace
          where relname = 'kysely_migration' and to_regclass('kysely_migration') is null) as elsewhere,
        (select json_object_agg(lower(name), setting) from pg_settings where lower(name) = any($1)) as settings`,
    [names],
  );
  const [row] = rows;
  if (!row) throw new Error('the server does not say what a session has');
  return row;
}
