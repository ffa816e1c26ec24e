/** The settings that name the database. */
import { isAbsolute } from 'node:path';
import {
  databaseName,
  hasRawSeparator,
  isLocal,
  passwordFile,
  readDatabaseAddress,
  separatorEscapes,
  type Address,
} from './database-address.ts';
import type { Reader } from './reader.ts';
import type { Config } from './settings.ts';
import { Secret } from './secrets.ts';

type DatabaseSettings = Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'databaseReadUrl' | 'readLagSeconds'>;

const ownDatabase = 'postgres://user:password@host:5432/database';
const defaultLagSeconds = 2;

/**
 * The addresses of DATABASE_URL, DATABASE_DIRECT_URL and DATABASE_READ_URL, which are undefined for the embedded database. Production has to say which of the two it
 * uses: a missing or empty DATABASE_URL is a mistake there, and would start with an empty database.
 */
export function readDatabase(read: Reader, production: boolean): DatabaseSettings {
  const choice = read.text('DATABASE');
  const isEmbedded = choice === 'embedded';
  if (choice !== undefined && !isEmbedded) {
    read.problems.push('DATABASE must be "embedded" or unset; the address of your own PostgreSQL goes into DATABASE_URL');
  }
  const isGiven = read.text('DATABASE_URL') !== undefined;
  if (isEmbedded && isGiven) {
    read.problems.push('DATABASE=embedded and DATABASE_URL name two databases: remove one of them');
  } else if (read.isEmpty('DATABASE_URL') && !isEmbedded) {
    read.problems.push(`DATABASE_URL is empty: set it to ${ownDatabase}, or remove it to use the embedded database in DATA_DIR`);
  } else if (production && !isGiven && !isEmbedded) {
    read.problems.push(
      `DATABASE_URL is missing in production (NODE_ENV=production), which does not read .env: set it to ${ownDatabase}, or set DATABASE=embedded to use the embedded database in DATA_DIR`,
    );
  }
  const databaseUrl = readDatabaseUrl(read, 'DATABASE_URL', production);
  const databaseDirectUrl = readDatabaseUrl(read, 'DATABASE_DIRECT_URL', production);
  if (databaseDirectUrl !== undefined && !isGiven) {
    read.problems.push('DATABASE_DIRECT_URL needs DATABASE_URL: the embedded database has one address');
  }
  const databaseReadUrl = readDatabaseUrl(read, 'DATABASE_READ_URL', production);
  const readLagSeconds = read.integer('READ_LAG_SECONDS', defaultLagSeconds, 1, 3_600);
  if (databaseReadUrl !== undefined && !isGiven) {
    read.problems.push('DATABASE_READ_URL needs DATABASE_URL: the embedded database has no standby');
  }
  if (readLagSeconds !== defaultLagSeconds && read.text('DATABASE_READ_URL') === undefined) {
    read.problems.push('READ_LAG_SECONDS needs DATABASE_READ_URL: without it no read goes to a standby');
  }
  return { databaseUrl, databaseDirectUrl, databaseReadUrl, readLagSeconds };
}

type AddressName = 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'DATABASE_READ_URL';

/** The addresses that are set, by the names of their settings. */
export function databaseUrls(config: Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'databaseReadUrl'>): [AddressName, Secret][] {
  const all: [AddressName, Secret | undefined][] = [
    ['DATABASE_URL', config.databaseUrl],
    ['DATABASE_DIRECT_URL', config.databaseDirectUrl],
    ['DATABASE_READ_URL', config.databaseReadUrl],
  ];
  return all.filter((named): named is [AddressName, Secret] => named[1] !== undefined);
}

function readDatabaseUrl(read: Reader, name: AddressName, production: boolean): Secret | undefined {
  const text = read.text(name);
  if (!text) return undefined;
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text) || !isDecodable(text) || hasRawSeparator(text)) {
    read.problems.push(`${name} must look like ${ownDatabase}, with %-escapes for special characters in its parts: ${separatorEscapes}`);
    return undefined;
  }
  const problem = addressProblem(text, production);
  if (problem === undefined) return new Secret(text, databaseName(text));
  read.problems.push(`${name} ${problem}`);
  return new Secret(text);
}

/** Rule 88: what node-postgres does with the address is judged, not what the address looks like. */
function addressProblem(url: string, production: boolean): string | undefined {
  const { searchParams } = new URL(url);
  const names = [...searchParams.keys()];
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) return `must have the parameter ${repeated} once, of which only the last one would count`;
  const several = severalHosts(url);
  if (several !== undefined) return `must name one host, and has ${several}: put HAProxy in front of several (docs/scaling.md)`;
  const file = passwordFile(url);
  if (file !== undefined && !isAbsolute(file)) return 'must name the file of password_file from the root, such as /run/secrets/database';
  if (file !== undefined && (searchParams.has('password') || new URL(url).password !== ''))
    return 'must have a password or password_file, not both';
  let address: Address;
  try {
    address = readDatabaseAddress(url);
  } catch (error) {
    return `cannot be used: ${(error as Error).message}`;
  }
  const isOpenOnPurpose = address.encryption === 'none' && searchParams.get('sslmode') === 'disable';
  if (!production || isLocal(address) || address.encryption === 'verified' || isOpenOnPurpose) return undefined;
  const way =
    'must end with ?sslmode=verify-full in production (NODE_ENV=production), or with ?sslmode=disable where no other party can listen on the network';
  return process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' ? `${way}; unset NODE_TLS_REJECT_UNAUTHORIZED` : way;
}

/** The part of the address that chooses among several hosts, which libpq can and node-postgres cannot; undefined if there is none. */
function severalHosts(url: string): string | undefined {
  const { host, searchParams } = new URL(url);
  const lists = [host, searchParams.get('host') ?? '', searchParams.get('port') ?? ''];
  const list = lists.find((value) => value.includes(',') || value.includes('%2C'));
  return list ?? ['target_session_attrs', 'load_balance_hosts'].find((name) => searchParams.has(name));
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}
