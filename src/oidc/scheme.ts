/**
 * Recognises access tokens of trusted issuers in `Authorization: Bearer`. A request does not say which of the schemes `oauth2` and `openId`
 * it uses, so this scheme is both.
 */
import { createHash } from 'node:crypto';
import type { Scheme } from '../authn/authenticate.ts';
import { principalOf } from '../authn/caller-rows.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../rights/principal.ts';
import type { IssuerContext } from './context.ts';
import { findLinkedCaller } from '../accounts/identities.ts';
import { findOrProvision } from './provisioning/provision.ts';
import { TokenError } from './tokens/token-errors.ts';
import { auditTokenErrors } from './tokens/audit-token-errors.ts';
import { ceilingOf } from './tokens/scopes.ts';
import { verifyAccessToken } from './tokens/verify.ts';

/**
 * Undefined without `Authorization`. Throws 401 `invalid-token` for another authorization scheme and for any invalid token. Throws 403
 * `identity-not-linked` for a valid token whose subject is not linked to a user.
 */
export function bearerScheme(context: IssuerContext): Scheme {
  return async (request) => {
    const { authorization } = request.headers;
    if (authorization === undefined) return undefined;
    return await auditTokenErrors(context, request.caller, async () => {
      if (holdsApiKey(authorization)) throw new TokenError('malformed', { faults: [keyInAuthorization] });
      return await recognise(context, request.caller, /^Bearer +(\S+)$/i.exec(authorization)?.[1]);
    });
  };
}

const keyInAuthorization = { parameter: 'Authorization', code: 'other-header', values: { header: 'X-API-Key' } } as const;

/** Whether an API key is in `Authorization`, with any scheme or none; in `Basic` as the name or the password (RFC 7617). */
function holdsApiKey(authorization: string): boolean {
  const basic = /^Basic +([\w+/-]+=*)$/i.exec(authorization)?.[1];
  return /(^|[ :])esk_\w/.test(basic === undefined ? authorization : Buffer.from(basic, 'base64').toString('latin1'));
}

async function recognise(context: IssuerContext, caller: Caller, token: string | undefined): Promise<Principal> {
  const { issuers, principals, rules } = context;
  if (token === undefined) throw new TokenError('malformed');
  // The prefix separates bearer tokens from API keys and session tokens, whose hashes share the cache: a key is not accepted as a bearer
  // token.
  const remembered = `bearer ${createHash('sha256').update(token).digest('hex')}`;
  const cached = principals.find(remembered);
  if (cached) return cached;
  const started = principals.startVerification();
  const verified = await verifyAccessToken(issuers, token, { address: caller.origin.address });
  const { issuer, subject, clientId, isClient } = verified;
  const identity = { issuer: issuer.issuer, subject };
  const found = await findOrProvision(context, caller, verified, findLinkedCaller);
  if (!found.active) throw new TokenError('user-disabled', { about: identity, userName: found.userName });
  const verifiedCaller = principalOf(found, {
    locale: found.locale,
    method: 'bearer',
    issuer: issuer.issuer,
    authenticatedAt: verified.authenticatedAt,
    credential: `token:${issuer.issuer}:${clientId}`,
    session: undefined,
    scopes: ceilingOf(verified),
    claims: isClient ? {} : (found.claims ?? {}),
  });
  const principal = await rules.complete(verifiedCaller);
  principals.store(remembered, remembered, principal, verified.lifeMs, started);
  return principal;
}
