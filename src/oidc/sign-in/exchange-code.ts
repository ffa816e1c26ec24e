/** Exchanges the code from the browser for an ID token (security rule 53), and translates the errors of the exchange. */
import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildEndSessionUrl,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
  type Configuration,
} from 'openid-client';
import { publicAddress } from '../../config/public-url.ts';
import type { Context } from '../../context.ts';
import { issuerUnavailable } from '../tokens/cached-metadata.ts';
import { isUnanswered, outageErrors } from '../tokens/issuer-http.ts';
import type { Provider } from '../tokens/issuer-registry.ts';
import { redirectUri } from './begin.ts';
import { readIdToken, type SignedIn } from './id-token.ts';
import { SignInError } from './sign-in-errors.ts';
import type { SignInTransaction } from './store.ts';

/** The parameters that the provider added to the callback URL. */
export type CallbackQuery = Readonly<Record<string, string>>;

export interface ExchangedCode extends SignedIn {
  /** The provider's page for signing out; undefined if the provider's metadata names none. */
  endUrl: string | undefined;
}

/**
 * Returns the ID token's facts about the user who signed in at the provider; `query` is the provider's answer. Throws {@link SignInError},
 * and 503 `issuer-unavailable` if the provider does not answer.
 */
export async function exchangeCode(
  { config, issuers }: Context,
  provider: Provider,
  { nonce, codeVerifier }: SignInTransaction,
  query: CallbackQuery,
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

/**
 * Errors that the standards list (RFC 6749, sections 4.1.2.1 and 5.2; OpenID Connect Core, section 3.1.2.6). Any other code may be text of
 * an attacker.
 */
const knownErrors = new Set(
  `access_denied invalid_request invalid_scope unsupported_response_type invalid_grant unsupported_grant_type
  interaction_required login_required account_selection_required consent_required`.split(/\s+/),
);
/** Errors of an answer that does not come from a token endpoint but, for example, from a proxy. */
const noAnswers = new Set(['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR']);

/** Translates an error of the client library. Returns any other error as it is. */
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

/** The provider's page for signing out, which redirects browsers to this service's root (OpenID RP-Initiated Logout 1.0). */
function endUrlOf(client: Configuration, { allowInsecureHttp }: Provider, publicUrl: URL): string | undefined {
  const endpoint = URL.parse(client.serverMetadata().end_session_endpoint ?? '');
  if (!endpoint || !(endpoint.protocol === 'https:' || (allowInsecureHttp && endpoint.protocol === 'http:'))) return undefined;
  return buildEndSessionUrl(client, { post_logout_redirect_uri: publicAddress(publicUrl, '/') }).href;
}
