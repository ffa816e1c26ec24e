/** Sessions over HTTP: open, show, end, refresh, and the caller's own ones: list, revoke. */
import type { FastifyRequest } from 'fastify';
import type { Handlers } from '../contract/operation.ts';
import { authenticateCaller, carrierOf, type CredentialCarrier, type Schemes } from '../authn/authenticate.ts';
import type { Caller } from '../authn/caller.ts';
import { logoutAllowed, logoutIntent } from '../authn/csrf.ts';
import { originPolicy } from '../config/public-url.ts';
import type { IssuerContext } from '../oidc/context.ts';
import type { LoginContext, SessionInfoContext } from './context.ts';
import { Problem } from '../problems/errors.ts';
import type { Fault } from '../problems/faults.ts';
import { invalidBody } from '../http/body.ts';
import { expectedFormat } from '../problems/expected.ts';
import { canonicalLocale } from '../locales/negotiate.ts';
import type { loginByToken } from '../oidc/tokens/login.ts';
import { issueToken, loadedSession } from './fastify-session.ts';
import { clearSessionCookie } from './cookie.ts';
import { describeSession, sessionInfo } from './info.ts';
import { loginByPassword } from './login.ts';
import { listOwn, revokeAllOthers, revokeOwn } from './self-service.ts';
import { logoutSession } from './logout.ts';
import { refreshSessionToken } from './refresh.ts';

type SessionHandlers = Pick<
  Handlers,
  'createSession' | 'getSession' | 'endSession' | 'refreshSession' | 'listSessions' | 'revokeSession' | 'revokeOtherSessions'
>;

/** What the `Link` of a logout leads to. Relations that are not registered are named by an address (RFC 8288, section 2.1.2). */
const endSessionRelation = 'https://openid.net/specs/openid-connect-rpinitiated-1_0.html';

/** As `GET /auth` takes them. */
const credentialsOfGetSession = [{ sessionCookie: [] }, { apiKey: [] }, { oauth2: [] }];

/**
 * `limitUnknown` gives the 429 for a request whose credential stands for no principal, when its address has sent too many. `openByToken` opens a
 * session for the bearer of an access token.
 */
export function sessionHandlers(
  context: LoginContext & SessionInfoContext & IssuerContext,
  schemes: Schemes,
  limitUnknown: (request: FastifyRequest) => Problem | undefined,
  openByToken: typeof loginByToken,
): SessionHandlers {
  const policy = originPolicy(context.config);
  const clearCookie = ({ cookies }: Caller) => clearSessionCookie(cookies, context.config);

  return {
    async createSession({ body, caller, request }) {
      const locale = readLocale(body.locale, request);
      const way = chooseWay(body, carrierOf(request.raw), request);
      const { token, principal: opened } =
        way.kind === 'password'
          ? await loginByPassword(context, caller, { ...way, locale })
          : await openByToken(context, caller, { ...way, locale });
      const principal = await issueToken(request, context, token, opened);
      return { status: 200, body: await sessionInfo(context, principal) };
    },

    async getSession({ principal, query }) {
      return { status: 200, body: await sessionInfo(context, principal, { roles: query.roles === '1', profiles: query.profiles === '1' }) };
    },

    async endSession({ query, caller, request }) {
      if (logoutIntent(request.method, query) === 'keep') {
        await authenticateCaller(request, carrierOf(request.raw), credentialsOfGetSession, schemes);
        return { status: 200 };
      }
      // A logout needs no session, and with one it must not fall under the limit of the strangers who share its address.
      request.principal = loadedSession(request)?.principal;
      const { headers } = request;
      const { 'sec-fetch-site': secFetchSite, origin, referer, 'sec-purpose': secPurpose, purpose } = headers;
      if (!logoutAllowed({ secFetchSite, origin, referer, secPurpose, purpose }, policy)) throw new Problem('csrf-rejected');
      const tooMany = limitUnknown(request);
      if (tooMany) throw tooMany;
      const endSessionUrl = await logoutSession(context, caller);
      clearCookie(caller);
      const link = endSessionUrl === undefined ? {} : { Link: `<${endSessionUrl}>; rel="${endSessionRelation}"` };
      return { status: 204, headers: { Vary: 'Cookie, Sec-Fetch-Site, Origin', ...link } };
    },

    async refreshSession({ principal, caller, request }) {
      const token = await refreshSessionToken(context, caller, principal);
      return { status: 200, body: await sessionInfo(context, await issueToken(request, context, token)) };
    },

    async listSessions({ principal }) {
      const rows = await listOwn(context.store.db, principal.user.id);
      return { status: 200, body: { sessions: rows.map((row) => describeSession(row, principal.session?.id)) } };
    },

    async revokeSession({ params, principal, caller }) {
      const id = params.id.toLowerCase();
      await revokeOwn(context, caller, principal, id);
      if (id === principal.session?.id) clearCookie(caller);
      return { status: 204 };
    },

    async revokeOtherSessions({ principal, caller }) {
      return { status: 200, body: { ended: await revokeAllOthers(context, caller, principal) } };
    },
  };
}

/** The canonical form of the locale asked for. Throws {@link invalidBody} when it is no language tag. */
function readLocale(text: string | undefined, request: FastifyRequest): string | undefined {
  if (text === undefined) return undefined;
  const locale = canonicalLocale(text);
  if (locale === undefined)
    throw invalidBody(request, [{ pointer: '/locale', code: 'invalid-value', expected: expectedFormat('language-tag') }]);
  return locale;
}

type Way = { kind: 'password'; user: string; password: string } | { kind: 'token'; issuer: string; accessToken: string };

/** By name and password, or by an issuer's token: one of them, whole (rule 46). Throws {@link invalidBody} for both, neither, or half. */
function chooseWay(
  { user, password, oidcIssuer, access_token }: { user?: string; password?: string; oidcIssuer?: string; access_token?: string },
  carrier: CredentialCarrier,
  request: FastifyRequest,
): Way {
  const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const faults: Fault[] = [];
  if (oidcIssuer === undefined) {
    if (user === undefined) faults.push({ pointer: '/user', code: 'required' });
    if (password === undefined) faults.push({ pointer: '/password', code: 'required' });
    if (access_token !== undefined) faults.push({ pointer: '/oidcIssuer', code: 'required' });
  } else {
    if (user !== undefined) faults.push({ pointer: '/user', code: 'conflicting' });
    if (password !== undefined) faults.push({ pointer: '/password', code: 'conflicting' });
    if (access_token === undefined && bearer === undefined) faults.push({ pointer: '/access_token', code: 'required' });
    if (access_token !== undefined && carrier === 'bearer') faults.push({ pointer: '/access_token', code: 'conflicting' });
  }
  if (faults.length > 0) throw invalidBody(request, faults);
  const byPassword = user !== undefined && password !== undefined;
  if (carrier === 'api-key' || (byPassword && carrier === 'bearer')) throw new Problem('ambiguous-credentials');
  return byPassword
    ? { kind: 'password', user, password }
    : { kind: 'token', issuer: oidcIssuer ?? '', accessToken: access_token ?? bearer ?? '' };
}
