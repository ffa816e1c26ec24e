/**
 * The audit trail (security rule 85): what happened to credentials, rights and entities, written in the transaction of what it records.
 * Never a secret, a body, or a typed name that no user has.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { builder } from '../database/driver/prepared.ts';
import type { Origin } from '../network/origin.ts';
import type { Store } from '../database/port.ts';
import type { Database } from '../database/tables.ts';

/** Every event there is. docs/audit.md explains them; a test compares both. */
export const auditEvents = [
  'login.ok',
  'login.failed',
  'login.throttled',
  'login.locked',
  'logout',
  'session.created',
  'session.rotated',
  'session.revoked',
  'session.evicted',
  'session.reuse_detected',
  'session.expired',
  'profile.changed',
  'password.changed',
  'password.refused',
  'csrf.refused',
  'permission.denied',
  'rate.limited',
  'user.created',
  'user.updated',
  'user.disabled',
  'user.enabled',
  'user.unlocked',
  'role.created',
  'role.updated',
  'role.granted',
  'role.revoked',
  'role.deleted',
  'profile.created',
  'profile.updated',
  'profile.deleted',
  'profile.assigned',
  'profile.removed',
  'profile.unknown',
  'attribute.declared',
  'attribute.removed',
  'rights.applied',
  'api_key.created',
  'api_key.revoked',
  'api_key.rotated',
  'api_key.first_used',
  'api_key.refused',
  'entity.created',
  'entity.updated',
  'entity.deleted',
  'entity.restored',
  'entity.purged',
  'entity.exported',
  'type.declared',
  'type.changed',
  'type.deleted',
  'token.refused',
  'oidc.started',
  'oidc.completed',
  'oidc.failed',
  'identity.linked',
  'identity.unlinked',
  'database.copied',
  'database.backed_up',
  'database.restored',
  'retention.changed',
  'secret.rotated',
  'retention.applied',
  'configuration.loaded',
  'service.start',
  'service.stop',
  'fault',
] as const;
export type AuditEventName = (typeof auditEvents)[number];

export interface AuditEvent {
  event: AuditEventName;
  outcome: 'ok' | 'refused' | 'failed';
  /** Undefined if the user is unknown. */
  userName?: string | undefined;
  sessionId?: string | undefined;
  detail?: Record<string, unknown>;
}

/**
 * Makes the statement that writes one event with the outcome `ok` for each row of `rows`. `value` gives the expressions of the values that
 * come from a request; those of `event`, `sessionId` and `detail` come from the row.
 */
export function eventsFrom(
  rows: RawBuilder<unknown>,
  value: (name: 'userName' | 'requestId' | 'address' | 'userAgent') => RawBuilder<unknown>,
  { event, sessionId, detail }: Record<'event' | 'sessionId' | 'detail', RawBuilder<unknown>>,
): RawBuilder<unknown> {
  return sql`
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select ${event}, 'ok', ${value('userName')}, ${sessionId}, ${value('requestId')}, ${value('address')}, ${value('userAgent')}, ${detail}
    from ${rows}`;
}

/** Makes the statement that writes one event. `origin` is undefined for what no request caused, such as a command of the command line. */
export function eventInsertion(db: Kysely<Database>, origin: Origin | undefined, event: AuditEvent) {
  return db.insertInto('audit_event').values({
    event: event.event,
    outcome: event.outcome,
    user_name: event.userName ?? null,
    session_id: event.sessionId ?? null,
    request_id: origin?.requestId ?? null,
    address: origin?.address ?? null,
    user_agent: origin?.userAgent ?? null,
    detail: JSON.stringify(event.detail ?? {}),
  });
}

/** Writes one event, see {@link eventInsertion}. */
export async function insertEvent(db: Kysely<Database>, origin: Origin | undefined, event: AuditEvent): Promise<void> {
  await eventInsertion(db, origin, event).execute();
}

/** An event as it was written, or as an older version wrote it. */
export interface EventRow {
  /** Goes up with every event; text, since it has 64 bits. */
  id: string;
  at: Date;
  event: string;
  outcome: 'ok' | 'refused' | 'failed';
  user: string | null;
  requestId: string | null;
  session: string | null;
  address: string | null;
  userAgent: string | null;
  detail: Record<string, unknown>;
}

export interface EventFilter {
  user?: string | undefined;
  event?: string | undefined;
  since?: Date | undefined;
  /** The entity name that the event names in its detail, and the key of the entity. */
  entity?: string | undefined;
  key?: string | undefined;
}

/** The latest `limit` events that match, the latest first, leaving out those with an id of `before` or more. */
export function listEvents(
  reads: Pick<Store, 'query'>,
  { user, event, since, entity, key }: EventFilter,
  limit: number,
  before?: string,
): Promise<EventRow[]> {
  const query = builder
    .selectFrom('audit_event')
    .$if(user !== undefined, (query) => query.where('user_name', '=', user ?? ''))
    .$if(event !== undefined, (query) => query.where('event', '=', event ?? ''))
    .$if(since !== undefined, (query) => query.where('at', '>=', sql<Date>`${since?.toISOString()}::timestamptz`))
    .$if(entity !== undefined, (query) => query.where(sql`detail ->> 'entity'`, '=', entity))
    .$if(key !== undefined, (query) => query.where(sql`detail ->> 'key'`, '=', key))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .select([
      'id',
      'at',
      'event',
      'outcome',
      'user_name as user',
      'request_id as requestId',
      'session_id as session',
      'address',
      'user_agent as userAgent',
      'detail',
    ])
    .orderBy('id', 'desc')
    .limit(limit);
  return reads.query(query.compile());
}
