/**
 * Profiles that follow a claim, such as groups at the issuer. Of the profiles in the issuer's map, the user has exactly those that the
 * claim of the newest token grants (decision 62). All other profiles stay unchanged. Roles come with profiles.
 */
import type { Kysely, Transaction } from 'kysely';
import { insertEvent } from '../../audit/store.ts';
import type { Caller } from '../../authn/caller.ts';
import type { IssuerContext } from '../context.ts';
import type { Database } from '../../database/tables.ts';
import { deleteAssignment, findAnyProfiles, insertAssignment, lockAnyProfiles, lockAssignments } from '../../accounts/assignments.ts';
import type { Identity } from '../../accounts/identities.ts';
import { findClaimed, lockClaims, updateClaims } from '../../accounts/identity-claims.ts';
import { isSameJson } from '../../json-schema/same-json.ts';
import type { Claims } from '../tokens/claims.ts';
import type { ClaimedProfiles } from '../issuers-file/claims.ts';
import type { Issuer } from '../issuers-file/read.ts';
import { claimedRights } from './claimed-rights.ts';
import { recordUnknownClaim, unknownClaimReason, valueOfClaim } from './unknown-claims.ts';

/**
 * The names of the profiles that the claims grant, in the order of the map. Empty if the claim is missing, or unknown as in
 * {@link unknownClaimReason}.
 */
export function claimedProfiles(profiles: ClaimedProfiles | undefined, claims: Claims): string[] {
  if (!profiles) return [];
  const value = valueOfClaim(profiles, claims);
  const values = new Set(Array.isArray(value) ? (value as unknown[]) : [value]);
  return [...new Set([...profiles.map].flatMap(([given, profile]) => (values.has(given) ? [profile] : [])))];
}

/** A token's claims about a subject, and when the token was issued (`iat`, whole seconds). */
export interface IssuedClaims {
  issuer: Issuer;
  subject: string;
  claims: Claims;
  issuedAt: Date;
}

/**
 * Grants and revokes profiles as the claims say, and stores the claims for rules, unless newer claims have been applied. Returns whether rows of the user that
 * were read before may be out of date. Claims that change nothing are still stored as the newest, once for each token. Does nothing for a disabled user. For
 * a claim of profiles that is unknown it makes a record, and the profiles stay.
 */
export async function followClaims(context: IssuerContext, caller: Caller, issued: IssuedClaims): Promise<boolean> {
  const { store } = context;
  const { issuer, subject, claims, issuedAt } = issued;
  if (!issuer.profiles && issuer.rights.size === 0) return false;
  const identity = { issuer: issuer.issuer, subject };
  const account = await findClaimed(store.db, identity);
  if (!account?.active) return false;
  const unknown = issuer.profiles && unknownClaimReason(issuer.profiles, claims);
  if (unknown) await recordUnknownClaim(context, caller, issued, account.name, unknown);
  const profiles = unknown ? undefined : issuer.profiles;
  const newest = account.claimsAt?.getTime() ?? -Infinity;
  if ((!profiles && issuer.rights.size === 0) || issuedAt.getTime() < newest) return false;
  const managed = new Set(profiles?.map.values());
  const wanted = claimedProfiles(profiles, claims);
  const before = account.profiles.filter((name) => managed.has(name));
  const haveProfiles = before.length === wanted.length && before.every((name) => wanted.includes(name));
  const values = claimedRights(issuer, claims, caller);
  if (haveProfiles && isSameJson(values, account.claims) && issuedAt.getTime() === newest) return false;
  await store.transaction(async (trx) => {
    if (!(await lockClaims(trx, identity, account.id, issuedAt))) return;
    if (profiles) await setClaimed(trx, caller, { user: account, by: 'issuer', identity }, profiles, wanted);
    // After the lock on the user: a link by the user holds the lock on the user and waits for a changed identity.
    await updateClaims(trx, identity, issuedAt, values);
  });
  return true;
}

/** The user whose profiles change, the cause of the change, and the identity that it concerns. */
export interface ClaimedChange {
  user: { id: string; name: string };
  by: 'issuer' | 'user';
  identity: Identity;
}

/**
 * Grants the user the profiles called `wanted` and revokes the others of the map. A revoked default profile is replaced by one of `wanted`
 * or any other. Writes an event for each change.
 */
export async function setClaimed(
  trx: Transaction<Database>,
  caller: Caller,
  { user, by, identity }: ClaimedChange,
  { map }: ClaimedProfiles,
  wanted: readonly string[],
): Promise<void> {
  const managed = new Set(map.values());
  const present = await lockAssignments(trx, user.id);
  const given = await lockAnyProfiles(trx, wanted);
  const taken = present.filter(({ name }) => managed.has(name) && !wanted.includes(name));
  const others = present.filter(({ name }) => !managed.has(name)).map(({ profileId, name }) => ({ id: profileId, name }));
  const heir = taken.some(({ isDefault }) => isDefault) ? (given[0] ?? others[0]) : undefined;
  const record = (event: 'profile.assigned' | 'profile.removed', detail: Record<string, unknown>) =>
    insertEvent(trx, caller.origin, { event, outcome: 'ok', userName: user.name, detail: { by, ...identity, ...detail } });
  for (const { id, name } of heir && !given.includes(heir) ? [heir] : given) {
    const assigned = await insertAssignment(trx, user.id, id, id === heir?.id);
    if (assigned) await record('profile.assigned', { profile: name, default: assigned.isDefault });
  }
  // The default one can only be removed last, when there is no heir.
  for (const { profileId, name } of taken.toSorted((a, b) => Number(a.isDefault) - Number(b.isDefault))) {
    if (await deleteAssignment(trx, user, profileId)) await record('profile.removed', { profile: name });
  }
}

/** A line for each profile that an issuer's settings name and the database does not have. */
export async function missingProfiles(db: Kysely<Database>, issuers: readonly Issuer[]): Promise<string[]> {
  const named = issuers.flatMap(({ id, provision, profiles }) =>
    [...new Set([...(provision ? [provision.profile] : []), ...(profiles?.map.values() ?? [])])].map((profile) => ({ id, profile })),
  );
  const known = (await findAnyProfiles(db, [...new Set(named.map(({ profile }) => profile))])).map(({ name }) => name);
  return named
    .filter(({ profile }) => !known.includes(profile))
    .map(({ id, profile }) => `ISSUERS_FILE: issuer "${id}" gives the profile "${profile}", which does not exist: create it first`);
}
