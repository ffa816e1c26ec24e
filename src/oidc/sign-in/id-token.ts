/**
 * Reads the ID token of a user who has signed in at a provider. The client library has checked most claims before (rule 53); this file
 * checks the signature.
 */
import { errors, type JWTPayload } from 'jose';
import { Problem } from '../../problems/errors.ts';
import { faultyClaim, futureClaim, isSubject, issuedAtOf, isText, isTime, type Claims } from '../tokens/claims.ts';
import { leewaySeconds } from '../tokens/discover.ts';
import { SignInError } from './sign-in-errors.ts';
import { issuerUnavailable } from '../tokens/cached-metadata.ts';
import { verifySigned } from '../tokens/signature.ts';
import type { Provider } from '../tokens/issuer-registry.ts';

export interface SignedIn {
  subject: string;
  /** The provider's id of its session (`sid`); undefined if the token has none. */
  sessionId: string | undefined;
  /** The time of the sign-in at the provider (`auth_time`), or else the time at which the token was issued; never in the future. */
  authenticatedAt: Date;
  /** `auth_time` alone, never in the future; undefined if the token has none. */
  signedInAt: Date | undefined;
  /** The time at which the token was issued (`iat`), to the second. */
  issuedAt: Date;
  /** All claims that the provider has signed. */
  claims: Claims;
}

/** Reads an ID token at the time `now`, in milliseconds. Throws {@link SignInError}, and 503 `issuer-unavailable` without the keys. */
export async function readIdToken(provider: Provider, token: string, now: number): Promise<SignedIn> {
  const claims = await verify(provider, token, now);
  const { iat, auth_time: authTime, sid, [provider.claimNames.sub]: subject } = claims;
  const isSessionIdValid = sid === undefined || (isText(sid) && sid.length <= 255);
  const isAuthTimeValid = authTime === undefined || isTime(authTime);
  if (!isSubject(subject) || !isTime(iat) || !isAuthTimeValid || !isSessionIdValid) {
    throw new SignInError('bad-id-token', { about: { claim: faultyIdTokenClaim(provider, claims) } });
  }
  const ahead = futureClaim({ iat, auth_time: authTime }, now / 1_000 + leewaySeconds);
  if (ahead !== undefined) throw new SignInError('clock-skew', { about: { claim: ahead } });
  const authenticatedAt = new Date(Math.min((authTime ?? iat) * 1_000, now));
  const signedInAt = authTime === undefined ? undefined : authenticatedAt;
  return { subject, sessionId: sid, authenticatedAt, signedInAt, issuedAt: issuedAtOf(iat), claims };
}

/** The first claim of an ID token that is missing or has a wrong type; undefined if there is none. */
export function faultyIdTokenClaim({ claimNames }: Provider, claims: Claims): string | undefined {
  const { sub, iat, exp, nbf, auth_time: authTime, sid } = claims;
  return faultyClaim({
    sub: isSubject(sub),
    [claimNames.sub]: isSubject(claims[claimNames.sub]),
    exp: isTime(exp),
    iat: isTime(iat),
    nbf: nbf === undefined || isTime(nbf),
    auth_time: authTime === undefined || isTime(authTime),
    sid: sid === undefined || (isText(sid) && sid.length <= 255),
  });
}

async function verify({ algorithms, claimNames, clientId, issuer, keys }: Provider, token: string, now: number): Promise<JWTPayload> {
  try {
    return await verifySigned(token, keys.find, {
      algorithms: [...algorithms],
      issuer,
      audience: clientId,
      requiredClaims: ['exp', 'iat', claimNames.sub],
      clockTolerance: leewaySeconds,
      currentDate: new Date(now),
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
      throw new SignInError('bad-id-token', { about: { claim: error.claim }, cause: error });
    }
    if (error instanceof errors.JOSEError) throw new SignInError('bad-id-token', { cause: error });
    // The provider's key set contains the key that the token names, but the key is unusable.
    throw issuerUnavailable(30, error);
  }
}
