/** Which API keys are live, and whom they stand for. It looks a key up by its public id; whoever asks must compare the hash. */
import { sql, type InferResult } from 'kysely';
import { grantMap, type Principal } from '../authn/principal.ts';
import { builder, prepare, type Executor } from '../database/driver/prepared.ts';
import { grantsOf } from '../accounts/profiles.ts';
import { lastUsedSeconds } from './store.ts';

export interface FoundKey {
  keyHash: Buffer;
  principal: Principal;
  /** What is left of its life. */
  lifeMilliseconds: number;
  /** Written to the minute. */
  lastUsed: 'never' | 'a while ago' | 'lately';
}

/** Live keys with all that a Principal holds, each under its own profile or else its owner's default one. */
const liveKeys = builder
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
    sql<FoundKey['lastUsed']>`case
      when api_key.last_used_at is null then 'never'
      when api_key.last_used_at < now() - make_interval(secs => ${lastUsedSeconds}) then 'a while ago'
      else 'lately'
    end`.as('lastUsed'),
    sql<number>`(extract(epoch from api_key.expires_at - now()) * 1000)::float8`.as('lifeMilliseconds'),
    grantsOf(eb.ref('profile.id')).as('grants'),
  ]);

const findLive = prepare<{ id: string }, InferResult<typeof liveKeys>[number]>('key.find', (value) =>
  liveKeys.where('api_key.id', '=', value('id')).compile(),
);

/**
 * The live key with this id and the caller behind it: its owner, active, under the key's profile or else the owner's default one. Undefined
 * for a key that is unknown, revoked, expired, or of a disabled user (rules 58 and 59). The caller must compare the hash, then touch the key.
 */
export async function findKey(reads: Executor, id: string): Promise<FoundKey | undefined> {
  const [row] = await findLive(reads, { id });
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
  return { keyHash: row.keyHash, principal, lifeMilliseconds: row.lifeMilliseconds, lastUsed: row.lastUsed };
}
