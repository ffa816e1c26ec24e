/**
 * Which subject of which issuer stands for which user. A user is found by both and by nothing else, never by e-mail or by name (security
 * rule 56). Links are made and removed by an administrator, made by a user who proves both (`oidc/sign-in/link.ts`) and removed by that user
 * (`oidc/self-service.ts`), or made with a new user (`oidc/provisioning/provision.ts`).
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import { grantMap, type Principal } from '../authn/principal.ts';
import type { Database } from '../database/tables.ts';
import { grantsOf } from './profiles.ts';
import type { Account } from './users.ts';

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

/** The linked account with what its profiles follow; undefined when the identity is linked to none. */
export async function findClaimed(db: Kysely<Database>, { issuer, subject }: Identity): Promise<Claimed | undefined> {
  return await db
    .selectFrom('identity')
    .innerJoin('user_account', 'user_account.id', 'identity.user_id')
    .where('identity.issuer', '=', issuer)
    .where('identity.subject', '=', subject)
    .select([
      'user_account.id',
      'user_account.name',
      'user_account.active',
      'identity.claims_at as claimsAt',
      sql<string[]>`array(
        select profile.name from user_profile join profile on profile.id = user_profile.profile_id
        where user_profile.user_id = identity.user_id
      )`.as('profiles'),
    ])
    .executeTakeFirst();
}

export interface Claimed {
  id: string;
  name: string;
  active: boolean;
  /** When the newest token was issued whose claims have been applied; null when there is none yet. */
  claimsAt: Date | null;
  /** The names of all profiles that the user has. */
  profiles: string[];
}

/**
 * Whether the identity is linked to this user and no claims newer than `claimsAt` have been applied. Both stay so until the transaction ends. A
 * transaction that locks the user as well does so after this.
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

/** Notes that claims issued at `claimsAt` are the newest that have been applied. The identity must be locked by {@link lockClaims}. */
export async function updateClaimsAt(trx: Transaction<Database>, { issuer, subject }: Identity, claimsAt: Date): Promise<void> {
  await trx.updateTable('identity').set({ claims_at: claimsAt }).where('issuer', '=', issuer).where('subject', '=', subject).execute();
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

/**
 * Until the transaction ends, no other one makes a user for the identity, links it, or removes its link. It may be linked or not. A transaction
 * that locks its link or a user as well does so after this.
 */
export async function lockIdentity(trx: Transaction<Database>, { issuer, subject }: Identity): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${JSON.stringify([issuer, subject])}, 0))`.execute(trx);
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

/** A link of one user. */
export interface OwnLink extends Identity {
  /** The public handle, a UUID. */
  id: string;
  createdAt: Date;
}

const links = (db: Kysely<Database>, userId: string) =>
  db.selectFrom('identity').where('user_id', '=', userId).select(['id', 'issuer', 'subject', 'created_at as createdAt']);

/** The links of a user, the newest first. */
export function listLinks(db: Kysely<Database>, userId: string): Promise<OwnLink[]> {
  return links(db, userId).orderBy('created_at', 'desc').orderBy('id').execute();
}

/** The link of this user with this id; until the transaction ends no sign-in goes by it. Undefined when the user has no such link. */
export function lockOwnLink(trx: Transaction<Database>, id: string, userId: string): Promise<OwnLink | undefined> {
  return links(trx, userId).where('id', '=', id).forUpdate().executeTakeFirst();
}

/** What {@link deleteIdentity} has kept: when the newest token was issued whose claims a former link has applied; undefined when none. */
export async function findUnlinkedClaimsAt(trx: Transaction<Database>, { issuer, subject }: Identity): Promise<Date | undefined> {
  const row = await trx
    .selectFrom('unlinked_claims')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .select('claims_at')
    .executeTakeFirst();
  return row?.claims_at;
}

/**
 * Links the identity to the user; false when it is linked already, to this user or to another. Claims issued before `claimsAt` are not
 * applied, nor those that were too old for a former link. The identity must be locked by {@link lockIdentity}.
 */
export async function insertIdentity(
  trx: Transaction<Database>,
  { issuer, subject }: Identity,
  userId: string,
  claimsAt: Date | null = null,
): Promise<boolean> {
  const row = await trx
    .insertInto('identity')
    .values((eb) => ({
      issuer,
      subject,
      user_id: userId,
      claims_at: sql<Date | null>`greatest(${claimsAt}::timestamptz, ${eb
        .selectFrom('unlinked_claims')
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .select('claims_at')})`,
    }))
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Removes the link of the identity to this user and keeps the time of its claims (decision 62); false when there is none. The identity must
 * be locked by {@link lockIdentity}.
 */
export async function deleteIdentity(trx: Transaction<Database>, { issuer, subject }: Identity, userId: string): Promise<boolean> {
  const row = await trx
    .deleteFrom('identity')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('user_id', '=', userId)
    .returning('claims_at')
    .executeTakeFirst();
  if (!row) return false;
  if (row.claims_at) {
    await trx
      .insertInto('unlinked_claims')
      .values({ issuer, subject, claims_at: row.claims_at })
      .onConflict((conflict) =>
        conflict.columns(['issuer', 'subject']).doUpdateSet({ claims_at: sql`greatest(unlinked_claims.claims_at, excluded.claims_at)` }),
      )
      .execute();
  }
  return true;
}
