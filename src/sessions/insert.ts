/** The statement that opens a session and writes what goes with it: ended sessions, audit events, the decided attempt. */
import { sql, type Kysely } from 'kysely';
import { eventsFrom, type AuditEvent } from '../audit/store.ts';
import type { Origin } from '../network/origin.ts';
import type { Principal } from '../rights/principal.ts';
import { builder, prepare } from '../database/driver/prepared.ts';
import type { Database } from '../database/tables.ts';
import type { Scope, SessionMethod } from '../rights/vocabulary.ts';
import type { Subjects } from '../credentials/attempts.ts';
import type { Lifetimes } from './store.ts';
import { principalOfSession, sessionCallers, type SessionCallerRow } from './verify.ts';

/** More live sessions than this end the longest idle one, those of tokens first (rule 13, decision 60). */
const liveSessionsPerUser = 50;

export interface NewSession {
  tokenHash: Buffer;
  userId: string;
  /** As read before the password was hashed: a session must not outlive a change made meanwhile (rule 44). */
  credentialVersion: number;
  method: SessionMethod;
  issuer: string | null;
  scopes: Scope[] | null;
  /** As asked for; else the default profile's, else the user's, else English. */
  locale: string | undefined;
  /** The time at which its absolute lifetime began; undefined: now. Never counts as later than now. */
  authenticatedAt: Date | undefined;
  /** The time at which the user signed in at the issuer (`auth_time`); undefined if the issuer did not say. A password counts as verified now. */
  signedInAt?: Date | undefined;
  /** Of the identity that opens it. */
  subject?: string | undefined;
  /** The issuer's `sid` of a sign-in there. `endSessionUrl` is where the issuer ends its own session. */
  issuerSessionId?: string | undefined;
  endSessionUrl?: string | undefined;
}

/** The events in the audit trail of a session that is opened, besides the sessions that this ends. */
export interface SessionEvents {
  origin: Origin;
  userName: string;
  events: Required<Pick<AuditEvent, 'event' | 'detail'>>[];
}

/** The values of the statement. */
interface SessionValues extends Omit<NewSession, 'scopes'>, Lifetimes, Origin {
  /** JSON texts. */
  scopes: string | null;
  events: string;
  userName: string;
  /** Of the attempt that the statement decides; undefined without one. */
  attemptAccount: Buffer | undefined;
  attemptAddress: Buffer | undefined;
}

type OpenedRow = SessionCallerRow & { evicted: string[]; openedUnder: string | null };

const eventColumns = { event: sql.ref('event'), sessionId: sql.ref('session_id'), detail: sql.ref('detail') };

// The statement that inserts the row does not see it in the table, so it takes the row from what the function returns.
const statement = prepare<SessionValues, OpenedRow>('session.open', (value) =>
  sql<OpenedRow>`
    with new_session as materialized (
      select (opened).*, evicted,
        case when ${value('attemptAccount')}::bytea is not null
          then end_login_attempt(${value('attemptAccount')}, ${value('attemptAddress')}, 'succeeded') end
      from open_session(
        ${value('tokenHash')}, ${value('userId')}, ${value('credentialVersion')}, ${value('method')}, ${value('issuer')},
        ${value('subject')}, ${value('issuerSessionId')}, ${value('endSessionUrl')}, ${value('scopes')}, ${value('locale')},
        ${value('authenticatedAt')}, ${value('sessionIdleSeconds')}, ${value('sessionAbsoluteSeconds')}, ${value('address')},
        ${value('userAgent')}, ${sql.lit(liveSessionsPerUser)}, ${value('signedInAt')}
      )
    ),
    happened as (
      select event, id as session_id, detail from new_session, jsonb_to_recordset(${value('events')}) as events (event text, detail jsonb)
      union all select 'session.evicted', unnest(evicted), '{}' from new_session
    ),
    noted as (${eventsFrom(sql.ref('happened'), value, eventColumns)})
    ${sessionCallers('new_session').select(['session.profile_id as openedUnder', sql<string[]>`session.evicted`.as('evicted')])}`.compile(
    builder,
  ),
);

/**
 * Opens a session under the user's default profile, writes `events`, and decides `attempt` as good. Ends the longest idle sessions beyond fifty, whose
 * ids it returns as `evicted`. `principal` is undefined when it has to be read by another statement. Returns undefined, and changes nothing, when
 * the user was disabled or the password changed after `credentialVersion` was read, or the absolute lifetime is over. One statement does all of it.
 */
export async function insertSession(
  db: Kysely<Database>,
  session: NewSession,
  { sessionIdleSeconds, sessionAbsoluteSeconds }: Lifetimes,
  { origin, userName, events }: SessionEvents,
  attempt?: Subjects,
): Promise<{ principal: Principal | undefined; evicted: string[] } | undefined> {
  const query = statement.query({
    ...session,
    ...origin,
    sessionIdleSeconds,
    sessionAbsoluteSeconds,
    scopes: session.scopes && JSON.stringify(session.scopes),
    events: JSON.stringify(events),
    userName,
    attemptAccount: attempt?.account,
    attemptAddress: attempt?.address,
  });
  const [row] = (await db.executeQuery(query)).rows;
  if (!row) return undefined;
  // The function waits for a transaction that changes the user, and sees its result. The rest of the statement sees the state before.
  const isCurrent = row.openedUnder === row.profileId && row.isDefault !== false;
  return { principal: isCurrent ? principalOfSession(row, session.tokenHash) : undefined, evicted: row.evicted };
}
