/**
 * The claims that rules compare with fields, as one token has them. The identity stores those of its newest token. A claim that the token does not tell, or
 * whose value is not of the type in the issuer's entry, counts as missing, and the log says so.
 */
import type { Caller } from '../../authn/caller.ts';
import { faultsOfValue, type DeclaredTypes } from '../../rights/attribute-types.ts';
import type { Claims } from '../tokens/claims.ts';
import type { Issuer } from '../issuers-file/read.ts';
import { isElsewhere, valueOfClaim, type UnknownClaimReason } from './unknown-claims.ts';

/** The most bytes of the claims of an identity as JSON. */
const maximumBytes = 4_096;

/** The values of an identity by the names that rules have for them; null for an issuer whose entry has no `rights`. */
export function claimedRights({ id, rights }: Issuer, claims: Claims, { log }: Pick<Caller, 'log'>): Record<string, unknown> | null {
  if (rights.size === 0) return null;
  let values: Record<string, unknown> = {};
  const leaveOut = (claim: readonly string[], reason: UnknownClaimReason) =>
    log.warn(
      { event: 'claim.unknown', issuer: id, claim: claim.join('.'), reason },
      'the token does not tell the claim, so rules have none',
    );
  for (const [name, { claim, type }] of rights) {
    const found = valueOfClaim({ claim }, claims);
    // Some issuers send a list of one as the text in it.
    const value = type.isList && typeof found === 'string' ? [found] : found;
    if (value === undefined) {
      if (isElsewhere({ claim }, claims)) leaveOut(claim, 'elsewhere');
      continue;
    }
    const more = { ...values, [name]: value };
    if (faultsOfValue(type, value).length > 0 || Buffer.byteLength(JSON.stringify(more)) > maximumBytes) leaveOut(claim, 'unreadable');
    else values = more;
  }
  return values;
}

/** The types of claims at each issuer, by its `iss`. */
export const claimTypes = (issuers: readonly Issuer[]): ReadonlyMap<string, DeclaredTypes> =>
  new Map(issuers.map(({ issuer, rights }) => [issuer, new Map([...rights].map(([name, { type }]) => [name, type]))]));
