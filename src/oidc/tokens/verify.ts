/**
 * Verifies access tokens (security rules 45, 46, 49 and 50): RFC 9068 read strictly, or the issuer's introspection response. It returns the
 * issuer's claims about the subject; it does not query users.
 */
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import { Problem } from '../../problems/errors.ts';
import { faultyClaim, futureClaim, isClientToken, isSubject, issuedAtOf, isText, isTime, mayBeIdToken, type Claims } from './claims.ts';
import { leewaySeconds } from './discover.ts';
import { issuerUnavailable } from './cached-metadata.ts';
import type { Introspection } from './introspection.ts';
import { scopesOf } from './scopes.ts';
import { TokenError, type RefusalReason } from './token-errors.ts';
import { verifySigned } from './signature.ts';
import type { TokenClock, TrustedIssuer, IssuerRegistry } from './issuer-registry.ts';

const maximumBytes = 8_192;

/** `claim` is the name of the claim that is missing or wrong. */
function refusal({ issuer }: TrustedIssuer, reason: RefusalReason, { claim, cause }: { claim?: string; cause?: unknown } = {}): TokenError {
  return new TokenError(reason, { about: { issuer, ...(claim !== undefined && { claim }) }, cause });
}

export interface AccessToken {
  issuer: TrustedIssuer;
  subject: string;
  /** The client to which the issuer gave the token. */
  clientId: string;
  /** All claims that the issuer has signed. */
  claims: Claims;
  /** Whether a client got the token for itself, without a user. */
  isClient: boolean;
  /** The values of the issuer's claim with scopes. */
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
  const { jti } = issuer.claimNames;
  if (!isText(claims[jti])) throw refusal(issuer, 'incomplete', { claim: jti });
  if (issuer.tokenType === 'jwt' && mayBeIdToken(claims, issuer.clientId)) throw refusal(issuer, 'id-token');
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
  const { claims, until } = await introspection.inspect(token, address);
  const now = clock.wall();
  const { active, token_type: type, iss, exp, nbf } = claims;
  const { claimNames, optionalMembers } = issuer;
  if (active !== true) throw refusal(issuer, 'inactive');
  if (type === undefined && !optionalMembers.has('token_type')) throw refusal(issuer, 'incomplete', { claim: 'token_type' });
  // A refresh token can be active as well; it is not of this type.
  if ((type !== undefined && !isBearer(type)) || isRefreshToken(claims)) throw refusal(issuer, 'wrong-type', { claim: 'token_type' });
  if (iss !== undefined && iss !== issuer.issuer) throw refusal(issuer, 'wrong-issuer');
  checkAudience(issuer, claims);
  const claim = faultyClaim({
    iss: iss !== undefined || optionalMembers.has('iss'),
    exp: isTime(exp) || (exp === undefined && optionalMembers.has('exp')),
    nbf: nbf === undefined || isTime(nbf),
  });
  if (claim !== undefined) throw refusal(issuer, 'incomplete', { claim });
  if (isTime(exp) && exp <= now / 1_000 - leewaySeconds) throw refusal(issuer, 'expired', { claim: 'exp' });
  if (isTime(nbf) && nbf > now / 1_000 + leewaySeconds) throw refusal(issuer, 'not-yet-valid', { claim: 'nbf' });
  // Without a user the client itself is the subject, as in RFC 9068, section 2.2.
  const subject = claims[claimNames.sub] ?? (claims['sub'] === undefined ? claims[claimNames.client_id] : undefined);
  // `active` says that the token has not ended (RFC 7662, section 2.2), and the cache limits how long that is believed.
  const end = exp ?? Math.floor(now / 1_000);
  const accessToken = readClaims(issuer, { ...claims, sub: claims['sub'] ?? subject, [claimNames.sub]: subject, exp: end }, now);
  return { ...accessToken, lifeMs: Math.min(accessToken.lifeMs, until - clock.steady()) };
}

function isBearer(type: unknown): boolean {
  return typeof type === 'string' && type.toLowerCase() === 'bearer';
}

/** Whether the answer says so: Hydra by `token_use`, Keycloak by `typ`. */
function isRefreshToken({ token_use: use, typ: type }: Claims): boolean {
  return use === 'refresh_token' || type === 'Refresh' || type === 'Offline';
}

/** Throws if the token is not meant for this service. */
function checkAudience(issuer: TrustedIssuer, { aud }: Claims): void {
  if (aud === undefined && issuer.allowMissingAudience) return;
  if (aud === undefined) throw refusal(issuer, 'incomplete', { claim: 'aud' });
  const isMeant = Array.isArray(aud) ? aud.includes(issuer.audience) : aud === issuer.audience;
  if (!isMeant) throw refusal(issuer, 'wrong-audience', { claim: 'aud' });
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
  const { client_id: clientId, jti, sub } = issuer.claimNames;
  try {
    const claims = await verifySigned(token, issuer.keys.find, {
      algorithms: [...issuer.algorithms],
      issuer: issuer.issuer,
      requiredClaims: ['exp', 'iat', sub, clientId, jti],
      clockTolerance: leewaySeconds,
      currentDate: new Date(now),
    });
    checkAudience(issuer, claims);
    return claims;
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (error instanceof errors.JOSEError) throw refusal(issuer, reasonOf(error), { ...claimOf(error), cause: error });
    // The issuer's key set contains the key that the token names, but the key is unusable.
    throw issuerUnavailable(30, error);
  }
}

function reasonOf(error: errors.JOSEError): RefusalReason {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWKSNoMatchingKey) return 'unknown-key';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'bad-signature';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'malformed';
  return error.claim === 'nbf' && error.reason === 'check_failed' ? 'not-yet-valid' : 'incomplete';
}

/** The claim whose check failed, if it was one. */
function claimOf(error: errors.JOSEError): { claim?: string } {
  return error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed ? { claim: error.claim } : {};
}

/** The checks that all access tokens share: the types of claims, times in the future, bound keys, and the client of the token. */
function readClaims(issuer: TrustedIssuer, claims: Claims, now: number): AccessToken {
  const { claimNames } = issuer;
  const { exp, iat, auth_time: authTime, [claimNames.sub]: subject, [claimNames.client_id]: clientId } = claims;
  const scopes = scopesOf(claims[claimNames.scope]);
  const isSubjectValid = isSubject(subject);
  const isClientValid = isText(clientId);
  const isAuthTimeValid = authTime === undefined || isTime(authTime);
  if (!isSubjectValid || !isClientValid || !isTime(exp) || !isTime(iat) || !scopes || !isAuthTimeValid) {
    const checks = { [claimNames.sub]: isSubjectValid, [claimNames.client_id]: isClientValid, exp: isTime(exp), iat: isTime(iat) };
    const claim = faultyClaim({ ...checks, [claimNames.scope]: scopes !== undefined, auth_time: isAuthTimeValid });
    throw refusal(issuer, 'incomplete', claim === undefined ? {} : { claim });
  }
  const ahead = futureClaim({ iat, auth_time: authTime }, now / 1_000 + leewaySeconds);
  if (ahead !== undefined) throw refusal(issuer, 'not-yet-valid', { claim: ahead });
  // The token is bound to a key whose possession the caller must prove (RFC 7800). This service does not verify that proof. Accepted as a
  // bearer token, it would be worth stealing.
  if (claims['cnf'] !== undefined) throw refusal(issuer, 'sender-constrained');
  if (issuer.clients && !issuer.clients.has(clientId)) throw refusal(issuer, 'client-not-allowed');
  const authenticatedAt = new Date(Math.min((authTime ?? iat) * 1_000, now));
  return {
    issuer,
    subject,
    clientId,
    claims,
    isClient: isClientToken(claims, clientId),
    scopes,
    authenticatedAt,
    signedInAt: authTime === undefined ? undefined : authenticatedAt,
    issuedAt: issuedAtOf(iat),
    lifeMs: (exp + leewaySeconds) * 1_000 - now,
  };
}
