/**
 * Cross-origin access, off unless `TRUSTED_ORIGINS` lists an origin: then exactly the listed origins may send the user's cookie and read
 * the answers (security rule 31).
 */
import type { FastifyInstance } from 'fastify';

const methods = 'GET, HEAD, POST, PUT, DELETE';
const requestHeaders =
  'Content-Type, Authorization, X-API-Key, If-Match, If-None-Match, Idempotency-Key, Consistency-Token, Accept-Language';
/** The headers that a page may read besides the headers that are always readable. */
const answerHeaders =
  'ETag, Location, Idempotency-Replayed, Consistency, Consistency-Token, Problem-Code, Retry-After, WWW-Authenticate, Content-Language';
const preflightSeconds = '600';

/** Lets trusted origins read the answers, including refusals. Other origins get no CORS header, so browsers block them. */
export function allowTrustedOrigins(app: FastifyInstance, trustedOrigins: ReadonlySet<string>): void {
  if (trustedOrigins.size === 0) return;
  app.addHook('onRequest', ({ headers: { origin } }, reply, done) => {
    reply.header('vary', 'Origin');
    if (origin === undefined || !trustedOrigins.has(origin)) return done();
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': answerHeaders,
      // A no-cors request cannot read the answer anyway; a CORS request is not bound by same-origin.
      'cross-origin-resource-policy': 'cross-origin',
    });
    done();
  });
}

/** Answers preflights from trusted origins. Call after the limits are set, which apply to preflights too (rule 81). */
export function answerPreflights(app: FastifyInstance, trustedOrigins: ReadonlySet<string>): void {
  if (trustedOrigins.size === 0) return;
  app.addHook('onRequest', ({ method, headers }, reply, done) => {
    const { origin, 'access-control-request-method': preflight } = headers;
    if (method !== 'OPTIONS' || preflight === undefined || origin === undefined || !trustedOrigins.has(origin)) return done();
    void reply
      .code(204)
      .headers({
        'access-control-allow-methods': methods,
        'access-control-allow-headers': requestHeaders,
        'access-control-max-age': preflightSeconds,
      })
      .send();
  });
}
