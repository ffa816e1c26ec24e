/**
 * The closed list of problems. Each code has one status, and its texts in every locale of `src/locales`; further facts for the log are the
 * `cause`. `http/problem.ts` converts a Problem to an answer.
 */
import type { AuditEventName } from './audit/store.ts';

/** The facts that depend on the code of a problem only. */
export interface ProblemFacts {
  /** The HTTP status (docs/errors.md). */
  status: number;
  /**
   * Whether such an answer to an unauthenticated request counts against the limit of its address (rule 81). A failure of the service itself
   * does not. It must neither use up the limit of the client's address nor be hidden behind a 429 (decision 72).
   */
  limit: 'address' | 'none';
  /** The audit event of such an answer; undefined if there is none, or a use case writes it. */
  audit?: { event: AuditEventName; /** What the event's `reason` is. */ reason?: 'code' | 'cause' };
}

const denied = { event: 'permission.denied', reason: 'code' } as const;

/** Every problem code. */
export const problemFacts = {
  'malformed-request': { status: 400, limit: 'address' },
  'invalid-key': { status: 400, limit: 'address' },
  'ambiguous-credentials': { status: 400, limit: 'address' },
  'sign-in-failed': { status: 400, limit: 'address' },
  unauthenticated: { status: 401, limit: 'address' },
  'invalid-credentials': { status: 401, limit: 'address' },
  'invalid-token': { status: 401, limit: 'address' },
  forbidden: { status: 403, limit: 'address', audit: denied },
  'insufficient-scope': { status: 403, limit: 'address', audit: denied },
  'csrf-rejected': { status: 403, limit: 'address', audit: { event: 'csrf.refused' } },
  'credential-mismatch': { status: 403, limit: 'address' },
  'identity-not-linked': { status: 403, limit: 'address' },
  'fresh-login-required': { status: 403, limit: 'address', audit: denied },
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
  'precondition-failed': { status: 412, limit: 'address' },
  'content-too-large': { status: 413, limit: 'address' },
  'uri-too-long': { status: 414, limit: 'address' },
  'unsupported-media-type': { status: 415, limit: 'address' },
  'validation-failed': { status: 422, limit: 'address' },
  'password-rejected': { status: 422, limit: 'address' },
  'idempotency-key-reused': { status: 422, limit: 'address' },
  'query-too-expensive': { status: 422, limit: 'address' },
  'precondition-required': { status: 428, limit: 'address' },
  'rate-limited': { status: 429, limit: 'none', audit: { event: 'rate.limited' } },
  'headers-too-large': { status: 431, limit: 'address' },
  'internal-error': { status: 500, limit: 'none', audit: { event: 'fault', reason: 'cause' } },
  unavailable: { status: 503, limit: 'none' },
  busy: { status: 503, limit: 'none' },
  'issuer-unavailable': { status: 503, limit: 'address' },
  'outcome-unknown': { status: 503, limit: 'none' },
} as const satisfies Record<string, ProblemFacts>;

export type ProblemCode = keyof typeof problemFacts;

/** The fault of one parameter, form field or JSON value. The texts are in `src/locales`. */
export type FaultCode =
  | 'unknown'
  | 'repeated'
  | 'required'
  | 'conflicting'
  | 'invalid-value'
  | 'invalid-type'
  | 'invalid-encoding'
  | 'too-short'
  | 'too-long'
  | 'invalid-json'
  | 'duplicate-member'
  | 'number-not-exact'
  | 'nul-character'
  | 'lone-surrogate'
  | 'too-deep'
  | 'too-many-values'
  | 'member-name-too-long'
  | 'member-name-reserved'
  | 'invalid-cursor'
  | 'unknown-field'
  | 'unknown-operator'
  | 'not-filterable'
  | 'not-addressable'
  | 'not-a-reference'
  | 'needs-index'
  | 'too-many-tests'
  | 'duplicate-value'
  | 'reference-not-found'
  | 'referenced'
  | 'too-common'
  | 'too-predictable'
  | 'contains-context'
  | 'breached'
  | 'unchanged'
  | 'not-repeated-exactly'
  | 'not-supported'
  | 'refused';

/** The unit of a value in a text, which decides how a locale writes it. */
export type Measure = 'seconds' | 'bytes' | 'number' | 'text';

/**
 * The values in the texts of a problem; a code that is not listed has none. Each value is optional; without it the text omits the words
 * around it.
 */
export const problemValues = {
  'method-not-allowed': { allowed: 'text' },
  'not-acceptable': { allowed: 'text' },
  'unsupported-media-type': { allowed: 'text' },
  'content-too-large': { limit: 'bytes' },
  'uri-too-long': { limit: 'bytes' },
  'headers-too-large': { limit: 'bytes' },
  'rate-limited': { seconds: 'seconds' },
  unavailable: { seconds: 'seconds' },
  busy: { seconds: 'seconds' },
  'issuer-unavailable': { seconds: 'seconds' },
  'outcome-unknown': { seconds: 'seconds' },
  'idempotency-in-progress': { seconds: 'seconds' },
} as const satisfies Partial<Record<ProblemCode, Record<string, Measure>>>;

/** The values in the text of a fault, with the same rules. `allowed` lists the accepted values as in the contract. */
export const faultValues = {
  referenced: { types: 'text', name: 'text', count: 'number' },
  'invalid-value': { allowed: 'text', minimum: 'number', maximum: 'number' },
  'invalid-type': { allowed: 'text' },
  'too-short': { minimum: 'number' },
  'too-long': { maximum: 'number' },
  'invalid-json': { position: 'number' },
  'too-deep': { limit: 'number' },
  'too-many-values': { limit: 'number' },
  'member-name-too-long': { limit: 'number' },
  'not-filterable': { allowed: 'text' },
  'not-a-reference': { allowed: 'text' },
  'needs-index': { fields: 'text' },
  'too-many-tests': { limit: 'number' },
  'not-supported': { statement: 'text' },
} as const satisfies Partial<Record<FaultCode, Record<string, Measure>>>;

/**
 * What the service accepts in place of a refused value, with the values of its text. `value` is the one accepted value, or the name of its
 * type, and has no text. The texts of the others are in `src/locales`.
 */
export const expectedValues = {
  value: { value: 'text' },
  'one-of': { values: 'text' },
  format: { format: 'text', example: 'text' },
  pattern: { pattern: 'text' },
  'at-least': { limit: 'number' },
  'at-most': { limit: 'number' },
  'more-than': { limit: 'number' },
  'less-than': { limit: 'number' },
  'multiple-of': { limit: 'number' },
  'minimum-length': { limit: 'number' },
  'maximum-length': { limit: 'number' },
  'minimum-items': { limit: 'number' },
  'maximum-items': { limit: 'number' },
  'minimum-members': { limit: 'number' },
  'maximum-members': { limit: 'number' },
  'different-items': {},
} as const satisfies Record<string, Record<string, Measure>>;

export type ExpectedKind = keyof typeof expectedValues;

type Values<T> = { [N in keyof T]?: T[N] extends 'text' ? string : number };

/** What is expected; a value that is missing is left out of the text. */
export type Expected = { [K in ExpectedKind]: { kind: K; values: Values<(typeof expectedValues)[K]> } }[ExpectedKind];

type FaultText =
  | { [C in keyof typeof faultValues]: { code: C; values?: Values<(typeof faultValues)[C]> } }[keyof typeof faultValues]
  | { code: FaultCode; values?: never };

/** The place of a fault: a `pointer`, a `parameter`, or both. */
export interface FaultPlace {
  /** An RFC 6901 JSON pointer into the body, where form fields are members; with a parameter, into the JSON that is its value. */
  pointer?: string;
  /** The name of a path, query or header parameter. */
  parameter?: string;
  /**
   * Where the place has a name that must not be repeated (rule 75), `pointer` leads to the object around it, or `parameter` is empty, and this
   * counts the names there, from 1.
   */
  position?: number;
}

/** One entry of a problem's `errors`: the place, the fault and what is expected. `values` fills the placeholders of the fault's text. */
export type Fault = FaultText & FaultPlace & { expected?: Expected };

/**
 * Maximum number of faults in an answer (rule 75): a small request must not cause a large answer. Code that collects faults may stop there.
 */
export const maximumFaults = 20;

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
  /** Replaces the event of {@link problemFacts}. */
  event?: AuditEventName;
  /** The name of the exceeded limit, as in `RateLimit-Policy`. */
  limit?: string;
  /** The name of the entities to which the caller has no right. */
  entity?: string;
}

/** A code and its options; `values` fills the placeholders of the detail text and exists only for codes with placeholders. */
export type ProblemArguments =
  | {
      [C in keyof typeof problemValues]: [code: C, options?: ProblemOptions & { values?: Values<(typeof problemValues)[C]> }];
    }[keyof typeof problemValues]
  | [code: ProblemCode, options?: ProblemOptions & { values?: never }];

/** A refusal or failure that the caller gets as the answer. Any code below a handler may throw it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly faults: readonly Fault[];
  readonly values: Readonly<Record<string, string | number>>;
  readonly headers: Record<string, string>;
  readonly limit: ProblemFacts['limit'];
  /** Undefined for a problem that causes no event. */
  readonly audit: (NonNullable<ProblemFacts['audit']> & AuditFacts) | undefined;

  constructor(...[code, { faults = [], values = {}, headers = {}, audit, cause } = {}]: ProblemArguments) {
    super(code, { cause });
    const facts: ProblemFacts = problemFacts[code];
    this.code = code;
    this.status = facts.status;
    this.limit = facts.limit;
    this.audit = facts.audit && { ...facts.audit, ...audit };
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
    return new Problem(...([code, { faults, values, headers, cause, ...(audit && { audit }) }] as unknown as ProblemArguments));
  }
}
