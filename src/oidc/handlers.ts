/**
 * OpenID providers over HTTP: list them, begin and complete a sign-in or a link, list and remove the user's own links, receive a provider's
 * logout.
 */
import { publicPath } from '../config/public-url.ts';
import type { Handlers } from '../contract/operation.ts';
import type { IssuerContext } from './context.ts';
import { Problem } from '../problems/errors.ts';
import { expectedOneOf } from '../problems/expected.ts';
import { requireLinkingSession } from '../rights/session-rights.ts';
import { issueToken, loadedSession } from '../sessions/fastify-session.ts';
import { clearSessionCookie } from '../sessions/cookie.ts';
import { sessionOf } from '../sessions/self-service.ts';
import { listLinks } from '../accounts/identities.ts';
import { logoutByProvider } from './sign-in/back-channel-logout.ts';
import { auditSignInErrors } from './sign-in/sign-in-errors.ts';
import { completeSignIn } from './sign-in/callback.ts';
import { requireSameSession } from './sign-in/link.ts';
import { describeLink, unlinkOwn } from './self-service.ts';
import { beginSignIn, startUrl } from './sign-in/begin.ts';
import { pathOnOrigin } from './sign-in/return-path.ts';
import type { Provider } from './tokens/issuer-registry.ts';

type OidcHandlers = Pick<
  Handlers,
  | 'listIssuers'
  | 'startOpenIdSignIn'
  | 'initiateOpenIdSignIn'
  | 'finishOpenIdSignIn'
  | 'linkIdentity'
  | 'listIdentities'
  | 'unlinkIdentity'
  | 'logoutFromProvider'
>;

export function oidcHandlers(context: IssuerContext): OidcHandlers {
  const { config, issuers } = context;
  const providerOf = (id: string): Provider => {
    const provider = issuers.findProvider(id);
    if (!provider) throw new Problem('not-found');
    return provider;
  };

  return {
    async listIssuers() {
      return {
        status: 200,
        body: { issuers: issuers.providers.map(({ id, label }) => ({ id, label, startUrl: startUrl(config.publicUrl, { id }) })) },
      };
    },

    async startOpenIdSignIn({ params, query, caller, request }) {
      const provider = providerOf(params.issuer);
      requireIssuer(provider, query.iss, { parameter: 'iss' });
      if (query.redirected !== '1' && isOtherHost(request.host, config.publicUrl)) {
        const search = new URLSearchParams({ ...query, redirected: '1' }).toString();
        return { status: 307, headers: { Location: `${startUrl(config.publicUrl, provider)}?${search}` } };
      }
      const returnTo = query.return_to ?? pathOnOrigin(query.target_link_uri, config.publicUrl);
      const loginHint = query.login_hint === '' ? undefined : query.login_hint;
      const beginning = { returnTo, fresh: query.fresh === '1', choose: query.choose === '1', loginHint };
      try {
        return { status: 303, headers: { Location: await beginSignIn(context, caller, provider, beginning) } };
      } catch (error) {
        if (error instanceof Problem) error.links = { retry: publicPath(config.publicUrl, `/${request.url.replace(/^\/+/, '')}`) };
        throw error;
      }
    },

    async initiateOpenIdSignIn({ params, body: { iss, login_hint, target_link_uri } }) {
      const provider = providerOf(params.issuer);
      requireIssuer(provider, iss, { pointer: '/iss' });
      const asked = { iss, ...(login_hint !== undefined && { login_hint }), ...(target_link_uri !== undefined && { target_link_uri }) };
      const search = new URLSearchParams({ ...asked, redirected: '1' }).toString();
      return { status: 303, headers: { Location: `${startUrl(config.publicUrl, provider)}?${search}` } };
    },

    async finishOpenIdSignIn({ params, query, caller, request }) {
      const provider = providerOf(params.issuer);
      const authenticate = (sessionId: string) => {
        const principal = requireSameSession(loadedSession(request)?.principal, sessionId);
        request.principal = principal;
        requireLinkingSession(principal);
        return principal;
      };
      const { returnPath, opened } = await completeSignIn(context, caller, provider, query, authenticate);
      if (opened) await issueToken(request, context, opened.token, opened.principal);
      return { status: 303, headers: { Location: returnPath } };
    },

    async linkIdentity({ params, query, principal, caller }) {
      const provider = providerOf(params.issuer);
      const beginning = { returnTo: query.return_to, fresh: true, sessionId: sessionOf(principal).id };
      return { status: 200, body: { url: await beginSignIn(context, caller, provider, beginning) } };
    },

    async listIdentities({ principal }) {
      const links = await listLinks(context.store.db, principal.user.id);
      return { status: 200, body: { identities: links.map((link) => describeLink(link, principal, issuers)) } };
    },

    async unlinkIdentity({ params, principal, caller }) {
      if (await unlinkOwn(context, caller, principal, params.id.toLowerCase())) clearSessionCookie(caller.cookies, config);
      return { status: 204 };
    },

    async logoutFromProvider({ params, body, caller }) {
      const provider = providerOf(params.issuer);
      await auditSignInErrors(context, caller, provider, () => logoutByProvider(context, caller, provider, body.logout_token));
      return { status: 200 };
    },
  };
}

/**
 * Whether the request names another host than PUBLIC_URL, whose cookies a browser would not send to the callback there. Ports do not matter for
 * cookies. A proxy that replaces the host is taken for another host too, so the redirect happens once (rule 140).
 */
function isOtherHost(host: string, { hostname }: URL): boolean {
  const url = URL.parse(`http://${host}`);
  return url !== null && url.hostname !== hostname;
}

/** Throws 400 `malformed-request` if another party begins a sign-in at another issuer than the path names. */
function requireIssuer({ issuer }: Provider, iss: string | undefined, place: { parameter: string } | { pointer: string }): void {
  if (iss === undefined || iss === issuer) return;
  throw new Problem('malformed-request', { faults: [{ ...place, code: 'invalid-value', ...expectedOneOf([issuer]) }] });
}
