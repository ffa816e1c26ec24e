/**
 * The session table. A session is live while it is not revoked, not past its idle or absolute deadline by the database's clock, and its
 * user is active under the same credential version; every statement here says so in its WHERE. Tokens arrive as hashes only.
 */
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import { eventsOfSessions, type AuditEvent, type Origin } from '../audit/store.ts';
import type { Principal } from '../authn/principal.ts';
import type { Database, Scope, SessionMethod } from '../database/tables.ts';
import { live, principalOf, principals, type PrincipalRow } from './verify.ts';

/** A session is refreshed at most so often within a minute (rule 18). */
const refreshesPerMinute = 6;
/** More live sessions than this end the longest idle one (rule 13). */
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
  /** When its absolute lifetime began; undefined: now. Never counts as later than now. */
  authenticatedAt: Date | undefined;
  /** Of the identity that opens it. */
  subject?: string | undefined;
  /** The issuer's `sid`, and where the issuer ends its own session, of a sign-in there. */
  issuerSessionId?: string | undefined;
  endSessionUrl?: string | undefined;
}

/** What the audit trail is told when a session is opened, besides which others that has ended. */
export interface SessionEvents {
  origin: Origin;
  userName: string;
  events: Required<Pick<AuditEvent, 'event' | 'detail'>>[];
}

export interface Lifetimes {
  sessionIdleSeconds: number;
  sessionAbsoluteSeconds: number;
}

/**
 * Opens a session under the user's default profile, writes `events`, and returns who is signed in now, unless that has to be looked up; undefined when the
 * user was disabled or the password changed since `credentialVersion` was read, or its absolute lifetime is over already. The longest idle
 * sessions beyond fifty are ended; their ids are `evicted`. It is one statement, so all of it happens or nothing; `besides` is evaluated in it when there is a session.
 */
export async function open(
  db: Kysely<Database>,
  session: NewSession,
  { sessionIdleSeconds, sessionAbsoluteSeconds }: Lifetimes,
  { origin, userName, events }: SessionEvents,
  besides: RawBuilder<unknown> = sql`null`,
): Promise<{ principal: Principal | undefined; evicted: string[] } | undefined> {
  // The row is not in the table yet for the statement that inserts it, so what the function has returned goes by the table's name.
  const { rows } = await sql<PrincipalRow & { evicted: string[]; openedUnder: string | null }>`
    with session as materialized (
      select (opened).*, evicted, ${besides} from open_session(
        ${session.tokenHash}, ${session.userId}, ${session.credentialVersion}, ${session.method}, ${session.issuer}, ${session.subject},
        ${session.issuerSessionId}, ${session.endSessionUrl}, ${session.scopes && JSON.stringify(session.scopes)}, ${session.locale},
        ${session.authenticatedAt}, ${sessionIdleSeconds}, ${sessionAbsoluteSeconds}, ${origin.address}, ${origin.userAgent},
        ${liveSessionsPerUser}
      )
    ),
    happened as (
      select event, id as session_id, detail from session, jsonb_to_recordset(${JSON.stringify(events)}) as events (event text, detail jsonb)
      union all select 'session.evicted', unnest(evicted), '{}' from session
    ),
    noted as (${eventsOfSessions(origin, userName, sql.ref('happened'))})
    ${principals.select(['session.profile_id as openedUnder', sql<string[]>`evicted`.as('evicted')])}`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  // The function has waited for who changed the user, and sees what they have left; the rest of the statement does not.
  const isCurrent = row.openedUnder === row.profileId && row.isDefault !== false;
  return { principal: isCurrent ? principalOf(row, session.tokenHash) : undefined, evicted: row.evicted };
}

/**
 * Replaces the token of a live session: a compare-and-swap, so of several callers with the same old token one wins and the others get
 * undefined (rule 19). With `refresh` the idle deadline moves and the old token serves ten more seconds, at most six times a minute;
 * otherwise it is dead at commit.
 */
export async function rotate(
  trx: Transaction<Database>,
  oldHash: Buffer,
  newHash: Buffer,
  change: { refresh: Lifetimes } | { profileId: string; locale: string | undefined } | { credentialVersion: number },
): Promise<string | undefined> {
  const row = await trx
    .updateTable('session')
    .from('user_account')
    .whereRef('user_account.id', '=', 'session.user_id')
    .where('session.token_hash', '=', oldHash)
    .where(live)
    .$if('refresh' in change, (query) => query.where(recentRefreshes, '<', refreshesPerMinute))
    .set({
      token_hash: newHash,
      last_seen_at: sql`now()`,
      ...('refresh' in change && {
        idle_expires_at: sql`least(now() + make_interval(secs => ${change.refresh.sessionIdleSeconds}), session.expires_at)`,
      }),
      ...('profileId' in change && { profile_id: change.profileId, ...(change.locale !== undefined && { locale: change.locale }) }),
      ...('credentialVersion' in change && { credential_version: change.credentialVersion }),
    })
    .returning('session.id')
    .executeTakeFirst();
  if (row) {
    const superseded = { token_hash: oldHash, session_id: row.id, refreshed: 'refresh' in change };
    await trx.insertInto('superseded_token').values(superseded).execute();
  }
  return row?.id;
}

/**
 * Deletes up to `limit` tokens that another profile or password has replaced more than an hour ago; returns how many. Those say nothing
 * beyond the moment in which a logout meets such a change; one replaced by a refresh is kept as long as its session, to recognise its reuse.
 */
export async function deleteReplacedTokens(db: Kysely<Database>, limit: number): Promise<number> {
  const result = await sql`
    delete from superseded_token where token_hash in (
      select token_hash from superseded_token
      where not refreshed and superseded_at < now() - interval '1 hour'
      limit ${limit} for update skip locked)`.execute(db);
  return Number(result.numAffectedRows ?? 0);
}

/** How often the session of the row has been refreshed within the last minute. */
const recentRefreshes = sql<number>`(
  select count(*)::integer from superseded_token
  where superseded_token.session_id = session.id and refreshed and superseded_at > now() - interval '1 minute'
)`;

/** How many seconds from now the session may be refreshed again; undefined when it may now. */
export async function refreshWaitSeconds(db: Kysely<Database>, id: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('session')
    .where('id', '=', id)
    .where(recentRefreshes, '>=', refreshesPerMinute)
    .select(
      sql<number>`(
        select greatest(1, ceil(extract(epoch from min(recent.superseded_at) + interval '1 minute' - now())))::integer
        from (select superseded_at from superseded_token where session_id = session.id and refreshed order by superseded_at desc limit ${refreshesPerMinute}) recent
      )`.as('seconds'),
    )
    .executeTakeFirst();
  return row?.seconds;
}
