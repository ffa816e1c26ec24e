/**
 * Takes over what Node's HTTP server would answer by itself, without our headers and without a problem, or not answer at all; and refuses
 * what RFC 9112 wants refused before anything of a request is believed.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import { answerOnSocket } from './problem.ts';

/** To be given to Node's server: {@link answerForNode} does the same, in our words. */
export const nodeOptions = { requireHostHeader: false };

/** Answers in Node's stead on `app`. `headers` are those every answer carries. Its hook belongs before those that decide something. */
export function answerForNode(app: FastifyInstance, headers: Record<string, string>, publicUrl: URL): void {
  // Node would say 417; RFC 9110 section 10.1.1 lets a server ignore an expectation it does not know.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // Node would hang up without a word.
  app.server.on('connect', (_request, socket) => {
    answerOnSocket(new Problem('method-not-allowed', { headers: { Allow: '' } }), socket, headers, publicUrl);
  });
  app.addHook('onRequest', (request, _reply, done) => {
    done(namesHostOnce(request) ? undefined : new Problem('malformed-request', { faults: [{ parameter: 'Host', code: 'required' }] }));
  });
}

/**
 * The path and query of a request target. A client may send a whole address (RFC 9112 section 3.2.2), which the router understands and
 * plugins that look at the path do not. Which host it names does not matter.
 */
export function originForm({ url = '' }: { url?: string | undefined }): string {
  if (url.startsWith('/')) return url;
  const [, target = url] = /^https?:\/\/[^/?#]*(.*)$/i.exec(url) ?? [];
  return target.startsWith('/') || target === url ? target : `/${target}`;
}

/** RFC 9112 section 3.2. Which host it is does not matter here: nothing is decided by it (rule 29). */
function namesHostOnce({ raw: { httpVersion, rawHeaders } }: FastifyRequest): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) if (rawHeaders[index]?.toLowerCase() === 'host') count++;
  return count === 1 || (count === 0 && httpVersion === '1.0');
}

/** Refuses what nothing is at before its body is read. Call after the limits are set (rule 1). */
export function refuseUnknownPaths(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => done(request.is404 ? new Problem('not-found') : undefined));
}
