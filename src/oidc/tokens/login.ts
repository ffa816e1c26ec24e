/** Signs in by a trusted issuer's access token: verifies the token, finds its user, and opens a session. */
import type { Caller } from '../../authn/caller.ts';
import type { IssuerContext } from '../context.ts';
import { openSession, type OpenedSession } from '../../sessions/open.ts';
import { findLinkedAccount, type Identity } from '../../accounts/identities.ts';
import type { Account } from '../../accounts/users.ts';
import { Problem } from '../../problems/errors.ts';
import { findOrProvision } from '../provisioning/provision.ts';
import { TokenError } from './token-errors.ts';
import { auditTokenErrors } from './audit-token-errors.ts';
import { ceilingOf } from './scopes.ts';
import { verifyAccessToken, type AccessToken } from './verify.ts';

export interface TokenLogin {
  /** Id or exact URL of a trusted issuer. It selects from the list; the service contacts no other issuer (rule 46). */
  issuer: string;
  accessToken: string;
  locale: string | undefined;
}

/**
 * Opens a session that is limited to the access token's scopes. Its absolute lifetime counts from the sign-in at the issuer (rule 47).
 * Throws 401 `invalid-token`, 403 `identity-not-linked`, and 503 `issuer-unavailable`.
 */
export function loginByToken(context: IssuerContext, caller: Caller, asked: TokenLogin): Promise<OpenedSession> {
  return auditTokenErrors(context, caller, async () => {
    const token = await verify(context, caller, asked);
    return await succeed(context, caller, asked, token, await findUser(context, caller, token));
  });
}

async function verify({ issuers }: IssuerContext, caller: Caller, { issuer, accessToken }: TokenLogin): Promise<AccessToken> {
  const expected = issuers.findNamed(issuer);
  if (!expected) throw new TokenError('unknown-issuer');
  return await verifyAccessToken(issuers, accessToken, { address: caller.origin.address, expected });
}

/**
 * The active account of the token's subject. Throws {@link TokenError} for any other subject, and if the sign-in at the issuer was longer
 * ago than a session's absolute lifetime.
 */
async function findUser(context: IssuerContext, caller: Caller, token: AccessToken): Promise<Account> {
  const account = await findOrProvision(context, caller, token, findLinkedAccount);
  const facts = { about: identityOf(token), userName: account.name };
  if (!account.active) throw new TokenError('user-disabled', facts);
  const age = context.issuers.clock.wall() - token.authenticatedAt.getTime();
  if (age >= context.config.sessionAbsoluteSeconds * 1_000) throw new TokenError('too-old', facts);
  return account;
}

async function succeed(
  context: IssuerContext,
  caller: Caller,
  { locale }: TokenLogin,
  token: AccessToken,
  account: Account,
): Promise<OpenedSession> {
  const { authenticatedAt, signedInAt } = token;
  const times = { authenticatedAt, signedInAt };
  const opening = { account, method: 'token', locale, identity: identityOf(token), scopes: ceilingOf(token), ...times } as const;
  const opened = await openSession(context, caller, opening);
  if ('refused' in opened) throw new Problem(opened.refused === 'unlinked' ? 'identity-not-linked' : 'invalid-token');
  return opened;
}

const identityOf = ({ issuer, subject }: AccessToken): Identity => ({ issuer: issuer.issuer, subject });
