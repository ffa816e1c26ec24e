/**
 * Events that belong to no transaction: refusals, faults, and what a process does. Losing one must not stop or change anything, so a
 * database that does not take it is a matter for the log.
 */
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../context.ts';
import type { Problem, ProblemCode } from '../errors.ts';
import { addressGroup } from '../ops/address.ts';
import { addressOf } from '../ops/client-address.ts';
import { insertEvent, originOf, type AuditEvent, type AuditEventName, type Origin } from './store.ts';

/** The problems that are audited here. What goes with a change or a sign-in is audited there. */
const eventOf: Partial<Record<ProblemCode, AuditEventName>> = {
  'csrf-rejected': 'csrf.refused',
  forbidden: 'permission.denied',
  'insufficient-scope': 'permission.denied',
  'fresh-login-required': 'permission.denied',
  'rate-limited': 'rate.limited',
  'internal-error': 'fault',
};

/** Writes the event; never throws. */
export async function note(
  { db }: Pick<Context, 'db'>,
  log: FastifyBaseLogger,
  origin: Origin | undefined,
  event: AuditEvent,
): Promise<void> {
  try {
    await insertEvent(db, origin, event);
  } catch (error) {
    log.warn({ event: 'audit.lost', lost: event.event, err: error }, 'an audit event could not be written');
  }
}

/** Writes the event that goes with the problem a request is answered with, if there is one and the quota allows it; never throws. */
export async function noteProblem(context: Pick<Context, 'db' | 'auditQuota'>, problem: Problem, request: FastifyRequest): Promise<void> {
  const event = eventOf[problem.code];
  if (!event) return;
  const { operationId: operation } = request.routeOptions.config;
  const detail = { operation, ...particulars(problem, request) };
  // Which limit it was is in the name of its policy; those that slow down guessing begin with `login-`.
  const throttled = 'limit' in detail && detail.limit?.startsWith('login-');
  await noteRefusal(context, request, {
    event: throttled ? 'login.throttled' : event,
    outcome: event === 'fault' ? 'failed' : 'refused',
    userName: request.principal?.user.name,
    sessionId: request.principal?.session?.id,
    detail,
  });
}

/** How long the answer to a refusal waits until its event is written. Where the database is slow, the event comes after the answer. */
const patienceMilliseconds = 1_000;

/**
 * Writes an event that anybody can cause at will, unless they have caused it lately; says how many were left out. Never throws, and keeps
 * nobody waiting for longer than a second.
 */
export async function noteRefusal(
  context: Pick<Context, 'db' | 'auditQuota'>,
  request: FastifyRequest,
  { detail, ...event }: AuditEvent,
): Promise<void> {
  const user = request.principal?.user;
  const subject = user ? `user ${user.id}` : addressGroup(addressOf(request));
  const leftOut = context.auditQuota.admit(subject, `${event.event} ${JSON.stringify(detail)}`);
  if (leftOut === undefined) return;
  const written = note(context, request.log, originOf(request), { ...event, detail: { ...detail, ...(leftOut > 0 && { leftOut }) } });
  await Promise.race([written, delay(patienceMilliseconds, undefined, { ref: false })]);
}

function particulars(problem: Problem, request: FastifyRequest): { reason?: string; entity?: string; limit?: string | undefined } {
  switch (problem.code) {
    case 'rate-limited':
      return { limit: /^"([^"]+)"/.exec(problem.headers['RateLimit-Policy'] ?? '')?.[1] };
    case 'internal-error':
      return { reason: problem.cause instanceof Error ? problem.cause.name : 'unknown' };
    case 'csrf-rejected':
      return {};
    default:
      return { reason: problem.code, ...entityOf(request) };
  }
}

/** Rights are checked after the name's form has been, so nothing else gets here. */
function entityOf({ principal, params, routeOptions }: FastifyRequest): { entity?: string } {
  const { name } = params as { name?: string };
  return principal && name !== undefined && routeOptions.url?.startsWith('/rest/entity/') ? { entity: name } : {};
}
