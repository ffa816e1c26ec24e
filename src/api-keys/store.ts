/** API keys. Only hashes are stored; a key is shown once, when it is made. */
import { sql, type Kysely } from 'kysely';
import { grantMap, type Principal } from '../authn/principal.ts';
import type { Database } from '../database/tables.ts';
import { grantsOf } from '../profiles/store.ts';

const lastUsedSeconds = 60;

export interface FoundKey {
  keyHash: Buffer;
  principal: Principal;
  /** What is left of its life. */
  lifeMilliseconds: number;
}

/**
 * The live key with this id and the caller behind it: its owner, active, under the key's profile or else the owner's default one. Undefined
 * for a key that is unknown, revoked, expired, or of a disabled user (rules 58 and 59). The caller must compare the hash.
 */
export async function findKey(db: Kysely<Database>, id: string): Promise<FoundKey | undefined> {
  const row = await db
    .selectFrom('api_key')
    .innerJoin('user_account', 'user_account.id', 'api_key.user_id')
    .leftJoin('user_profile', (join) =>
      join
        .onRef('user_profile.user_id', '=', 'api_key.user_id')
        .on(
          sql<boolean>`case when api_key.profile_id is null then user_profile.is_default else user_profile.profile_id = api_key.profile_id end`,
        ),
    )
    .leftJoin('profile', 'profile.id', 'user_profile.profile_id')
    .where('api_key.id', '=', id)
    .where('api_key.revoked_at', 'is', null)
    .where('api_key.expires_at', '>', sql<Date>`now()`)
    .where('user_account.active', '=', true)
    .select((eb) => [
      'api_key.key_hash as keyHash',
      'api_key.scopes',
      'user_account.id as userId',
      'user_account.name as userName',
      'user_account.display_name as displayName',
      sql<string>`coalesce(profile.locale, user_account.locale, 'en')`.as('locale'),
      'profile.id as profileId',
      'profile.name as profileName',
      'profile.label',
      'user_profile.is_default as isDefault',
      sql<Date>`now()`.as('now'),
      sql<boolean>`coalesce(api_key.last_used_at < now() - make_interval(secs => ${lastUsedSeconds}), true)`.as('stale'),
      sql<number>`(extract(epoch from api_key.expires_at - now()) * 1000)::float8`.as('lifeMilliseconds'),
      grantsOf(eb.ref('profile.id')).as('grants'),
    ])
    .executeTakeFirst();
  if (!row) return undefined;
  const { profileId, profileName, label } = row;
  const principal: Principal = {
    user: { id: row.userId, name: row.userName, displayName: row.displayName },
    profile:
      profileId === null || profileName === null || label === null
        ? undefined
        : { id: profileId, name: profileName, label, default: row.isDefault === true },
    locale: row.locale,
    method: 'api-key',
    issuer: null,
    authenticatedAt: row.now,
    session: undefined,
    grants: grantMap(row.grants),
    scopes: row.scopes,
  };
  if (row.stale) await touchKey(db, id);
  return { keyHash: row.keyHash, principal, lifeMilliseconds: row.lifeMilliseconds };
}

/** Notes that the key is in use. */
async function touchKey(db: Kysely<Database>, id: string): Promise<void> {
  await db
    .updateTable('api_key')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', id)
    .where((eb) =>
      eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', sql<Date>`now() - make_interval(secs => ${lastUsedSeconds})`)]),
    )
    .execute();
}
