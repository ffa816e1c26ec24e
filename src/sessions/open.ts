/** Opens a session for a user who has signed in, in whichever way, and ends the session that the request carried. */
import type { Kysely } from 'kysely';
import { lockLink, type Identity } from '../accounts/identities.ts';
import type { Account } from '../accounts/users.ts';
import { insertEvent } from '../audit/store.ts';
import type { Caller } from '../authn/caller.ts';
import type { Principal } from '../rights/principal.ts';
import type { SessionContext } from './context.ts';
import type { Attempt } from '../credentials/throttle.ts';
import { retryOnConflict, withUnknownOutcome } from '../database/failure.ts';
import type { Database } from '../database/tables.ts';
import type { Scope } from '../rights/vocabulary.ts';
import { sessionCookie, tokenIn } from './cookie.ts';
import { insertSession, type NewSession, type SessionEvents } from './insert.ts';
import { revokeByToken } from './revoke.ts';
import type { Lifetimes } from './store.ts';
import { hashToken, newToken } from './token.ts';

/** How a session came about. `scopes` and the times come with the token of an identity (rule 47), as in {@link NewSession}. */
export interface Opening {
  account: Pick<Account, 'id' | 'name' | 'credentialVersion'>;
  method: 'password' | 'token' | 'openid';
  locale: string | undefined;
  /** The attempt at the password. The statement that opens the session decides it, unless a transaction is needed: that would lock its rows longer. */
  attempt?: Attempt;
  identity?: Identity;
  scopes?: Scope[] | null;
  authenticatedAt?: Date;
  signedInAt?: Date | undefined;
  /** The values that came with a sign-in at the issuer. */
  issuerSession?: { id: string | undefined; endUrl: string | undefined };
}

/** A session that has just been opened: its token, and its principal unless that has to be read from the database. */
export interface OpenedSession {
  token: string;
  principal: Principal | undefined;
}

/**
 * Why no session was opened. `account-changed`: after the account was read, the user was disabled or the password changed, or the sign-in was so
 * long ago that the session would be over. `unlinked`: the identity is not linked to the user any more.
 */
export interface RefusedOpening {
  refused: 'account-changed' | 'unlinked';
}

/** The result of a statement or transaction. */
interface Inserted {
  principal: Principal | undefined;
  evicted: string[];
  /** The session whose cookie came along, which has been ended. */
  replaced?: string;
}

/** Opens a session and ends the one that the request carries (rule 15), which no process accepts any more on return. */
export async function openSession(context: SessionContext, caller: Caller, opening: Opening): Promise<OpenedSession | RefusedOpening> {
  const { config, listener, principals } = context;
  const token = newToken();
  const carried = tokenIn(caller.cookies.header, sessionCookie(config).name);
  const isOneStatement = carried === undefined && opening.identity === undefined;
  const inserted = await (isOneStatement
    ? insertAlone(context, caller, opening, token)
    : insertInTransaction(context, caller, opening, token, carried));
  if ('refused' in inserted) return inserted;
  const { principal, evicted, replaced } = inserted;
  for (const id of evicted) principals.forget(`session ${id}`);
  if (replaced !== undefined) {
    principals.forget(`session ${replaced}`);
    await listener.settle();
  }
  return { token, principal };
}

/** Opens the session and decides the attempt in one statement. */
function insertAlone(
  { config, store }: SessionContext,
  caller: Caller,
  opening: Opening,
  token: string,
): Promise<Inserted | RefusedOpening> {
  return retryOnConflict(() => withUnknownOutcome(insert(store.db, config, caller, opening, token, opening.attempt)));
}

/** Opens the session, unless the identity was unlinked, and ends the one of the token `carried`. */
function insertInTransaction(
  { config, store }: SessionContext,
  caller: Caller,
  opening: Opening,
  token: string,
  carried: string | undefined,
): Promise<Inserted | RefusedOpening> {
  const { account, identity } = opening;
  return store.transaction(async (trx) => {
    if (identity && !(await lockLink(trx, identity, account.id))) return { refused: 'unlinked' };
    const inserted = await insert(trx, config, caller, opening, token);
    if ('refused' in inserted || carried === undefined) return inserted;
    // After the user's row has been locked, as a change of the password does, so that the two wait for each other and never deadlock.
    const before = await revokeByToken(trx, hashToken(carried), 'login');
    if (!before) return inserted;
    await insertEvent(trx, caller.origin, { event: 'session.revoked', outcome: 'ok', userName: before.userName, sessionId: before.id });
    return { ...inserted, replaced: before.id };
  });
}

async function insert(
  db: Kysely<Database>,
  lifetimes: Lifetimes,
  { origin }: Caller,
  opening: Opening,
  token: string,
  attempt?: Attempt,
): Promise<Inserted | RefusedOpening> {
  const { account, identity, method, scopes = null, locale, authenticatedAt, signedInAt, issuerSession } = opening;
  const session: NewSession = {
    tokenHash: hashToken(token),
    userId: account.id,
    credentialVersion: account.credentialVersion,
    method,
    issuer: identity?.issuer ?? null,
    scopes,
    locale,
    authenticatedAt,
    signedInAt,
    subject: identity?.subject,
    issuerSessionId: issuerSession?.id,
    endSessionUrl: issuerSession?.endUrl,
  };
  const events: SessionEvents['events'] = [
    ...(method === 'openid' ? [{ event: 'oidc.completed' as const, detail: { ...identity } }] : []),
    { event: 'login.ok', detail: { method } },
    { event: 'session.created', detail: {} },
  ];
  const inserted = await insertSession(db, session, lifetimes, { origin, userName: account.name, events }, attempt?.handOver());
  return inserted ?? { refused: 'account-changed' };
}
