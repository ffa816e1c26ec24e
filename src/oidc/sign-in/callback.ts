/** Receives a browser from a provider: the second half of the authorization code flow (security rules 51 to 53). */
import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildEndSessionUrl,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
  type Configuration,
} from 'openid-client';
import type { Caller } from '../../authn/caller.ts';
import type { Context } from '../../context.ts';
import { Problem } from '../../errors.ts';
import { openSession, type OpenedSession } from '../../sessions/open.ts';
import { findLinkedAccount } from '../../accounts/identities.ts';
import { browserCookie, browserIn } from './cookie.ts';
import { SignInError } from './sign-in-errors.ts';
import { isUnanswered, outageErrors } from '../tokens/issuer-http.ts';
import { issuerUnavailable } from '../tokens/cached-metadata.ts';
import { readIdToken, type SignedIn } from './id-token.ts';
import { findOrProvision } from '../provisioning/provision.ts';
import { TokenError } from '../tokens/token-errors.ts';
import { hashSecret, redirectUri } from './begin.ts';
import { consumeTransactionRow, type SignInTransaction } from './store.ts';
import type { Provider } from '../tokens/issuer-registry.ts';

/**
 * What this browser began with this issuer and this state, which nobody can come back to again whatever is answered. Throws
 * {@link SignInError} when there is no such thing. Takes the cookie back, or sets it again if another of its tabs still needs it.
 */
export async function consumeTransaction(
  { config, db }: Context,
  caller: Caller,
  { issuer }: Provider,
  state: string,
): Promise<SignInTransaction> {
  const transaction = await consumeTransactionRow(db, hashSecret(state));
  if (!transaction) throw new SignInError('unknown-state');
  const cookie = browserCookie(config);
  const browser = browserIn(caller.cookies.header, cookie.name);
  // Somebody else's answer, that this browser was made to follow, would sign it in as somebody else.
  if (browser === undefined || !hashSecret(browser).equals(transaction.browserHash)) throw new SignInError('other-browser');
  if (transaction.others) caller.cookies.set(cookie.name, browser, cookie.attributes);
  else caller.cookies.set(cookie.name, '', { ...cookie.attributes, maxAge: 0 });
  if (!transaction.live) throw new SignInError('expired');
  if (transaction.issuer !== issuer) throw new SignInError('other-issuer');
  return transaction;
}

export interface ExchangedCode extends SignedIn {
  /** Where the user can end the session at the provider; undefined when the provider names no such place. */
  endUrl: string | undefined;
}

/**
 * Who has signed in at the provider, by the answer in the `query` of the callback. Throws {@link SignInError}, and 503
 * `issuer-unavailable` when the provider does not answer.
 */
export async function exchangeCode(
  { config, issuers }: Context,
  provider: Provider,
  { nonce, codeVerifier }: SignInTransaction,
  query: Readonly<Record<string, string>>,
): Promise<ExchangedCode> {
  const client = await provider.provider.current();
  const answer = new URL(redirectUri(config.publicUrl, provider));
  answer.search = new URLSearchParams(query).toString();
  const checks = { expectedState: query.state ?? '', expectedNonce: nonce, pkceCodeVerifier: codeVerifier, idTokenExpected: true };
  let idToken: string;
  try {
    idToken = (await authorizationCodeGrant(client, answer, checks)).id_token ?? '';
  } catch (error) {
    throw failureOf(error);
  }
  const signedIn = await readIdToken(provider, idToken, issuers.clock.wall());
  return { ...signedIn, endUrl: endUrlOf(client, provider, config.publicUrl) };
}

/** Opens a session for the user behind the identity, or one made for it. Throws {@link SignInError}. */
export async function signIn(context: Context, caller: Caller, provider: Provider, redeemed: ExchangedCode): Promise<OpenedSession> {
  const { config, issuers } = context;
  const { subject, authenticatedAt, signedInAt, issuedAt, claims, sessionId: id, endUrl } = redeemed;
  const identity = { issuer: provider.issuer, subject };
  const about = { subject };
  let userName: string | undefined;
  try {
    const presented = { issuer: provider, subject, claims, issuedAt, isClient: false };
    const account = await findOrProvision(context, caller, presented, findLinkedAccount);
    userName = account.name;
    if (!account.active) throw new SignInError('user-disabled', { about, userName });
    const age = issuers.clock.wall() - authenticatedAt.getTime();
    if (age >= config.sessionAbsoluteSeconds * 1_000) throw new SignInError('too-old', { about, userName });
    const times = { authenticatedAt, signedInAt };
    const opening = { account, method: 'openid', locale: undefined, identity, ...times, issuerSession: { id, endUrl } } as const;
    return await openSession(context, caller, opening);
  } catch (error) {
    if (error instanceof TokenError) throw new SignInError(error.reason === 'no-profile' ? 'no-profile' : 'not-linked', { about });
    if (!(error instanceof Problem) || error instanceof SignInError) throw error;
    // What was true a moment ago is not any more.
    if (error.code === 'identity-not-linked') throw new SignInError('not-linked', { about, userName });
    throw error.code === 'invalid-token' ? new SignInError('user-disabled', { about, userName }) : error;
  }
}

/** Errors that the standards list (RFC 6749, sections 4.1.2.1 and 5.2; OpenID Connect Core, section 3.1.2.6); others may be anybody's words. */
const knownErrors = new Set(
  `access_denied invalid_request invalid_scope unsupported_response_type invalid_grant unsupported_grant_type
  interaction_required login_required account_selection_required consent_required`.split(/\s+/),
);
/** Something else than an answer of a token endpoint, such as the page of a proxy. */
const noAnswers = new Set(['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR']);

/** What an error of the client library means. Anything else is returned as it is. */
function failureOf(error: unknown): unknown {
  if (isUnanswered(error) || error instanceof WWWAuthenticateChallengeError) return issuerUnavailable(30, error);
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    if (outageErrors.has(error.error)) return issuerUnavailable(30, error);
    const reason = error instanceof ResponseBodyError ? 'code-refused' : 'provider-refused';
    return new SignInError(reason, { about: { error: knownErrors.has(error.error) ? error.error : undefined }, cause: error });
  }
  if (!(error instanceof ClientError)) return error;
  if (noAnswers.has(error.code ?? '')) return issuerUnavailable(30, error);
  return new SignInError('bad-answer', { about: { error: error.code }, cause: error });
}

/** The provider's page for signing out, from where it sends browsers to this service's root (OpenID RP-Initiated Logout 1.0). */
function endUrlOf(client: Configuration, { allowInsecureHttp }: Provider, publicUrl: URL): string | undefined {
  const endpoint = URL.parse(client.serverMetadata().end_session_endpoint ?? '');
  if (!endpoint || !(endpoint.protocol === 'https:' || (allowInsecureHttp && endpoint.protocol === 'http:'))) return undefined;
  return buildEndSessionUrl(client, { post_logout_redirect_uri: new URL('/', publicUrl).href }).href;
}
