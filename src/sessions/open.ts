/** Opens a session for a user who has signed in, in whichever way, and ends the session that the request carried. */
import type { Kysely } from 'kysely';
import { lockLink, type Identity } from '../accounts/identities.ts';
import type { Account } from '../accounts/users.ts';
import { insertEvent } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../authn/principal.ts';
import type { Context } from '../context.ts';
import type { Attempt } from '../credentials/throttle.ts';
import { inTransaction, retryOnConflict, withUnknownOutcome } from '../database/failure.ts';
import type { Database, Scope } from '../database/tables.ts';
import { Problem } from '../errors.ts';
import { sessionCookie, tokenIn } from './cookie.ts';
import { insertSession, type NewSession, type SessionEvents } from './insert.ts';
import { revokeByToken } from './revoke.ts';
import { hashToken, newToken } from './token.ts';

/** How a session came about. `scopes` and the times come with the token of an identity (rule 47), as in {@link NewSession}. */
export interface Opening {
  account: Pick<Account, 'id' | 'name' | 'credentialVersion'>;
  method: 'password' | 'token' | 'openid';
  locale: string | undefined;
  /** What has led to it; decided with it where one statement does all there is to do, since its rows are not to be locked for longer. */
  attempt?: Attempt;
  identity?: Identity;
  scopes?: Scope[] | null;
  authenticatedAt?: Date;
  signedInAt?: Date | undefined;
  /** What came with a sign-in at the issuer. */
  issuerSession?: { id: string | undefined; endUrl: string | undefined };
}

/** A session that has just been opened: what authenticates its caller from now on, and who that is, unless it has to be looked up. */
export interface OpenedSession {
  token: string;
  principal: Principal | undefined;
}

/**
 * Opens a session, in one transaction with ending the one the request carries (rule 15), which no process accepts any more on return. Throws 401
 * when the user has been disabled or the password changed since the account was read, or the sign-in was so long ago that the session
 * would be over; 403 `identity-not-linked` when the identity has been unlinked.
 */
export async function openSession(context: Context, caller: Caller, opening: Opening): Promise<OpenedSession> {
  const { config, db, listener, principals } = context;
  const { account, attempt, identity, method } = opening;
  const origin = caller.origin;
  const token = newToken();
  const session: NewSession = {
    tokenHash: hashToken(token),
    userId: account.id,
    credentialVersion: account.credentialVersion,
    method,
    issuer: identity?.issuer ?? null,
    scopes: opening.scopes ?? null,
    locale: opening.locale,
    authenticatedAt: opening.authenticatedAt,
    signedInAt: opening.signedInAt,
    subject: identity?.subject,
    issuerSessionId: opening.issuerSession?.id,
    endSessionUrl: opening.issuerSession?.endUrl,
  };
  const events: SessionEvents = {
    origin,
    userName: account.name,
    events: [
      ...(method === 'openid' ? [{ event: 'oidc.completed' as const, detail: { ...identity } }] : []),
      { event: 'login.ok', detail: { method } },
      { event: 'session.created', detail: {} },
    ],
  };
  const openIn = async (db: Kysely<Database>, attempt?: Attempt) => {
    const opened = await insertSession(db, session, config, events, attempt?.handOver());
    if (!opened) throw new Problem(identity ? 'invalid-token' : 'invalid-credentials');
    return { ...opened, replaced: undefined };
  };
  const carried = tokenIn(caller.cookies.header, sessionCookie(config).name);
  const isOneStatement = carried === undefined && identity === undefined;
  const { principal, evicted, replaced } = isOneStatement
    ? await retryOnConflict(() => withUnknownOutcome(openIn(db, attempt)))
    : await inTransaction(db, async (trx) => {
        if (identity && !(await lockLink(trx, identity, account.id))) throw new Problem('identity-not-linked');
        const opened = await openIn(trx);
        // After the user's row has been locked, as a change of the password does, so that the two wait for each other and never deadlock.
        const before = carried === undefined ? undefined : await revokeByToken(trx, hashToken(carried), 'login');
        if (!before) return opened;
        await insertEvent(trx, origin, { event: 'session.revoked', outcome: 'ok', userName: before.userName, sessionId: before.id });
        return { ...opened, replaced: before.id };
      });
  for (const id of evicted) principals.forget(`session ${id}`);
  if (replaced !== undefined) {
    principals.forget(`session ${replaced}`);
    await listener.settle();
  }
  return { token, principal };
}
