/** What is at `/`: a browser is sent to the page that a person can read, a program gets an index of links. Not part of the contract. */
import type { FastifyInstance } from 'fastify';
import { publicAddress, publicPath } from '../config/public-url.ts';
import type { ContractDocument } from './contract.ts';

/** Serves `/` on `app`. The links are the URLs under which clients reach the service at `publicUrl`. */
export function serveRoot(app: FastifyInstance, { info }: ContractDocument, publicUrl: URL): void {
  const link = (path: `/${string}`) => publicAddress(publicUrl, path);
  const index = {
    name: info.title,
    version: info.version,
    links: {
      swaggerUi: link('/docs'),
      contract: link('/openapi.yaml'),
      contractAsJson: link('/openapi.json'),
      liveness: link('/health/live'),
      readiness: link('/health/ready'),
    },
  };
  app.get('/', async ({ headers: { accept } }, reply) => {
    reply.header('vary', 'Accept');
    return namesHtml(accept) ? reply.redirect(publicPath(publicUrl, '/docs'), 303) : index;
  });
}

/** Whether the client asks for HTML by its name, as every browser does that opens a page. */
function namesHtml(accept: string | undefined): boolean {
  return accept?.split(',').some((range) => /^\s*text\/html\s*(;(?!\s*q=0(\.0*)?\s*$)|$)/i.test(range)) ?? false;
}
