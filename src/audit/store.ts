/**
 * The audit trail (security rule 85): what happened to credentials, rights and entities, written in the transaction of what it records.
 * Never a secret, never a body, never what somebody typed who is not known.
 */
import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';

/** Every event there is. docs/audit.md explains them; a test compares both. */
export const auditEvents = [
  'login.ok',
  'login.failed',
  'login.throttled',
  'logout',
  'session.created',
  'session.rotated',
  'session.revoked',
  'session.evicted',
  'session.reuse_detected',
  'profile.changed',
  'password.changed',
  'password.refused',
  'csrf.refused',
  'user.created',
  'user.disabled',
  'user.enabled',
  'user.unlocked',
  'role.created',
  'role.granted',
  'role.revoked',
  'profile.created',
  'profile.assigned',
  'profile.removed',
  'api_key.created',
  'api_key.revoked',
] as const;
export type AuditEventName = (typeof auditEvents)[number];

/** Where a request came from. */
export interface Origin {
  requestId: string;
  address: string;
  userAgent: string | undefined;
}

export interface AuditEvent {
  event: AuditEventName;
  outcome: 'ok' | 'refused' | 'failed';
  /** Undefined where nobody is known; never what was merely typed. */
  userName?: string | undefined;
  sessionId?: string | undefined;
  detail?: Record<string, unknown>;
}

/** The origin of a request, the user agent cut to 256 characters (rule 84). */
export function originOf(request: FastifyRequest): Origin {
  return { requestId: request.id, address: request.ip, userAgent: request.headers['user-agent']?.slice(0, 256) };
}

/** Writes one event. `origin` is undefined for what no request caused, such as an administrator's command. */
export async function insertEvent(db: Kysely<Database>, origin: Origin | undefined, event: AuditEvent): Promise<void> {
  await db
    .insertInto('audit_event')
    .values({
      event: event.event,
      outcome: event.outcome,
      user_name: event.userName ?? null,
      session_id: event.sessionId ?? null,
      request_id: origin?.requestId ?? null,
      address: origin?.address ?? null,
      user_agent: origin?.userAgent ?? null,
      detail: JSON.stringify(event.detail ?? {}),
    })
    .execute();
}
