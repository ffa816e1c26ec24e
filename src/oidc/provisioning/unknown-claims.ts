/**
 * Claims that a token does not have although the subject has a value for them. Unknown is not empty: profiles that follow such a claim stay
 * as they are (decision 230), and the log and the audit trail say so.
 */
import { recordWithinQuota } from '../../audit/record.ts';
import type { Caller } from '../../authn/caller.ts';
import type { IssuerContext } from '../context.ts';
import type { ClaimedProfiles } from '../issuers-file/claims.ts';
import type { Claims } from '../tokens/claims.ts';
import type { IssuedClaims } from './claimed-profiles.ts';

/** `elsewhere`: the issuer has the value, and the token only refers to it. `unreadable`: the value is of no type that is read. */
export type UnknownClaimReason = 'elsewhere' | 'unreadable';

/** The place of a claim in a token. */
type NamedClaim = Pick<ClaimedProfiles, 'claim'>;

/** The value of the claim; undefined if the claim is missing, or if a member on the way to it is. */
export function valueOfClaim({ claim }: NamedClaim, claims: Claims): unknown {
  let value: unknown = claims;
  for (const name of claim) {
    if (value === undefined || value === null) return undefined;
    // A text where the next member should be is a value that cannot be read.
    if (typeof value !== 'object') return { unreadable: value };
    value = Object.getOwnPropertyDescriptor(value, name)?.value;
  }
  return value ?? undefined;
}

/** Why the token does not tell which profiles its subject has; undefined if it tells, also by having no such claim. */
export function unknownClaimReason(profiles: ClaimedProfiles, claims: Claims): UnknownClaimReason | undefined {
  const value = valueOfClaim(profiles, claims);
  if (value === undefined) return isElsewhere(profiles, claims) ? 'elsewhere' : undefined;
  return typeof value === 'string' || Array.isArray(value) ? undefined : 'unreadable';
}

/**
 * Whether the token says that the claim exists elsewhere: by aggregated and distributed claims (OpenID Connect Core, section 5.6.2), as Entra
 * ID does above 200 groups, or by `hasgroups`, as it does in tokens that must be short.
 */
export function isElsewhere({ claim: [name = ''] }: NamedClaim, claims: Claims): boolean {
  const { _claim_names: names, hasgroups: hasGroups } = claims;
  if (name === 'groups' && (hasGroups === true || hasGroups === 'true')) return true;
  if (names === undefined || names === null) return false;
  return typeof names !== 'object' || Array.isArray(names) || Object.hasOwn(names, name);
}

/** Logs and audits that the profiles of the user called `userName` did not follow the claims. */
export async function recordUnknownClaim(
  context: IssuerContext,
  caller: Caller,
  { issuer: { id, issuer, profiles }, subject }: IssuedClaims,
  userName: string,
  reason: UnknownClaimReason,
): Promise<void> {
  const claim = profiles?.claim.join('.');
  caller.log.warn({ event: 'claim.unknown', issuer: id, claim, reason }, 'the token does not tell the claim, so profiles stay as they are');
  const detail = { by: 'issuer', issuer, subject, claim, reason };
  await recordWithinQuota(context, caller, { event: 'profile.unknown', outcome: 'failed', userName, detail });
}
