/**
 * The sessions of one user, as that user may see and end them. What ends here is one transaction with its audit events, and is over in
 * every process before the caller is answered.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import { insertEvent } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal, SessionRecord } from '../rights/principal.ts';
import type { SessionContext } from './context.ts';
import type { Database } from '../database/tables.ts';
import type { SessionMethod } from '../rights/vocabulary.ts';
import { Problem } from '../problems/errors.ts';
import { lockAccount } from '../accounts/users.ts';
import { isLiveSession } from './verify.ts';

export interface OwnSession {
  id: string;
  createdAt: Date;
  lastSeenAt: Date;
  idleExpiresAt: Date;
  expiresAt: Date;
  address: string | null;
  userAgent: string | null;
  method: SessionMethod;
  issuer: string | null;
  /** The name of the active profile, if it is still one of the user's. */
  profile: string | null;
}

/** The session that asks. Throws 403 `forbidden` for a caller without one. */
export function sessionOf({ session }: Principal): SessionRecord {
  if (!session) throw new Problem('forbidden');
  return session;
}

/** The live sessions of a user, the newest first. */
export function listOwn(db: Kysely<Database>, userId: string): Promise<OwnSession[]> {
  return db
    .selectFrom('session')
    .innerJoin('user_account', 'user_account.id', 'session.user_id')
    .leftJoin('user_profile', (join) =>
      join.onRef('user_profile.user_id', '=', 'session.user_id').onRef('user_profile.profile_id', '=', 'session.profile_id'),
    )
    .leftJoin('profile', 'profile.id', 'user_profile.profile_id')
    .where('session.user_id', '=', userId)
    .where(isLiveSession)
    .select([
      'session.id',
      'session.created_at as createdAt',
      'session.last_seen_at as lastSeenAt',
      'session.idle_expires_at as idleExpiresAt',
      'session.expires_at as expiresAt',
      'session.address',
      'session.user_agent as userAgent',
      'session.method',
      'session.issuer',
      'profile.name as profile',
    ])
    .orderBy('session.created_at', 'desc')
    .orderBy('session.id')
    .execute();
}

/** Ends one of the caller's live sessions, the one that asks included. Throws 404 `not-found` for any other id, 401 as {@link revoke}. */
export async function revokeOwn(context: SessionContext, caller: Caller, principal: Principal, id: string): Promise<void> {
  if ((await revoke(context, caller, principal, { only: id })) === 0) throw new Problem('not-found');
}

/** Ends the caller's live sessions but the one that asks, and returns how many those were. Throws 401 as {@link revoke}. */
export function revokeAllOthers(context: SessionContext, caller: Caller, principal: Principal): Promise<number> {
  return revoke(context, caller, principal, 'others');
}

/**
 * Makes a transaction wait for every other one that changes what this user has, and goes on only if the session that asks is live then.
 * Throws 401 when it is not: what has been ended may not act any more, however long its request has been under way.
 */
export async function lockCaller(trx: Transaction<Database>, principal: Principal): Promise<void> {
  const { id, credentialVersion } = sessionOf(principal);
  if (!(await lockAccount(trx, principal.user.id, credentialVersion))) throw new Problem('unauthenticated');
  const row = await trx
    .selectFrom('session')
    .innerJoin('user_account', 'user_account.id', 'session.user_id')
    .where('session.id', '=', id)
    .where(isLiveSession)
    .select('session.id')
    .forUpdate('session')
    .executeTakeFirst();
  if (!row) throw new Problem('unauthenticated');
}

/** Ends what `which` names and returns how many sessions that was. Throws 401 when the session that asks has ended meanwhile. */
async function revoke(context: SessionContext, caller: Caller, principal: Principal, which: { only: string } | 'others'): Promise<number> {
  const { id: currentId } = sessionOf(principal);
  const { id: userId, name: userName } = principal.user;
  const ended = await context.store.transaction(async (trx) => {
    await lockCaller(trx, principal);
    const rows = await trx
      .updateTable('session')
      .from('user_account')
      .whereRef('user_account.id', '=', 'session.user_id')
      .where('session.user_id', '=', userId)
      .where('session.id', which === 'others' ? '<>' : '=', which === 'others' ? currentId : which.only)
      .where(isLiveSession)
      .set({ revoked_at: sql`now()`, revoked_reason: sql`case session.id when ${currentId} then 'logout' else 'revoked' end` })
      .returning('session.id')
      .execute();
    for (const { id: sessionId } of rows) {
      const own = sessionId === currentId;
      const detail = own ? {} : { bySession: currentId };
      await insertEvent(trx, caller.origin, { event: own ? 'logout' : 'session.revoked', outcome: 'ok', userName, sessionId, detail });
    }
    return rows;
  });
  for (const { id } of ended) context.principals.forget(`session ${id}`);
  if (ended.length > 0) await context.listener.settle();
  return ended.length;
}
