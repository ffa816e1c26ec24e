/**
 * Links between users and identities. A statement finds a user by issuer and subject only, never by e-mail or name (rule 56). An
 * administrator creates and removes links. A user creates one by proving both sides (`oidc/sign-in/link.ts`) and removes it
 * (`oidc/self-service.ts`). A new user of an issuer gets one (`oidc/provisioning/provision.ts`).
 */
import { sql, type Expression, type Kysely, type Transaction } from 'kysely';
import { actingProfile, callerColumns, callerLocale, type CallerRow } from '../authn/caller-rows.ts';
import { builder, prepare } from '../database/driver/prepared.ts';
import type { Database } from '../database/tables.ts';
import { accountColumns, type Account } from './users.ts';

/** An issuer's name of a user: the exact `iss` and `sub` of its tokens. */
export interface Identity {
  issuer: string;
  subject: string;
}

export interface IdentityRow extends Identity {
  userName: string;
  createdAt: Date;
}

/** The user linked to the identity. Without a link it returns no row. The statement adds its own columns. */
export const linkedUser = (db: Kysely<Database>, { issuer, subject }: { [Key in keyof Identity]: string | Expression<string> }) =>
  db
    .selectFrom('identity')
    .innerJoin('user_account', 'user_account.id', 'identity.user_id')
    .where('identity.issuer', '=', issuer)
    .where('identity.subject', '=', subject);

/** The account to which the identity is linked, active or not; undefined without a link. */
export function findLinkedAccount(db: Kysely<Database>, identity: Identity): Promise<Account | undefined> {
  return linkedUser(db, identity).select(accountColumns).executeTakeFirst();
}

/** The caller of a request with a token of an issuer: the linked user under the default profile. */
export type LinkedCallerRow = CallerRow & { locale: string; active: boolean; claims: Record<string, unknown> | null };

const selectLinkedCaller = prepare<Identity, LinkedCallerRow>('identity.find-caller', (value) =>
  linkedUser(builder, { issuer: value('issuer'), subject: value('subject') })
    .leftJoinLateral(actingProfile('identity', sql`user_profile.is_default`), (join) => join.onTrue())
    .select(callerColumns)
    .select([callerLocale, 'user_account.active', 'identity.claims'])
    .compile(),
);

/** The caller of the identity, with the account active or not; undefined without a link. */
export async function findLinkedCaller(db: Kysely<Database>, identity: Identity): Promise<LinkedCallerRow | undefined> {
  const { rows } = await db.executeQuery(selectLinkedCaller.query(identity));
  return rows[0];
}

/** Whether the identity is linked to this user. The link stays until the transaction ends. */
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
 * Until the transaction ends, no other transaction creates a user for the identity, links it, or removes its link. The identity may be
 * linked or not. A transaction that also locks the link or a user locks this first.
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
  /** The public id, a UUID. */
  id: string;
  createdAt: Date;
}

const links = (db: Kysely<Database>, userId: string) =>
  db.selectFrom('identity').where('user_id', '=', userId).select(['id', 'issuer', 'subject', 'created_at as createdAt']);

/** The links of a user, the newest first. */
export function listLinks(db: Kysely<Database>, userId: string): Promise<OwnLink[]> {
  return links(db, userId).orderBy('created_at', 'desc').orderBy('id').execute();
}

/**
 * Locks and returns this user's link with this id: until the transaction ends no sign-in uses it. Undefined if the user has no such link.
 */
export function lockOwnLink(trx: Transaction<Database>, id: string, userId: string): Promise<OwnLink | undefined> {
  return links(trx, userId).where('id', '=', id).forUpdate().executeTakeFirst();
}

/**
 * Links the identity to the user; false if it is linked already, to this user or another. Claims issued before `claimsAt` will not be
 * applied, nor claims that were too old for a former link. The caller must have locked the identity by {@link lockIdentity}.
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
 * Removes the identity's link to this user and stores the time of its claims (decision 62); false if there is no such link. The caller must
 * have locked the identity by {@link lockIdentity}.
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
