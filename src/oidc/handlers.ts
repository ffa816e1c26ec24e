/** Signing in at an OpenID provider over HTTP: which there are, leaving for one, coming back. */
import type { Handlers } from '../api/operation.ts';
import type { Context } from '../context.ts';
import { Problem } from '../errors.ts';
import { issueToken } from '../sessions/carry.ts';
import { auditFailures } from './failed.ts';
import { redeem, signIn, takeOwn } from './finish.ts';
import { begin, startUrl } from './start.ts';
import type { Provider } from './trusted.ts';

type OidcHandlers = Pick<Handlers, 'listIssuers' | 'startOpenIdSignIn' | 'finishOpenIdSignIn'>;

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

    async startOpenIdSignIn({ params, query, request, reply }) {
      const provider = providerOf(params.issuer);
      const beginning = { returnTo: query.return_to, fresh: query.fresh === '1' };
      const url = await auditFailures(context, request, provider, () => begin(context, request, reply, provider, beginning));
      return { status: 303, headers: { Location: url } };
    },

    async finishOpenIdSignIn({ params, query, request, reply }) {
      const provider = providerOf(params.issuer);
      const { state = '' } = query;
      return await auditFailures(context, request, provider, async () => {
        const transaction = await takeOwn(context, request, reply, provider, state);
        const redeemed = await redeem(context, request, provider, transaction, state);
        await issueToken(request, context, await signIn(context, request, provider, redeemed));
        return { status: 303, headers: { Location: transaction.returnPath } };
      });
    },
  };
}
