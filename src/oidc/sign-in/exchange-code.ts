/** Exchanges the code from the browser for an ID token (security rule 53), and translates the errors of the exchange. */
import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import type { IssuerContext } from '../context.ts';
import { issuerUnavailable } from '../tokens/cached-metadata.ts';
import type { Claims } from '../tokens/claims.ts';
import { isUnanswered, outageErrors } from '../tokens/issuer-http.ts';
import type { Provider } from '../tokens/issuer-registry.ts';
import { redirectUri } from './begin.ts';
import { faultyIdTokenClaim, readIdToken, type SignedIn } from './id-token.ts';
import { logoutUrl } from './logout-url.ts';
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
  { config, issuers }: IssuerContext,
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
    throw failureOf(provider, error);
  }
  const signedIn = await readIdToken(provider, idToken, issuers.clock.wall());
  return { ...signedIn, endUrl: logoutUrl(client, provider, config.publicUrl, idToken) };
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
function failureOf(provider: Provider, error: unknown): unknown {
  if (isUnanswered(error) || error instanceof WWWAuthenticateChallengeError) return issuerUnavailable(30, error);
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    if (outageErrors.has(error.error)) return issuerUnavailable(30, error);
    const reason = error instanceof ResponseBodyError ? 'code-refused' : 'provider-refused';
    return new SignInError(reason, { about: { error: knownErrors.has(error.error) ? error.error : undefined }, cause: error });
  }
  if (!(error instanceof ClientError)) return error;
  if (noAnswers.has(error.code ?? '')) return issuerUnavailable(30, error);
  const claim = claimOf(provider, error);
  const reason = error.code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED' ? 'clock-skew' : 'bad-answer';
  return new SignInError(reason, { about: { error: error.code, claim }, cause: error });
}

/** The claim of the ID token that the library has refused; undefined for any other check. */
function claimOf(provider: Provider, { cause }: ClientError): string | undefined {
  const facts: unknown = cause instanceof Error ? cause.cause : undefined;
  if (typeof facts !== 'object' || facts === null) return undefined;
  if ('claim' in facts && typeof facts.claim === 'string') return facts.claim;
  return 'claims' in facts && isClaims(facts.claims) ? faultyIdTokenClaim(provider, facts.claims) : undefined;
}

function isClaims(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null;
}
