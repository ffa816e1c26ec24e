/**
 * Turns every thrown error into an answer: `application/problem+json` (RFC 9457), or for HEAD its code in a header. This includes errors of
 * the router, the parsers and the socket, so that no client gets a framework's own body.
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { publicAddress, publicPath } from '../config/public-url.ts';
import { isOutage, outageProblem } from '../database/failure.ts';
import { Problem } from '../problems/errors.ts';
import { translateProblem, type FaultDescription } from '../locales/describe.ts';
import { negotiateLocale } from '../locales/negotiate.ts';
import { DeadlineError } from './deadline.ts';
import { isForm } from './body.ts';
import { isLongUpload } from './long-uploads.ts';
import { namesHtml } from './accept.ts';
import { STATUS_CODES } from './names.ts';
import { answerInOrder } from '../admission/answer-order.ts';
import { problemPage } from './problem-page.ts';
import { faultsOf } from '../problems/validation-faults.ts';

export interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: string;
  errors?: FaultDescription[];
}

const problemType = 'application/problem+json; charset=utf-8';

/** Writes the document for `problem`, in `locale`; `requestId` is a UUID and `publicUrl` the base of `type`. */
function documentOf(problem: Problem, requestId: string, locale: ReturnType<typeof negotiateLocale>, publicUrl: URL): ProblemDocument {
  const { title, detail, errors } = translateProblem(locale, problem);
  const type = publicAddress(publicUrl, `/problems/${problem.code}`);
  const { status, code } = problem;
  return { type, title, status, detail, instance: `urn:uuid:${requestId}`, code, ...(errors && { errors }) };
}

/** The document of a problem that is a part of an answer to `request`. */
export function describeProblem(problem: Problem, request: FastifyRequest, publicUrl: URL): ProblemDocument {
  return documentOf(problem, request.id, localeOf(request), publicUrl);
}

function localeOf({ principal, headers }: FastifyRequest): ReturnType<typeof negotiateLocale> {
  return negotiateLocale({ session: principal?.locale, acceptLanguage: headers['accept-language'] });
}

/** The problem that `error` is to the caller of `request`. An unexpected error is `internal-error`: a bug, with the error as its cause. */
export function problemOf(error: unknown, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  if (isOutage(error)) return outageProblem(error);
  if (error instanceof DeadlineError) return late(error, request);
  const { code, statusCode, validation, validationContext } = error as Partial<FastifyError>;
  if (validation) {
    const context = validationContext ?? 'body';
    return faultsOf(validation, context === 'body' && isForm(request) ? 'form' : context, request.body);
  }
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('content-too-large', { values: { limit: request.routeOptions.bodyLimit }, cause: error });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem('unsupported-media-type', { cause: error });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Problem('uri-too-long', { cause: error });
    case 'FST_ERR_NOT_FOUND':
      return new Problem('not-found', { cause: error });
  }
  // Of the files of Swagger UI, if an ETag or a date in the request is not theirs.
  if (statusCode === 412) return new Problem('precondition-failed', { cause: error });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new Problem('malformed-request', { cause: error });
  return new Problem('internal-error', { cause: error });
}

function late(cause: DeadlineError, request: FastifyRequest): Problem {
  // The body has not arrived completely, so nothing has been done. The rest of the body must not be read as another request.
  if (!request.raw.complete) return new Problem('request-timeout', { headers: { Connection: 'close' }, cause });
  return new Problem('outcome-unknown', { headers: { 'Retry-After': '2' }, cause });
}

/**
 * Makes `app` answer every error and every unknown route with a problem. Call before any route is registered. `replace` may return another
 * problem in place of one. `onProblem` is called with an operation's problem before the answer is sent, and must not throw.
 */
export function answerProblems(
  app: FastifyInstance,
  publicUrl: URL,
  replace: (problem: Problem, request: FastifyRequest) => Problem | undefined,
  onProblem: (problem: Problem, request: FastifyRequest) => Promise<void>,
): void {
  app.decorateRequest('problemCode', '');
  app.setErrorHandler(async (error, request, reply) => {
    const found = problemOf(error, request);
    const problem = replace(found, request) ?? found;
    await onProblem(problem, request);
    return sendProblem(problem, request, reply, publicUrl);
  });
  app.setNotFoundHandler((request, reply) => sendProblem(new Problem('not-found'), request, reply, publicUrl));
}

/** Logs a fault or an outage; a problem that the caller can mend has no line of its own. */
export function logFailure(problem: Problem, { log }: FastifyRequest): void {
  if (problem.status === 500) log.error({ event: 'fault', err: problem.cause ?? problem }, 'unhandled error');
  else if (problem.status === 503) log.warn({ event: 'outage', code: problem.code, err: problem.cause }, 'dependency failed');
}

/** Answers with `problem` and the headers that its status requires (rule 7; RFC 9110 sections 11.6.1 and 15.5.6). Logs server faults. */
export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply, publicUrl: URL): FastifyReply {
  logFailure(problem, request);
  request.problemCode = problem.code;
  if (problem.status === 401) reply.header('www-authenticate', challenge(request, 'invalid_token'));
  else if (problem.code === 'insufficient-scope') reply.header('www-authenticate', challenge(request, 'insufficient_scope'));
  const locale = localeOf(request);
  reply.code(problem.status).headers(problem.headers).header('content-language', locale);
  if (request.method === 'HEAD') return reply.header('problem-code', problem.code).send();
  const document = documentOf(problem, request.id, locale, publicUrl);
  if (request.routeOptions.config.answersProblemPages) {
    reply.header('vary', 'Accept');
    if (namesHtml(request.headers.accept)) {
      const links = { back: publicPath(publicUrl, '/'), ...problem.links };
      return reply.type('text/html; charset=utf-8').send(problemPage(document, locale, links));
    }
  }
  return reply.type(problemType).send(JSON.stringify(document));
}

/** The challenge of `WWW-Authenticate`; with the error only for a caller who sent a bearer token (RFC 6750 section 3.1). */
function challenge(request: FastifyRequest, error: 'invalid_token' | 'insufficient_scope'): string {
  return /^bearer /i.test(request.headers.authorization ?? '') ? `Bearer error="${error}"` : 'Bearer';
}

/** The problem of a client whose bytes Node.js could not parse as HTTP; undefined if the client has only hung up. */
function problemOnSocket(error: NodeJS.ErrnoException): Problem | undefined {
  switch (error.code) {
    case 'ECONNRESET':
      return undefined;
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('headers-too-large', { values: { limit: 16_384 } });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request-timeout');
    default:
      return new Problem('malformed-request');
  }
}

/** Answers bytes that Node.js could not parse as HTTP, after the requests before them, and closes the connection. `headers` are those of every answer. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, headers: Record<string, string>, publicUrl: URL): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isLongUpload(socket)) return;
  const problem = problemOnSocket(error);
  if (!problem || !socket.writable) return void socket.destroy();
  answerInOrder(socket, () => answerOnSocket(problem, socket, headers, publicUrl));
}

/** Time in milliseconds in which a client must read such an answer and close its side. */
const lingerMs = 1_000;

/**
 * Writes a whole answer to a connection without a reply object, and closes it. Node.js may not manage such a connection any more. Without
 * a listener its error would end the process, and a client could leave it open for ever.
 */
export function answerOnSocket(problem: Problem, socket: Duplex, headers: Record<string, string>, publicUrl: URL): void {
  const body = JSON.stringify(documentOf(problem, randomUUID(), 'en', publicUrl));
  const lines = Object.entries({
    ...headers,
    ...problem.headers,
    'content-type': problemType,
    'content-language': 'en',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the problem with which the request was answered, for the log; empty without one. */
    problemCode: string;
  }
  interface FastifyContextConfig {
    /** Whether browsers open the operation as a page, so that they get its problems as pages too. */
    answersProblemPages?: boolean;
  }
}
