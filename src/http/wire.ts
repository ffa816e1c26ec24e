/**
 * Replaces the answers that Node.js's HTTP server would send itself, without our headers and without a problem, or not at all. Also refuses
 * what RFC 9112 requires to be refused before any other part of a request is used.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../problems/errors.ts';
import { answerInOrder } from '../admission/answer-order.ts';
import { answerOnSocket } from './problem.ts';

/** Options for Node.js's server: {@link answerForNode} does the same check with a problem. */
export const nodeOptions = { requireHostHeader: false };

/** Replaces answers of Node.js on `app`. `headers` are those of every answer. Its hook must run before those that decide something. */
export function answerForNode(app: FastifyInstance, headers: Record<string, string>, publicUrl: URL): void {
  // Node.js would answer 417; RFC 9110 section 10.1.1 lets a server ignore an unknown expectation.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // Node.js would close the connection without an answer.
  app.server.on('connect', ({ socket }) => {
    const problem = new Problem('method-not-allowed', { headers: { Allow: '' } });
    answerInOrder(socket, () => answerOnSocket(problem, socket, headers, publicUrl));
  });
  app.addHook('onRequest', (request, _reply, done) => {
    if (!namesHostOnce(request)) return done(new Problem('malformed-request', { faults: [{ parameter: 'Host', code: 'required' }] }));
    done(isCoded(request) ? new Problem('malformed-request', { headers: { Connection: 'close' }, faults: [unknownCoding] }) : undefined);
  });
}

/**
 * The path and query of a request target. A client may send a whole URL (RFC 9112 section 3.2.2). The router understands it, but plugins
 * that read the path do not. The host in it does not matter.
 */
export function originForm({ url = '' }: { url?: string | undefined }): string {
  if (url.startsWith('/')) return url;
  const [, target = url] = /^https?:\/\/[^/?#]*(.*)$/i.exec(url) ?? [];
  return target.startsWith('/') || target === url ? target : `/${target}`;
}

/** RFC 9112 section 3.2. The value of the host does not matter: no decision depends on it (rule 29). */
function namesHostOnce({ raw: { httpVersion, rawHeaders } }: FastifyRequest): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) if (rawHeaders[index]?.toLowerCase() === 'host') count++;
  return count === 1 || (count === 0 && httpVersion === '1.0');
}

const unknownCoding = { parameter: 'Transfer-Encoding', code: 'invalid-value', values: { allowed: 'chunked' } } as const;

/** Whether the body has a transfer coding besides `chunked` (RFC 9112 section 6.1), such as gzip. Node.js would give the coded bytes as the content. */
function isCoded({ headers: { 'transfer-encoding': coding } }: FastifyRequest): boolean {
  return coding !== undefined && coding.toLowerCase() !== 'chunked';
}

/** Refuses unknown paths before their body is read. Call after the limits are set (rule 1). */
export function refuseUnknownPaths(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => done(request.is404 ? new Problem('not-found') : undefined));
}
