/**
 * The session table. A session is live while it is not revoked, not past its idle or absolute deadline by the database's clock, and its
 * user is active under the same credential version; every statement here says so in its WHERE. Tokens arrive as hashes only.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database, Scope, SessionMethod } from '../database/tables.ts';
import { Problem } from '../errors.ts';
import { lockAccount } from '../users/store.ts';
import { live } from './verify.ts';

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
  address: string;
  userAgent: string | undefined;
  /** Of the identity that opens it. */
  subject?: string | undefined;
  /** The issuer's `sid`, and where the issuer ends its own session, of a sign-in there. */
  issuerSessionId?: string | undefined;
  endSessionUrl?: string | undefined;
}

export interface Lifetimes {
  sessionIdleSeconds: number;
  sessionAbsoluteSeconds: number;
}

/**
 * Opens a session under the user's default profile and returns its id; undefined when the user was disabled or the password changed since
 * `credentialVersion` was read. The longest idle sessions beyond fifty are ended; their ids are `evicted`. Throws 401 `invalid-token` when
 * the absolute lifetime of the session is over already.
 */
export async function insert(
  trx: Transaction<Database>,
  session: NewSession,
  lifetimes: Lifetimes,
): Promise<{ id: string; evicted: string[] } | undefined> {
  // Locking the user's row puts the sign-ins of one user in a row, so that fifty is fifty, and a password change before or after them.
  if (!(await lockAccount(trx, session.userId, session.credentialVersion))) return undefined;
  const began = session.authenticatedAt ? sql<Date>`least(${session.authenticatedAt}::timestamptz, now())` : sql<Date>`now()`;
  const expires = sql<Date>`${began} + make_interval(secs => ${lifetimes.sessionAbsoluteSeconds})`;
  const { id, live: begins } = await trx
    .insertInto('session')
    .values({
      token_hash: session.tokenHash,
      user_id: session.userId,
      profile_id: sql`(select profile_id from user_profile where user_id = ${session.userId} and is_default)`,
      method: session.method,
      issuer: session.issuer,
      scopes: session.scopes && JSON.stringify(session.scopes),
      locale: sql`coalesce(
        ${session.locale ?? null},
        (select profile.locale from user_profile join profile on profile.id = profile_id where user_id = ${session.userId} and is_default),
        (select locale from user_account where id = ${session.userId}),
        'en'
      )`,
      credential_version: session.credentialVersion,
      authenticated_at: began,
      idle_expires_at: sql`least(now() + make_interval(secs => ${lifetimes.sessionIdleSeconds}), ${expires})`,
      expires_at: expires,
      address: session.address,
      user_agent: session.userAgent ?? null,
      subject: session.subject ?? null,
      issuer_session_id: session.issuerSessionId ?? null,
      end_session_url: session.endSessionUrl ?? null,
    })
    .returning(['id', sql<boolean>`expires_at > now()`.as('live')])
    .executeTakeFirstOrThrow();
  if (!begins) throw new Problem('invalid-token');
  const evicted = await trx
    .updateTable('session')
    .set({ revoked_at: sql`now()`, revoked_reason: 'evicted' })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('session')
        .where('user_id', '=', session.userId)
        .where('revoked_at', 'is', null)
        .where('idle_expires_at', '>', sql<Date>`now()`)
        .where('expires_at', '>', sql<Date>`now()`)
        .where('id', '<>', id)
        .orderBy('last_seen_at', 'desc')
        .offset(liveSessionsPerUser - 1)
        .select('id'),
    )
    .returning('id')
    .execute();
  return { id, evicted: evicted.map((row) => row.id) };
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

/** Whether this is the present token of a session that has not been revoked. */
export async function isLive(db: Kysely<Database>, tokenHash: Buffer): Promise<boolean> {
  const row = await db
    .selectFrom('session')
    .where('token_hash', '=', tokenHash)
    .where('revoked_at', 'is', null)
    .select('id')
    .executeTakeFirst();
  return row !== undefined;
}
