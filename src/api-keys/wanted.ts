/** What is asked of a new API key, and whether its user may have it. */
import type { Transaction } from 'kysely';
import { findProfile, listProfiles, listRoles } from '../accounts/profiles.ts';
import type { Database } from '../database/tables.ts';
import type { Scope } from '../rights/vocabulary.ts';
import { Problem } from '../problems/errors.ts';
import { expectedOneOf } from '../problems/expected.ts';
import { grantMap } from '../rights/permit.ts';
import { faultsOfScopes } from './scopes.ts';

export interface WantedKey {
  name: string;
  /** The name of one of the user's profiles; undefined for the profile that is the default one whenever the key is used. */
  profile?: string | undefined;
  /** Undefined for no ceiling. */
  scopes?: Scope[] | undefined;
  expiresInDays: number;
}

/**
 * Checks the requested profile and scopes and returns those of the new key. Throws 422 `validation-failed` for a profile that the user does
 * not have (`/profile`), and for actions that the profile does not grant now (`/scopes/0/actions/1`).
 */
export async function checkRights(
  trx: Transaction<Database>,
  userId: string,
  wanted: Pick<WantedKey, 'profile' | 'scopes'>,
): Promise<{ profileId: string | null; scopes: Scope[] | null }> {
  const profile = await findProfile(trx, userId, wanted.profile);
  if (wanted.profile !== undefined && !profile) {
    const names = (await listProfiles(trx, userId)).map(({ name }) => name);
    throw new Problem('validation-failed', { faults: [{ pointer: '/profile', code: 'invalid-value', ...expectedOneOf(names) }] });
  }
  const profileId = wanted.profile === undefined ? null : (profile?.id ?? null);
  if (!wanted.scopes) return { profileId, scopes: null };
  const roles = profile ? await listRoles(trx, profile.id) : [];
  const faults = faultsOfScopes(wanted.scopes, grantMap(roles.flatMap((role) => role.grants)));
  if (faults.length > 0) throw new Problem('validation-failed', { faults });
  return { profileId, scopes: wanted.scopes };
}
