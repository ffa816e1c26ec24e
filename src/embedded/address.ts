/** The address at which the server of a data directory listens. */
import { databaseName, roleName } from './access.ts';
import type { DataLayout } from './cluster.ts';

/** A TCP port of the loopback address, or a Unix socket in the directory of the cluster, whose name contains the port (`.s.PGSQL.5432`). */
export interface ServerAddress {
  kind: 'socket' | 'tcp';
  port: number;
}

/** PostgreSQL's default port. Here it is only part of the socket's name. */
const socketPort = 5432;
/** The longest path of a socket in bytes: `sun_path` of sockaddr_un without its last byte. It has 104 bytes on macOS and the BSDs. */
const longestPath = process.platform === 'linux' ? 107 : 103;

export function socketPath({ cluster }: DataLayout): string {
  return `${cluster}/.s.PGSQL.${socketPort}`;
}

/**
 * The socket of the cluster. Only root and the server's account may enter its directory, so no other program can listen there after the server
 * has ended. Undefined where the system has no sockets, or the path is too long for one.
 */
export function socketAddress(layout: DataLayout): ServerAddress | undefined {
  const hasRoom = Buffer.byteLength(socketPath(layout)) <= longestPath;
  return process.platform !== 'win32' && hasRoom ? { kind: 'socket', port: socketPort } : undefined;
}

export function isSameAddress(one: ServerAddress, other: ServerAddress): boolean {
  return one.kind === other.kind && one.port === other.port;
}

/** The address as text for a person. */
export function nameOfAddress({ kind, port }: ServerAddress): string {
  return kind === 'tcp' ? `port ${port}` : `the socket .s.PGSQL.${port}`;
}

/**
 * The address as a URL with the password: do not log it. With its `require_auth` the service's clients accept only a server that proves that it
 * knows the password too (`../verified-client.ts`).
 */
export function urlOf(
  { kind, port }: ServerAddress,
  { cluster }: DataLayout,
  password: string,
  database = databaseName,
  role = roleName,
): string {
  const host = kind === 'tcp' ? '127.0.0.1' : encodeURIComponent(cluster);
  return `postgres://${role}:${encodeURIComponent(password)}@${host}:${port}/${database}?require_auth=scram-sha-256`;
}
