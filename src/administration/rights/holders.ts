/** The people and keys that have profiles, and what a change takes from all of them. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../../database/tables.ts';
import type { RightsDocuments } from '../../rights/documents.ts';
import { rightsOfProfile } from '../../rights/plan.ts';
import type { Scope } from '../../rights/vocabulary.ts';

interface KeyHolder {
  name: string;
  user: string;
  scopes: readonly Scope[] | null;
}

/** The holders of a profile. */
export interface ProfileHolders {
  /** Active users that have the profile. */
  people: number;
  /** Up to ten names of users that have it, disabled ones too. */
  users: readonly string[];
  /** Live keys under the profile, also as the default one of their owners. */
  keys: readonly KeyHolder[];
}

export async function readHolders(db: Kysely<Database>): Promise<ReadonlyMap<string, ProfileHolders>> {
  const { rows } = await sql<ProfileHolders & { profile: string }>`
    select profile.name as profile,
      (select count(*) filter (where active)::int from user_profile join user_account on user_account.id = user_id where profile_id = profile.id) as people,
      array(select name from user_profile join user_account on user_account.id = user_id where profile_id = profile.id order by name limit 10) as users,
      (select coalesce(json_agg(json_build_object('name', api_key.name, 'user', user_account.name, 'scopes', scopes) order by user_account.name, api_key.name), '[]')
        from api_key join user_account on user_account.id = api_key.user_id join user_profile using (user_id)
        where user_profile.profile_id = profile.id and active and revoked_at is null and expires_at > now()
          and (api_key.profile_id = profile.id or (api_key.profile_id is null and is_default))) as keys
    from profile`.execute(db);
  return new Map(rows.map(({ profile, ...holders }) => [profile, holders]));
}

/** A right that no user has any more, or a key that loses all its rights. */
export type Lock = { entity: string; action: string } | { key: string; user: string };

/** The locks of a change. A right on every name is another one than that on a single name, and covers it. */
export function locksOf(before: RightsDocuments, after: RightsDocuments, holders: ReadonlyMap<string, ProfileHolders>): Lock[] {
  const profiles = [...before.profiles.keys()].map((name) => {
    const { people = 0, keys = [] } = holders.get(name) ?? {};
    return { people, keys, had: rightsOfProfile(before, name), has: rightsOfProfile(after, name) };
  });
  const inUse = profiles.filter(({ people }) => people > 0);
  const left = new Set(inUse.flatMap(({ has }) => Array.from(has)));
  const isLeft = (right: string) => left.has(right) || left.has(right.replace(/^\S+/, '*'));
  const lost = new Set(inUse.flatMap(({ had }) => Array.from(had)).filter((right) => !isLeft(right)));
  const locked = profiles.flatMap(({ keys, had, has }) => keys.filter(({ scopes }) => reaches(scopes, had) && !reaches(scopes, has)));
  const actions = [...lost].toSorted().map((right) => {
    const [entity = '', action = ''] = right.split(' ');
    return { entity, action };
  });
  return [...actions, ...locked.map(({ name, user }) => ({ key: name, user }))];
}

/** Whether a key with the scopes can use one of the rights. */
function reaches(scopes: readonly Scope[] | null, rights: ReadonlySet<string>): boolean {
  return [...rights].some((right) => {
    const [entity, action] = right.split(' ');
    return (
      scopes === null ||
      scopes.some(
        (scope) => scope.actions.some((each) => each === action) && [entity, '*'].some((name) => name === scope.entity || entity === '*'),
      )
    );
  });
}
