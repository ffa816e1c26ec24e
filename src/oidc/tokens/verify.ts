/**
 * Whether an access token is one (security rules 45, 46, 49 and 50): RFC 9068 read strictly, or the word of its issuer. Knows nothing of users; the answer is what the
 * issuer says of its subject.
 */
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import { Problem } from '../../errors.ts';
import { isClientToken, isSubject, issuedAtOf, isText, isTime, mayBeIdToken, type Claims } from './claims.ts';
import { leewaySeconds } from './discover.ts';
import { issuerUnavailable } from './cached-metadata.ts';
import type { Introspection } from './introspection.ts';
import { TokenError, type RefusalReason } from './token-errors.ts';
import { verifySigned } from './signature.ts';
import type { Clock, TrustedIssuer, IssuerRegistry } from './issuer-registry.ts';

const maximumBytes = 8_192;

function refusal({ issuer }: TrustedIssuer, reason: RefusalReason, cause?: unknown): TokenError {
  return new TokenError(reason, { about: { issuer }, cause });
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
  /** `auth_time` alone, never in the future; undefined if the issuer does not say when the user signed in. */
  signedInAt: Date | undefined;
  /** When it was issued (`iat`), to the second. */
  issuedAt: Date;
  /** Until the token counts for nothing, the leeway included. */
  lifeMilliseconds: number;
}

/**
 * Verifies a token of one of the issuers, or of `expected` alone. An opaque token says not whose it is, so it is shown to the only issuer of
 * opaque tokens, if there is but one, and a token that names its issuer to that one only. Throws {@link TokenError}, and 503
 * `issuer-unavailable` when the issuer's keys or its word on the token cannot be had.
 */
export async function verifyAccessToken(issuers: IssuerRegistry, token: string, expected?: TrustedIssuer): Promise<AccessToken> {
  if (Buffer.byteLength(token) > maximumBytes) throw new TokenError('too-long');
  const signed = decode(token);
  const issuer = expected ?? (signed ? named(issuers, signed.claims) : issuers.onlyOpaque);
  if (!issuer) throw new TokenError(signed ? 'unknown-issuer' : 'malformed');
  if (signed && signed.claims.iss !== issuer.issuer) throw refusal(issuer, 'wrong-issuer');
  const now = issuers.clock.wall();
  if (issuer.introspection) return await introspect(issuer, issuer.introspection, token, issuers.clock);
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

/** What a token says of itself; undefined for anything but a signed JWT. Five parts would be an encrypted token. */
function decode(token: string): { header: ProtectedHeaderParameters; claims: JWTPayload } | undefined {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/** Asks the issuer what the token is. Our own API keys, which somebody may present the wrong way, are shown to nobody. */
async function introspect(issuer: TrustedIssuer, introspection: Introspection, token: string, clock: Clock): Promise<AccessToken> {
  if (!/^[\w.~+/-]+=*$/.test(token) || token.startsWith('esk_')) throw refusal(issuer, 'malformed');
  const { claims, until } = await introspection.ask(token);
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
  return { ...accessToken, lifeMilliseconds: Math.min(accessToken.lifeMilliseconds, until - clock.steady()) };
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
      requiredClaims: ['exp', 'iat', 'sub', issuer.claimNames.client_id, issuer.claimNames.jti],
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

/** What is the same for all access tokens: the types of claims, times in the future, keys, and which client it was given to. */
function readClaims(issuer: TrustedIssuer, claims: Claims, now: number): AccessToken {
  const { claimNames } = issuer;
  const { sub, exp, iat, auth_time: authTime, [claimNames.client_id]: clientId, [claimNames.scope]: scope = '' } = claims;
  const complete = isSubject(sub) && isText(clientId) && isTime(exp) && isTime(iat) && typeof scope === 'string';
  if (!complete || (authTime !== undefined && !isTime(authTime))) throw refusal(issuer, 'incomplete');
  const latest = now / 1_000 + leewaySeconds;
  if (iat > latest || (authTime ?? iat) > latest) throw refusal(issuer, 'not-yet-valid');
  // Bound to a key that the caller must prove to hold (RFC 7800), which we do not ask for: taken as a bearer token it would be worth stealing.
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
    lifeMilliseconds: (exp + leewaySeconds) * 1_000 - now,
  };
}
