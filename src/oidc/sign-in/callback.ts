/** Receives a browser from a provider: the second half of the authorization code flow (security rules 51 to 53). */
import { findLinkedAccount } from '../../accounts/identities.ts';
import type { Account } from '../../accounts/users.ts';
import type { Caller } from '../../authn/caller.ts';
import type { Principal } from '../../rights/principal.ts';
import type { IssuerContext } from '../context.ts';
import { Problem, type ProblemLinks } from '../../problems/errors.ts';
import { openSession, type OpenedSession } from '../../sessions/open.ts';
import { findOrProvision } from '../provisioning/provision.ts';
import type { Provider } from '../tokens/issuer-registry.ts';
import { TokenError } from '../tokens/token-errors.ts';
import { hashSecret, startPath } from './begin.ts';
import { browserCookie, browserIn } from './cookie.ts';
import { exchangeCode, type CallbackQuery, type ExchangedCode } from './exchange-code.ts';
import { linkOwn } from './link.ts';
import { auditSignInErrors, SignInError } from './sign-in-errors.ts';
import { consumeTransactionRow, type SignInTransaction } from './store.ts';

export interface CompletedSignIn {
  returnPath: string;
  /** Undefined if the browser linked an identity. */
  opened: OpenedSession | undefined;
}

/**
 * Completes the flow that the browser began. Consumes the transaction, verifies the user who signed in at the provider, and opens a session
 * or links the identity. An error is audited and thrown: {@link SignInError}, 503 `issuer-unavailable`, or an error of `authenticate`. That
 * function returns the principal of the session in which a link was begun, if the request has that session.
 */
export function completeSignIn(
  context: IssuerContext,
  caller: Caller,
  provider: Provider,
  query: CallbackQuery,
  authenticate: (sessionId: string) => Principal,
): Promise<CompletedSignIn> {
  return auditSignInErrors(context, caller, provider, async () => {
    const begun = await consumeTransaction(context, caller, provider, query.state ?? '');
    try {
      // Before any request to the provider: the session may be another user's, or may have ended.
      const linking = begun.sessionId === null ? undefined : authenticate(begun.sessionId);
      const verified = await exchangeCode(context, provider, begun, query);
      if (linking) await linkOwn(context, caller, linking, provider, verified);
      const opened = linking ? undefined : await signIn(context, caller, provider, verified);
      return { returnPath: begun.returnPath, opened };
    } catch (error) {
      if (error instanceof Problem) error.links = linksFrom(context, provider, begun);
      throw error;
    }
  });
}

/** Where a browser can go after a failure. A link of an identity is begun by the page, whose session it needs. */
function linksFrom({ config }: IssuerContext, provider: Provider, { returnPath, sessionId }: SignInTransaction): ProblemLinks {
  return { back: returnPath, ...(sessionId === null && { retry: startPath(config.publicUrl, provider, returnPath) }) };
}

/**
 * Returns and deletes the transaction of this browser, issuer and state, whatever the provider answered, so each state is accepted once.
 * Throws {@link SignInError} if there is none. Deletes the cookie, or sets it again if another tab of the browser needs it.
 */
async function consumeTransaction(
  { config, store }: IssuerContext,
  caller: Caller,
  { issuer }: Provider,
  state: string,
): Promise<SignInTransaction> {
  const transaction = await consumeTransactionRow(store.db, hashSecret(state));
  if (!transaction) throw new SignInError('unknown-state');
  const cookie = browserCookie(config);
  const browser = browserIn(caller.cookies.header, cookie.name);
  // An attacker may have made this browser open the callback URL with the attacker's answer. It would sign the browser's user in as the
  // attacker.
  if (browser === undefined || !hashSecret(browser).equals(transaction.browserHash)) throw new SignInError('other-browser');
  if (transaction.others) caller.cookies.set(cookie.name, browser, cookie.attributes);
  else caller.cookies.set(cookie.name, '', { ...cookie.attributes, maxAge: 0 });
  if (!transaction.live) throw new SignInError('expired');
  if (transaction.issuer !== issuer) throw new SignInError('other-issuer');
  return transaction;
}

/** Opens a session for the linked user or for an automatically provisioned one. Throws {@link SignInError}. */
async function signIn(context: IssuerContext, caller: Caller, provider: Provider, verified: ExchangedCode): Promise<OpenedSession> {
  const { subject, authenticatedAt, signedInAt, sessionId: id, endUrl } = verified;
  const account = await findUser(context, caller, provider, verified);
  const facts = { about: { subject }, userName: account.name };
  if (!account.active) throw new SignInError('user-disabled', facts);
  const age = context.issuers.clock.wall() - authenticatedAt.getTime();
  if (age >= context.config.sessionAbsoluteSeconds * 1_000) throw new SignInError('too-old', facts);
  const identity = { issuer: provider.issuer, subject };
  const times = { authenticatedAt, signedInAt };
  const opening = { account, method: 'openid', locale: undefined, identity, ...times, issuerSession: { id, endUrl } } as const;
  const opened = await openSession(context, caller, opening);
  if ('refused' in opened) throw new SignInError(opened.refused === 'unlinked' ? 'not-linked' : 'user-disabled', facts);
  return opened;
}

async function findUser(context: IssuerContext, caller: Caller, provider: Provider, verified: ExchangedCode): Promise<Account> {
  const { subject, issuedAt, claims } = verified;
  try {
    return await findOrProvision(context, caller, { issuer: provider, subject, claims, issuedAt, isClient: false }, findLinkedAccount);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    throw new SignInError(error.reason === 'no-profile' ? 'no-profile' : 'not-linked', { about: { subject } });
  }
}
