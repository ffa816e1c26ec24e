/**
 * The SQL of every principal. The statement that finds a credential joins `user_account` and {@link actingProfile}, and selects {@link
 * callerColumns} besides the columns of the credential. {@link principalOf} converts such a row to a principal.
 */
import { sql, type Expression, type RawBuilder } from 'kysely';
import type { GrantRow } from '../rights/vocabulary.ts';
import { builder } from '../database/driver/prepared.ts';
import { grantMap } from '../rights/permit.ts';
import type { Principal } from '../rights/principal.ts';

/**
 * The profile under which the caller acts, for a LEFT JOIN LATERAL after the table of the credential. `isMeant` is a condition on
 * `user_profile` and that table. No row if the user does not have such a profile now.
 */
export const actingProfile = (credential: 'session' | 'api_key' | 'identity' | 'holder', isMeant: RawBuilder<boolean>) =>
  builder
    .selectFrom('user_profile')
    .innerJoin('profile', 'profile.id', 'user_profile.profile_id')
    .where('user_profile.user_id', '=', sql.ref<string>(`${credential}.user_id`))
    .where(isMeant)
    .select(['profile.id', 'profile.name', 'profile.label', 'profile.locale', 'profile.attributes', 'user_profile.is_default'])
    .as('acting');

export const callerColumns = [
  'user_account.id as userId',
  'user_account.name as userName',
  'user_account.display_name as displayName',
  'user_account.attributes as userAttributes',
  'user_account.time_zone as timeZone',
  'acting.id as profileId',
  'acting.name as profileName',
  'acting.label',
  'acting.is_default as isDefault',
  'acting.attributes as profileAttributes',
  grantsOf(sql.ref('acting.id')).as('grants'),
] as const;

/** The locale of a caller whose credential has none: the profile's, else the user's, else English. */
export const callerLocale = sql<string>`coalesce(acting.locale, user_account.locale, 'en')`.as('locale');

/** The columns of {@link callerColumns}. The profile's columns are null for a user without the profile. */
export interface CallerRow {
  userId: string;
  userName: string;
  displayName: string;
  userAttributes: Record<string, unknown>;
  timeZone: string | null;
  profileId: string | null;
  profileName: string | null;
  label: string | null;
  isDefault: boolean | null;
  profileAttributes: Record<string, unknown> | null;
  grants: GrantRow[];
}

/** The principal of a row. `credential` has the members that come from the credential. */
export function principalOf(row: CallerRow, credential: Omit<Principal, 'user' | 'profile' | 'timeZone' | 'grants'>): Principal {
  const { profileId, profileName, label, timeZone } = row;
  return {
    user: { id: row.userId, name: row.userName, displayName: row.displayName, attributes: row.userAttributes },
    profile:
      profileId === null || profileName === null || label === null
        ? undefined
        : { id: profileId, name: profileName, label, default: row.isDefault === true, attributes: row.profileAttributes ?? {} },
    timeZone,
    grants: grantMap(row.grants),
    ...credential,
  };
}

/** The grants of the profile's roles as one JSON array; an empty one for a null profile. */
function grantsOf(profileId: Expression<unknown>): RawBuilder<GrantRow[]> {
  return sql<GrantRow[]>`(
    select coalesce(jsonb_agg(jsonb_build_object('entity', role_grant.entity, 'action', role_grant.action, 'condition', role_grant.condition)), '[]')
    from profile_role join role_grant on role_grant.role_id = profile_role.role_id
    where profile_role.profile_id = ${profileId}
  )`;
}
