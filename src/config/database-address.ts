/**
 * Where an address of PostgreSQL leads and how it is protected. node-postgres is asked itself, because it has rules of its own: parameters of
 * the query go before the rest of the address, and PGHOST, PGSSLMODE and others stand in for what is left out.
 */
import { isIPv6 } from 'node:net';
import { Client } from 'pg';

/** How a client proves who it is. The names are those of libpq's `require_auth`. With the first one the server gives a proof too (RFC 5802). */
const methods = ['scram-sha-256', 'md5', 'password', 'none'] as const;
export type Method = (typeof methods)[number];

/** `verified`: TLS, and the server's certificate must be valid for the host. */
export type Encryption = 'verified' | 'unverified' | 'none';

/** What decides whether a certificate is verified. */
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
 * What node-postgres makes of `url`. Throws an Error without the password in it where node-postgres could not connect: for a certificate file
 * that is not there, or parameters that contradict each other.
 */
export function readDatabaseAddress(url: string): Address {
  const { host, port, user = '', database = '', ssl } = new Client({ connectionString: url });
  requiredMethods(url);
  return { host, port, user, database, encryption: encryptionOf(ssl) };
}

/** Whether what is sent to the address stays on this machine. */
export function isLocal({ host }: Address): boolean {
  return host.startsWith('/') || loopbackHosts.has(host);
}

/** Which database a URL names, for people: `host:port/database`, without the secrets of the URL. */
export function databaseName(url: string): string {
  const { host, port, database } = readDatabaseAddress(url);
  return `${isIPv6(host) ? `[${host}]` : host}:${port}/${database}`;
}

/** The methods that an address requires; undefined when it leaves that open. As in node-postgres, the last of several parameters counts. */
export function requiredMethods(address: string): Method[] | undefined {
  const list = new URL(address).searchParams.getAll('require_auth').at(-1)?.split(',');
  if (list === undefined || list.every(isMethod)) return list;
  throw new Error('require_auth must list scram-sha-256, md5, password or none, separated by commas');
}

function isMethod(name: string): name is Method {
  return methods.some((method) => method === name);
}

/** `ssl` as node-postgres hands it to Node.js; its type promises a boolean only. */
export function encryptionOf(ssl: unknown): Encryption {
  if (typeof ssl === 'string') throw new Error(`ssl=${ssl} is none of its values: use sslmode`);
  if (ssl === false) return 'none';
  const { rejectUnauthorized, checkServerIdentity } = (ssl === true ? {} : ssl) as TlsOptions;
  const isChecked = rejectUnauthorized ?? process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0';
  return isChecked && checkServerIdentity === undefined ? 'verified' : 'unverified';
}
