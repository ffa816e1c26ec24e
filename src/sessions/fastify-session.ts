/**
 * The adapter to @fastify/session, which no other file uses. The plugin reads the cookie, loads the session, and sends a new token to the client.
 * The statements of `insert.ts` and `store.ts` write the rows, each in one transaction with what caused it. The plugin's store only reads and
 * ends sessions: it can neither make a session live again nor prolong one. Operations that only read, such as `GET /auth`, verify the cookie without
 * the plugin, as the Entities API does (decision 12).
 */
import { callbackify } from 'node:util';
import cookie from '@fastify/cookie';
import session from '@fastify/session';
import type { FastifyInstance, FastifyRequest, Session } from 'fastify';
import type { Principal } from '../rights/principal.ts';
import type { SessionContext } from './context.ts';
import { Problem } from '../problems/errors.ts';
import { cookieMaxAge, sessionCookie, tokenIn } from './cookie.ts';
import { revokePresent } from './revoke.ts';
import { hashToken, isToken } from './token.ts';
import { acceptToken, findPrincipal } from './verify.ts';

/** What a session of the plugin holds. The plugin hashes sessions as JSON to find changes; the id of the session is enough for that. */
class SessionContent {
  readonly principal: Principal;

  constructor(principal: Principal) {
    this.principal = principal;
  }

  toJSON(): unknown {
    return this.principal.session?.id;
  }
}

/** What the plugin calls the session of a request without one. It does not have the form of a token, so no statement looks for it. */
const noToken = 'none';

/** Registers the plugin on `app`. A route of it can use {@link loadedSession} and {@link issueToken}. */
export async function carrySessions(app: FastifyInstance, context: SessionContext): Promise<void> {
  const {
    config,
    store: { db },
  } = context;
  const { name, attributes } = sessionCookie(config);
  await app.register(cookie);
  app.decorateRequest('tokenToIssue', undefined);
  app.addHook('onRequest', (request, _reply, done) => {
    request.cookies[name] = tokenIn(request.headers.cookie, name);
    done();
  });
  // The plugin clears the cookie of any request whose session is over. A browser has one cookie of the name, so that would delete the new token
  // which another tab has just received. Only a transition may write the cookie, and only if it succeeds.
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (request.tokenToIssue === undefined || reply.statusCode >= 400) Object.assign(request, { session: null });
    done();
  });
  await app.register(session, {
    cookieName: name,
    cookie: { ...attributes, secure: attributes.secure },
    // Tokens are 192 random bits, stored hashed: a signature would only add another secret.
    secret: { sign: (value) => value, unsign: (value) => ({ valid: isToken(value), renew: false, value }) },
    idGenerator: (request) => request?.tokenToIssue ?? noToken,
    saveUninitialized: false,
    rolling: false,
    store: {
      get: callbackify(async (token: string) => {
        const found = await acceptToken(context, hashToken(token));
        return found ? ({ content: new SessionContent(found.principal) } as unknown as Session) : null;
      }),
      // The transition has written the row.
      set: callbackify(async (_token: string, _session: Session) => undefined),
      destroy: callbackify(async (token: string) => (isToken(token) ? revokePresent(db, hashToken(token)) : undefined)),
    },
  });
}

/**
 * The session that the request carries, as the database had it when the request began: `principal` is undefined without a live one. Undefined
 * for an operation that does not pass through the plugin.
 */
export function loadedSession(request: FastifyRequest): { principal: Principal | undefined } | undefined {
  const session = request.session as Session | undefined;
  return session && { principal: session.content?.principal };
}

/**
 * Gives the client the token of a transition that has been committed, and returns its principal: `known`, else what the database has. Throws 401 when
 * the session has ended since.
 */
export async function issueToken(request: FastifyRequest, context: SessionContext, token: string, known?: Principal): Promise<Principal> {
  request.tokenToIssue = token;
  // Would end the session of the old token if the transition had not moved or ended it already.
  await request.session.regenerate();
  const principal = known ?? (await findPrincipal(context, hashToken(token)))?.principal;
  if (!principal) throw new Problem('unauthenticated');
  request.session.content = new SessionContent(principal);
  // The plugin withholds a Secure cookie from a connection that is not https, as behind a proxy; ours is what PUBLIC_URL says.
  const { attributes } = sessionCookie(context.config);
  const maxAge = principal.session && cookieMaxAge(context.config, principal.session);
  const issued = { ...attributes, ...(maxAge !== undefined && { maxAge }) };
  request.session.cookie = { originalMaxAge: null, toJSON: () => issued } as Session['cookie'];
  return principal;
}

/**
 * What to answer in place of `problem` when the transition has been committed and the client cannot get its token. The old token may be dead, so
 * `unavailable`, which promises that nothing has happened, would be wrong. Undefined when the problem may stand.
 */
export function problemAfterCommit({ code, headers, cause }: Problem, { tokenToIssue }: FastifyRequest): Problem | undefined {
  return tokenToIssue !== undefined && code === 'unavailable' ? new Problem('outcome-unknown', { headers, cause }) : undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by a transition: the token the answer's cookie carries. */
    tokenToIssue: string | undefined;
  }
  interface Session {
    /** Undefined for a request without a live session. */
    content: SessionContent | undefined;
  }
}
