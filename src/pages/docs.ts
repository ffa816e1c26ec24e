/**
 * The contract for people: Swagger UI at /docs, the document at /openapi.yaml and /openapi.json, and a page for each problem code. These
 * routes are not part of the contract, and the pages load files from this server only.
 */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { basePathOf, baseUrlOf } from '../config/public-url.ts';
import { Problem, problemFacts, type ProblemCode } from '../problems/errors.ts';
import { tokenOrigins, withIssuers, type OfferedIssuer } from './docs-issuers.ts';
import { issuerWindowScript } from './docs-popup-ui.ts';
import { documentOfServer } from './docs-server.ts';
import { uiConfig, uiTheme } from './docs-ui.ts';
import { translateProblem } from '../locales/describe.ts';
import { negotiateLocale } from '../locales/negotiate.ts';
import type { ContractDocument } from '../contract/contract.ts';
import { typesIn, type TypedContract, type TypedContractRequest, type TypedContractSource } from './typed.ts';

/** The sources that Swagger UI may load: its own files, the pictures inside its style sheet, and tokens from issuers. */
function pagePolicy(issuers: readonly OfferedIssuer[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...tokenOrigins(issuers)].join(' '),
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

const jsonType = 'application/json; charset=utf-8';

const preferencesIn = ({ headers }: FastifyRequest): Pick<TypedContractRequest, 'ifNoneMatch' | 'acceptLanguage'> => ({
  ifNoneMatch: headers['if-none-match'],
  acceptLanguage: headers['accept-language'],
});

function sendTyped(reply: FastifyReply, { etag, text }: TypedContract): FastifyReply {
  reply.headers({ etag, vary: 'Accept-Language, Origin' });
  return text === undefined ? reply.code(304).send() : reply.type(jsonType).send(text);
}

/** The page shows the types of a caller, and is for everybody. */
function noneIfSignedOut(error: unknown): string[] {
  if (error instanceof Problem && problemFacts[error.code].status === 401) return [];
  throw error;
}

const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">';

/**
 * Serves `contract` on `app`: as it is, and as that of the server at `publicUrl` whose session cookie is called `cookieName`. Each time the
 * page is opened it also shows the issuers that `offered` returns. `typed` adds entity types where the URL names them.
 */
export async function serveDocs(
  app: FastifyInstance,
  contract: { text: string; document: ContractDocument },
  { publicUrl, cookieName }: { publicUrl: URL; cookieName: string },
  offered: () => Promise<OfferedIssuer[]>,
  typed: TypedContractSource,
): Promise<void> {
  const basePath = basePathOf(publicUrl);
  const document = documentOfServer(contract.document, baseUrlOf(publicUrl), cookieName);
  // For a page that was opened under another name of the server, such as 127.0.0.1: its policy lets it call its own origin only.
  const relative = documentOfServer(contract.document, basePath || '/', cookieName);
  const json = JSON.stringify(document);
  const sendYaml = (reply: FastifyReply) => reply.type('application/yaml; charset=utf-8').send(contract.text);
  app.get('/openapi.yaml', async (_request, reply) => sendYaml(reply));
  app.get('/openapi.json', async (request, reply) => {
    const names = typesIn(request);
    if (names.length === 0) return reply.type(jsonType).send(json);
    return sendTyped(reply, await typed.contractFor(request, { contract: document, names, ...preferencesIn(request) }));
  });
  app.get<{ Params: { code: string } }>('/problems/:code', async (request, reply) => {
    const { code } = request.params;
    if (!Object.hasOwn(problemFacts, code)) throw new Problem('not-found');
    const locale = negotiateLocale({ acceptLanguage: request.headers['accept-language'] });
    const status = problemFacts[code as ProblemCode].status;
    const text = { code, status, ...translateProblem(locale, new Problem(code as ProblemCode)) };
    return reply.type(jsonType).header('content-language', locale).send(JSON.stringify(text));
  });
  await app.register(async (pages) => {
    pages.addHook('onRequest', async (request, reply) => {
      reply.header('content-security-policy', pagePolicy([]));
      // RFC 9110 section 14.2 lets a server send the whole file. The plugin would refuse a range that the file lacks, with a status of its own.
      delete request.headers.range;
    });
    pages.addHook('onSend', async (_request, reply, payload) => {
      // These files have a policy of their own (rule 82).
      reply.header('cache-control', 'no-store').removeHeader('accept-ranges');
      // The plugin redirects to its own path, without the base path.
      const location = reply.getHeader('location');
      if (typeof location === 'string') reply.header('location', basePath + location);
      // Without it a phone shows the page as wide as a desk's screen. The plugin has no option for it.
      const isPage = typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('text/html');
      return isPage ? payload.replace('<head>', `<head>${viewport}`) : payload;
    });
    await pages.register(swagger, { mode: 'static', specification: { document: document as never } });
    const typesFor = (request: FastifyRequest) => typed.namesFor(request).catch(noneIfSignedOut);
    const shown = new WeakMap<FastifyRequest, OfferedIssuer[]>();
    const shownTo = (request: FastifyRequest) =>
      withIssuers(request.host === publicUrl.host ? document : relative, shown.get(request) ?? []);
    pages.addHook('preHandler', async (request, reply) => {
      // Scripts and pictures do not wait for the issuers.
      if (request.url.startsWith('/docs/static/')) return;
      // The plugin would make this text anew for each request, which takes 70 ms.
      if (request.routeOptions.url === '/docs/yaml') return sendYaml(reply);
      const issuers = await offered();
      shown.set(request, issuers);
      reply.header('content-security-policy', pagePolicy(issuers));
      const names = request.url.startsWith('/docs/json') ? typesIn(request) : [];
      if (names.length === 0) return;
      return sendTyped(reply, await typed.contractFor(request, { contract: shownTo(request), names, ...preferencesIn(request) }));
    });
    pages.get('/docs/types', (request) => typesFor(request).then((types) => ({ types })));
    pages.get('/docs/static/oauth2-redirect.js', (_request, reply) =>
      reply.type('text/javascript; charset=utf-8').send(issuerWindowScript),
    );
    await pages.register(swaggerUi, {
      routePrefix: '/docs',
      indexPrefix: basePath,
      theme: { title: contract.document.info.title, ...uiTheme },
      uiConfig,
      initOAuth: { usePkceWithAuthorizationCodeGrant: true },
      transformSpecification: (_document, request) => ({ ...shownTo(request) }),
      transformSpecificationClone: false,
    });
  });
}
