/** The two kinds of error a call can end with: the service said no, or its answer never arrived. */
import type { Fault, Problem } from '../../generated/client/types.gen.ts';
import type { ProblemCode } from '../../generated/client/problem-codes.ts';

/** A code of the catalogue, or one that a later service has added to it: treat that by its status. */
export type ApiErrorCode = ProblemCode | (string & Record<never, never>);

/** What `ApiError` and `ClientError` have in common. */
export abstract class EntityServiceError extends Error {
  /** Which of the two it is, also where `instanceof` does not reach. */
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
  /** What exactly is wrong with the input, each with a JSON pointer or the name of a parameter; empty where nothing is. */
  readonly errors: readonly Fault[];
  /** Names the request in the service's log: what to quote to the operator. Undefined for HEAD, whose answers have no body. */
  readonly requestId: string | undefined;
  /** Seconds the service asks to wait before the next try; undefined where it does not. */
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
 * - `network`: no connection, or it broke. For what changes something, the outcome is unknown
 * - `timeout`: the answer took longer than `timeoutMs`. The outcome is unknown likewise
 * - `aborted`: the caller's signal said so; its reason is the `cause`
 * - `credential`: the function that gives the access token failed; nothing was sent
 * - `answer`: something else answered, such as a proxy; `status` is its status
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
