/** The composition root: every plugin, scheme and handler, in the order in which a request passes them. */
import Fastify, { LogController, type FastifyInstance, type FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import { makeRoutes, addRoutes, type Binding } from './contract/bind.ts';
import { readBodies } from './http/body.ts';
import { operationsOf, type ContractDocument } from './contract/contract.ts';
import { serveDocs } from './pages/docs.ts';
import type { Handlers } from './contract/operation.ts';
import { readQuery } from './contract/parameters.ts';
import { serveRoot } from './pages/root.ts';
import { answerClientError, answerProblems, problemOf, sendProblem } from './http/problem.ts';
import { answerForNode, nodeOptions, originForm, refuseUnknownPaths } from './http/wire.ts';
import { keyHandlers } from './api-keys/handlers.ts';
import { apiKeyScheme } from './api-keys/scheme.ts';
import { recordProblem } from './audit/record.ts';
import { presentPrincipalBy, type Schemes } from './authn/authenticate.ts';
import { processConnections } from './config/network-settings.ts';
import { originPolicy } from './config/public-url.ts';
import type { Context } from './context.ts';
import { Problem } from './problems/errors.ts';
import { batchHandlers } from './batch/handlers.ts';
import { transferHandlers } from './transfer/handlers.ts';
import { entityHandlers } from './entities/handlers.ts';
import { typedContracts, typeHandlers } from './entity-types/handlers.ts';
import { loginByToken } from './oidc/tokens/login.ts';
import { oidcHandlers } from './oidc/handlers.ts';
import { bearerScheme } from './oidc/scheme.ts';
import { offeredIssuers } from './oidc/sign-in/swagger-ui.ts';
import { addressIn } from './network/address.ts';
import { identifyCallers } from './http/caller.ts';
import { addressOf, readAddresses } from './network/client-address.ts';
import { limitConnections, logRefusedConnections } from './admission/connections.ts';
import { sendConsistencyTokens } from './http/consistency-token.ts';
import { allowTrustedOrigins, answerPreflights, corsListsOf } from './http/cors.ts';
import { answerInTime } from './http/deadline.ts';
import { prepareDrain } from './http/drain.ts';
import { securityHeaders, sendSecurityHeaders } from './http/headers.ts';
import { serveHealth } from './monitoring/health.ts';
import { boundHeldBytes } from './admission/held-bytes.ts';
import { joinBodies } from './http/joined-body.ts';
import { prepareFurtherAddresses } from './http/listen.ts';
import { answerEveryMethod } from './http/methods.ts';
import { meterAnswers } from './http/cost-meter.ts';
import { readOpenFilesLimit } from './admission/open-files.ts';
import { paceStarts } from './admission/starts.ts';
import { AddressLimit, limitStrangers, limitUnrecognised, limitUnrouted, limitUrls, limitUsers } from './admission/rates.ts';
import { logRequests, loggerOptions } from './telemetry/logging.ts';
import { sendServerTiming } from './telemetry/server-timing.ts';
import { followRequests } from './telemetry/spans.ts';
import { passwordHandlers } from './password/handlers.ts';
import { permissionHandlers } from './permissions/handlers.ts';
import { profileHandlers } from './profiles/handlers.ts';
import { carrySessions, problemAfterCommit } from './sessions/fastify-session.ts';
import { sessionCookie } from './sessions/cookie.ts';
import { sessionHandlers } from './sessions/handlers.ts';
import { sessionScheme } from './sessions/scheme.ts';
import { findLiveSession } from './sessions/verify.ts';

/** Builds the service on `context`; its caller makes it listen. Throws if the contract and the code do not agree. */
export async function buildApp(context: Context, contract: { text: string; document: ContractDocument }): Promise<FastifyInstance> {
  const { config } = context;
  const { publicUrl } = config;
  const headers = securityHeaders(config);
  const limit = config.rateLimit ? new AddressLimit() : undefined;
  const app = Fastify({
    logger: loggerOptions(config),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: () => randomUUID(),
    rewriteUrl: originForm,
    requestIdHeader: false,
    trustProxy: config.trustProxy.length > 0 ? addressIn(config.trustProxy) : false,
    bodyLimit: config.bodyLimitBytes,
    // Security rule 80, with answerInTime below. Fastify's own request timeout is none.
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 5_000, maxHeaderSize: 16_384, ...nodeOptions },
    return503OnClosing: false,
    routerOptions: { maxParamLength: 256, querystringParser: readQuery, caseSensitive: true, ignoreTrailingSlash: false },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, headers, publicUrl),
    frameworkErrors: (error, request, reply) => {
      const problem = (limit && limitUnrouted(request, limit)) ?? problemOf(error, request);
      void sendProblem(problem, request, reply.headers(headers), publicUrl);
    },
  });
  const { trustProxy, connectionsPerAddress: address } = config;
  const limits = { process: processConnections, address, trustProxy, openFiles: readOpenFilesLimit() };
  const connections = limitConnections(app.server, limits, logRefusedConnections(app.log));
  const starts = paceStarts(app.server);
  app.decorateRequest('principal', undefined);
  app.decorateRequest('accessPath', undefined);

  const { name: cookieName } = sessionCookie(config);
  const limitUnknown = (request: FastifyRequest) => limit && limitUnrecognised(request, limit, cookieName);
  answerProblems(
    app,
    publicUrl,
    (problem, request) => (problem.limit === 'address' ? limitUnknown(request) : problemAfterCommit(problem, request)),
    (problem, request) => recordProblem(context, request.caller, problem, request.routeOptions.config.operationId),
  );
  readAddresses(app, config.trustProxy);
  const { ledger } = context.admission;
  identifyCallers(app, ledger);
  answerInTime(app, 15_000);
  prepareDrain(app);
  prepareFurtherAddresses(app);
  const refuseOtherMethods = answerEveryMethod(app);
  // Loaded only if it is configured.
  if (context.metricsTokens !== undefined)
    (await import('./monitoring/metrics-endpoint.ts')).exposeMetrics(app, context, context.metricsTokens, { connections, starts });
  const followers = [...(context.trace ? [context.trace] : []), ...(config.serverTiming ? [sendServerTiming(app)] : [])];
  followRequests(app, followers);
  logRequests(app, addressOf);
  sendSecurityHeaders(app, headers);
  answerForNode(app, headers, publicUrl);
  const cors = corsListsOf(operationsOf(contract.document), contract.document.components['securitySchemes'] ?? {});
  allowTrustedOrigins(app, config.trustedOrigins, cors);
  if (limit) limitStrangers(app, limit, cookieName);
  limitUrls(app);
  answerPreflights(app, config.trustedOrigins, cors);
  refuseUnknownPaths(app);
  boundHeldBytes(app, context.heldBytes);
  meterAnswers(app, ledger);
  joinBodies(app);
  await readBodies(app, ledger);

  const bearer = bearerScheme(context);
  const recognised: Schemes = { sessionCookie: sessionScheme(context), apiKey: apiKeyScheme(context), oauth2: bearer, openId: bearer };
  const schemes = config.rateLimitPerUser > 0 ? limitUsers(recognised, config.rateLimitPerUser) : recognised;
  // Ends streams, and purges in portions, at the start of the drain; otherwise they would run until they are cut off.
  const stopping = new AbortController();
  app.addHook('preClose', (done) => {
    stopping.abort(new Problem('unavailable', { values: { seconds: 2 } }));
    done();
  });
  const presentPrincipal = presentPrincipalBy(recognised, (id) => findLiveSession(context, id), stopping.signal);
  const handlers: Handlers = {
    ...sessionHandlers(context, schemes, limitUnknown, loginByToken),
    ...profileHandlers(context),
    ...permissionHandlers(context),
    ...passwordHandlers(context),
    ...keyHandlers(context),
    ...oidcHandlers(context),
    ...entityHandlers(context, presentPrincipal),
    ...batchHandlers(context),
    ...transferHandlers(context, presentPrincipal, stopping.signal),
    ...typeHandlers(context),
  };
  const binding: Binding = {
    document: contract.document,
    handlers,
    schemes,
    csrf: originPolicy(config),
    ledger,
    bodyLimit: config.bodyLimitBytes,
  };

  const routes = await makeRoutes(binding);
  const { log } = context.store;
  const operations = routes.map(({ operation }) => operation);
  if (log) sendConsistencyTokens(app, operations, log);
  const { carried = [], plain = [] } = Object.groupBy(routes, ({ operation }) => (operation.writesSession ? 'carried' : 'plain'));
  await app.register(async (scope) => {
    await carrySessions(scope, context);
    addRoutes(scope, carried);
  });
  await app.register(async (scope) => addRoutes(scope, plain));
  serveHealth(app, context);
  serveRoot(app, contract.document, config);
  const typed = typedContracts(context, contract.document.security, schemes);
  await app.register(async (docs) => serveDocs(docs, contract, { publicUrl, cookieName }, () => offeredIssuers(context), typed));
  refuseOtherMethods();
  return app;
}
