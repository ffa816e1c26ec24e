/**
 * Events that belong to no transaction: refusals, faults, and what a process does. Losing one must not stop or change anything, so a
 * database that does not take it is a matter for the log.
 */
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../context.ts';
import type { Problem, ProblemCode } from '../errors.ts';
import { addressGroup } from '../http/address.ts';
import { addressOf } from '../http/client-address.ts';
import type { Subject } from './quota.ts';
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
export async function recordEvent(
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
export async function recordProblem(context: Pick<Context, 'db' | 'auditQuota'>, problem: Problem, request: FastifyRequest): Promise<void> {
  const event = eventOf[problem.code];
  if (!event) return;
  const { operationId: operation } = request.routeOptions.config;
  const detail = { operation, ...particulars(problem, request) };
  const refusal: AuditEvent = {
    event,
    outcome: event === 'fault' ? 'failed' : 'refused',
    sessionId: request.principal?.session?.id,
    detail,
  };
  if (!('limit' in detail)) return await recordRefusal(context, request, refusal);
  // Which limit it was is in the name of its policy; those that slow down guessing begin with `login-`. A stranger can try any operation.
  const limited: AuditEventName = detail.limit?.startsWith('login-') ? 'login.throttled' : event;
  await recordRefusal(context, request, { ...refusal, event: limited }, { kind: `${limited} ${detail.limit}` });
}

/** How long the answer to a refusal waits until its event is written. Where the database is slow, the event comes after the answer. */
const auditWriteTimeoutMs = 1_000;

interface Counting {
  /** The subject that the event counts for, where the request does not tell. */
  subject?: Subject;
  /** Events of the same kind are written once a minute; by default those with the same name and detail. */
  kind?: string;
}

/**
 * Writes an event that callers can cause at will, unless its subject has caused enough of them lately; says how many were left out. Never
 * throws, and keeps the answer waiting for a second at most.
 */
export async function recordRefusal(
  context: Pick<Context, 'db' | 'auditQuota'>,
  request: FastifyRequest,
  event: AuditEvent,
  counting: Counting = {},
): Promise<void> {
  const admitted = admitRefusal(context, request, event, counting);
  if (!admitted) return;
  await Promise.race([
    recordEvent(context, request.log, originOf(request), admitted),
    delay(auditWriteTimeoutMs, undefined, { ref: false }),
  ]);
}

/** The event as it is to be written, with the number of those left out; undefined when the quota does not allow it. */
export function admitRefusal(
  { auditQuota }: Pick<Context, 'auditQuota'>,
  request: FastifyRequest,
  { detail = {}, ...event }: AuditEvent,
  { subject, kind = `${event.event} ${JSON.stringify(detail)}` }: Counting = {},
): AuditEvent | undefined {
  const userName = request.principal?.user.name ?? event.userName;
  const leftOut = auditQuota.admit(subject ?? subjectOf(request, userName, detail), kind);
  if (leftOut === undefined) return undefined;
  return { ...event, userName, detail: { ...detail, ...(leftOut > 0 && { leftOut }) } };
}

/**
 * The subject of an event that names none itself: the user whose credential has been verified, else the identity that an issuer has
 * vouched for (`subject`), else the address.
 */
function subjectOf(request: FastifyRequest, userName: string | undefined, { issuer, subject }: Record<string, unknown>): Subject {
  if (userName !== undefined) return { budget: 'users', name: userName };
  if (subject !== undefined) return { budget: 'named', name: `identity ${JSON.stringify([issuer, subject])}` };
  return { budget: 'strangers', name: addressGroup(addressOf(request)) };
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
