/**
 * Spans: the pieces of work on which a request spends its time. Traces and `Server-Timing` record them if they are on. If both are off, a span
 * costs one comparison. This file knows neither of the two.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export interface SpanDescription {
  kind: 'authentication' | 'database' | 'password' | 'issuer';
  /** The span's name, which traces show: never text that a caller sends. */
  name: string;
  attributes?: Record<string, string>;
}

/** The position in a request: the span in which further spans begin. */
export interface TraceScope {
  /** Begins a span. Work inside it uses the scope `inner`; `end` takes the error of the work, if there was one. */
  begin(work: SpanDescription): { inner: TraceScope; end: (error?: unknown) => void };
}

/** Opens the outermost scope of a request; undefined if this request is not recorded. */
export type OpenScope = (request: FastifyRequest, reply: FastifyReply) => TraceScope | undefined;

/** Undefined in requests that are not recorded, even after a recorded request on the same connection. */
const current = new AsyncLocalStorage<TraceScope | undefined>();
let followed = false;

/** Runs `run` in a span of the present request, if that request is recorded. A description as a function is made for recorded requests only. */
export function withSpan<T>(work: SpanDescription | (() => SpanDescription), run: () => Promise<T>): Promise<T> {
  const scope = followed ? current.getStore() : undefined;
  return scope ? observed(scope, typeof work === 'function' ? work() : work, run) : run();
}

async function observed<T>(scope: TraceScope, work: SpanDescription, run: () => Promise<T>): Promise<T> {
  const { inner, end } = scope.begin(work);
  try {
    const result = await current.run(inner, run);
    end();
    return result;
  } catch (error) {
    end(error);
    throw error;
  }
}

/** Lets each of `openers` record every request to `app`, for the life of the process. */
export function followRequests(app: FastifyInstance, openers: readonly OpenScope[]): void {
  if (openers.length === 0) return;
  followed = true;
  app.decorateRequest('scope', undefined);
  app.addHook('onRequest', (request, reply, done) => {
    request.scope = joined(openers.map((open) => open(request, reply)).filter((scope) => scope !== undefined));
    enter(request.scope, done);
  });
  // A body arrives in events of the socket, which belong to no request.
  app.addHook('preValidation', (request, _reply, done) => {
    enter(request.scope, done);
  });
}

function enter(scope: TraceScope | undefined, done: () => void): void {
  if (current.getStore() === scope) done();
  else current.run(scope, done);
}

function joined(scopes: TraceScope[]): TraceScope | undefined {
  return scopes.length > 1 ? together(scopes) : scopes[0];
}

function together(scopes: TraceScope[]): TraceScope {
  return {
    begin(work) {
      const begun = scopes.map((scope) => scope.begin(work));
      return { inner: together(begun.map(({ inner }) => inner)), end: (error) => begun.forEach(({ end }) => end(error)) };
    },
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's outermost scope; undefined if the request is not recorded. */
    scope: TraceScope | undefined;
  }
}
