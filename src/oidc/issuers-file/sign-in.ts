/** Reads the settings of sign-ins with a browser in an issuer's entry in ISSUERS_FILE: what the service requests, and the logout there. */
import { isLoopback } from '../../config/near-hosts.ts';
import { returnPath } from '../sign-in/return-path.ts';
import { scopeToken } from '../tokens/scopes.ts';
import type { SchemaReader } from './schema-reader.ts';

/** Values of `prompt` (OpenID Connect Core, section 3.1.2.1), by the sign-in in which they are sent. */
export interface Prompts {
  /** A sign-in without a special wish. */
  signIn: readonly string[];
  /** The page wishes a new sign-in at the issuer, and each link of an identity. */
  fresh: readonly string[];
  /** The page wishes that the user can choose the account. Sent in addition to the others. */
  choose: readonly string[];
}

/** How the browser logs out at the issuer (OpenID Connect RP-Initiated Logout 1.0). */
export interface IssuerLogoutPage {
  /** The issuer's page; undefined: `end_session_endpoint` of its metadata. */
  endpoint: string | undefined;
  /** The place to which the issuer sends the browser in the end: a URL, or a path on this service's origin; undefined: the root of PUBLIC_URL. */
  returnTo: string | undefined;
  /** The name of the parameter with that URL. */
  returnParameter: string;
  /** Whether the request has the ID token of the sign-in, which the session then stores. */
  idTokenHint: boolean;
  /** Whether a logout token without `exp` is accepted. */
  allowMissingExpiry: boolean;
}

/** Undefined: the default, which depends on `provision`. */
export function readSignInScopes(members: SchemaReader): readonly string[] | undefined {
  const scopes = members.texts('signInScopes', { minimum: 1 });
  for (const [index, scope] of (scopes ?? []).entries()) {
    if (!scopeToken.test(scope)) members.report(`signInScopes: "${scope}" must be one scope, without spaces`, 'signInScopes', index);
    if (scope === 'offline_access') {
      members.report(
        'signInScopes: offline_access requests a refresh token, which the service does not use: remove it',
        'signInScopes',
        index,
      );
    }
  }
  if (scopes && !scopes.includes('openid')) members.report('signInScopes must contain openid', 'signInScopes');
  return scopes;
}

export function readPrompts(members: SchemaReader): Prompts {
  const prompt = members.mapping('prompt');
  const read = (name: keyof Prompts, otherwise: readonly string[]): readonly string[] => {
    const values = prompt?.texts(name, { minimum: 0 });
    for (const [index, value] of (values ?? []).entries()) {
      if (value === 'none') prompt?.report(`${name}: none shows the user no page, so no user could sign in: remove it`, name, index);
      else if (!/^[a-z_]{1,50}$/.test(value)) prompt?.report(`${name}: "${value}" must be one value of prompt, such as login`, name, index);
    }
    return values ?? otherwise;
  };
  const prompts = { signIn: read('signIn', []), fresh: read('fresh', ['login']), choose: read('choose', ['select_account']) };
  prompt?.finish();
  return prompts;
}

export function readLogoutPage(members: SchemaReader): IssuerLogoutPage {
  const logout = members.mapping('logout');
  const endpoint = logout?.text('endpoint');
  if (endpoint !== undefined && !isPage(endpoint)) logout?.report(`endpoint must be an https URL, not "${endpoint}"`, 'endpoint');
  const returnTo = logout?.text('returnTo');
  if (returnTo !== undefined && !isPage(returnTo) && (!returnTo.startsWith('/') || returnPath(returnTo) !== returnTo)) {
    logout?.report(`returnTo must be an https URL, or a path on this service's origin, not "${returnTo}"`, 'returnTo');
  }
  const returnParameter = logout?.text('returnParameter', { pattern: /^[A-Za-z_]{1,50}$/, must: 'be the name of a parameter' });
  if (returnParameter === 'client_id' || returnParameter === 'id_token_hint') {
    logout?.report(`returnParameter: ${returnParameter} has another meaning`, 'returnParameter');
  }
  const idTokenHint = logout?.flag('idTokenHint') ?? false;
  const allowMissingExpiry = logout?.flag('allowMissingExpiry') ?? false;
  logout?.finish();
  return {
    endpoint,
    returnTo,
    returnParameter: returnParameter ?? 'post_logout_redirect_uri',
    idTokenHint,
    allowMissingExpiry,
  };
}

/** Whether a browser may be sent there: https, or plain http on this machine, without credentials and fragment. */
function isPage(address: string): boolean {
  const url = URL.parse(address);
  if (!url || !/^https?:\/\/[\x21-\x7e]+$/.test(address) || url.username || url.password || address.includes('#')) return false;
  return url.protocol === 'https:' || isLoopback(url);
}
