/** Why a start failed, in words for the person who started it: what is wrong, and what to do. Stacks and codes stay out of it. */
import { DatabaseError } from 'pg';
import { adminCommand } from '../config/command-name.ts';
import { ConfigError, type Config } from '../config/settings.ts';
import { readDatabaseAddress } from '../config/database-address.ts';
import { DirectAddressError } from '../database/failure.ts';
import { UntrustedServerError } from '../database/driver/verified-client.ts';

/** Messages of node-postgres about errors without a code, and what each means. */
const codelessFailures = [
  { text: /^timeout e/, kind: 'timeout' },
  { text: /^The server does not support SSL connections$/, kind: 'no-tls' },
  { text: /^There was an error establishing an SSL connection$|^received invalid response/, kind: 'no-postgresql' },
  { text: /client password must be a (non-empty )?string$/, kind: 'no-password' },
  { text: /^Connection terminated/, kind: 'ended' },
];
/** The end of PostgreSQL's message about a connection without TLS that pg_hba.conf does not allow. */
const withoutTls = /no encryption$/;
/** The codes of OpenSSL's verification in Node.js. */
const certificateCodes = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT_|INVALID_CA)/;

/** HOST and PORT cannot be listened on. Its cause is the error of the operating system. */
export class ListenError extends Error {
  constructor(cause: unknown) {
    super('HOST and PORT cannot be listened on', { cause });
  }
}

/** One line for each thing that is wrong. `config` is undefined as long as the settings are not read. */
export function explainFailure(error: unknown, config: Config | undefined): string[] {
  if (error instanceof ConfigError) return error.problems.map((problem) => `- ${problem}`);
  const text = config && (error instanceof ListenError ? listenFailure(error, config) : databaseFailure(error, config));
  const { code, message } = causeOf(error) as NodeJS.ErrnoException;
  return [(text || message || code || String(error)).replaceAll(/\s*\n\s*/g, ' ')];
}

function causeOf(error: unknown): unknown {
  return error instanceof ListenError || error instanceof DirectAddressError ? error.cause : error;
}

function listenFailure(error: ListenError, { host, port }: Config): string {
  const { code, message } = causeOf(error) as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is in use: stop the program that has it, or set PORT to another one`;
    case 'EACCES':
      return `this user may not open port ${port}: set PORT to 1024 or more`;
    case 'EADDRNOTAVAIL':
      return `HOST ${host} is not an address of this machine: set it to one, or to 0.0.0.0 for all`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST ${host} is a name for which no address is found: set it to an address of this machine, or to 0.0.0.0 for all`;
    default:
      return `HOST ${host} and PORT ${port} cannot be listened on: ${message}`;
  }
}

function databaseFailure(error: unknown, config: Config): string | undefined {
  const isDirect = error instanceof DirectAddressError && config.databaseDirectUrl !== undefined;
  const setting = isDirect ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  const url = isDirect ? config.databaseDirectUrl : config.databaseUrl;
  if (url === undefined) return undefined;
  const cause = causeOf(error) as NodeJS.ErrnoException;
  const { message, syscall } = cause;
  const code = cause.code ?? codelessFailures.find(({ text }) => text.test(message))?.kind;
  const { host, user, database } = readDatabaseAddress(url.reveal());
  const server = `PostgreSQL at ${url.toString()} (${setting})`;
  switch (code) {
    case 'ECONNREFUSED':
      return `${server} refuses connections: start it, or correct host and port`;
    case 'ENOENT':
    case 'EACCES':
      return syscall === 'connect'
        ? `${server} has no socket there that this user may open: start it, or correct host and port`
        : undefined;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${server} cannot be found: no address is known for the host ${host}`;
    case 'timeout':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${server} does not answer: check host, port and firewall`;
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ended':
      return `${server} has ended the connection (${message}): check host and port, and look into the log of the server and of a proxy before it`;
    case 'EPROTO':
      return `${server} fails to set up TLS: check that PostgreSQL has this host and port, and which versions of TLS it accepts`;
    case 'no-postgresql':
      return `${server} does not speak the protocol of PostgreSQL: correct host and port`;
    case 'no-password':
      return `${server} asks for the password of the user ${user}, and there is none: add it to ${setting}, or name a file with ?password_file=FILE`;
    case 'HOSTNAME_MISMATCH':
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `${server} has a certificate for another host (${message}): ${setting} must have a host name of the certificate`;
    case 'no-tls':
      return `${server} offers no TLS: enable it there, or end ${setting} with ?sslmode=disable where no other party can listen on the network`;
    case '28P01':
      return `${server} does not let the user ${user} in: check user and password`;
    case '28000':
      return `${server} does not let the user ${user} in (${message}): check the user and pg_hba.conf${withoutTls.test(message) ? `, or end ${setting} with ?sslmode=verify-full` : ''}`;
    case '3D000':
      return `${server} has no database ${database}: create it first`;
    case '25006':
      return `${server} accepts no writes now: if it recovers, wait until it has ended; if it is a standby, set ${setting} to the primary; if default_transaction_read_only is on for the database or the role, writes are allowed again once it is off`;
    case '3F000':
    case '42501':
      return `${server}: the user ${user} lacks a right (${message}): first run "${adminCommand} migrate" as the owner of the tables, and give this user the rights of docs/application-role.sql`;
    default:
      if (certificateCodes.test(code ?? ''))
        return `${server} has a certificate that is not accepted (${message}): sslrootcert=FILE in ${setting} names the authority that signed it`;
      return cause instanceof DatabaseError || cause instanceof UntrustedServerError ? `${server}: ${message}` : undefined;
  }
}
