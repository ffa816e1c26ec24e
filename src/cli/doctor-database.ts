/** The checks of `doctor` that concern the database and what is stored in it. */
import { statfs } from 'node:fs/promises';
import { sql, type Kysely } from 'kysely';
import { encodingAdvice } from '../database/encoding.ts';
import { DirectAddressError } from '../database/failure.ts';
import { openStore, type Store } from '../database/port.ts';
import { adviceForMissingNotifications, MissingNotificationError } from '../database/missing-notification-error.ts';
import { migrationState } from '../database/migration-state.ts';
import type { Database } from '../database/tables.ts';
import { missingProfiles } from '../oidc/provisioning/claimed-profiles.ts';
import { readPeppers, type Peppers } from '../credentials/pepper.ts';
import { createPasswordPolicy } from '../credentials/policy.ts';
import { openExisting } from './command.ts';
import { startCommand } from '../config/command-name.ts';
import type { Config } from '../config/settings.ts';
import type { Issuer } from '../oidc/issuers-file/read.ts';
import { verifyTrash } from '../entities/companion/verify.ts';
import { entityActions } from '../rights/vocabulary.ts';
import { checkBackups } from './doctor-backup.ts';
import { checkBuilds, checkCompanions, checkLayouts, checkTypes } from './doctor-companions.ts';
import { checkServiceSecrets } from './doctor-secrets.ts';
import { checkConnections, checkProcesses, checkSynchronousStandbys } from './doctor-deployment.ts';
import { checkPartitions } from './doctor-partitions.ts';
import { checkReadRights, checkRightsFiles } from './doctor-rights.ts';
import { checkRules } from './doctor-rules.ts';
import { checkPreparedStatements, checkSessionSettings } from './doctor-sessions.ts';
import { checkIndexes, checkSequences, checkSlots, checkTriggers, checkVacuum } from './doctor-tables.ts';
import { checkStandby } from './doctor-standby.ts';
import { performCheck, failedCheck, okCheck, warningCheck, type Check, type CheckFinding } from './check.ts';

const gibibyte = 2 ** 30;

/** Runs these checks as far as they can run, and adds their findings to `checks`. */
export async function examineDatabase(checks: Check[], config: Config, issuers: readonly Issuer[], all: boolean): Promise<void> {
  const runCheck = (name: string, find: () => CheckFinding | Promise<CheckFinding>) => performCheck(checks, config, name, find);
  await runCheck('password list', async () => {
    await createPasswordPolicy(config);
    return okCheck(config.passwordBlocklistFile ? `the built-in one and ${config.passwordBlocklistFile}` : 'the built-in one');
  });
  let opened: Awaited<ReturnType<typeof openExisting>> | undefined;
  await runCheck('database', async () => {
    opened = await openExisting(config);
    return okCheck(opened.database);
  });
  if (!opened) return;
  await using database = opened;
  const { url, directUrl } = database;
  if (!config.databaseUrl) await runCheck('disk', () => checkDisk(config.dataDir));
  await using store = openStore(url, 1, () => undefined, { directUrl, followsLog: true });
  const { db } = store;
  if (!(await runCheck('postgresql', () => checkServer(db)))) return;
  await runCheck('encoding', () => checkEncoding(db));
  if (!(await runCheck('prepared statements', () => checkPreparedStatements(url)))) return;
  await runCheck('session settings', () => checkSessionSettings(url, config));
  await runCheck('durability', () => checkDurability(db));
  await runCheck('role', () => checkRole(db, config.production));
  await runCheck('clock', () => checkClock(db));
  await runCheck('notifications', () => checkNotifications(directUrl, store, config));
  if (!(await runCheck('migrations', () => checkMigrations(db)))) return;
  const { databaseReadUrl, readLagSeconds } = config;
  if (databaseReadUrl) await runCheck('standby', () => checkStandby(store, databaseReadUrl.reveal(), readLagSeconds));
  await runCheck('processes', () => checkProcesses(db));
  await runCheck('connections', () => checkConnections(db, config));
  await runCheck('replication', () => checkSynchronousStandbys(db));
  await runCheck('backups', () => checkBackups(db, config));
  await runCheck('administrator', () => checkAdministrator(db));
  await runCheck('rights', () => checkReadRights(db));
  await runCheck('rules', () => checkRules(db, config, issuers));
  const { rightsDir } = config;
  if (rightsDir !== undefined) await runCheck('rights files', () => checkRightsFiles(db, rightsDir));
  await runCheck('partitions', () => checkPartitions(db));
  await runCheck('sequences', () => checkSequences(store));
  await runCheck('triggers', () => checkTriggers(db));
  await runCheck('vacuum', () => checkVacuum(db));
  await runCheck('replication slots', () => checkSlots(db, config));
  await runCheck('builds', () => checkBuilds(store));
  await runCheck('indexes', () => checkIndexes(store));
  await runCheck('types', () => checkTypes(store));
  await runCheck('layouts', () => checkLayouts(store));
  await runCheck('companions', () => checkCompanions(store, all));
  await runCheck('trash', () => checkTrash(store));
  await runCheck('service keys', () => checkServiceSecrets(db));
  await runCheck('peppers', async () => checkPeppers(db, await readPeppers(config.passwordPepperFile)));
  const givers = issuers.filter(({ provision, profiles }) => provision ?? profiles);
  if (givers.length > 0) await runCheck('profiles', () => checkProfiles(db, givers));
}

async function checkDisk(directory: string): Promise<CheckFinding> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  const text = `${(free / gibibyte).toFixed(1)} GiB free for ${directory}`;
  if (free < gibibyte / 10) return failedCheck(`${text}: PostgreSQL stops when there is none`);
  return free < gibibyte ? warningCheck(text) : okCheck(text);
}

async function checkServer(db: Kysely<Database>): Promise<CheckFinding> {
  const { rows } = await sql<{ number: number; version: string; refusesWrites: boolean; isStandby: boolean; role: string }>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
      current_setting('transaction_read_only')::bool as "refusesWrites", pg_is_in_recovery() as "isStandby", quote_ident(current_user) as role`.execute(
    db,
  );
  const { number = 0, version = 'unknown', refusesWrites = false, isStandby = false, role = '' } = rows[0] ?? {};
  if (number < 150_000) return failedCheck(`version ${version} is too old: PostgreSQL 15 or later is needed`);
  const text = `version ${version}`;
  if (isStandby) return failedCheck(`${text} refuses writes: DATABASE_URL must lead to the primary, not to a standby`);
  if (!refusesWrites) return okCheck(text);
  return failedCheck(
    `${text} refuses writes, since default_transaction_read_only is on: when its operator allows writes again, alter role ${role} set default_transaction_read_only = off`,
  );
}

async function checkEncoding(db: Kysely<Database>): Promise<CheckFinding> {
  const { rows } = await sql<{ encoding: string }>`select current_setting('server_encoding') as encoding`.execute(db);
  const encoding = rows[0]?.encoding ?? 'unknown';
  const advice = encodingAdvice(encoding);
  return advice === undefined ? okCheck(encoding) : failedCheck(`the database ${advice}`);
}

async function checkDurability(db: Kysely<Database>): Promise<CheckFinding> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(array['fsync', 'synchronous_commit', 'full_page_writes']) as name where current_setting(name) = 'off'`.execute(
    db,
  );
  return rows.length === 0
    ? okCheck('what is acknowledged survives a crash of the machine')
    : warningCheck(`${rows.map((row) => row.name).join(', ')} is off: a crash of the machine loses what was acknowledged`);
}

async function checkRole(db: Kysely<Database>, production: boolean): Promise<CheckFinding> {
  const { rows } = await sql<{ name: string; superuser: boolean; ends: string | null; isNear: boolean | null }>`
    select rolname as name, rolsuper as superuser, to_char(rolvaliduntil, 'YYYY-MM-DD') as ends,
      rolvaliduntil < now() + interval '14 days' as "isNear"
    from pg_roles where rolname = current_user`.execute(db);
  const { name = '', superuser = false, ends, isNear } = rows[0] ?? {};
  if (isNear) return warningCheck(`the password of ${name} ends on ${ends}: give the role a new one`);
  if (!superuser) return okCheck(`${name} is no superuser`);
  const text = `${name} is a superuser, who reads files and runs programs: use a role that only owns this database`;
  return production ? warningCheck(text) : okCheck(`${text} in production`);
}

async function checkClock(db: Kysely<Database>): Promise<CheckFinding> {
  const before = Date.now();
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const after = Date.now();
  const away = Math.max(0, Math.abs((rows[0]?.now.getTime() ?? 0) - (before + after) / 2) - (after - before) / 2) / 1_000;
  const text = `the clocks of database and service are ${away.toFixed(1)} s apart`;
  if (away > 60) return failedCheck(`${text}: access tokens will be misjudged; synchronise them`);
  return away > 2 ? warningCheck(`${text}; synchronise them`) : okCheck(text);
}

/** Whether a listener receives notifications sent over the pool. Without them the service caches no verified credential. */
async function checkNotifications(directUrl: string, store: Store, config: Config): Promise<CheckFinding> {
  let reason: Error | undefined;
  const ignore = () => undefined;
  const listener = store.listener(directUrl, { onLine: ignore, onNotice: ignore, onError: (error) => (reason = error) });
  await listener.open();
  const { isUp } = listener;
  await listener.close();
  if (isUp) return okCheck('what one process sends arrives at the others');
  if (reason instanceof MissingNotificationError) return failedCheck(adviceForMissingNotifications(reason, config));
  throw reason ?? new DirectAddressError(new Error('the connection for notifications has ended'));
}

async function checkMigrations(db: Kysely<Database>): Promise<CheckFinding> {
  const { pending, later, refusal } = await migrationState(db);
  if (refusal !== undefined) return failedCheck(refusal);
  if (pending.length > 0) return failedCheck(`missing: ${pending.join(', ')}; run "migrate" or start the service`);
  return okCheck(later.length > 0 ? `complete; a later version has added ${later.join(', ')}, beside which this one may run` : 'complete');
}

/** Whether the profiles that the issuers grant exist. Without them the service does not start. */
async function checkProfiles(db: Kysely<Database>, issuers: readonly Issuer[]): Promise<CheckFinding> {
  const missing = await missingProfiles(db, issuers);
  return missing.length > 0 ? failedCheck(missing.join('; ')) : okCheck('all that the issuers give exist');
}

/** Whether a user who can sign in has every right on entities. To declare types is another right (decision 122). */
async function checkAdministrator(db: Kysely<Database>): Promise<CheckFinding> {
  const { rows } = await sql<{ name: string }>`
    select user_account.name from user_account
    where user_account.active and ${entityActions.length} = (
      select count(distinct role_grant.action) from user_profile
      join profile_role on profile_role.profile_id = user_profile.profile_id
      join role_grant on role_grant.role_id = profile_role.role_id
      where user_profile.user_id = user_account.id and role_grant.entity = '*' and role_grant.condition = 'any'
        and role_grant.action = any(${[...entityActions]})
    ) order by user_account.id limit 1`.execute(db);
  if (rows[0]) return okCheck(`${rows[0].name} has every right on entities`);
  const users = await db.selectFrom('user_account').select('id').limit(1).execute();
  return users.length > 0
    ? warningCheck('no active user has every right on entities')
    : warningCheck(`there is no user yet: "${startCommand}" creates the first administrator`);
}

/** Whether deleted entities leave the trash when their time is over, and none is live too. */
async function checkTrash(store: Store): Promise<CheckFinding> {
  const { entities, late, live } = await store.runLong((db) => verifyTrash(db));
  if (live.length > 0)
    return failedCheck(`entities are deleted and live at once, as of ${live.join(', ')}: was the database restored in part?`);
  return late > 0
    ? warningCheck(`the time of ${late} deleted entities has been over for more than an hour: no service cleans up`)
    : okCheck(`${entities} deleted entities can be restored`);
}

/** Whether every stored password can be verified, and which peppers are still needed for that. */
async function checkPeppers(db: Kysely<Database>, peppers: Peppers): Promise<CheckFinding> {
  const { rows } = await sql<{ keyId: string | null; users: number }>`
    select substring(password_hash from ',keyid=([A-Za-z0-9+/]+)[$]') as "keyId", count(*)::int as users
    from user_account where password_hash is not null group by 1 order by 2 desc`.execute(db);
  const used = rows.map(({ keyId, users }) => ({ id: keyId === null ? undefined : Buffer.from(keyId, 'base64').toString(), users }));
  const missing = used.filter(({ id }) => id !== undefined && !peppers.some((pepper) => pepper.id === id));
  if (missing.length > 0) {
    const lost = missing.map(({ id, users }) => `${id}, which the passwords of ${users} users need`).join(', and ');
    return failedCheck(`PASSWORD_PEPPER_FILE lacks ${lost}: they cannot sign in until it is back`);
  }
  const [first] = peppers;
  if (!first) return okCheck('none');
  return okCheck(`new passwords get ${first.id}; users by pepper: ${used.map(({ id, users }) => `${id ?? 'none'} ${users}`).join(', ')}`);
}
