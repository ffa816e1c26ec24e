/** The two kinds of errors: the service answered with a problem, or its answer did not arrive. */
import type { Fault, Problem } from '../../generated/client/types.gen.ts';
import type { ProblemCode } from '../../generated/client/problem-codes.ts';

/** A code of the catalogue, or one of a later service: handle an unknown code by its status. */
export type ApiErrorCode = ProblemCode | (string & Record<never, never>);

/** The base class of `ApiError` and `ClientError`. */
export abstract class EntityServiceError extends Error {
  /** Tells the two apart where `instanceof` cannot, such as between realms. */
  abstract readonly kind: 'api' | 'client';
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

  constructor(problem: Omit<Problem, 'type' | 'instance'> & { instance?: string }, retryAfterSeconds?: number) {
    super(problem.detail);
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
 */
export type ClientErrorReason = 'network' | 'timeout' | 'aborted' | 'credential' | 'answer';

const messages: Record<ClientErrorReason, string> = {
  network: 'The service cannot be reached, or the connection broke.',
  timeout: 'The service has not answered in time.',
  aborted: 'The call was aborted.',
  credential: 'The access token could not be had.',
  answer: 'The answer is not one of the service.',
};

/** No answer of the service arrived. */
export class ClientError extends EntityServiceError {
  override readonly name = 'ClientError';
  readonly kind = 'client';
  readonly reason: ClientErrorReason;
  /** The HTTP status, where there was one. */
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: ClientErrorReason, options: { cause?: unknown; status?: number; retryAfterSeconds?: number | undefined } = {}) {
    super(messages[reason], 'cause' in options ? { cause: options.cause } : undefined);
    this.reason = reason;
    this.status = options.status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
