/** Finds live API keys and their principals by public id. The caller must compare the hash. */
import { sql, type InferResult } from 'kysely';
import { actingProfile, callerColumns, callerLocale, principalOf } from '../authn/caller-rows.ts';
import type { Principal } from '../rights/principal.ts';
import { builder, prepare } from '../database/driver/prepared.ts';
import type { Store } from '../database/port.ts';
import { lastUsedSeconds } from './store.ts';

export interface FoundKey {
  keyHash: Buffer;
  principal: Principal;
  /** Milliseconds until the key expires. */
  lifeMs: number;
  /** The last recorded use, to the minute. */
  lastUsed: 'never' | 'a while ago' | 'lately';
}

/** Live keys with all columns of a Principal: under the key's own profile, or else its owner's default one. */
const liveKeys = builder
  .selectFrom('api_key')
  .innerJoin('user_account', 'user_account.id', 'api_key.user_id')
  .leftJoinLateral(
    actingProfile(
      'api_key',
      sql`case when api_key.profile_id is null then user_profile.is_default else user_profile.profile_id = api_key.profile_id end`,
    ),
    (join) => join.onTrue(),
  )
  .where('api_key.revoked_at', 'is', null)
  .where('api_key.expires_at', '>', sql<Date>`now()`)
  .where('user_account.active', '=', true)
  .select(callerColumns)
  .select([
    'api_key.key_hash as keyHash',
    'api_key.scopes',
    callerLocale,
    sql<Date>`now()`.as('now'),
    sql<FoundKey['lastUsed']>`case
      when api_key.last_used_at is null then 'never'
      when api_key.last_used_at < now() - make_interval(secs => ${lastUsedSeconds}) then 'a while ago'
      else 'lately'
    end`.as('lastUsed'),
    sql<number>`(extract(epoch from api_key.expires_at - now()) * 1000)::float8`.as('lifeMs'),
  ]);

const findLive = prepare<{ id: string }, InferResult<typeof liveKeys>[number]>('key.find', (value) =>
  liveKeys.where('api_key.id', '=', value('id')).compile(),
);

/**
 * The live key with this id, and its principal: the owner under the key's profile, or else under the owner's default one. Undefined for a
 * key that is unknown, revoked, expired, or of a disabled user (rules 58 and 59). The caller must compare the hash, then update the last
 * use.
 */
export async function findKey(store: Store, id: string): Promise<FoundKey | undefined> {
  const [row] = await store.read(findLive, { id });
  if (!row) return undefined;
  const { locale, now: authenticatedAt, scopes } = row;
  const credential = `key:${id}`;
  const claims = {};
  const principal = principalOf(row, {
    locale,
    method: 'api-key',
    issuer: null,
    authenticatedAt,
    credential,
    session: undefined,
    scopes,
    claims,
  });
  return { keyHash: row.keyHash, principal, lifeMs: row.lifeMs, lastUsed: row.lastUsed };
}
