/**
 * Who may sign in to the embedded server (`pg_hba.conf`): the service's role with its password, over the socket and from this machine. The
 * superuser has no password and no line, so it cannot sign in at all.
 */
import { join } from 'node:path';
import type { Account } from './account.ts';
import { readClusterFile, replaceClusterFile } from './cluster-files.ts';

/** The role and the database that the service works with. The role is no superuser: injected SQL reads no files and runs no programs. */
export const roleName = 'entity_service';
export const databaseName = 'entity_service';

const accessFile = 'pg_hba.conf';
const socketLine = `local all ${roleName} scram-sha-256`;
const tcpLine = `host all ${roleName} 127.0.0.1/32 scram-sha-256`;

/** Lets the role in, and no other, in a cluster that was made just now. */
export function writeAccess(cluster: string, account: Account): Promise<void> {
  return replaceClusterFile(cluster, accessFile, `${socketLine}\n${tcpLine}\n`, account);
}

/**
 * Lets the role in over the socket, where the file does not: version 0.1.0 had no socket. The other lines stay.
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
