/**
 * The closed list of problems. Each code has one status, and its texts in every locale of `src/locales`; further facts for the log are the
 * `cause`. `http/problem.ts` converts a Problem to an answer.
 */
import { maximumFaults, type Fault, type ValueUnit, type Values } from './faults.ts';

/** The facts that depend on the code of a problem only. */
export interface ProblemFacts {
  /** The HTTP status (docs/errors.md). */
  status: number;
  /**
   * Whether such an answer to an unauthenticated request counts against the limit of its address (rule 81). A failure of the service itself
   * does not. It must neither use up the limit of the client's address nor be hidden behind a 429 (decision 72).
   */
  limit: 'address' | 'none';
}

/** Every problem code. */
export const problemFacts = {
  'malformed-request': { status: 400, limit: 'address' },
  'invalid-key': { status: 400, limit: 'address' },
  'ambiguous-credentials': { status: 400, limit: 'address' },
  'sign-in-failed': { status: 400, limit: 'address' },
  unauthenticated: { status: 401, limit: 'address' },
  'invalid-credentials': { status: 401, limit: 'address' },
  'invalid-token': { status: 401, limit: 'address' },
  forbidden: { status: 403, limit: 'address' },
  'field-forbidden': { status: 403, limit: 'address' },
  'insufficient-scope': { status: 403, limit: 'address' },
  'csrf-rejected': { status: 403, limit: 'address' },
  'credential-mismatch': { status: 403, limit: 'address' },
  'identity-not-linked': { status: 403, limit: 'address' },
  'fresh-login-required': { status: 403, limit: 'address' },
  'not-found': { status: 404, limit: 'address' },
  'method-not-allowed': { status: 405, limit: 'address' },
  'not-acceptable': { status: 406, limit: 'address' },
  'request-timeout': { status: 408, limit: 'address' },
  conflict: { status: 409, limit: 'address' },
  'last-sign-in-method': { status: 409, limit: 'address' },
  'refresh-conflict': { status: 409, limit: 'address' },
  'idempotency-in-progress': { status: 409, limit: 'address' },
  'type-conflict': { status: 409, limit: 'address' },
  'confirmation-required': { status: 409, limit: 'address' },
  'unique-conflict': { status: 409, limit: 'address' },
  'still-referenced': { status: 409, limit: 'address' },
  'older-version': { status: 409, limit: 'address' },
  'in-use': { status: 409, limit: 'address' },
  'answer-gone': { status: 410, limit: 'address' },
  'position-gone': { status: 410, limit: 'address' },
  'precondition-failed': { status: 412, limit: 'address' },
  'content-too-large': { status: 413, limit: 'address' },
  'uri-too-long': { status: 414, limit: 'address' },
  'unsupported-media-type': { status: 415, limit: 'address' },
  'validation-failed': { status: 422, limit: 'address' },
  'password-rejected': { status: 422, limit: 'address' },
  'idempotency-key-reused': { status: 422, limit: 'address' },
  'query-too-expensive': { status: 422, limit: 'address' },
  'too-many-refusals': { status: 422, limit: 'address' },
  'too-many-rows': { status: 413, limit: 'address' },
  'precondition-required': { status: 428, limit: 'address' },
  'rate-limited': { status: 429, limit: 'none' },
  'headers-too-large': { status: 431, limit: 'address' },
  'internal-error': { status: 500, limit: 'none' },
  unavailable: { status: 503, limit: 'none' },
  busy: { status: 503, limit: 'none' },
  'issuer-unavailable': { status: 503, limit: 'address' },
  'outcome-unknown': { status: 503, limit: 'none' },
} as const satisfies Record<string, ProblemFacts>;

export type ProblemCode = keyof typeof problemFacts;

/**
 * The values in the texts of a problem; a code that is not listed has none. Each value is optional; without it the text omits the words
 * around it.
 */
export const problemValues = {
  'method-not-allowed': { allowed: 'text' },
  'not-acceptable': { allowed: 'text' },
  'unsupported-media-type': { allowed: 'text' },
  'content-too-large': { limit: 'bytes' },
  'too-many-refusals': { limit: 'number' },
  'too-many-rows': { limit: 'number' },
  'uri-too-long': { limit: 'bytes' },
  'headers-too-large': { limit: 'bytes' },
  'rate-limited': { seconds: 'seconds' },
  'older-version': { hosts: 'text' },
  'in-use': { roles: 'text' },
  unavailable: { seconds: 'seconds' },
  busy: { seconds: 'seconds' },
  'issuer-unavailable': { seconds: 'seconds' },
  'outcome-unknown': { seconds: 'seconds' },
  'idempotency-in-progress': { seconds: 'seconds' },
} as const satisfies Partial<Record<ProblemCode, Record<string, ValueUnit>>>;

export interface ProblemOptions {
  /** The faults; the first {@link maximumFaults} become the member `errors`. */
  faults?: readonly Fault[];
  /** The headers that the answer needs because of this problem, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** Further facts of the problem's audit event; ignored for a problem without an event. */
  audit?: AuditFacts;
  /** For the log only; the caller does not get it. */
  cause?: unknown;
}

/** The facts of an audit event that only the code which throws the problem has. */
export interface AuditFacts {
  /** The name of the exceeded limit, as in `RateLimit-Policy`. */
  limit?: string;
  /** The name of the entities to which the caller has no right. */
  entity?: string;
  /** The action on them that grants with rules do not allow. */
  action?: string;
  /** The digests of these rules; all of the action if undefined. */
  rules?: readonly string[];
  /** The members that no grant allows. */
  fields?: readonly string[];
}

/** A code and its options; `values` fills the placeholders of the detail text and exists only for codes with placeholders. */
export type ProblemArguments =
  | {
      [C in keyof typeof problemValues]: [code: C, options?: ProblemOptions & { values?: Values<(typeof problemValues)[C]> }];
    }[keyof typeof problemValues]
  | [code: ProblemCode, options?: ProblemOptions & { values?: never }];

/** Where a browser can go from the page of a problem: paths on this service's origin. */
export interface ProblemLinks {
  /** Begins anew what has failed. */
  retry?: string;
  /** The page of the application from which the browser came. */
  back?: string;
}

/** That of Node.js. */
const usualStackTraceLimit = 10;

/** A refusal or failure that the caller gets as the answer. Any code below a handler may throw it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly faults: readonly Fault[];
  readonly values: Readonly<Record<string, string | number>>;
  readonly headers: Record<string, string>;
  readonly limit: ProblemFacts['limit'];
  /** For operations that browsers open as pages. */
  links: ProblemLinks = {};
  readonly audit: AuditFacts;

  constructor(...[code, { faults = [], values = {}, headers = {}, audit = {}, cause } = {}]: ProblemArguments) {
    const facts: ProblemFacts = problemFacts[code];
    const frames = Error.stackTraceLimit;
    // No line of the log has the stack of a refusal. Without stacks an import that refuses 100,000 rows takes a third of the time and of the memory. They
    // are back with a limit of one's own (`--stack-trace-limit`), as in tests.
    if (facts.status < 500 && frames === usualStackTraceLimit) Error.stackTraceLimit = 0;
    super(code, { cause });
    Error.stackTraceLimit = frames;
    this.code = code;
    this.status = facts.status;
    this.limit = facts.limit;
    this.audit = audit;
    this.faults = faults.slice(0, maximumFaults);
    this.values = values;
    this.headers = headers;
  }

  /** The same problem of a part of the input: its pointers begin with `prefix`. */
  under(prefix: string): Problem {
    return this.withFaults(this.faults.map((fault) => ({ ...fault, pointer: `${prefix}${fault.pointer ?? ''}` })));
  }

  /** The same problem with other faults. */
  withFaults(faults: readonly Fault[]): Problem {
    const { code, values, headers, audit, cause } = this;
    return new Problem(...([code, { faults, values, headers, cause, audit }] as unknown as ProblemArguments));
  }
}

/** Whether `error` refuses the request for what it wants or for the state of things, and nothing has failed. */
export function isRefusal(error: unknown): error is Problem {
  return error instanceof Problem && error.status < 500;
}
