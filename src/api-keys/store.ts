/** API keys. The database has only hashes; a key is shown once, when it is created. */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import type { Scope } from '../rights/vocabulary.ts';
import { Problem } from '../problems/errors.ts';
import { hashKey, newKey } from './key.ts';

/** Minimum interval in seconds between two updates of a key's last use (rule 58). */
export const lastUsedSeconds = 60;
/** Maximum number of live keys of one user (rule 60). */
export const liveKeysPerUser = 25;

export interface NewKey {
  userId: string;
  name: string;
  /** Must be one of the user's profiles; null for the profile that is the user's default one whenever the key is used. */
  profileId: string | null;
  /** Null for no ceiling. */
  scopes: readonly Scope[] | null;
  /** 1 to 365 (rule 58). */
  expiresInDays: number;
}

/** A key as its owner and administrators see it: without the secret. */
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

/** Updates the key's last use. */
export async function touchKey(db: Kysely<Database>, id: string): Promise<void> {
  await db
    .updateTable('api_key')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', id)
    .where('last_used_at', '<', sql<Date>`now() - make_interval(secs => ${lastUsedSeconds})`)
    .execute();
}

/** Records the first use of the key; false if it has been used before. */
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
 * Creates a key and returns it. The key itself is not stored. Throws 409 `conflict` if the user has {@link liveKeysPerUser} live keys.
 * Locks the user's row, so that concurrent creations are counted one after the other.
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
      // In hours, because a day of a time zone with daylight saving may have 23 or 25.
      expires_at: sql`now() + make_interval(hours => ${wanted.expiresInDays * 24}::int)`,
    })
    .returning(['created_at as createdAt', 'expires_at as expiresAt'])
    .executeTakeFirstOrThrow();
  return { id, key, ...times };
}

/** The keys of a user, or of all users, by owner and then by age: live and expired ones, without revoked ones. */
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

/** Revokes a key of `userId`, or of any user for undefined. False if there is no such unrevoked key. */
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

/** The attributes that a key's successor takes over. */
export interface ReplaceableKey {
  name: string;
  profileId: string | null;
  profile: string | null;
  scopes: Scope[] | null;
  /** The lifetime of the key at its creation, not the remaining one. */
  expiresInDays: number;
  /** Whether the key has a successor already. */
  replaced: boolean;
}

/** Locks and returns the live key of this user with this id; undefined if there is none. */
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

/** Records that a key has a successor and limits its remaining lifetime to `overlapSeconds`; returns its new end. */
export async function replaceKey(trx: Transaction<Database>, id: string, overlapSeconds: number): Promise<Date> {
  const { worksUntil } = await trx
    .updateTable('api_key')
    .set({ replaced_at: sql`now()`, expires_at: sql`least(expires_at, now() + make_interval(secs => ${overlapSeconds}))` })
    .where('id', '=', id)
    .returning('expires_at as worksUntil')
    .executeTakeFirstOrThrow();
  return worksUntil;
}

/** The name of the owner of a key, whether live, expired or revoked; undefined if there is no such key. */
export async function findOwner(db: Kysely<Database>, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('api_key')
    .innerJoin('user_account', 'user_account.id', 'api_key.user_id')
    .where('api_key.id', '=', id)
    .select('user_account.name')
    .executeTakeFirst();
  return row?.name;
}
