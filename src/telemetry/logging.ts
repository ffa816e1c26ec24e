/**
 * The log: one JSON line an event (security rule 84). What goes into a line is chosen here, member by member, so that no header, body,
 * query or secret gets there by accident.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify';
import { pino, type Logger } from 'pino';
import { baseUrlOf } from '../config/public-url.ts';
import type { FollowedFile } from '../config/secret-file.ts';
import type { Config } from '../config/settings.ts';
import { LogOutput } from './log-output.ts';
import { KnownOutage, OutageStacks } from './outage-stacks.ts';

let output: LogOutput | undefined;

/** Standard output, of which the process has one. Lines in memory are still written when the process exits. */
function standardOutput(): LogOutput {
  return (output ??= new LogOutput(1, ({ message }) =>
    process.stderr.write(`entity-service: lines of the log are lost, because standard output cannot be written: ${message}\n`),
  ));
}

const stacks = new OutageStacks(() => performance.now());

/** The number of lines that this process could not write. */
export const lostLines = (): number => output?.lost ?? 0;

/**
 * Writes the lines in memory. Call it before the process exits. Resolves also when they cannot be written, as on a terminal that was
 * closed. Resolves with false when that takes longer than `limitMs`, because the reader of a pipe has stopped.
 */
export async function flushLog(limitMs: number): Promise<boolean> {
  return await Promise.race([output?.flush().then(() => true) ?? true, delay(limitMs).then(() => false)]);
}

/**
 * Options for Fastify's logger. Errors keep their type, message and stack; of a cause in the database the SQL state is kept, not the row. Of an outage the first
 * line has the stack.
 */
export function loggerOptions({ logLevel }: Pick<Config, 'logLevel'>): Exclude<FastifyServerOptions['logger'], boolean | undefined> {
  return {
    level: logLevel,
    stream: standardOutput(),
    timestamp,
    base: null,
    formatters: { level: (level) => ({ level }), log: (line) => stacks.shorten(line) },
    serializers: {
      req: (request: FastifyRequest) => ({ requestId: request.id }),
      err: serializeError,
    },
  };
}

/** The log of a process, for lines that belong to no service in it. Before the settings are read, its level is `info`. */
export function openLog(config: Pick<Config, 'logLevel'> = { logLevel: 'info' }): Logger {
  return pino(loggerOptions(config), standardOutput());
}

/** The settings in force as JSON values. A `Secret` gives its description. */
export function settingsInForce(config: Config): Record<string, unknown> {
  return { ...config, publicUrl: baseUrlOf(config.publicUrl), trustedOrigins: [...config.trustedOrigins] };
}

/** Writes the settings in force. */
export function logConfiguration(log: FastifyBaseLogger, config: Config): void {
  log.info({ event: 'configuration.loaded', settings: settingsInForce(config), node: process.versions.node });
}

/** Logs each change of a file of secrets, and each problem of one once. */
export function logSecretFiles(log: FastifyBaseLogger, files: readonly FollowedFile[]): void {
  for (const file of files) {
    file.onChange = (problem) => {
      if (problem === undefined) log.info({ event: 'secret.changed', file: file.name });
      else log.error({ event: 'secret.refused', file: file.name }, `${problem}; the value from before stays in force`);
    };
  }
}

/**
 * What Fastify logs once it listens.
 *
 * NOTE: its type asks for a text, and it hands whatever it gets to the logger.
 */
export function listeningLine(address: string): string {
  return { event: 'listening', address } as unknown as string;
}

let millisecond = 0;
let timeMember = '';

/** The member `time` of a line. Under load many lines share a millisecond. */
function timestamp(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    timeMember = `,"time":"${new Date(now).toISOString()}"`;
  }
  return timeMember;
}

type ErrorLine = { type: string; message: string; code?: string; stack?: string };

/** Fastify's types demand a stack. */
function serializeError(error: unknown): ErrorLine & { stack: string } {
  return (error instanceof KnownOutage ? describeError(error.cause, false) : describeError(error)) as ErrorLine & { stack: string };
}

/** A database error's message may quote a value, and its `detail` always does; the SQL state says enough. */
function describeError(error: unknown, hasStack = true): ErrorLine {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an error', ...(hasStack && { stack: '' }) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const fromDatabase = 'severity' in error;
  const stack = (error.stack ?? '').split('\n').slice(1).join('\n');
  return {
    type: error.name,
    message: fromDatabase ? `SQL state ${code}` : error.message,
    ...(code !== undefined && { code }),
    ...(hasStack && { stack }),
  };
}

/** Writes one line for every answered request, with the client's address as `addressOf` gives it. */
export function logRequests(app: FastifyInstance, addressOf: (request: FastifyRequest) => string): void {
  app.decorateRequest('traceId', undefined);
  app.addHook('onResponse', (request, reply, done) => {
    const { principal } = request;
    request.log.info({
      event: 'request',
      outcome: reply.statusCode < 400 ? 'ok' : reply.statusCode < 500 ? 'refused' : 'failed',
      ...(request.problemCode && { reason: request.problemCode }),
      method: request.method,
      route: request.routeOptions.url,
      operation: request.routeOptions.config.operationId,
      traceId: request.traceId,
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime * 100) / 100,
      principal: principal?.user.id,
      user: principal?.user.name,
      way: principal?.method,
      session: principal?.session?.id,
      address: addressOf(request),
      userAgent: request.headers['user-agent']?.slice(0, 256),
    });
    done();
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The trace that the request belongs to; undefined without traces. */
    traceId: string | undefined;
  }
}
