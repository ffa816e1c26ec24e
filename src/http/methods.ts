/** Methods that a path does not have: 405 with `Allow`, where Fastify would answer 404 (rule 26). */
import type { FastifyInstance, HTTPMethods } from 'fastify';
import { Problem } from '../problems/errors.ts';
import { METHODS } from './names.ts';

const allMethods = METHODS.filter((method) => method !== 'CONNECT');
/** The order of `Allow`, that of the contract's operations. No path has others. */
const usualMethods: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Lets `app` route every method that Node.js parses, and notes the path of each route that is added from now on. Call the returned function when
 * all routes have been added: it answers every other method of their paths.
 */
export function answerEveryMethod(app: FastifyInstance): () => void {
  for (const method of allMethods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const paths = new Set<string>();
  app.addHook('onRoute', ({ url }) => void paths.add(url));
  return () => {
    for (const path of paths) refuseOtherMethodsOf(app, path);
  };
}

function refuseOtherMethodsOf(app: FastifyInstance, url: string): void {
  const allowed: readonly string[] = usualMethods.filter((method) => app.hasRoute({ method, url }));
  const allow = allowed.join(', ');
  app.route({
    method: allMethods.filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    onRequest: async () => {
      throw new Problem('method-not-allowed', { headers: { Allow: allow }, values: { allowed: allow } });
    },
    handler: async () => undefined,
  });
}
