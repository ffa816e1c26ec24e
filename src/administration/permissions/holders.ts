/** Users as callers of requests that are not sent: by a session of a profile, or by a key. */
import { sql, type Kysely } from 'kysely';
import { findKey } from '../../api-keys/verify.ts';
import { actingProfile, callerColumns, callerLocale, principalOf } from '../../authn/caller-rows.ts';
import type { Store } from '../../database/port.ts';
import type { Database } from '../../database/tables.ts';
import { Problem } from '../../problems/errors.ts';
import type { Principal } from '../../rights/principal.ts';

/** A user with the profile or the credential of a request. */
export interface WantedHolder {
  user: string;
  /** The default one if undefined. */
  profile?: string | undefined;
  /** The id of a key of the user; a session if undefined. */
  key?: string | undefined;
}

/** The user as the caller of a request. Throws 404 `not-found` for a user, a profile of the user, or a live key that does not exist. */
export async function getHolder(store: Store, { user, profile, key }: WantedHolder): Promise<Principal> {
  if (key !== undefined) {
    const found = await findKey(store, key);
    if (found?.principal.user.name !== user) throw absentProblem('/key', { key });
    return found.principal;
  }
  const isMeant = profile === undefined ? sql<boolean>`user_profile.is_default` : sql<boolean>`profile.name = ${profile}`;
  const [row] = await holders(store.db, isMeant).where('user_account.name', '=', user).execute();
  if (!row) throw absentProblem('/user', { user });
  if (profile !== undefined && row.profileName === null) throw absentProblem('/profile', { profile });
  return sessionOf(row);
}

const absentProblem = (pointer: string, values: { user: string } | { profile: string } | { key: string }): Problem =>
  new Problem('not-found', { faults: [{ code: 'absent', pointer, values }] });

/** Each active user with each of the profiles, by name. */
export async function listHolders(db: Kysely<Database>, profiles: readonly string[]): Promise<Principal[]> {
  const rows = await holders(db, sql<boolean>`profile.name = any(${profiles})`)
    .where('active', '=', true)
    .where('acting.id', 'is not', null)
    .orderBy('user_account.name')
    .orderBy('acting.name')
    .execute();
  return rows.map(sessionOf);
}

const holders = (db: Kysely<Database>, isMeant: ReturnType<typeof sql<boolean>>) =>
  db
    .selectFrom('user_account')
    .innerJoinLateral(sql<{ user_id: string }>`(select user_account.id as user_id)`.as('holder'), (join) => join.onTrue())
    .leftJoinLateral(actingProfile('holder', isMeant), (join) => join.onTrue())
    .select(callerColumns)
    .select([callerLocale, sql<Date>`now()`.as('now')]);

type HolderRow = Awaited<ReturnType<ReturnType<typeof holders>['execute']>>[number];

/** A session by password, which has no claims. */
function sessionOf({ locale, now: authenticatedAt, ...row }: HolderRow): Principal {
  const credential = { method: 'password', issuer: null, credential: 'command', session: undefined, scopes: null, claims: {} } as const;
  return principalOf(row, { locale, authenticatedAt, ...credential });
}
