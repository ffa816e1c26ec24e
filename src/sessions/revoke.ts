/**
 * How sessions end: each of these statements ends those that are still live, and returns what the audit event and the notice need. The row stays;
 * its token is invalid from the commit on.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import { graceSeconds, isPredecessor } from './verify.ts';

/** Why a session ended, as stored and audited. */
export type RevocationReason =
  | 'logout'
  | 'login'
  | 'password-changed'
  | 'disabled'
  | 'evicted'
  | 'reuse-detected'
  | 'expired'
  | 'unlinked'
  | 'revoked'
  | 'issuer-logout';

/**
 * Ends the session that has or had this token; returns its id and user, or undefined when there was no live one. When a transition is
 * just replacing the token, the first statement waits for it and finds nothing, and the second sees what it has left (rule 21).
 */
export async function revokeByToken(
  db: Kysely<Database>,
  tokenHash: Buffer,
  reason: RevocationReason,
): Promise<{ id: string; userName: string; endSessionUrl: string | null } | undefined> {
  const revoked = await revocation(db, reason).where('session.token_hash', '=', tokenHash).executeTakeFirst();
  if (revoked) return revoked;
  return await revocation(db, reason)
    .where('session.id', '=', (eb) => eb.selectFrom('superseded_token').where('token_hash', '=', tokenHash).select('session_id'))
    .executeTakeFirst();
}

const revocation = (db: Kysely<Database>, reason: RevocationReason) =>
  db
    .updateTable('session')
    .from('user_account')
    .whereRef('user_account.id', '=', 'session.user_id')
    .where('session.revoked_at', 'is', null)
    .set({ revoked_at: sql`now()`, revoked_reason: reason })
    .returning(['session.id', 'user_account.name as userName', 'session.end_session_url as endSessionUrl']);

/**
 * Ends the session whose long superseded token is used again: two parties hold it, and one of them stole it (rule 20, RFC 9700 section
 * 4.14.2). Undefined when the token was never ours, or its session is over already.
 */
export function revokeReused(trx: Kysely<Database>, tokenHash: Buffer): Promise<{ id: string; userName: string } | undefined> {
  return revocation(trx, 'reuse-detected')
    .where('session.id', '=', (eb) =>
      eb
        .selectFrom('superseded_token')
        .where('token_hash', '=', tokenHash)
        .where('refreshed', '=', true)
        .where('superseded_at', '<=', sql<Date>`now() - make_interval(secs => ${graceSeconds})`)
        // The token may have become a predecessor again since it was looked for.
        .where((inner) => inner.not(sql<boolean>`coalesce(${isPredecessor}, false)`))
        .select('session_id'),
    )
    .executeTakeFirst();
}

/** Ends all live sessions of a user but `exceptId`, if given, and returns the ids of those it ended. */
export async function revokeOthers(
  db: Kysely<Database>,
  userId: string,
  exceptId: string | undefined,
  reason: RevocationReason,
): Promise<string[]> {
  const rows = await db
    .updateTable('session')
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .$if(exceptId !== undefined, (query) => query.where('id', '<>', exceptId ?? ''))
    .set({ revoked_at: sql`now()`, revoked_reason: reason })
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}

/** Ends the session whose present token this is. A superseded token ends nothing. */
export async function revokePresent(db: Kysely<Database>, tokenHash: Buffer): Promise<void> {
  await db
    .updateTable('session')
    .where('token_hash', '=', tokenHash)
    .where('revoked_at', 'is', null)
    .set({ revoked_at: sql`now()`, revoked_reason: 'revoked' })
    .execute();
}

/** Ends the live sessions that a user opened through an identity, by its tokens as well, and returns the ids of those it ended. */
export async function revokeOfIdentity(
  db: Kysely<Database>,
  userId: string,
  { issuer, subject }: { issuer: string; subject: string },
  reason: RevocationReason,
): Promise<string[]> {
  const rows = await db
    .updateTable('session')
    .where('user_id', '=', userId)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('revoked_at', 'is', null)
    .set({ revoked_at: sql`now()`, revoked_reason: reason })
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}

/** What an issuer says is over: its own session called `issuerSessionId`, or all that the subject has had there, or what is both. */
export interface IssuerLogout {
  issuer: string;
  subject: string | undefined;
  issuerSessionId: string | undefined;
  /** Sessions opened here later have nothing to do with it. */
  openedBefore: Date;
}

/** Ends the live sessions that were opened through what is over at the issuer, and returns their ids and users. */
export function revokeAtIssuer(
  trx: Transaction<Database>,
  { issuer, subject, issuerSessionId, openedBefore }: IssuerLogout,
): Promise<{ id: string; userName: string }[]> {
  return revocation(trx, 'issuer-logout')
    .where('session.issuer', '=', issuer)
    .where('session.created_at', '<', openedBefore)
    .$if(subject !== undefined, (query) => query.where('session.subject', '=', subject ?? ''))
    .$if(issuerSessionId !== undefined, (query) => query.where('session.issuer_session_id', '=', issuerSessionId ?? ''))
    .execute();
}
