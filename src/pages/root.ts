/** What leads people and programs on: `/` and `/documentation`. Neither is part of the contract. */
import type { FastifyInstance } from 'fastify';
import { publicAddress, publicPath } from '../config/public-url.ts';
import type { Config } from '../config/settings.ts';
import { namesHtml } from '../http/accept.ts';
import type { ContractDocument } from '../contract/contract.ts';

/** Serves both on `app`. The links are the URLs under which clients reach the service. */
export function serveRoot(
  app: FastifyInstance,
  { info }: ContractDocument,
  { publicUrl, documentationUrl }: Pick<Config, 'publicUrl' | 'documentationUrl'>,
): void {
  const link = (path: `/${string}`) => publicAddress(publicUrl, path);
  const index = {
    name: info.title,
    version: info.version,
    links: {
      swaggerUi: link('/docs'),
      documentation: link('/documentation'),
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
  const page = whereToFind(`${info.title} ${info.version}`);
  app.get('/documentation', async (_request, reply) =>
    documentationUrl === undefined ? reply.type('text/html; charset=utf-8').send(page) : reply.redirect(documentationUrl, 303),
  );
}

/** The page for a service whose operator has not published the documentation. Its policy allows no style sheet (rule 82). */
function whereToFind(service: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Documentation of ${service}</title>
</head>
<body>
<h1>Documentation of ${service}</h1>
<p>The documentation comes with the service, as Markdown: <code>README.md</code>, and the files in <code>docs</code>.</p>
<p><code>npm run docs -- --serve</code> in the project's directory shows it as pages, with a search.</p>
<p>If you operate this service: publish the pages that <code>npm run docs</code> makes, and set <code>DOCUMENTATION_URL</code> to
their address. This address then leads there.</p>
<p><a href="docs">Swagger UI</a> describes each operation of the API.</p>
</body>
</html>
`;
}
