/**
 * Which subject of which issuer stands for which user. A user is found by both and by nothing else, never by e-mail or by name (security
 * rule 56). Links are made and removed by an administrator.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import { insertEvent, type Origin } from '../audit/store.ts';
import { grantMap, type Principal } from '../authn/principal.ts';
import { transact } from '../database/failure.ts';
import type { Database } from '../database/tables.ts';
import { grantsOf } from '../profiles/store.ts';
import { revokeOfIssuer } from '../sessions/store.ts';
import type { Account } from './store.ts';

/** A user as one issuer knows them: the exact `iss` and `sub` of its tokens. */
export interface Identity {
  issuer: string;
  subject: string;
}

export interface IdentityRow extends Identity {
  userName: string;
  createdAt: Date;
}

/** The account that the identity is linked to, active or not; undefined when it is linked to none. */
export function findLinkedAccount(db: Kysely<Database>, { issuer, subject }: Identity): Promise<Account | undefined> {
  return db
    .selectFrom('identity')
    .innerJoin('user_account', 'user_account.id', 'identity.user_id')
    .where('identity.issuer', '=', issuer)
    .where('identity.subject', '=', subject)
    .select([
      'user_account.id',
      'user_account.name',
      'user_account.display_name as displayName',
      'user_account.locale',
      'user_account.password_hash as passwordHash',
      'user_account.credential_version as credentialVersion',
      'user_account.active',
    ])
    .executeTakeFirst();
}

/** What the database has of a caller who presents a token: the linked user under the default profile. */
export type LinkedCaller = Pick<Principal, 'user' | 'profile' | 'locale' | 'grants'> & { active: boolean };

/** The caller behind the identity, the account active or not; undefined when it is linked to none. */
export async function findLinkedCaller(db: Kysely<Database>, { issuer, subject }: Identity): Promise<LinkedCaller | undefined> {
  const row = await db
    .selectFrom('identity')
    .innerJoin('user_account', 'user_account.id', 'identity.user_id')
    .leftJoin('user_profile', (join) =>
      join.onRef('user_profile.user_id', '=', 'identity.user_id').on('user_profile.is_default', '=', true),
    )
    .leftJoin('profile', 'profile.id', 'user_profile.profile_id')
    .where('identity.issuer', '=', issuer)
    .where('identity.subject', '=', subject)
    .select((eb) => [
      'user_account.id',
      'user_account.name',
      'user_account.display_name as displayName',
      'user_account.active',
      sql<string>`coalesce(profile.locale, user_account.locale, 'en')`.as('locale'),
      'profile.id as profileId',
      'profile.name as profileName',
      'profile.label',
      grantsOf(eb.ref('profile.id')).as('grants'),
    ])
    .executeTakeFirst();
  if (!row) return undefined;
  const { profileId, profileName, label } = row;
  return {
    user: { id: row.id, name: row.name, displayName: row.displayName },
    profile:
      profileId === null || profileName === null || label === null ? undefined : { id: profileId, name: profileName, label, default: true },
    locale: row.locale,
    grants: grantMap(row.grants),
    active: row.active,
  };
}

/** Whether the identity is linked to this user, and stays so until the transaction ends. */
export async function lockLink(trx: Transaction<Database>, { issuer, subject }: Identity, userId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('identity')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('user_id', '=', userId)
    .select('user_id')
    .forKeyShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** All links, or those of the user called `userName`, by user, issuer and subject. */
export function listIdentities(db: Kysely<Database>, userName?: string): Promise<IdentityRow[]> {
  return db
    .selectFrom('identity')
    .innerJoin('user_account', 'user_account.id', 'identity.user_id')
    .$if(userName !== undefined, (query) => query.where('user_account.name', '=', userName ?? ''))
    .select(['user_account.name as userName', 'identity.issuer', 'identity.subject', 'identity.created_at as createdAt'])
    .orderBy('user_account.name')
    .orderBy('identity.issuer')
    .orderBy('identity.subject')
    .execute();
}

/** What became of a wish to link: it is so now, it was so already, the identity is another user's, or there is no such user. */
export type LinkOutcome = 'linked' | 'already-linked' | 'taken' | 'unknown-user';

/** Links the identity to the user called `userName`, with an audit event. An identity of another user stays theirs. */
export async function linkIdentity(
  db: Kysely<Database>,
  { issuer, subject }: Identity,
  userName: string,
  origin?: Origin,
): Promise<LinkOutcome> {
  return await transact(db, async (trx) => {
    const user = await trx.selectFrom('user_account').where('name', '=', userName).select('id').executeTakeFirst();
    if (!user) return 'unknown-user';
    const inserted = await trx
      .insertInto('identity')
      .values({ issuer, subject, user_id: user.id })
      .onConflict((conflict) => conflict.doNothing())
      .returning('user_id')
      .executeTakeFirst();
    if (!inserted) return (await lockLink(trx, { issuer, subject }, user.id)) ? 'already-linked' : 'taken';
    await insertEvent(trx, origin, { event: 'identity.linked', outcome: 'ok', userName, detail: { issuer, subject } });
    return 'linked';
  });
}

/**
 * Removes the link and ends the sessions that the user opened through this issuer, with an audit event. False when the identity is not
 * linked to the user called `userName`.
 */
export async function unlinkIdentity(
  db: Kysely<Database>,
  { issuer, subject }: Identity,
  userName: string,
  origin?: Origin,
): Promise<boolean> {
  return await transact(db, async (trx) => {
    const removed = await trx
      .deleteFrom('identity')
      .using('user_account')
      .whereRef('user_account.id', '=', 'identity.user_id')
      .where('user_account.name', '=', userName)
      .where('identity.issuer', '=', issuer)
      .where('identity.subject', '=', subject)
      .returning('identity.user_id as userId')
      .executeTakeFirst();
    if (!removed) return false;
    // After the DELETE: a sign-in holds the link until it has committed (lockLink), so its session is seen here.
    const ended = await revokeOfIssuer(trx, removed.userId, issuer, 'revoked');
    const detail = { issuer, subject, endedSessions: ended.length };
    await insertEvent(trx, origin, { event: 'identity.unlinked', outcome: 'ok', userName, detail });
    return true;
  });
}
