/**
 * The target and the protection of a PostgreSQL URL. node-postgres itself parses it, because it has rules of its own. Query parameters take
 * precedence over the rest of the URL. PGHOST, PGSSLMODE and others replace missing parts.
 */
import { isIPv6 } from 'node:net';
import { Client } from 'pg';

/**
 * How a client authenticates itself. The names are those of libpq's `require_auth`. With the first method the server authenticates itself
 * too (RFC 5802).
 */
const methods = ['scram-sha-256', 'md5', 'password', 'none'] as const;
export type AuthMethod = (typeof methods)[number];

/** How characters that separate the parts of an address are written within a part. */
export const separatorEscapes = '%40 for @, %2F for /, %3A for :, %3F for ?, %23 for #, %25 for %';

/** `verified`: TLS, and the server's certificate must be valid for the host. */
export type Encryption = 'verified' | 'unverified' | 'none';

/** The options that decide whether a certificate is verified. */
interface TlsOptions {
  rejectUnauthorized?: boolean;
  checkServerIdentity?: unknown;
}

export interface Address {
  /** A name, an IP address without brackets, or the directory of a Unix socket. */
  host: string;
  port: number;
  user: string;
  database: string;
  encryption: Encryption;
}

const loopbackHosts = new Set(['localhost', '127.0.0.1', '::1']);

/**
 * The address that node-postgres reads from `url`. Throws an Error without the password if node-postgres could not connect: for a missing
 * certificate file, or contradictory parameters.
 */
export function readDatabaseAddress(url: string): Address {
  const { host, port, user = '', database = '', ssl } = new Client({ connectionString: url });
  requiredMethods(url);
  return { host, port, user, database, encryption: encryptionOf(ssl) };
}

/** Whether traffic to the address stays on this machine. */
export function isLocal({ host }: Address): boolean {
  return host.startsWith('/') || loopbackHosts.has(host);
}

/** The name of a URL's database for people: `host:port/database`, without the secrets of the URL. */
export function databaseName(url: string): string {
  const { host, port, database } = readDatabaseAddress(url);
  return `${isIPv6(host) ? `[${host}]` : host}:${port}/${database}`;
}

/** The values of these parameters may have an `@`, as files of systemd's credentials do. */
const pathParameters = ['host', 'password_file', 'sslcert', 'sslkey', 'sslrootcert'];

/**
 * Whether a part of the address has a character that separates parts, so that a parser would take a piece of the password for the host, the port, the
 * database or a parameter (RFC 3986 section 3.2.1).
 */
export function hasRawSeparator(text: string): boolean {
  const { groups = {} } = /^\w+:\/\/(?<authority>[^/?#]*)(?<path>[^?#]*)(?:\?(?<query>[^#]*))?(?<fragment>#?)/.exec(text) ?? {};
  const { authority = '', path = '', query = '', fragment } = groups;
  const parameters = query.split('&').filter((parameter) => /[@/].*=|@/.test(parameter));
  const isPath = (parameter: string) => pathParameters.some((name) => parameter.startsWith(`${name}=/`));
  return authority.split('@').length > 2 || path.includes('@') || !parameters.every(isPath) || fragment !== '';
}

/** The methods that an address requires; undefined if it requires none. As in node-postgres, the last of several parameters counts. */
export function requiredMethods(address: string): AuthMethod[] | undefined {
  const list = new URL(address).searchParams.getAll('require_auth').at(-1)?.split(',');
  if (list === undefined || list.every(isMethod)) return list;
  throw new Error('require_auth must list scram-sha-256, md5, password or none, separated by commas');
}

/** The file that has the password of the address; undefined if it names none. */
export function passwordFile(address: string): string | undefined {
  return new URL(address).searchParams.get('password_file') ?? undefined;
}

function isMethod(name: string): name is AuthMethod {
  return methods.some((method) => method === name);
}

/** The type of encryption of `ssl`, the value that node-postgres passes to Node.js; its declared type is boolean only. */
export function encryptionOf(ssl: unknown): Encryption {
  if (typeof ssl === 'string') throw new Error(`ssl=${ssl} is none of its values: use sslmode`);
  if (ssl === false) return 'none';
  const { rejectUnauthorized, checkServerIdentity } = (ssl === true ? {} : ssl) as TlsOptions;
  const isChecked = rejectUnauthorized ?? process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0';
  return isChecked && checkServerIdentity === undefined ? 'verified' : 'unverified';
}
