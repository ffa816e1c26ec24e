/**
 * Opens sessions. Whatever is wrong with a name or a password, the caller gets the same answer for the same work (security rule 42).
 */
import type { Kysely } from 'kysely';
import { admitRefusal, recordRefusal } from '../audit/record.ts';
import type { Subject } from '../audit/quota.ts';
import { eventInsertion, insertEvent } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../authn/principal.ts';
import type { Context } from '../context.ts';
import { retryOnConflict, inTransaction, withUnknownOutcome } from '../database/failure.ts';
import type { Database, Scope } from '../database/tables.ts';
import { Problem } from '../errors.ts';
import { hashPassword, verifyPassword, type Verification } from '../credentials/hash.ts';
import { failuresUntilLocked, type Attempt } from '../credentials/throttle.ts';
import { normaliseUserName } from '../user-name.ts';
import { lockLink, type Identity } from '../accounts/identities.ts';
import { findAccount, updateHash, type Account } from '../accounts/users.ts';
import { sessionCookie, tokenIn } from './cookie.ts';
import { revokeByToken } from './revoke.ts';
import { insertSession, type NewSession, type SessionEvents } from './insert.ts';
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
export interface Opened {
  token: string;
  principal: Principal | undefined;
}

/**
 * Checks a name and a password and opens a session. Throws 401 `invalid-credentials`, 429 `rate-limited` after too many
 * failures, and 503 `busy`.
 */
export async function loginByPassword(
  context: Context,
  caller: Caller,
  { user, password, locale }: { user: string; password: string; locale: string | undefined },
): Promise<Opened> {
  const { db } = context;
  const opened = await underThrottle(context, caller, user, async (attempt) => {
    const { account: found } = attempt;
    const { matches, outdated } = await comparePassword(context, caller, found, password);
    if (found?.active && matches) {
      if (outdated) await updateHash(db, found.id, found.credentialVersion, await hashPassword(context, password));
      const opened = await openSession(context, caller, { account: found, method: 'password', locale, attempt }).catch(unlessRefused);
      if (opened) return opened;
    }
    noteFailure(context, caller, attempt);
    return undefined;
  });
  if (!opened) throw new Problem('invalid-credentials');
  return opened;
}

/**
 * Lets the failure of the attempt be audited, as far as the quota allows. Each failure on an account counts for the account, so that strangers'
 * failures on made-up names, which are one kind for each address, leave none of them out. The event is written by the statement that counts
 * the failure, so that the time of an answer hardly differs between a name whose event is written and one whose event is not (rule 42).
 */
function noteFailure(context: Context, caller: Caller, { account, onFailure }: Attempt): void {
  const event = { event: 'login.failed', outcome: 'refused', userName: account?.name } as const;
  const admitted = admitRefusal(context, caller, event, account && { subject: accountSubject(account), kind: caller.origin.requestId });
  if (admitted) onFailure(eventInsertion(context.db, caller.origin, admitted));
}

/** A wrong password names an account and proves nothing. */
const accountSubject = ({ name }: Account): Subject => ({ budget: 'named', name: `account ${name}` });

/** Undefined for an account that has been disabled or got another password meanwhile; throws any other error. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof Problem) || error.code !== 'invalid-credentials') throw error;
}

/**
 * Compares a password with that of an account, undefined being one that does not exist, and logs a stored hash that was refused unseen.
 * Throws 503 `busy`.
 */
export async function comparePassword(
  context: Context,
  caller: Caller,
  account: Account | undefined,
  password: string,
): Promise<Verification> {
  const verification = await verifyPassword(context, account?.passwordHash ?? undefined, password);
  const { unusable: reason } = verification;
  if (reason) caller.log.error({ event: 'password.unusable', principal: account?.id, reason }, 'a stored hash was refused unseen');
  return verification;
}

/**
 * Runs `evaluate`, which looks at a password of the user called `name` and returns undefined when it is wrong, unless that account or the
 * request's address has failed too often (rules 39 to 41). Throws 429 `rate-limited` then.
 */
export async function underThrottle<T>(
  context: Context,
  caller: Caller,
  name: string,
  evaluate: (attempt: Attempt) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { db, throttle } = context;
  const { granted, failures } = await throttle.attempt({ name, address: caller.origin.address }, evaluate);
  if (granted === undefined && failures === failuresUntilLocked) {
    const account = await findAccount(db, normaliseUserName(name) ?? '');
    const event = { event: 'login.locked', outcome: 'refused', userName: account?.name } as const;
    // An account is locked once until an administrator unlocks it. Made-up names are unlimited, so these count against a budget.
    if (account) await insertEvent(db, caller.origin, event);
    else await recordRefusal(context, caller, event);
  }
  return granted;
}

/**
 * Opens a session, in one transaction with ending the one the request carries (rule 15), which no process accepts any more on return. Throws 401
 * when the user has been disabled or the password changed since the account was read, or the sign-in was so long ago that the session
 * would be over; 403 `identity-not-linked` when the identity has been unlinked.
 */
export async function openSession(context: Context, caller: Caller, opening: Opening): Promise<Opened> {
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
