/**
 * Cross-origin access, off unless `TRUSTED_ORIGINS` lists an origin: then exactly the listed origins may send the user's cookie and read
 * the answers (security rule 31).
 */
import type { FastifyInstance } from 'fastify';

/** The headers of a request that the contract need not name: a form or JSON has a media type, and problems have a language. */
const furtherRequestHeaders = ['Content-Type', 'Accept-Language'];
/** The headers of answers that belong to no operation: 405, and 429 before the operation is called. */
const furtherAnswerHeaders = ['Content-Language', 'Allow', 'RateLimit', 'RateLimit-Policy'];
/** A page cannot read this header, whatever a server exposes (Fetch, "forbidden response-header name"). */
const forbiddenAnswerHeader = 'Set-Cookie';
const preflightSeconds = '600';

/** A member of the contract's `securitySchemes`, as far as it names the header of the credential. */
type SecurityScheme = { type?: string; in?: string; name?: string };

/** An operation of the contract, as far as it names methods and headers. */
interface NamedOperation {
  method: string;
  parameters: readonly { in: string; name: string }[];
  responses: Readonly<Record<string, { headers?: Readonly<Record<string, unknown>> }>>;
}

/** The methods and headers that pages of trusted origins may send and read, as the values of CORS headers. */
export interface CorsLists {
  methods: string;
  requestHeaders: string;
  answerHeaders: string;
}

/** The lists of a contract with these operations and `securitySchemes`, so that a page can use each of its methods and headers. */
export function corsListsOf(operations: readonly NamedOperation[], securitySchemes: Readonly<Record<string, unknown>>): CorsLists {
  const credentials = Object.values(securitySchemes as Record<string, SecurityScheme>).flatMap(({ type, in: place, name = '' }) => {
    if (type !== 'apiKey') return ['Authorization'];
    return place === 'header' ? [name] : [];
  });
  const parameters = operations.flatMap((operation) => operation.parameters.filter((parameter) => parameter.in === 'header'));
  const answers = operations.flatMap(({ responses }) => Object.values(responses)).flatMap(({ headers = {} }) => Object.keys(headers));
  return {
    methods: listOf(['HEAD', ...operations.map(({ method }) => method.toUpperCase())]),
    requestHeaders: listOf([...furtherRequestHeaders, ...credentials, ...parameters.map(({ name }) => name)]),
    answerHeaders: listOf([...answers, ...furtherAnswerHeaders].filter((name) => name !== forbiddenAnswerHeader)),
  };
}

const listOf = (names: readonly string[]) => [...new Set(names)].join(', ');

/** Lets trusted origins read the answers, including refusals. Other origins get no CORS header, so browsers block them. */
export function allowTrustedOrigins(
  app: FastifyInstance,
  trustedOrigins: ReadonlySet<string>,
  { answerHeaders }: Pick<CorsLists, 'answerHeaders'>,
): void {
  if (trustedOrigins.size === 0) return;
  app.addHook('onRequest', ({ headers: { origin } }, reply, done) => {
    reply.header('vary', 'Origin');
    if (origin === undefined || !trustedOrigins.has(origin)) return done();
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': answerHeaders,
      // A no-cors request cannot read the answer anyway; a CORS request is not bound by same-origin.
      'cross-origin-resource-policy': 'cross-origin',
    });
    done();
  });
}

/** Answers preflights from trusted origins. Call after the limits are set, which apply to preflights too (rule 81). */
export function answerPreflights(
  app: FastifyInstance,
  trustedOrigins: ReadonlySet<string>,
  { methods, requestHeaders }: Omit<CorsLists, 'answerHeaders'>,
): void {
  if (trustedOrigins.size === 0) return;
  app.addHook('onRequest', ({ method, headers }, reply, done) => {
    const { origin, 'access-control-request-method': preflight } = headers;
    if (method !== 'OPTIONS' || preflight === undefined || origin === undefined || !trustedOrigins.has(origin)) return done();
    void reply
      .code(204)
      .headers({
        'access-control-allow-methods': methods,
        'access-control-allow-headers': requestHeaders,
        'access-control-max-age': preflightSeconds,
      })
      .send();
  });
}
