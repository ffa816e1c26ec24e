/**
 * The roles that may sign in to the embedded server (`pg_hba.conf`), over the socket and from this machine: the service's role, and one that
 * may receive the log but run no statement. Both have the same password. The superuser has no password and no line, so it cannot sign in.
 */
import { join } from 'node:path';
import { inDirectory } from './account.ts';
import type { SystemAccount } from './account.ts';
import { readClusterFile, replaceClusterFile } from './cluster-files.ts';
import { runToEnd } from './run.ts';

/** The service's role and database. The role is no superuser, so injected SQL cannot read files or run programs. */
export const roleName = 'entity_service';
export const databaseName = 'entity_service';
/** For the archive (docs/backup.md). Injected SQL runs as the service's role, and so cannot make the server keep its log. */
export const archiveRoleName = 'entity_service_archive';

const accessFile = 'pg_hba.conf';
const socketLine = `local all ${roleName} scram-sha-256`;
const tcpLine = `host all ${roleName} 127.0.0.1/32 scram-sha-256`;
const archiveLines = [
  `local replication ${archiveRoleName} scram-sha-256`,
  `host replication ${archiveRoleName} 127.0.0.1/32 scram-sha-256`,
];

/** Allows these roles, and no other, to sign in to a new cluster. */
export function writeAccess(cluster: string, account: SystemAccount): Promise<void> {
  return replaceClusterFile(cluster, accessFile, `${[socketLine, tcpLine, ...archiveLines].join('\n')}\n`, account);
}

/**
 * Adds what a cluster of an earlier version lacks: the line for the socket, and the role of the archive with its lines. The other lines stay. The server must not run.
 *
 * @throws Error with one line for a person when the file is there and cannot be read, as when it is a link.
 */
export async function completeAccess(cluster: string, account: SystemAccount, postgres: string, password: string): Promise<void> {
  const path = join(cluster, accessFile);
  const text = await readClusterFile(path).catch((cause: Error) => {
    throw new Error(`${path} cannot be read: ${cause.message}`, { cause });
  });
  const found = text?.split('\n') ?? [];
  const wanted = text?.trim() ? [socketLine] : [socketLine, tcpLine];
  const lacksArchive = !archiveLines.every((line) => found.includes(line));
  // Of two processes that start the server at once, one finds the cluster in use. It joins the server of the other.
  const hasRole = lacksArchive && (await setPasswords(cluster, account, postgres, password).then(() => true, isInUse));
  const missing = [...wanted, ...(hasRole ? archiveLines : [])].filter((line) => !found.includes(line));
  if (missing.length > 0) await replaceClusterFile(cluster, accessFile, `${missing.join('\n')}\n${text?.trim() ? text : ''}`, account);
}

/** Sets the password of both roles, and makes the role of the archive where it is missing. PostgreSQL does it without a server, so the superuser need not sign in. */
async function setPasswords(cluster: string, account: SystemAccount, postgres: string, password: string): Promise<void> {
  await runAlone(cluster, account, postgres, passwordStatements(password));
}

/** Statements for {@link runAlone}. `password` has no quote in it. */
export function passwordStatements(password: string): string[] {
  const make = `create role ${archiveRoleName} login replication`;
  return [
    `do $$ begin if not exists (select from pg_roles where rolname = '${archiveRoleName}') then ${make}; end if; end $$`,
    ...[roleName, archiveRoleName].map((role) => `alter role ${role} password '${password}'`),
  ];
}

export interface AloneOptions {
  /** PostgreSQL's settings by name. */
  settings?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/**
 * Runs statements of one line each as the superuser, in the process that PostgreSQL has for a cluster without a server. Returns its log. Throws Error with one line
 * for a person.
 */
export async function runAlone(
  cluster: string,
  account: SystemAccount,
  postgres: string,
  statements: string[],
  { settings = {}, signal }: AloneOptions = {},
): Promise<string> {
  const { pgdata, options } = inDirectory(account, cluster);
  const all = { exit_on_error: 'on', log_min_error_statement: 'panic', ...settings };
  const args = ['--single', '-D', pgdata, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]), 'postgres'];
  return await runToEnd(postgres, args, options, { input: `${statements.join('\n')}\n`, signal });
}

function isInUse(error: Error): false {
  if (/lock file .*already exists|shared memory block .* still in use/.test(error.message)) return false;
  throw error;
}
