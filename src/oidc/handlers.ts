/**
 * OpenID providers over HTTP: which there are, leaving for one to sign in or to link an identity, coming back, the user's own links, and being
 * told of a logout.
 */
import type { Handlers } from '../contract/operation.ts';
import type { Context } from '../context.ts';
import { Problem } from '../errors.ts';
import { requireLinkingSession } from '../rights/session-rights.ts';
import { issueToken, loadedSession } from '../sessions/fastify-session.ts';
import { clearSessionCookie } from '../sessions/cookie.ts';
import { sessionOf } from '../sessions/self-service.ts';
import { listLinks } from '../accounts/identities.ts';
import { logoutByProvider } from './sign-in/back-channel-logout.ts';
import { auditSignInErrors } from './sign-in/sign-in-errors.ts';
import { exchangeCode, signIn, consumeTransaction } from './sign-in/callback.ts';
import { linkOwn, requireSameSession } from './sign-in/link.ts';
import { describeLink, unlinkOwn } from './self-service.ts';
import { begin, startUrl } from './sign-in/begin.ts';
import type { Provider } from './tokens/issuer-registry.ts';

type OidcHandlers = Pick<
  Handlers,
  'listIssuers' | 'startOpenIdSignIn' | 'finishOpenIdSignIn' | 'linkIdentity' | 'listIdentities' | 'unlinkIdentity' | 'logoutFromProvider'
>;

export function oidcHandlers(context: Context): OidcHandlers {
  const { config, issuers } = context;
  const providerOf = (id: string): Provider => {
    const provider = issuers.findProvider(id);
    if (!provider) throw new Problem('not-found');
    return provider;
  };

  return {
    async listIssuers() {
      const offered = issuers.providers.map(({ id, label }) => ({ id, label, startUrl: startUrl(config.publicUrl, { id }) }));
      return { status: 200, body: { issuers: offered } };
    },

    async startOpenIdSignIn({ params, query, caller }) {
      const provider = providerOf(params.issuer);
      const beginning = { returnTo: query.return_to, fresh: query.fresh === '1' };
      const url = await auditSignInErrors(context, caller, provider, () => begin(context, caller, provider, beginning));
      return { status: 303, headers: { Location: url } };
    },

    async finishOpenIdSignIn({ params, query, caller, request }) {
      const provider = providerOf(params.issuer);
      const { state = '' } = query;
      return await auditSignInErrors(context, caller, provider, async () => {
        const transaction = await consumeTransaction(context, caller, provider, state);
        const { sessionId, returnPath } = transaction;
        // Before the provider is asked anything: it may be another user who comes back, or nobody any more.
        const principal = sessionId === null ? undefined : requireSameSession(loadedSession(request)?.principal, sessionId);
        if (principal) {
          request.principal = principal;
          requireLinkingSession(principal);
        }
        const redeemed = await exchangeCode(context, provider, transaction, query);
        if (principal) await linkOwn(context, caller, principal, provider, redeemed);
        else {
          const opened = await signIn(context, caller, provider, redeemed);
          await issueToken(request, context, opened.token, opened.principal);
        }
        return { status: 303, headers: { Location: returnPath } };
      });
    },

    async linkIdentity({ params, query, principal, caller }) {
      const provider = providerOf(params.issuer);
      const beginning = { returnTo: query.return_to, fresh: true, sessionId: sessionOf(principal).id };
      return {
        status: 200,
        body: { url: await auditSignInErrors(context, caller, provider, () => begin(context, caller, provider, beginning)) },
      };
    },

    async listIdentities({ principal }) {
      const links = await listLinks(context.db, principal.user.id);
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
