/** Ends sessions after their session at the provider has ended (OpenID Connect Back-Channel Logout 1.0). */
import { decodeProtectedHeader, errors, type JWTPayload } from 'jose';
import { recordWithinQuota } from '../../audit/record.ts';
import { insertEvent } from '../../audit/store.ts';
import type { Caller } from '../../authn/caller.ts';
import type { IssuerContext } from '../context.ts';
import { Problem } from '../../problems/errors.ts';
import { revokeAtIssuer, type IssuerLogout } from '../../sessions/revoke.ts';
import { faultyClaim, futureClaim, isSubject, isText, isTime } from '../tokens/claims.ts';
import { leewaySeconds } from '../tokens/discover.ts';
import { issuerUnavailable } from '../tokens/cached-metadata.ts';
import { verifySigned } from '../tokens/signature.ts';
import type { Provider } from '../tokens/issuer-registry.ts';

/** How long a logout token without `exp` is accepted after its `iat`, in seconds, where the issuer's entry allows such tokens. */
const withoutExpirySeconds = 300;

/** A claim of a logout token is missing or wrong. */
class LogoutClaimError extends errors.JWTInvalid {
  readonly claim: string;

  constructor(claim: string) {
    super(`its claim ${claim} is not that of a logout token`);
    this.claim = claim;
  }
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * Ends the sessions that the logout token names. Resolves when no process accepts those sessions any more. Throws 400 `malformed-request`
 * for an invalid token, and 503 `issuer-unavailable` without the keys.
 */
export async function logoutByProvider(context: IssuerContext, caller: Caller, provider: Provider, token: string): Promise<void> {
  const logout = await readLogoutToken(context, caller, provider, token);
  const ended = await context.store.transaction(async (trx) => {
    const sessions = await revokeAtIssuer(trx, logout);
    for (const { id: sessionId, userName } of sessions) {
      const detail = { by: 'issuer', issuer: provider.issuer };
      await insertEvent(trx, caller.origin, { event: 'session.revoked', outcome: 'ok', userName, sessionId, detail });
    }
    return sessions;
  });
  for (const { id } of ended) context.principals.forget(`session ${id}`);
  if (ended.length > 0) await context.listener.settle();
}

async function readLogoutToken(context: IssuerContext, caller: Caller, provider: Provider, token: string): Promise<IssuerLogout> {
  const now = context.issuers.clock.wall();
  try {
    return readClaims(provider, await verify(provider, token, now), now);
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error instanceof Problem ? error : issuerUnavailable(30, error);
    const claim = claimOf(error);
    const detail = { issuer: provider.issuer, reason: 'bad-logout-token', error: error.code, claim };
    // A claim is named only where the issuer has signed it, so strangers cannot fill the log.
    if (claim !== undefined)
      caller.log.warn({ event: 'logout.refused', issuer: provider.id, claim }, 'a logout token of the issuer was refused');
    await recordWithinQuota(context, caller, { event: 'oidc.failed', outcome: 'refused', detail });
    throw new Problem('malformed-request', { faults: [{ pointer: '/logout_token', code: 'invalid-value' }], cause: error });
  }
}

/** The claim whose check failed; undefined for a fault of the token itself, such as its signature. */
function claimOf(error: errors.JOSEError): string | undefined {
  const { JWTClaimValidationFailed, JWTExpired } = errors;
  const namesClaim = error instanceof LogoutClaimError || error instanceof JWTClaimValidationFailed || error instanceof JWTExpired;
  return namesClaim ? error.claim : undefined;
}

/**
 * Steps 1 to 3 of OpenID Connect Back-Channel Logout 1.0, section 2.6. Also refuses a token with `crit`, and one whose `typ` names another
 * type. A token without `typ` is accepted.
 */
async function verify({ algorithms, clientId, issuer, keys, logoutPage }: Provider, token: string, now: number): Promise<JWTPayload> {
  const { typ, crit } = decodeHeader(token);
  const type = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
  if (crit !== undefined || !['logout+jwt', 'jwt', undefined].includes(type)) throw new errors.JWTInvalid('it has another type');
  return await verifySigned(token, keys.find, {
    algorithms: [...algorithms],
    issuer,
    audience: clientId,
    requiredClaims: ['iat', 'jti', 'events', ...(logoutPage.allowMissingExpiry ? [] : ['exp'])],
    clockTolerance: leewaySeconds,
    currentDate: new Date(now),
  });
}

function decodeHeader(token: string): ReturnType<typeof decodeProtectedHeader> {
  try {
    return decodeProtectedHeader(token);
  } catch (error) {
    throw new errors.JWTInvalid('it is no JWT', { cause: error });
  }
}

/**
 * Steps 4 to 7 of OpenID Connect Back-Channel Logout 1.0, section 2.6. A token with `nonce` may be an ID token and is refused. Where another
 * claim than `sub` names the user, `sid` alone counts in a token without that claim.
 */
function readClaims({ claimNames, issuer }: Provider, claims: JWTPayload, now: number): IssuerLogout {
  const { sid, iat, exp, jti, events, [claimNames.sub]: sub } = claims;
  const event = typeof events === 'object' && events !== null ? (events as Record<string, unknown>)[logoutEvent] : undefined;
  const isSubjectValid = sub === undefined || isSubject(sub);
  const isSessionIdValid = sid === undefined || isText(sid);
  if (!isSubjectValid || !isSessionIdValid || (sub ?? sid) === undefined || !isTime(iat)) {
    const checks = { [claimNames.sub]: isSubjectValid && (sub ?? sid) !== undefined, sid: isSessionIdValid, iat: isTime(iat) };
    throw new LogoutClaimError(faultyClaim(checks) ?? claimNames.sub);
  }
  const claim =
    faultyClaim({
      events: typeof event === 'object' && event !== null && !Array.isArray(event),
      nonce: !('nonce' in claims),
      jti: isText(jti),
      exp: exp !== undefined || iat >= now / 1_000 - withoutExpirySeconds,
    }) ?? futureClaim({ iat }, now / 1_000 + leewaySeconds);
  if (claim !== undefined) throw new LogoutClaimError(claim);
  // A replay ends only sessions that were opened before the logout, so the service need not store any jti.
  return { issuer, subject: sub, issuerSessionId: sid, openedBefore: new Date((iat + leewaySeconds) * 1_000) };
}
