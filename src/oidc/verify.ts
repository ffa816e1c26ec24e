/**
 * Whether an access token is one (security rules 45, 46 and 49): RFC 9068 read strictly. Knows nothing of users; the answer is what the
 * issuer says of its subject.
 */
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import { Problem } from '../errors.ts';
import { isClientToken, isSubject, isText, isTime, mayBeIdToken, type Claims } from './claims.ts';
import { leewaySeconds } from './discover.ts';
import { issuerUnavailable } from './fetched.ts';
import { RefusedToken, type RefusalReason } from './refusal.ts';
import { verifySigned } from './signature.ts';
import type { TrustedIssuer, TrustedIssuers } from './trusted.ts';

const maximumBytes = 8_192;

function refusal({ issuer }: TrustedIssuer, reason: RefusalReason, cause?: unknown): RefusedToken {
  return new RefusedToken(reason, { about: { issuer }, cause });
}

export interface AccessToken {
  issuer: TrustedIssuer;
  subject: string;
  /** All that the issuer has signed. */
  claims: Claims;
  /** Whether a client got it for itself, without any user. */
  isClient: boolean;
  /** The values of the claim `scope`. */
  scopes: readonly string[];
  /** When the user signed in at the issuer (`auth_time`), or else when the token was issued; never in the future. */
  authenticatedAt: Date;
  /** Until the token counts for nothing, the leeway included. */
  lifeMilliseconds: number;
}

/**
 * Verifies a token of one of the issuers, or of `expected` alone. Throws {@link RefusedToken}, and 503 `issuer-unavailable` when the
 * issuer's keys cannot be had.
 */
export async function verifyAccessToken(issuers: TrustedIssuers, token: string, expected?: TrustedIssuer): Promise<AccessToken> {
  if (Buffer.byteLength(token) > maximumBytes) throw new RefusedToken('too-long');
  const { header, claims } = decode(token);
  // Not verified yet, so it only selects from the list.
  const issuer = expected ?? (typeof claims.iss === 'string' ? issuers.find(claims.iss) : undefined);
  if (!issuer) throw new RefusedToken('unknown-issuer');
  if (claims.iss !== issuer.issuer) throw refusal(issuer, 'wrong-issuer');
  refuseHeader(issuer, header);
  const now = issuers.clock.wall();
  return readClaims(issuer, await verifySignature(issuer, token, now), now);
}

function decode(token: string): { header: ProtectedHeaderParameters; claims: JWTPayload } {
  // Five parts would be an encrypted token.
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) throw new RefusedToken('malformed');
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch (error) {
    throw new RefusedToken('malformed', { cause: error });
  }
}

/** What the header says is checked before any key is looked for. Where it says the key is to be found (jku, x5u, jwk) is never read. */
function refuseHeader(issuer: TrustedIssuer, { typ, alg, crit }: ProtectedHeaderParameters): void {
  const type = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
  const allowed = issuer.tokenType === 'jwt' ? ['at+jwt', 'jwt', undefined] : ['at+jwt'];
  if (!allowed.includes(type)) throw refusal(issuer, 'wrong-type');
  if (typeof alg !== 'string' || !issuer.algorithms.includes(alg)) throw refusal(issuer, 'wrong-algorithm');
  if (crit !== undefined) throw refusal(issuer, 'critical-header');
}

async function verifySignature(issuer: TrustedIssuer, token: string, now: number): Promise<JWTPayload> {
  try {
    return await verifySigned(token, issuer.keys.find, {
      algorithms: [...issuer.algorithms],
      issuer: issuer.issuer,
      audience: issuer.audience,
      requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti'],
      clockTolerance: leewaySeconds,
      currentDate: new Date(now),
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (error instanceof errors.JOSEError) throw refusal(issuer, reasonOf(error), error);
    // The key that the token names is in the issuer's list and cannot be used.
    throw issuerUnavailable(30, error);
  }
}

function reasonOf(error: errors.JOSEError): RefusalReason {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWKSNoMatchingKey) return 'unknown-key';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'bad-signature';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'malformed';
  if (error.claim === 'aud' && error.reason !== 'missing') return 'wrong-audience';
  return error.claim === 'nbf' ? 'not-yet-valid' : 'incomplete';
}

/** What the library leaves open: the types of claims, times in the future, and what gives an ID token away. */
function readClaims(issuer: TrustedIssuer, claims: JWTPayload, now: number): AccessToken {
  const { sub, aud, exp = 0, iat, jti, client_id: clientId, auth_time: authTime, scope = '' } = claims;
  const complete = isSubject(sub) && isText(jti) && isText(clientId) && isTime(iat) && typeof scope === 'string';
  if (!complete || (authTime !== undefined && !isTime(authTime))) throw refusal(issuer, 'incomplete');
  const latest = now / 1_000 + leewaySeconds;
  if (iat > latest || (authTime ?? iat) > latest) throw refusal(issuer, 'not-yet-valid');
  if (issuer.tokenType === 'jwt' && mayBeIdToken(claims, aud, issuer.clientId)) throw refusal(issuer, 'id-token');
  // Bound to a key that the caller must prove to hold (RFC 7800), which we do not ask for: taken as a bearer token it would be worth stealing.
  if (claims['cnf'] !== undefined) throw refusal(issuer, 'sender-constrained');
  if (issuer.clients && !issuer.clients.has(clientId)) throw refusal(issuer, 'client-not-allowed');
  return {
    issuer,
    subject: sub,
    claims,
    isClient: isClientToken(claims, clientId),
    scopes: scope.split(' ').filter(Boolean),
    authenticatedAt: new Date(Math.min((authTime ?? iat) * 1_000, now)),
    lifeMilliseconds: (exp + leewaySeconds) * 1_000 - now,
  };
}
