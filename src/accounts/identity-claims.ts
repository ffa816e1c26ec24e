/** The newest claims of an identity that have been applied to its user's profiles. Older claims are not applied (decision 62). */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import { linkedUser, type Identity } from './identities.ts';

export interface Claimed {
  id: string;
  name: string;
  active: boolean;
  /** The issue time of the newest token whose claims have been applied; null if there is none yet. */
  claimsAt: Date | null;
  /** Its claims that rules compare with fields; null if there are none yet. */
  claims: Record<string, unknown> | null;
  /** The names of all profiles that the user has. */
  profiles: string[];
}

/** The linked account with its profiles and the time of its claims; undefined if the identity is not linked. */
export function findClaimed(db: Kysely<Database>, identity: Identity): Promise<Claimed | undefined> {
  return linkedUser(db, identity)
    .select([
      'user_account.id',
      'user_account.name',
      'user_account.active',
      'identity.claims_at as claimsAt',
      'identity.claims',
      sql<string[]>`array(
        select profile.name from user_profile join profile on profile.id = user_profile.profile_id
        where user_profile.user_id = identity.user_id
      )`.as('profiles'),
    ])
    .executeTakeFirst();
}

/**
 * Whether the identity is linked to this user and no claims newer than `claimsAt` have been applied. Both stay so until the transaction
 * ends. A transaction that also locks the user does so after this.
 */
export async function lockClaims(
  trx: Transaction<Database>,
  { issuer, subject }: Identity,
  userId: string,
  claimsAt: Date,
): Promise<boolean> {
  const row = await trx
    .selectFrom('identity')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('user_id', '=', userId)
    .where((eb) => eb.or([eb('claims_at', 'is', null), eb('claims_at', '<=', claimsAt)]))
    .select('user_id')
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Stores `claimsAt` as the issue time of the newest applied claims, and those that rules compare with fields. The identity must be locked by {@link
 * lockClaims}, or be new.
 */
export async function updateClaims(
  trx: Transaction<Database>,
  { issuer, subject }: Identity,
  claimsAt: Date,
  claims: Record<string, unknown> | null,
): Promise<void> {
  await trx
    .updateTable('identity')
    .set({ claims_at: claimsAt, claims: claims && JSON.stringify(claims) })
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .execute();
}

/** The issue time of the newest token whose claims a former link has applied; undefined if there is none. */
export async function findUnlinkedClaimsAt(trx: Transaction<Database>, { issuer, subject }: Identity): Promise<Date | undefined> {
  const row = await trx
    .selectFrom('unlinked_claims')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .select('claims_at')
    .executeTakeFirst();
  return row?.claims_at;
}
