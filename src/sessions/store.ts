/** The session table. `live` (verify.ts) is in every WHERE. Tokens arrive as hashes only. */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import { hashToken, isToken } from './token.ts';
import { graceSeconds, isPredecessor, isLiveSession } from './verify.ts';

/** A session is refreshed at most so often within a minute (rule 18). */
const refreshesPerMinute = 6;

export interface Lifetimes {
  sessionIdleSeconds: number;
  sessionAbsoluteSeconds: number;
}

/** The changes of a transition besides the token. */
export type TokenChange = { refresh: Lifetimes } | { profileId: string; locale: string | undefined } | { credentialVersion: number };

/**
 * Replaces the token of a live session: a compare-and-swap, so of several callers with the same old token one wins and the others get
 * undefined (rule 19). `oldHash` may also be the predecessor of a token that is older than ten seconds and was never used, which it then replaces. With
 * `refresh` the idle deadline moves, at most six times a minute, and the old token serves ten more seconds. After a change of the password all older
 * tokens are dead at COMMIT. After any other change the old token goes on until the first use of the new one (`verify.ts`).
 */
export async function rotateToken(
  trx: Transaction<Database>,
  oldHash: Buffer,
  newHash: Buffer,
  change: TokenChange,
): Promise<string | undefined> {
  const id = await swapToken(trx, oldHash, { newHash, oldHash }, change);
  if (id !== undefined) return id;
  const unused = await lockUnusedToken(trx, oldHash);
  return unused && (await swapToken(trx, unused, { newHash, oldHash }, change));
}

/** Swaps the present token, for a request that carried `oldHash`: the present one, or its predecessor. */
async function swapToken(
  trx: Transaction<Database>,
  presentHash: Buffer,
  { newHash, oldHash }: { newHash: Buffer; oldHash: Buffer },
  change: TokenChange,
): Promise<string | undefined> {
  const ends = 'credentialVersion' in change;
  const row = await trx
    .updateTable('session')
    .from('user_account')
    .whereRef('user_account.id', '=', 'session.user_id')
    .where('session.token_hash', '=', presentHash)
    .where(isLiveSession)
    .$if('refresh' in change, (query) => query.where(recentRefreshes, '<', refreshesPerMinute))
    .set({
      token_hash: newHash,
      unused_token_hash: ends ? null : newHash,
      predecessor_hash: ends ? null : oldHash,
      last_seen_at: sql`now()`,
      ...('refresh' in change && {
        idle_expires_at: sql`least(now() + make_interval(secs => ${change.refresh.sessionIdleSeconds}), session.expires_at)`,
      }),
      ...('profileId' in change && { profile_id: change.profileId, ...(change.locale !== undefined && { locale: change.locale }) }),
      ...('credentialVersion' in change && { credential_version: change.credentialVersion }),
    })
    .returning('session.id')
    .executeTakeFirst();
  if (!row) return undefined;
  const superseded = { superseded_at: sql<Date>`now()`, refreshed: 'refresh' in change };
  // All tokens that no used one has replaced go on together.
  if (presentHash !== oldHash)
    await trx
      .updateTable('superseded_token')
      .set(superseded)
      .where('session_id', '=', row.id)
      .where('superseded_at', '>=', (eb) =>
        eb.selectFrom('superseded_token as replaced').where('replaced.token_hash', '=', oldHash).select('replaced.superseded_at'),
      )
      .execute();
  await trx
    .insertInto('superseded_token')
    .values({
      token_hash: presentHash,
      session_id: row.id,
      refreshed: superseded.refreshed,
      refreshed_at: superseded.refreshed ? sql<Date>`now()` : null,
    })
    .onConflict((conflict) => conflict.column('token_hash').doUpdateSet(superseded))
    .execute();
  return row.id;
}

/** Locks the session whose unused token has this predecessor, and returns the hash of that token; undefined while its answer may be under way. */
async function lockUnusedToken(trx: Transaction<Database>, predecessor: Buffer): Promise<Buffer | undefined> {
  const row = await sessionWithUnusedToken(trx, predecessor).forUpdate('session').executeTakeFirst();
  return row?.tokenHash;
}

const sessionWithUnusedToken = (db: Kysely<Database>, predecessor: Buffer) =>
  db
    .selectFrom('session')
    .innerJoin('superseded_token', 'superseded_token.session_id', 'session.id')
    .where('superseded_token.token_hash', '=', predecessor)
    .where('superseded_token.superseded_at', '<=', sql<Date>`now() - make_interval(secs => ${graceSeconds})`)
    .where(isPredecessor)
    .select('session.token_hash as tokenHash');

/** Whether the token may refresh its session although another one has replaced it: {@link rotateToken}. */
export async function isPredecessorToken(db: Kysely<Database>, tokenHash: Buffer): Promise<boolean> {
  return (await sessionWithUnusedToken(db, tokenHash).executeTakeFirst()) !== undefined;
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

/** Days for which an ended session is stored, so that a reuse of its tokens is still detected and audited. */
const endedSessionDays = 1;

/** Deletes up to `limit` sessions that ended more than a day ago; returns their number. Replicas do not wait for each other. */
export async function deleteEndedSessions(db: Kysely<Database>, limit: number): Promise<number> {
  const deadline = sql<Date>`now() - make_interval(days => ${endedSessionDays})`;
  const { numDeletedRows } = await db
    .deleteFrom('session')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('session')
        .where((over) =>
          over.or([over('revoked_at', '<', deadline), over('idle_expires_at', '<', deadline), over('expires_at', '<', deadline)]),
        )
        .select('id')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/**
 * Deletes up to `limit` tokens that another profile or password has replaced more than an hour ago; returns how many. Those matter only in
 * the moment in which a logout meets such a change, unless the new token was never used. A token replaced by a refresh is stored as long as its session, to recognise its reuse.
 */
export async function deleteReplacedTokens(db: Kysely<Database>, limit: number): Promise<number> {
  const result = await sql`
    delete from superseded_token where token_hash in (
      select token_hash from superseded_token
      where not refreshed and superseded_at < now() - interval '1 hour'
        and not exists (select from session where session.id = superseded_token.session_id and ${isPredecessor})
      limit ${limit} for update skip locked)`.execute(db);
  return Number(result.numAffectedRows ?? 0);
}

/** How often the session of the row has been refreshed within the last minute. */
const recentRefreshes = sql<number>`(
  select count(*)::integer from superseded_token
  where superseded_token.session_id = session.id and refreshed_at > now() - interval '1 minute'
)`;

/** How many seconds from now the session may be refreshed again; undefined when it may now. */
export async function refreshWaitSeconds(db: Kysely<Database>, id: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('session')
    .where('id', '=', id)
    .where(recentRefreshes, '>=', refreshesPerMinute)
    .select(
      sql<number>`(
        select greatest(1, ceil(extract(epoch from min(recent.refreshed_at) + interval '1 minute' - now())))::integer
        from (
          select refreshed_at from superseded_token where session_id = session.id and refreshed_at is not null
          order by refreshed_at desc limit ${refreshesPerMinute}
        ) recent
      )`.as('seconds'),
    )
    .executeTakeFirst();
  return row?.seconds;
}
