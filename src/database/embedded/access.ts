/**
 * The roles that may sign in to the embedded server (`pg_hba.conf`): only the service's role, with its password, over the socket and from this
 * machine. The superuser has no password and no line, so it cannot sign in.
 */
import { join } from 'node:path';
import type { Account } from './account.ts';
import { readClusterFile, replaceClusterFile } from './cluster-files.ts';

/** The service's role and database. The role is no superuser, so injected SQL cannot read files or run programs. */
export const roleName = 'entity_service';
export const databaseName = 'entity_service';

const accessFile = 'pg_hba.conf';
const socketLine = `local all ${roleName} scram-sha-256`;
const tcpLine = `host all ${roleName} 127.0.0.1/32 scram-sha-256`;

/** Allows the service's role, and no other, to sign in to a new cluster. */
export function writeAccess(cluster: string, account: Account): Promise<void> {
  return replaceClusterFile(cluster, accessFile, `${socketLine}\n${tcpLine}\n`, account);
}

/**
 * Adds the line for the socket where it is missing: version 0.1.0 had no socket. The other lines stay.
 *
 * @throws Error with one line for a person when the file is there and cannot be read, as when it is a link.
 */
export async function completeAccess(cluster: string, account: Account): Promise<void> {
  const path = join(cluster, accessFile);
  const text = await readClusterFile(path).catch((cause: Error) => {
    throw new Error(`${path} cannot be read: ${cause.message}`, { cause });
  });
  if (text?.split('\n').includes(socketLine)) return;
  await replaceClusterFile(cluster, accessFile, `${socketLine}\n${text?.trim() ? text : `${tcpLine}\n`}`, account);
}
