/**
 * What a request spends its time on: told by who does the work, heard by traces and `Server-Timing` where one of them is on. Where none is,
 * telling costs a comparison. It knows nothing of either.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export interface SpanDescription {
  kind: 'authentication' | 'database' | 'password' | 'issuer';
  /** From a closed list, or at least never from what a caller sends: it is shown. */
  name: string;
  attributes?: Record<string, string>;
}

/** Where in a request one is. */
export interface Scope {
  /** Begins a piece of work. What is done for it is in the scope `inner`; `end` is told what it threw, if it did. */
  begin(work: SpanDescription): { inner: Scope; end: (error?: unknown) => void };
}

/** Opens the outermost scope of a request; undefined where it does not want to hear of this one. */
export type OpenScope = (request: FastifyRequest, reply: FastifyReply) => Scope | undefined;

/** Undefined in requests that nobody hears of, even if one that is heard of has led to them: they share a connection. */
const current = new AsyncLocalStorage<Scope | undefined>();
let followed = false;

/** Runs `run`, as a piece of work of the request that is being worked on, if there is one and anybody listens. */
export function spanning<T>(work: SpanDescription, run: () => Promise<T>): Promise<T> {
  const scope = followed ? current.getStore() : undefined;
  return scope ? observed(scope, work, run) : run();
}

async function observed<T>(scope: Scope, work: SpanDescription, run: () => Promise<T>): Promise<T> {
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

/** Lets each of `openers` follow every request to `app`, in the process for good. */
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

function enter(scope: Scope | undefined, done: () => void): void {
  if (current.getStore() === scope) done();
  else current.run(scope, done);
}

function joined(scopes: Scope[]): Scope | undefined {
  return scopes.length > 1 ? together(scopes) : scopes[0];
}

function together(scopes: Scope[]): Scope {
  return {
    begin(work) {
      const begun = scopes.map((scope) => scope.begin(work));
      return { inner: together(begun.map(({ inner }) => inner)), end: (error) => begun.forEach(({ end }) => end(error)) };
    },
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the request is, for who follows it; undefined when nobody does. */
    scope: Scope | undefined;
  }
}
