/**
 * Cross-origin reading, off unless `TRUSTED_ORIGINS` names somebody: then exactly those origins may call with the user's cookie and read
 * the answers (security rule 31).
 */
import type { FastifyInstance, FastifyReply } from 'fastify';

const methods = 'GET, HEAD, POST, DELETE';
const requestHeaders = 'Content-Type, Authorization, X-API-Key, If-Match, If-None-Match, Idempotency-Key, Accept-Language';
/** What a page may read besides the headers that are always readable. */
const answerHeaders = 'ETag, Location, Idempotency-Replayed, Problem-Code, Retry-After, WWW-Authenticate, Content-Language';
const preflightSeconds = '600';

/** Lets trusted origins read what they asked for, refusals included. Others get no CORS header, and browsers refuse them. */
export function allowTrustedOrigins(app: FastifyInstance, trustedOrigins: ReadonlySet<string>): void {
  if (trustedOrigins.size === 0) return;
  app.addHook('onRequest', async ({ headers: { origin } }, reply) => {
    reply.header('vary', 'Origin');
    if (origin === undefined || !trustedOrigins.has(origin)) return;
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': answerHeaders,
      // A no-cors request cannot read anyway; one by CORS is not held to same-origin.
      'cross-origin-resource-policy': 'cross-origin',
    });
  });
}

/** Answers preflights from trusted origins. Call after the limits are set, which hold for them too (rule 81). */
export function answerPreflights(app: FastifyInstance, trustedOrigins: ReadonlySet<string>): void {
  app.addHook('onRequest', async ({ method, headers }, reply): Promise<FastifyReply | undefined> => {
    const { origin, 'access-control-request-method': preflight } = headers;
    if (method !== 'OPTIONS' || preflight === undefined || origin === undefined || !trustedOrigins.has(origin)) return undefined;
    return reply
      .code(204)
      .headers({
        'access-control-allow-methods': methods,
        'access-control-allow-headers': requestHeaders,
        'access-control-max-age': preflightSeconds,
      })
      .send();
  });
}
