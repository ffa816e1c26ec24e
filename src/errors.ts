/**
 * The closed list of what can go wrong for a caller. Each code has one status, and its texts in every locale of `src/locales`;
 * what the log should know beyond that travels as the `cause`. Turning a Problem into an answer is the business of `http/problem.ts`.
 */
import type { AuditEventName } from './audit/store.ts';

/** What follows from the code of a problem. */
export interface ProblemFacts {
  /** The HTTP status (docs/errors.md). */
  status: number;
  /**
   * Whether such an answer to a request without a known caller counts for the limit of its address (rule 81). What goes wrong in the service
   * itself does not: it must neither use up the limit of the client's address nor be hidden behind a 429 (decision 72).
   */
  limit: 'address' | 'none';
  /** The audit event of such an answer; undefined where there is none, or where a use case writes it. */
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
  'precondition-failed': { status: 412, limit: 'address' },
  'content-too-large': { status: 413, limit: 'address' },
  'uri-too-long': { status: 414, limit: 'address' },
  'unsupported-media-type': { status: 415, limit: 'address' },
  'validation-failed': { status: 422, limit: 'address' },
  'password-rejected': { status: 422, limit: 'address' },
  'idempotency-key-reused': { status: 422, limit: 'address' },
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

/** What exactly is wrong with one parameter, form field or JSON value. The texts are in `src/locales`. */
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
  | 'too-common'
  | 'too-predictable'
  | 'contains-context'
  | 'breached'
  | 'unchanged'
  | 'not-repeated-exactly';

/** What a value in a text measures, which decides how a locale writes it. */
export type Measure = 'seconds' | 'bytes' | 'number' | 'text';

/** The values the texts of a problem take; a code that is not listed takes none. Each may be left out, and its words with it. */
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

/** The values the text of a fault takes, likewise. `allowed` lists what would be accepted, as the contract writes it. */
export const faultValues = {
  'invalid-value': { allowed: 'text', minimum: 'number', maximum: 'number' },
  'invalid-type': { allowed: 'text' },
  'too-short': { minimum: 'number' },
  'too-long': { maximum: 'number' },
  'invalid-json': { position: 'number' },
  'too-deep': { limit: 'number' },
  'too-many-values': { limit: 'number' },
  'member-name-too-long': { limit: 'number' },
} as const satisfies Partial<Record<FaultCode, Record<string, Measure>>>;

type Values<T> = { [N in keyof T]?: T[N] extends 'text' ? string : number };

type FaultText =
  | { [C in keyof typeof faultValues]: { code: C; values?: Values<(typeof faultValues)[C]> } }[keyof typeof faultValues]
  | { code: FaultCode; values?: never };

/**
 * One entry of a problem's `errors`: where (`pointer` is an RFC 6901 JSON pointer into the body, form fields included; `parameter` names
 * a path, query or header parameter) and what. `values` fills the placeholders of the text.
 */
export type Fault = FaultText & ({ pointer: string; parameter?: never } | { parameter: string; pointer?: never });

/** Most faults that an answer lists (rule 75): a small request must not make a large answer. Code that collects faults may stop there. */
export const maximumFaults = 20;

export interface ProblemOptions {
  /** What is wrong in detail; the first {@link maximumFaults} become the member `errors`. */
  faults?: readonly Fault[];
  /** Headers the answer owes because of this problem, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** What the audit event of this problem says besides; a problem that causes none has no use for it. */
  audit?: AuditFacts;
  /** For the log only, never for the caller. */
  cause?: unknown;
}

/** What only the code that throws a problem can tell the audit trail. */
export interface AuditFacts {
  /** In place of the event that {@link problemFacts} has. */
  event?: AuditEventName;
  /** The name of the limit that the caller has used up, as its `RateLimit-Policy` has it. */
  limit?: string;
  /** The name of the entities that the caller may not touch. */
  entity?: string;
}

/** A code and its options; `values` fills the placeholders of the detail text and is open only to the codes that take any. */
export type ProblemArguments =
  | {
      [C in keyof typeof problemValues]: [code: C, options?: ProblemOptions & { values?: Values<(typeof problemValues)[C]> }];
    }[keyof typeof problemValues]
  | [code: ProblemCode, options?: ProblemOptions & { values?: never }];

/** A refusal or failure that the caller is told about. Throw it from anywhere below a handler. */
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
}
