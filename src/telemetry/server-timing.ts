/**
 * The `Server-Timing` header of every answer, for developers: milliseconds of authentication, of the database, and in all, and how a list was
 * read.
 */
import type { FastifyInstance } from 'fastify';
import type { OpenScope, TraceScope, SpanDescription } from './spans.ts';

class Times implements TraceScope {
  readonly spent = { authentication: 0, database: 0, password: 0, issuer: 0 } satisfies Record<SpanDescription['kind'], number>;

  begin({ kind }: SpanDescription): { inner: TraceScope; end: () => void } {
    const begunAt = performance.now();
    return { inner: this, end: () => void (this.spent[kind] += performance.now() - begunAt) };
  }
}

/** Names as in the header. Database time of the authentication counts in both. */
const names = { authentication: 'auth', database: 'db', password: 'password', issuer: 'issuer' } as const;

/** Sends the header. Not for production: the times show strangers, for example, what is cached. */
export function sendServerTiming(app: FastifyInstance): OpenScope {
  const times = new WeakMap<object, Times>();
  app.addHook('onSend', (request, reply, _payload, done) => {
    const spent = Object.entries(times.get(request)?.spent ?? {}).filter(([, milliseconds]) => milliseconds > 0);
    const parts = spent.map(([kind, milliseconds]) => `${names[kind as SpanDescription['kind']]};dur=${milliseconds.toFixed(2)}`);
    const path = request.accessPath === undefined ? [] : [`path;desc="${request.accessPath.replaceAll(/[^ !#-[\]-~]/g, '?')}"`];
    reply.header('server-timing', [...parts, ...path, `total;dur=${reply.elapsedTime.toFixed(2)}`].join(', '));
    done();
  });
  return (request) => {
    const opened = new Times();
    times.set(request, opened);
    return opened;
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** How the list of the answer was read, if its caller may see that. */
    accessPath: string | undefined;
  }
}
