/** Warnings in the log about allowed but risky settings (security rules 32, 38, 83, 86 and 88), and about too little memory or too few files. */
import { getHeapSpaceStatistics } from 'node:v8';
import { sql, type Kysely } from 'kysely';
import type { UnboundRule } from '../authn/rule-book.ts';
import type { Config } from '../config/settings.ts';
import { isLocal, readDatabaseAddress } from '../config/database-address.ts';
import { databaseUrls } from '../config/database-settings.ts';
import { isLoopback } from '../config/near-hosts.ts';
import type { Database } from '../database/tables.ts';
import type { StoredTypeFault } from '../entity-types/stored-type.ts';
import { openFilesAdvice } from '../admission/open-files.ts';
import { unnamedProxyRisk } from '../network/client-address.ts';

const advisedMinimum = 15;
/** libuv's threads for all other work than hashing (rule 38). */
const otherThreads = 4;
/** What Node.js gives young objects if the process may have 512 MiB of memory or less. The next size in use is 8 MiB. */
const fewYoungBytes = 2 * 1_048_576;

export interface ServiceSurroundings {
  /** Whether the service's role in the database is a superuser. */
  superuser: boolean;
  /** The number of libuv's threads. */
  threads: number;
  /** The number of passwords that are hashed at once. */
  hashes: number;
  /** The path of the first administrator's password, if the file is still there. */
  passwordFile: string | undefined;
  /** The size of V8's space for young objects in bytes. */
  youngBytes: number;
  /** The files that the process may open; undefined if that is unknown. */
  openFiles: number | undefined;
}

/** The risks of the settings and of what the process found, one sentence each. */
export function risksOf(
  config: Pick<
    Config,
    'production' | 'databaseUrl' | 'databaseDirectUrl' | 'databaseReadUrl' | 'passwordMinLength' | 'publicUrl' | 'trustProxy'
  >,
  { superuser, threads, hashes, passwordFile, youngBytes, openFiles }: ServiceSurroundings,
): string[] {
  const risks: string[] = [];
  if (config.passwordMinLength < advisedMinimum) {
    risks.push(`PASSWORD_MIN_LENGTH is below ${advisedMinimum}, too few characters for a password that is the only factor`);
  }
  if (config.production && superuser) {
    risks.push('The role of DATABASE_URL is a superuser: give the service one that owns nothing but its own tables');
  }
  for (const [name, url] of config.production ? databaseUrls(config) : []) {
    const address = readDatabaseAddress(url.reveal());
    if (address.encryption !== 'none' || isLocal(address)) continue;
    risks.push(`${name} turns off TLS: every host on the way between this machine and the database can read all traffic`);
  }
  if (lacksProxy(config)) risks.push(unnamedProxyRisk);
  if (isPlainHttpOnNetwork(config)) risks.push(plainHttpRisk);
  if (passwordFile !== undefined) risks.push(leftPasswordRisk(passwordFile));
  const advised = hashes + otherThreads;
  if (threads < advised) {
    risks.push(
      `UV_THREADPOOL_SIZE is ${threads}: password hashing can starve name look-ups and files. Set it to ${advised} in the environment of the process`,
    );
  }
  if (youngBytes <= fewYoungBytes) {
    risks.push(
      'Node.js has little room for young objects, which halves all rates: allow the process more than 512 MiB of memory, or set NODE_OPTIONS=--max-semi-space-size=16',
    );
  }
  const ofFiles = openFilesAdvice(openFiles);
  if (ofFiles !== undefined) risks.push(ofFiles);
  return risks;
}

/** The size of V8's space for young objects in bytes. It grows while a process starts. */
export function youngSpaceBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? Number.POSITIVE_INFINITY;
}

/** Whether the settings imply a proxy that they do not name: the service speaks plain http, so a https URL needs one. */
export function lacksProxy({ publicUrl, trustProxy }: Pick<Config, 'publicUrl' | 'trustProxy'>): boolean {
  return publicUrl.protocol === 'https:' && trustProxy.length === 0;
}

/** What the file of the first password means as long as it is there. */
export const leftPasswordRisk = (file: string) => `${file} still has the first password: sign in, change the password, and delete the file`;

/** The protection that HTTP_ON_PRIVATE_NETWORK removes. */
export const plainHttpRisk =
  'HTTP_ON_PRIVATE_NETWORK is on: every device on the network can read and change passwords, sessions and data on their way, and can act as this service';

/** The warning about a type that an earlier version has accepted and whose fields this one cannot check. */
export function uncheckedTypeRisk(name: string, { code, pointers }: StoredTypeFault): string {
  const effect = 'its entities can be read, but not written';
  return code === 'type-too-costly'
    ? `the patterns of the entity type ${name} take too long to compile: ${effect}. Declare it with simpler patterns`
    : `this version cannot check the entity type ${name}, because of ${pointers.join(', ')}: ${effect}. Declare it with other values there`;
}

/** The warning about a rule of grants that the present type of its entities, or a declaration of an attribute, does not fit any more. */
export function unboundRuleRisk({ digest, entity, faults }: UnboundRule): string {
  const places = faults.map(({ pointer, code }) => `${pointer} ${code}`).join(', ') || 'it is not in the database';
  return `a rule for ${entity} (${digest.slice(0, 12)}) allows nothing, because the type does not fit it: ${places}. "doctor" names the roles that have it`;
}

/** An upgrade that is under way, or was rolled back, leaves this version on a schema that it does not know. */
export const laterSchemaRisk = (later: readonly string[]) =>
  `the database has migrations of a later version (${later.join(', ')}), beside which this one may run: finish the upgrade`;

/** Whether clients reach the service on plain http from other machines. */
export function isPlainHttpOnNetwork({ publicUrl }: Pick<Config, 'publicUrl'>): boolean {
  return publicUrl.protocol === 'http:' && !isLoopback(publicUrl);
}

/** Whether the service's role is a superuser, which has every right in the database. */
export async function isSuperuser(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ superuser: boolean }>`select rolsuper as superuser from pg_roles where rolname = current_user`.execute(db);
  return rows[0]?.superuser === true;
}
