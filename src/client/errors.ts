/** The two kinds of errors: the service answered with a problem, or its answer did not arrive. */
import type { Fault, Problem } from '../../generated/client/types.gen.ts';
import type { ProblemCode } from '../../generated/client/problem-codes.ts';

/** A code of the catalogue, or one of a later service: handle an unknown code by its status. */
export type ApiErrorCode = ProblemCode | (string & Record<never, never>);

/** The request that failed. */
export interface FailedRequest {
  method: string;
  /** Without the values of the query, which may be secrets or personal data. */
  url: string;
}

/** What an error says about the request; the values of the query are left out. */
export function describeRequest(method: string, url: URL): FailedRequest {
  const names = [...url.searchParams.keys()].map((name) => `${encodeURIComponent(name)}=…`);
  return { method, url: `${url.origin}${url.pathname}${names.length > 0 ? `?${names.join('&')}` : ''}` };
}

/** The base class of `ApiError` and `ClientError`. */
export abstract class EntityServiceError extends Error {
  /** Tells the two apart where `instanceof` cannot, such as between realms. */
  abstract readonly kind: 'api' | 'client';
  /** The method of the failed request; undefined for a call that was aborted while it waited to send one. */
  readonly method: string | undefined;
  /** The URL of the failed request, with `…` in place of the values of its query. */
  readonly url: string | undefined;

  constructor(message: string, options: ErrorOptions | undefined, request: FailedRequest | undefined) {
    super(message, options);
    this.method = request?.method;
    this.url = request?.url;
  }
}

/** The service answered with a problem (RFC 9457). `message` is its `detail`, in the locale of the session or of the client. */
export class ApiError extends EntityServiceError {
  override readonly name = 'ApiError';
  readonly kind = 'api';
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** The faults of the input, each with a JSON pointer or the name of a parameter; empty without faults. */
  readonly errors: readonly Fault[];
  /** The request's id in the service's log, for a report to the operator. Undefined for HEAD, whose answers have no body. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next attempt, from Retry-After; undefined without that header. */
  readonly retryAfterSeconds: number | undefined;

  constructor(problem: Omit<Problem, 'type' | 'instance'> & { instance?: string }, retryAfterSeconds?: number, request?: FailedRequest) {
    super(problem.detail, undefined, request);
    this.code = problem.code;
    this.status = problem.status;
    this.title = problem.title;
    this.detail = problem.detail;
    this.errors = problem.errors ?? [];
    this.requestId = problem.instance?.replace(/^urn:uuid:/, '');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Why there is no answer of the service:
 * - `network`: no connection, or it broke. The outcome of a change is unknown
 * - `timeout`: the answer took longer than `timeoutMs`. The outcome of a change is unknown
 * - `aborted`: the caller's signal was aborted; its reason is the `cause`
 * - `credential`: the function that returns the access token failed; nothing was sent
 * - `answer`: another server answered, such as a proxy; `status` is its status
 * - `cookie`: the service opened a session whose cookie is Secure, and the connection is http; the session cannot be used
 */
export type ClientErrorReason = 'network' | 'timeout' | 'aborted' | 'credential' | 'answer' | 'cookie';

const messages: Record<ClientErrorReason, string> = {
  network: 'The service cannot be reached, or the connection broke.',
  timeout: 'The service has not answered in time.',
  aborted: 'The call was aborted.',
  credential: 'The access token could not be had.',
  answer: 'The answer is not one of the service.',
  cookie:
    'The session cookie is Secure, so it is not sent over http. Use an https baseUrl; or on a trusted private network, set the option secureCookieOverHttp; or use an API key.',
};

interface ClientErrorOptions {
  cause?: unknown;
  status?: number;
  retryAfterSeconds?: number | undefined;
  request?: FailedRequest | undefined;
}

/** No answer of the service arrived. */
export class ClientError extends EntityServiceError {
  override readonly name = 'ClientError';
  readonly kind = 'client';
  readonly reason: ClientErrorReason;
  /** The HTTP status, where there was one. */
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: ClientErrorReason, options: ClientErrorOptions = {}) {
    const { request } = options;
    const message = request ? `${request.method} ${request.url}: ${messages[reason]}` : messages[reason];
    super(message, 'cause' in options ? { cause: options.cause } : undefined, request);
    this.reason = reason;
    this.status = options.status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
