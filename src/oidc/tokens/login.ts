/** Opens a session for the bearer of a trusted issuer's access token. */
import type { Caller } from '../../authn/caller.ts';
import type { Context } from '../../context.ts';
import { openSession, type OpenedSession } from '../../sessions/open.ts';
import { findLinkedAccount } from '../../accounts/identities.ts';
import { findOrProvision } from '../provisioning/provision.ts';
import { TokenError } from './token-errors.ts';
import { auditTokenErrors } from './audit-token-errors.ts';
import { ceilingOf } from './scopes.ts';
import { verifyAccessToken } from './verify.ts';

export interface TokenLogin {
  /** Id or exact URL of a trusted issuer. It selects from the list; nothing else is ever contacted (rule 46). */
  issuer: string;
  accessToken: string;
  locale: string | undefined;
}

/**
 * Opens a session, which keeps to the access token's scopes and its absolute lifetime counts from the sign-in at the
 * issuer (rule 47). Throws 401 `invalid-token`, 403 `identity-not-linked`, and 503 `issuer-unavailable`.
 */
export async function loginByToken(context: Context, caller: Caller, asked: TokenLogin): Promise<OpenedSession> {
  const { config, issuers } = context;
  return await auditTokenErrors(context, caller, async () => {
    const expected = issuers.findNamed(asked.issuer);
    if (!expected) throw new TokenError('unknown-issuer');
    const token = await verifyAccessToken(issuers, asked.accessToken, expected);
    const identity = { issuer: expected.issuer, subject: token.subject };
    const account = await findOrProvision(context, caller, token, findLinkedAccount);
    const userName = account.name;
    if (!account.active) throw new TokenError('user-disabled', { about: identity, userName });
    const { authenticatedAt, signedInAt } = token;
    const age = issuers.clock.wall() - authenticatedAt.getTime();
    if (age >= config.sessionAbsoluteSeconds * 1_000) throw new TokenError('too-old', { about: identity, userName });
    return await openSession(context, caller, {
      account,
      method: 'token',
      locale: asked.locale,
      identity,
      scopes: ceilingOf(token),
      authenticatedAt,
      signedInAt,
    });
  });
}
