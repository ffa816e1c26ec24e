/**
 * Makes routes of the contract's operations and adds what fastify-openapi-glue lacks (rule 1): authentication before the body is parsed,
 * CSRF, undeclared content types, missing bodies, unknown parameters. It depends on the contract and the schemes, not on any resource.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify';
import { authenticateCaller, carrierOf, requireOwnSite, type Schemes } from '../authn/authenticate.ts';
import type { OriginPolicy } from '../config/public-url.ts';
import { requireSessionRight, type SessionRights } from '../rights/session-rights.ts';
import { holderOfRequest } from '../admission/held-bytes.ts';
import type { Ledger } from '../admission/ledger.ts';
import { admitByShare } from '../http/cost-meter.ts';
import { withSpan } from '../telemetry/spans.ts';
import { acceptedType } from '../http/accept.ts';
import { bodyLimitOf, checkBody, ignoreBody, requireBody } from '../http/body.ts';
import { isOpen, operationsOf, type ContractDocument, type Operation } from './contract.ts';
import { declaredRoutes } from './declared.ts';
import { resultInTime } from '../http/late-work.ts';
import { JsonText, StreamedText, type Handlers } from './operation.ts';
import { queryParametersOf, refuseDryRun, refusesDryRun, refuseUnknownParameters } from './parameters.ts';
import { compileValidator } from './validate.ts';

/** A handler without its operation's types. The validators have checked its input. */
type AnyHandler = (input: object) => Promise<{ status: number; headers?: Record<string, string>; body?: unknown }>;

export interface Binding {
  document: ContractDocument;
  handlers: Handlers;
  schemes: Schemes;
  csrf: OriginPolicy;
  /** Counts what requests cost. */
  ledger: Ledger;
  /** Bytes of a body, unless the operation has another limit. */
  bodyLimit: number;
}

/** An operation and the route that serves it. */
export interface OperationRoute {
  operation: Operation;
  options: RouteOptions;
}

/**
 * Makes a route of every operation. Throws if an operation has no handler, names a missing security scheme, requires two schemes at once,
 * or declares no session rights. So the service does not start with an operation that is unprotected or not served (rule 3).
 */
export async function makeRoutes(binding: Binding): Promise<OperationRoute[]> {
  const declared = await declaredRoutes(binding.document);
  const operations = operationsOf(binding.document);
  return operations.map((operation) => {
    const route = declared.get(operation.operationId);
    if (!route) throw new Error(`openapi.yaml: ${operation.operationId} has no route`);
    // The form of a body that is a stream shows only when it is read.
    const { body, ...withoutBody } = route.schema ?? {};
    const schema = operation.streamsBody || body === undefined ? withoutBody : { ...withoutBody, body };
    const method = answersHead(operation, operations) ? ['GET', 'HEAD'] : route.method;
    return { operation, options: { ...route, method, schema, ...routeOptions(operation, binding) } };
  });
}

/** Serves these routes on `app`. */
export function addRoutes(app: FastifyInstance, routes: readonly OperationRoute[]): void {
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  for (const { options } of routes) app.route(options);
}

/**
 * Whether HEAD of the operation's path does what GET does, without the content (RFC 9110 section 9.3.2): unless the contract declares another HEAD,
 * and for what reads alone. A GET that only redirects changes something: it begins or completes a sign-in (rule 26).
 */
function answersHead({ method, path, responses }: Operation, operations: readonly Operation[]): boolean {
  const declaresHead = operations.some((other) => other.path === path && other.method === 'head');
  return method === 'get' && '200' in responses && !declaresHead;
}

function routeOptions(operation: Operation, binding: Binding): Omit<RouteOptions, 'method' | 'url'> {
  const { operationId, requestBody } = operation;
  if (!Object.hasOwn(binding.handlers, operationId)) throw new Error(`openapi.yaml: operation ${operationId} has no handler`);
  for (const names of operation.security.map((alternative) => Object.keys(alternative))) {
    for (const name of names) {
      if (!Object.hasOwn(binding.schemes, name))
        throw new Error(`openapi.yaml: ${operationId} asks for ${name}, for which there is no scheme`);
    }
    // The schemes read one credential from a request, so a caller could not present two.
    if (names.length > 1) throw new Error(`openapi.yaml: ${operationId} asks for ${names.join(' and ')} at once`);
  }
  const { takesLargeBody, streamsAnswer, streamsBody, answersProblemPages } = operation;
  const bodyLimit = bodyLimitOf(requestBody, { takesLargeBody, streamsBody }, binding.bodyLimit);
  return {
    config: {
      operationId,
      takesLargeBody,
      streamsAnswer,
      streamsBody,
      answersProblemPages,
      takesCredential: operation.security.length > 0,
    },
    // Otherwise Fastify would answer HEAD of each GET (rule 26).
    exposeHeadRoute: false,
    ...(bodyLimit !== undefined && { bodyLimit }),
    onRequest: guard(operation, binding),
    ...(requestBody && { preValidation: checkBody }),
    handler: route((binding.handlers as Record<string, unknown>)[operationId] as AnyHandler, binding.ledger),
  };
}

const authentication = { kind: 'authentication', name: 'authenticate' } as const;

/** Every check that needs only the request's head, in the order of rule 1. */
function guard(
  operation: Operation,
  binding: Binding,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  const open = isOpen(operation);
  const answersJson = Object.values(operation.responses).some((response) => response.content && 'application/json' in response.content);
  const queryParameters = queryParametersOf(operation);
  const sessions = sessionRightsOf(operation);
  const knowsNoDryRun = refusesDryRun(operation);
  const { refusesCrossSite, ignoresUnknownParameters } = operation;
  const unless = typeof ignoresUnknownParameters === 'string' ? ignoresUnknownParameters : undefined;
  const check = async (request: FastifyRequest): Promise<FastifyRequest> => {
    const carrier = carrierOf(request.raw);
    if (!open) await withSpan(authentication, () => authenticateCaller(request, carrier, operation.security, binding.schemes));
    // It waits in rare cases only, and a turn of its own would cost each request.
    const wait = admitByShare(binding.ledger, request);
    if (wait) await wait;
    // A credential in a header is checked by the operation itself.
    if (refusesCrossSite && carrier === 'cookie') requireOwnSite(request, binding.csrf);
    if (operation.requestBody) requireBody(request, operation.requestBody);
    else ignoreBody(request);
    if (answersJson) acceptedType(request.headers.accept, ['application/json']);
    if (sessions && request.principal) requireSessionRight(request.principal, sessions, (request.params as { id?: string }).id);
    refuseUnknownParameters(request, queryParameters, unless);
    if (knowsNoDryRun) refuseDryRun(request);
    return request;
  };
  return async (request, reply) => ((await resultInTime(request, reply, () => check(request))) ? undefined : reply);
}

/**
 * Returns the operation's session rights. Throws if an operation that authenticates its callers does not declare which sessions may use it,
 * or if another operation declares it.
 */
function sessionRightsOf(operation: Operation): SessionRights | undefined {
  const { operationId, sessionRights } = operation;
  if (isOpen(operation) === (sessionRights === undefined)) return sessionRights;
  const fault = sessionRights ? 'must not have x-session-rights, as it takes callers without a credential' : 'must have x-session-rights';
  throw new Error(`openapi.yaml: ${operationId} ${fault}`);
}

function route(handler: AnyHandler, ledger: Ledger): RouteHandlerMethod {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { params, query, headers, body, bodyText, principal, caller } = request;
    const input = { params, query, headers, body, bodyText, principal, caller, request, reply };
    const output = await resultInTime(request, reply, async () => {
      const made = await ledger.time(holderOfRequest(request), () => handler(input));
      if (reply.isLate && made.body instanceof StreamedText) made.body.stream.destroy();
      return made;
    });
    if (!output) return reply;
    reply.code(output.status);
    if (output.headers) reply.headers(output.headers);
    if (output.body instanceof JsonText) return reply.type('application/json; charset=utf-8').send(output.body.text);
    if (output.body instanceof StreamedText) {
      reply.type(`${output.body.type}; charset=utf-8`);
      if (request.method !== 'HEAD') return reply.send(output.body.stream);
      output.body.stream.destroy();
      return reply.send();
    }
    return reply.send(output.body);
  };
}
