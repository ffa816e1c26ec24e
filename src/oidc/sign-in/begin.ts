/** Sends a browser to a provider: the first half of the authorization code flow (security rules 51, 52 and 55). */
import { hash } from 'node:crypto';
import {
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type Configuration,
} from 'openid-client';
import { recordWithinQuota } from '../../audit/record.ts';
import type { Caller } from '../../authn/caller.ts';
import { publicAddress, publicPath } from '../../config/public-url.ts';
import type { IssuerContext } from '../context.ts';
import { browserCookie, browserIn } from './cookie.ts';
import { returnPath } from './return-path.ts';
import { auditSignInErrors } from './sign-in-errors.ts';
import { insertTransaction } from './store.ts';
import type { Provider } from '../tokens/issuer-registry.ts';

export interface Beginning {
  /** A path on this origin; any other text counts as `/`. */
  returnTo: string | undefined;
  /** Whether the provider must ask its user to sign in again. */
  fresh: boolean;
  /** Whether the provider must let its user choose the account. */
  choose?: boolean;
  /** What the initiator of the sign-in says about the user, for the provider (OpenID Connect Core, section 3.1.2.1). */
  loginHint?: string | undefined;
  /** The session whose user links the identity; undefined to sign in. */
  sessionId?: string;
}

/** The callback URL, to which the provider redirects browsers. The operator registers this URL at the issuer. */
export function redirectUri(publicUrl: URL, { id }: { id: string }): string {
  return publicAddress(publicUrl, `/auth/oidc/${id}/callback`);
}

/** The URL at which a browser begins a sign-in at the provider. */
export function startUrl(publicUrl: URL, { id }: { id: string }): string {
  return publicAddress(publicUrl, `/auth/oidc/${id}/start`);
}

/** The path at which a browser begins a sign-in at the provider and returns to `returnTo`. */
export function startPath(publicUrl: URL, provider: { id: string }, returnTo: string): string {
  return `${publicPath(publicUrl, `/auth/oidc/${provider.id}/start`)}?${new URLSearchParams({ return_to: returnTo }).toString()}`;
}

/**
 * Begins a sign-in or a link: stores a transaction, binds it to the browser by a cookie, and returns the URL of the provider. Throws 503
 * `issuer-unavailable`, which is audited, if the provider's metadata cannot be fetched.
 */
export function beginSignIn(context: IssuerContext, caller: Caller, provider: Provider, beginning: Beginning): Promise<string> {
  return auditSignInErrors(context, caller, provider, async () => {
    const client = await provider.provider.current();
    const secrets = { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
    await bindBrowser(context, caller, provider, beginning, secrets);
    const { principal } = caller;
    const detail = { issuer: provider.issuer };
    await recordWithinQuota(context, caller, { event: 'oidc.started', outcome: 'ok', userName: principal?.user.name, detail });
    return await authorizationUrl(context, client, provider, beginning, secrets);
  });
}

interface Secrets {
  state: string;
  nonce: string;
  codeVerifier: string;
}

async function bindBrowser(
  { config, store }: IssuerContext,
  { cookies }: Caller,
  { issuer }: Provider,
  { returnTo, sessionId }: Beginning,
  { state, nonce, codeVerifier }: Secrets,
): Promise<void> {
  const cookie = browserCookie(config);
  // Tabs of one browser share the cookie. With one for each tab, only the last tab could complete its sign-in.
  const browser = browserIn(cookies.header, cookie.name) ?? randomState();
  const hashes = { stateHash: hashSecret(state), browserHash: hashSecret(browser) };
  await insertTransaction(store.db, { ...hashes, issuer, nonce, codeVerifier, returnPath: returnPath(returnTo), sessionId });
  cookies.set(cookie.name, browser, cookie.attributes);
}

async function authorizationUrl(
  { config }: IssuerContext,
  client: Configuration,
  provider: Provider,
  beginning: Beginning,
  { state, nonce, codeVerifier }: Secrets,
): Promise<string> {
  return buildAuthorizationUrl(client, {
    redirect_uri: redirectUri(config.publicUrl, provider),
    response_type: 'code',
    scope: scopesFor(provider).join(' '),
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    // A sign-in before that would open a session whose absolute lifetime is over.
    max_age: String(config.sessionAbsoluteSeconds),
    ...optionsOf(provider, beginning),
  }).href;
}

/** The scopes of the file. By default a provisioned user gets the name that the provider has for it. */
function scopesFor({ provision, signInScopes }: Provider): readonly string[] {
  return signInScopes ?? (provision ? ['openid', 'profile'] : ['openid']);
}

function optionsOf({ prompts }: Provider, { fresh, choose = false, loginHint }: Beginning): Record<string, string> {
  const prompt = [...new Set([...(fresh ? prompts.fresh : prompts.signIn), ...(choose ? prompts.choose : [])])];
  return { ...(prompt.length > 0 && { prompt: prompt.join(' ') }), ...(loginHint !== undefined && { login_hint: loginHint }) };
}

/** SHA-256 of a state or of a browser's cookie, both 256 random bits: the only form in which they are stored. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
