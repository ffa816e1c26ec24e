/**
 * Recognises the session cookie. In the Auth API the plugin has loaded the session from the database; elsewhere the cache may have the principal.
 * In both cases `verify.ts` decides which sessions are live.
 */
import { requireOwnSite, type Scheme } from '../authn/authenticate.ts';
import type { Principal } from '../rights/principal.ts';
import { originPolicy } from '../config/public-url.ts';
import type { SessionContext } from './context.ts';
import { Problem } from '../problems/errors.ts';
import { sessionCookie, tokenIn } from './cookie.ts';
import { loadedSession } from './fastify-session.ts';
import { endSessionOfDeadToken } from './dead-token.ts';
import { hashToken } from './token.ts';
import { acceptToken } from './verify.ts';

/**
 * The scheme `sessionCookie`: undefined without a well-formed cookie; throws 401 for a token that is not of a live session. Throws 403 `csrf-rejected` for
 * a request of another site with any method (rule 27). So no use of the cookie can omit this check.
 */
export function sessionScheme(context: SessionContext): Scheme {
  const { name } = sessionCookie(context.config);
  const policy = originPolicy(context.config);
  return async (request) => {
    const token = tokenIn(request.headers.cookie, name);
    if (token === undefined) return undefined;
    const loaded = loadedSession(request);
    const principal = loaded ? loaded.principal : await verify(context, hashToken(token));
    if (principal) {
      // The audit event of the refusal has the user.
      request.principal = principal;
      requireOwnSite(request, policy);
      return principal;
    }
    await endSessionOfDeadToken(context, request.caller, hashToken(token));
    throw new Problem('unauthenticated');
  };
}

async function verify(context: SessionContext, tokenHash: Buffer): Promise<Principal | undefined> {
  const { principals } = context;
  const hash = tokenHash.toString('hex');
  const cached = principals.find(hash);
  if (cached) return cached;
  const started = principals.startVerification();
  const found = await acceptToken(context, tokenHash);
  // A superseded token lives for seconds; remembering it would let it live longer.
  if (found?.principal.session?.current) {
    principals.store(hash, `session ${found.principal.session.id}`, found.principal, found.lifeMs, started);
  }
  return found?.principal;
}
