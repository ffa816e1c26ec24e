/**
 * Where an address of PostgreSQL leads and how it is protected. node-postgres is asked itself, because it has rules of its own: parameters of
 * the query go before the rest of the address, and PGHOST, PGSSLMODE and others stand in for what is left out.
 */
import { isIPv6 } from 'node:net';
import { VerifiedClient, type Encryption } from './driver/verified-client.ts';

export interface Address {
  /** A name, an IP address without brackets, or the directory of a Unix socket. */
  host: string;
  port: number;
  user: string;
  database: string;
  encryption: Encryption;
}

/** What failed at the address without a pooler, DATABASE_DIRECT_URL if that is set; `cause` is the failure. */
export class DirectAddressError extends Error {
  override readonly name = 'DirectAddressError';
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

const loopbackHosts = new Set(['localhost', '127.0.0.1', '::1']);

/**
 * What node-postgres makes of `url`. Throws an Error without the password in it where node-postgres could not connect: for a certificate file
 * that is not there, or parameters that contradict each other.
 */
export function readDatabaseAddress(url: string): Address {
  const { host, port, user = '', database = '', encryption } = new VerifiedClient({ connectionString: url });
  return { host, port, user, database, encryption };
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
