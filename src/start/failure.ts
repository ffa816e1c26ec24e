/** Why a start failed, in words for the person who started it: what is wrong, and what to do. Stacks and codes stay out of it. */
import { DatabaseError } from 'pg';
import { ConfigError, type Config } from '../config/settings.ts';
import { readDatabaseAddress } from '../config/database-address.ts';
import type { Secret } from '../config/secrets.ts';
import { DirectAddressError } from '../database/failure.ts';
import { UntrustedServerError } from '../database/driver/verified-client.ts';

type DatabaseSetting = ['DATABASE_URL' | 'DATABASE_DIRECT_URL', Secret | undefined];

/** One line for each thing that is wrong. `config` is undefined as long as the settings are not read. */
export function explainFailure(error: unknown, config: Config | undefined): string[] {
  if (error instanceof ConfigError) return error.problems.map((problem) => `- ${problem}`);
  const cause = error instanceof DirectAddressError ? error.cause : error;
  const { code, syscall, message } = cause as NodeJS.ErrnoException;
  const isDirect = error instanceof DirectAddressError && config?.databaseDirectUrl !== undefined;
  const server: DatabaseSetting = isDirect ? ['DATABASE_DIRECT_URL', config.databaseDirectUrl] : ['DATABASE_URL', config?.databaseUrl];
  const text =
    (config && (syscall === 'listen' || syscall === 'bind' ? listenFailure(code, config) : databaseFailure(cause, server))) ?? message;
  return [(text || code || String(error)).replaceAll(/\s*\n\s*/g, ' ')];
}

function listenFailure(code: string | undefined, { host, port }: Config): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is in use: stop the program that has it, or set PORT to another one`;
    case 'EACCES':
      return `this user may not open port ${port}: set PORT to 1024 or more`;
    case 'EADDRNOTAVAIL':
      return `HOST ${host} is not an address of this machine: set it to one, or to 0.0.0.0 for all`;
    default:
      return undefined;
  }
}

function databaseFailure(error: unknown, [setting, url]: DatabaseSetting): string | undefined {
  const { message, syscall } = error as NodeJS.ErrnoException;
  // pg's own timeout carries no code.
  const code = message.startsWith('timeout e') ? 'timeout' : (error as NodeJS.ErrnoException).code;
  if (url === undefined) return undefined;
  const { host, user, database } = readDatabaseAddress(url.reveal());
  const server = `PostgreSQL at ${url.toString()} (${setting})`;
  switch (code) {
    case 'ECONNREFUSED':
      return `${server} refuses connections: start it, or correct host and port`;
    case 'ENOENT':
    case 'EACCES':
      if (syscall !== 'connect') return undefined;
      return `${server} has no socket there that this user may open: start it, or correct host and port`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${server} cannot be found: no address is known for the host ${host}`;
    case 'timeout':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${server} does not answer: check host, port and firewall`;
    case '28P01':
    case '28000':
      return `${server} does not let the user ${user} in: check user and password`;
    case '3D000':
      return `${server} has no database ${database}: create it first`;
    case '42501':
      return `${server}: the user ${user} lacks a right (${message})`;
    default:
      return error instanceof DatabaseError || error instanceof UntrustedServerError ? `${server}: ${message}` : undefined;
  }
}
