/**
 * What happens to a token without a live session: usually nothing. If its use shows a theft, or is the first after expiry, the session is marked as
 * ended, so that one event is written.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import { insertEvent } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { SessionContext } from './context.ts';
import type { Database } from '../database/tables.ts';
import { revokeReused } from './revoke.ts';

/** Ends the session of a dead token, with an audit event, unless it has ended. */
export async function endSessionOfDeadToken(context: SessionContext, caller: Caller, tokenHash: Buffer): Promise<void> {
  // One statement for what is merely made up, which is what floods are made of.
  if (!(await isUnended(context.store.db, tokenHash))) return;
  const session = await context.store.transaction(async (trx) => {
    const reused = await revokeReused(trx, tokenHash);
    const ended = reused ?? (await revokeExpired(trx, tokenHash));
    if (ended) {
      const event = reused ? 'session.reuse_detected' : 'session.expired';
      await insertEvent(trx, caller.origin, { event, outcome: 'refused', userName: ended.userName, sessionId: ended.id });
    }
    return ended;
  });
  if (session) context.principals.forget(`session ${session.id}`);
}

/** Whether a session that is not marked as ended has this token, or had it before a transition. */
async function isUnended(db: Kysely<Database>, tokenHash: Buffer): Promise<boolean> {
  const row = await db
    .selectFrom('session')
    .where('revoked_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('token_hash', '=', tokenHash),
        eb('id', '=', eb.selectFrom('superseded_token').where('token_hash', '=', tokenHash).select('session_id')),
      ]),
    )
    .select('id')
    .executeTakeFirst();
  return row !== undefined;
}

async function revokeExpired(trx: Transaction<Database>, tokenHash: Buffer): Promise<{ id: string; userName: string } | undefined> {
  return await trx
    .updateTable('session')
    .from('user_account')
    .whereRef('user_account.id', '=', 'session.user_id')
    .where('session.token_hash', '=', tokenHash)
    .where('session.revoked_at', 'is', null)
    .where(sql<Date>`least(session.idle_expires_at, session.expires_at)`, '<=', sql<Date>`now()`)
    .set({ revoked_at: sql`now()`, revoked_reason: 'expired' })
    .returning(['session.id', 'user_account.name as userName'])
    .executeTakeFirst();
}
