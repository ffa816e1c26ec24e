/** API keys. Only hashes are stored; a key is shown once, when it is made. */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database, Scope } from '../database/tables.ts';
import { Problem } from '../errors.ts';
import { hashKey, newKey } from './key.ts';

/** How often the use of a key is written down (rule 58). */
export const lastUsedSeconds = 60;
/** As many live keys one user may have (rule 60). */
export const liveKeysPerUser = 25;

export interface NewKey {
  userId: string;
  name: string;
  /** Must be one of the user's profiles; null for whichever is the user's default when the key is used. */
  profileId: string | null;
  /** Null narrows nothing. */
  scopes: readonly Scope[] | null;
  /** 1 to 365 (rule 58). */
  expiresInDays: number;
}

/** A key as its owner and administrators see it: everything but the secret. */
export interface KeyRow {
  id: string;
  name: string;
  userName: string;
  /** Null: the owner's default profile. */
  profile: string | null;
  scopes: Scope[] | null;
  createdAt: Date;
  expiresAt: Date;
  /** To the minute. */
  lastUsedAt: Date | null;
  /** By the database's clock. */
  expired: boolean;
}

/** Notes that the key is in use again. */
export async function touchKey(db: Kysely<Database>, id: string): Promise<void> {
  await db
    .updateTable('api_key')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', id)
    .where('last_used_at', '<', sql<Date>`now() - make_interval(secs => ${lastUsedSeconds})`)
    .execute();
}

/** Notes that the key is in use; false when it has been in use before. */
export async function touchUnusedKey(db: Kysely<Database>, id: string): Promise<boolean> {
  const row = await db
    .updateTable('api_key')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', id)
    .where('last_used_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Makes a key and returns it, the only time it is seen. Throws 409 `conflict` when the user has {@link liveKeysPerUser} live ones. The
 * user's row is locked, so that keys made at once are counted one after the other.
 */
export async function insertKey(
  trx: Transaction<Database>,
  wanted: NewKey,
): Promise<{ id: string; key: string; createdAt: Date; expiresAt: Date }> {
  await trx.selectFrom('user_account').where('id', '=', wanted.userId).select('id').forNoKeyUpdate().executeTakeFirstOrThrow();
  const { live } = await trx
    .selectFrom('api_key')
    .where('user_id', '=', wanted.userId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .select(sql<number>`count(*)::int`.as('live'))
    .executeTakeFirstOrThrow();
  if (live >= liveKeysPerUser) throw new Problem('conflict');
  const { id, key } = newKey();
  const times = await trx
    .insertInto('api_key')
    .values({
      id,
      key_hash: hashKey(key),
      user_id: wanted.userId,
      name: wanted.name,
      profile_id: wanted.profileId,
      scopes: wanted.scopes && JSON.stringify(wanted.scopes),
      // Hours, since a day of a time zone with daylight saving may have 23 or 25.
      expires_at: sql`now() + make_interval(hours => ${wanted.expiresInDays * 24}::int)`,
    })
    .returning(['created_at as createdAt', 'expires_at as expiresAt'])
    .executeTakeFirstOrThrow();
  return { id, key, ...times };
}

/** The keys of a user, or of all users, by owner and then by age: live and expired ones, not those that were revoked. */
export function listKeys(db: Kysely<Database>, userId?: string): Promise<KeyRow[]> {
  return db
    .selectFrom('api_key')
    .innerJoin('user_account', 'user_account.id', 'api_key.user_id')
    .leftJoin('profile', 'profile.id', 'api_key.profile_id')
    .where('api_key.revoked_at', 'is', null)
    .$if(userId !== undefined, (query) => query.where('api_key.user_id', '=', userId ?? ''))
    .select([
      'api_key.id',
      'api_key.name',
      'user_account.name as userName',
      'profile.name as profile',
      'api_key.scopes',
      'api_key.created_at as createdAt',
      'api_key.expires_at as expiresAt',
      'api_key.last_used_at as lastUsedAt',
      sql<boolean>`api_key.expires_at <= now()`.as('expired'),
    ])
    .orderBy('user_account.name')
    .orderBy('api_key.created_at')
    .execute();
}

/** Ends a key of `userId`, or of whomever for undefined. False when there is no such key that has not been revoked. */
export async function revokeKey(trx: Kysely<Database>, id: string, userId?: string): Promise<boolean> {
  const row = await trx
    .updateTable('api_key')
    .set({ revoked_at: sql`now()` })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** What a key's successor is to be like. */
export interface ReplaceableKey {
  name: string;
  profileId: string | null;
  profile: string | null;
  scopes: Scope[] | null;
  /** As it was made, not what is left. */
  expiresInDays: number;
  /** Whether it has a successor already. */
  replaced: boolean;
}

/** The live key of this user with this id, which nobody else changes before the transaction ends; undefined when there is none. */
export function lockKey(trx: Transaction<Database>, id: string, userId: string): Promise<ReplaceableKey | undefined> {
  return trx
    .selectFrom('api_key')
    .leftJoin('profile', 'profile.id', 'api_key.profile_id')
    .where('api_key.id', '=', id)
    .where('api_key.user_id', '=', userId)
    .where('api_key.revoked_at', 'is', null)
    .where('api_key.expires_at', '>', sql<Date>`now()`)
    .select([
      'api_key.name',
      'api_key.profile_id as profileId',
      'profile.name as profile',
      'api_key.scopes',
      sql<number>`round(extract(epoch from api_key.expires_at - api_key.created_at) / 86400)::int`.as('expiresInDays'),
      sql<boolean>`api_key.replaced_at is not null`.as('replaced'),
    ])
    .forUpdate('api_key')
    .executeTakeFirst();
}

/** Notes that a key has a successor and lets it work for `overlapSeconds` more at most; returns until when that is. */
export async function replaceKey(trx: Transaction<Database>, id: string, overlapSeconds: number): Promise<Date> {
  const { worksUntil } = await trx
    .updateTable('api_key')
    .set({ replaced_at: sql`now()`, expires_at: sql`least(expires_at, now() + make_interval(secs => ${overlapSeconds}))` })
    .where('id', '=', id)
    .returning('expires_at as worksUntil')
    .executeTakeFirstOrThrow();
  return worksUntil;
}

/** The name of the user to whom a key belongs, be it live, expired or revoked; undefined when there is no such key. */
export async function findOwner(db: Kysely<Database>, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('api_key')
    .innerJoin('user_account', 'user_account.id', 'api_key.user_id')
    .where('api_key.id', '=', id)
    .select('user_account.name')
    .executeTakeFirst();
  return row?.name;
}
