/**
 * Reads the ID token of a user who has signed in at a provider. The client library has checked most claims before (rule 53); this file
 * checks the signature.
 */
import { errors, type JWTPayload } from 'jose';
import { Problem } from '../../errors.ts';
import { isSubject, issuedAtOf, isText, isTime, type Claims } from '../tokens/claims.ts';
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
  const { sub, iat, auth_time: authTime, sid } = claims;
  const complete = isSubject(sub) && isTime(iat) && (authTime === undefined || isTime(authTime)) && (sid === undefined || isText(sid));
  if (!complete || (typeof sid === 'string' && sid.length > 255)) throw new SignInError('bad-id-token');
  const latest = now / 1_000 + leewaySeconds;
  if (iat > latest || (authTime ?? iat) > latest) throw new SignInError('bad-id-token');
  const authenticatedAt = new Date(Math.min((authTime ?? iat) * 1_000, now));
  const signedInAt = authTime === undefined ? undefined : authenticatedAt;
  return { subject: sub, sessionId: sid, authenticatedAt, signedInAt, issuedAt: issuedAtOf(iat), claims };
}

async function verify({ algorithms, clientId, issuer, keys }: Provider, token: string, now: number): Promise<JWTPayload> {
  try {
    return await verifySigned(token, keys.find, {
      algorithms: [...algorithms],
      issuer,
      audience: clientId,
      requiredClaims: ['exp', 'iat', 'sub'],
      clockTolerance: leewaySeconds,
      currentDate: new Date(now),
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (error instanceof errors.JOSEError) throw new SignInError('bad-id-token', { cause: error });
    // The provider's key set contains the key that the token names, but the key is unusable.
    throw issuerUnavailable(30, error);
  }
}
