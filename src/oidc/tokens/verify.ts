/**
 * Verifies access tokens (security rules 45, 46, 49 and 50): RFC 9068 read strictly, or the issuer's introspection response. It returns the
 * issuer's claims about the subject; it does not query users.
 */
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import { Problem } from '../../errors.ts';
import { isClientToken, isSubject, issuedAtOf, isText, isTime, mayBeIdToken, type Claims } from './claims.ts';
import { leewaySeconds } from './discover.ts';
import { issuerUnavailable } from './cached-metadata.ts';
import type { Introspection } from './introspection.ts';
import { TokenError, type RefusalReason } from './token-errors.ts';
import { verifySigned } from './signature.ts';
import type { TokenClock, TrustedIssuer, IssuerRegistry } from './issuer-registry.ts';

const maximumBytes = 8_192;

function refusal({ issuer }: TrustedIssuer, reason: RefusalReason, cause?: unknown): TokenError {
  return new TokenError(reason, { about: { issuer }, cause });
}

export interface AccessToken {
  issuer: TrustedIssuer;
  subject: string;
  /** All claims that the issuer has signed. */
  claims: Claims;
  /** Whether a client got the token for itself, without a user. */
  isClient: boolean;
  /** The values of the claim `scope`. */
  scopes: readonly string[];
  /** The time of the sign-in at the issuer (`auth_time`), or else the time at which the token was issued; never in the future. */
  authenticatedAt: Date;
  /** `auth_time` alone, never in the future; undefined if the token has none. */
  signedInAt: Date | undefined;
  /** The time at which the token was issued (`iat`), to the second. */
  issuedAt: Date;
  /** The remaining lifetime of the token, including the leeway. */
  lifeMs: number;
}

/**
 * Verifies a token of one of the issuers, or of `expected` alone. A token that names its issuer is sent to that issuer only. An opaque
 * token names none, so it is sent to the only issuer of opaque tokens, if there is exactly one. `address` is that of the client. Throws {@link TokenError}, and 503
 * `issuer-unavailable` if the issuer's keys or its introspection response cannot be fetched.
 */
export async function verifyAccessToken(
  issuers: IssuerRegistry,
  token: string,
  { address, expected }: { address: string; expected?: TrustedIssuer },
): Promise<AccessToken> {
  if (Buffer.byteLength(token) > maximumBytes) throw new TokenError('too-long');
  const signed = decode(token);
  const issuer = expected ?? (signed ? named(issuers, signed.claims) : issuers.onlyOpaque);
  if (!issuer) throw new TokenError(signed ? 'unknown-issuer' : 'malformed');
  if (signed && signed.claims.iss !== issuer.issuer) throw refusal(issuer, 'wrong-issuer');
  const now = issuers.clock.wall();
  if (issuer.introspection) return await introspect(issuer, issuer.introspection, { token, address }, issuers.clock);
  if (!signed) throw new TokenError('malformed');
  refuseHeader(issuer, signed.header);
  const claims = await verifySignature(issuer, token, now);
  if (!isText(claims[issuer.claimNames.jti])) throw refusal(issuer, 'incomplete');
  if (issuer.tokenType === 'jwt' && mayBeIdToken(claims, claims.aud, issuer.clientId)) throw refusal(issuer, 'id-token');
  return readClaims(issuer, claims, now);
}

/** The issuer that the claims name. They are not verified yet, so they only select from the list. */
function named(issuers: IssuerRegistry, { iss }: JWTPayload): TrustedIssuer | undefined {
  return typeof iss === 'string' ? issuers.find(iss) : undefined;
}

/** The token's unverified header and claims; undefined for anything but a signed JWT. Five parts would be an encrypted token. */
function decode(token: string): { header: ProtectedHeaderParameters; claims: JWTPayload } | undefined {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/**
 * Introspects the token at the issuer. This service's own API keys, which a client may send as a bearer token by mistake, are sent to no
 * issuer.
 */
async function introspect(
  issuer: TrustedIssuer,
  introspection: Introspection,
  { token, address }: { token: string; address: string },
  clock: TokenClock,
): Promise<AccessToken> {
  if (!/^[\w.~+/-]+=*$/.test(token) || token.startsWith('esk_')) throw refusal(issuer, 'malformed');
  const { claims, until } = await introspection.ask(token, address);
  const now = clock.wall();
  const { active, token_type: type, iss, aud, exp, nbf, sub } = claims;
  if (active !== true) throw refusal(issuer, 'inactive');
  // A refresh token can be active as well; it is not of this type.
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') throw refusal(issuer, 'wrong-type');
  if (iss !== undefined && iss !== issuer.issuer) throw refusal(issuer, 'wrong-issuer');
  const isMeant = Array.isArray(aud) ? aud.includes(issuer.audience) : aud === issuer.audience;
  if (!isMeant && aud !== undefined) throw refusal(issuer, 'wrong-audience');
  const complete = iss !== undefined && isTime(exp) && (nbf === undefined || isTime(nbf)) && (isMeant || issuer.allowMissingAudience);
  if (!complete) throw refusal(issuer, 'incomplete');
  if (exp <= now / 1_000 - leewaySeconds) throw refusal(issuer, 'expired');
  if (isTime(nbf) && nbf > now / 1_000 + leewaySeconds) throw refusal(issuer, 'not-yet-valid');
  // Without a user the client itself is the subject, as in RFC 9068, section 2.2.
  const accessToken = readClaims(issuer, { ...claims, sub: sub ?? claims[issuer.claimNames.client_id] }, now);
  return { ...accessToken, lifeMs: Math.min(accessToken.lifeMs, until - clock.steady()) };
}

/** Checks the header before any key is fetched. The header's own key references (jku, x5u, jwk) are never read. */
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
      requiredClaims: ['exp', 'iat', 'sub', issuer.claimNames.client_id, issuer.claimNames.jti],
      clockTolerance: leewaySeconds,
      currentDate: new Date(now),
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (error instanceof errors.JOSEError) throw refusal(issuer, reasonOf(error), error);
    // The issuer's key set contains the key that the token names, but the key is unusable.
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

/** The checks that all access tokens share: the types of claims, times in the future, bound keys, and the client of the token. */
function readClaims(issuer: TrustedIssuer, claims: Claims, now: number): AccessToken {
  const { claimNames } = issuer;
  const { sub, exp, iat, auth_time: authTime, [claimNames.client_id]: clientId, [claimNames.scope]: scope = '' } = claims;
  const complete = isSubject(sub) && isText(clientId) && isTime(exp) && isTime(iat) && typeof scope === 'string';
  if (!complete || (authTime !== undefined && !isTime(authTime))) throw refusal(issuer, 'incomplete');
  const latest = now / 1_000 + leewaySeconds;
  if (iat > latest || (authTime ?? iat) > latest) throw refusal(issuer, 'not-yet-valid');
  // The token is bound to a key whose possession the caller must prove (RFC 7800). This service does not verify that proof. Accepted as a
  // bearer token, it would be worth stealing.
  if (claims['cnf'] !== undefined) throw refusal(issuer, 'sender-constrained');
  if (issuer.clients && !issuer.clients.has(clientId)) throw refusal(issuer, 'client-not-allowed');
  const authenticatedAt = new Date(Math.min((authTime ?? iat) * 1_000, now));
  return {
    issuer,
    subject: sub,
    claims,
    isClient: isClientToken(claims, clientId),
    scopes: scope.split(' ').filter(Boolean),
    authenticatedAt,
    signedInAt: authTime === undefined ? undefined : authenticatedAt,
    issuedAt: issuedAtOf(iat),
    lifeMs: (exp + leewaySeconds) * 1_000 - now,
  };
}
