/**
 * The closed list of what can go wrong for a caller. Each code has one status, and its texts in every locale of `src/locales`;
 * what the log should know beyond that travels as the `cause`. Turning a Problem into an answer is the business of `http/problem.ts`.
 */

/** Every problem code and its HTTP status (docs/errors.md). */
export const problemStatus = {
  'malformed-request': 400,
  'invalid-key': 400,
  'ambiguous-credentials': 400,
  'sign-in-failed': 400,
  unauthenticated: 401,
  'invalid-credentials': 401,
  'invalid-token': 401,
  forbidden: 403,
  'insufficient-scope': 403,
  'csrf-rejected': 403,
  'credential-mismatch': 403,
  'identity-not-linked': 403,
  'fresh-login-required': 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  'request-timeout': 408,
  conflict: 409,
  'last-sign-in-method': 409,
  'refresh-conflict': 409,
  'idempotency-in-progress': 409,
  'precondition-failed': 412,
  'content-too-large': 413,
  'uri-too-long': 414,
  'unsupported-media-type': 415,
  'validation-failed': 422,
  'password-rejected': 422,
  'idempotency-key-reused': 422,
  'precondition-required': 428,
  'rate-limited': 429,
  'headers-too-large': 431,
  'internal-error': 500,
  unavailable: 503,
  busy: 503,
  'issuer-unavailable': 503,
  'outcome-unknown': 503,
} as const;

export type ProblemCode = keyof typeof problemStatus;

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
  /** For the log only, never for the caller. */
  cause?: unknown;
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

  constructor(...[code, { faults = [], values = {}, headers = {}, cause } = {}]: ProblemArguments) {
    super(code, { cause });
    this.code = code;
    this.status = problemStatus[code];
    this.faults = faults.slice(0, maximumFaults);
    this.values = values;
    this.headers = headers;
  }
}
