/** The session table. `live` (verify.ts) is in every WHERE. Tokens arrive as hashes only. */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import { hashToken, isToken } from './token.ts';
import { live } from './verify.ts';

/** A session is refreshed at most so often within a minute (rule 18). */
const refreshesPerMinute = 6;

export interface Lifetimes {
  sessionIdleSeconds: number;
  sessionAbsoluteSeconds: number;
}

/**
 * Replaces the token of a live session: a compare-and-swap, so of several callers with the same old token one wins and the others get
 * undefined (rule 19). With `refresh` the idle deadline moves and the old token serves ten more seconds, at most six times a minute.
 * With any other change the old token, and those that refreshes have replaced before, are dead at COMMIT (`verify.ts`).
 */
export async function rotateToken(
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

/** Whether the text is a token that this service has given to a session, live or not. The database is asked only about text of that shape. */
export async function isSessionToken(db: Kysely<Database>, text: string): Promise<boolean> {
  if (!isToken(text)) return false;
  const tokenHash = hashToken(text);
  const row = await db
    .selectFrom('session')
    .where('token_hash', '=', tokenHash)
    .select('token_hash')
    .unionAll(db.selectFrom('superseded_token').where('token_hash', '=', tokenHash).select('token_hash'))
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Deletes up to `limit` tokens that another profile or password has replaced more than an hour ago; returns how many. Those matter only in
 * the moment in which a logout meets such a change. A token replaced by a refresh is stored as long as its session, to recognise its reuse.
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
