/**
 * The closed list of what can go wrong for a caller. Each code has one status, and its texts in every locale of `src/locales`;
 * what the log should know beyond that travels as the `cause`. Turning a Problem into an answer is the business of `api/problem.ts`.
 */

/** Every problem code and its HTTP status (security.md section 10). */
export const problemStatus = {
  'malformed-request': 400,
  'invalid-key': 400,
  'ambiguous-credentials': 400,
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
  conflict: 409,
  'refresh-conflict': 409,
  'precondition-failed': 412,
  'content-too-large': 413,
  'uri-too-long': 414,
  'unsupported-media-type': 415,
  'validation-failed': 422,
  'password-rejected': 422,
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

/**
 * One entry of a problem's `errors`: where (`pointer` is an RFC 6901 JSON pointer into the body, form fields included; `parameter` names
 * a path, query or header parameter) and what. `values` fills the placeholders of the text.
 */
export type Fault = { code: FaultCode; values?: Record<string, string | number> } & (
  { pointer: string; parameter?: never } | { parameter: string; pointer?: never }
);

export interface ProblemOptions {
  /** What is wrong in detail; becomes the member `errors`. */
  faults?: readonly Fault[];
  /** Fill the placeholders of the detail text. */
  values?: Record<string, string | number>;
  /** Headers the answer owes because of this problem, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** For the log only, never for the caller. */
  cause?: unknown;
}

/** A refusal or failure that the caller is told about. Throw it from anywhere below a handler. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly faults: readonly Fault[];
  readonly values: Record<string, string | number>;
  readonly headers: Record<string, string>;

  constructor(code: ProblemCode, { faults = [], values = {}, headers = {}, cause }: ProblemOptions = {}) {
    super(code, { cause });
    this.code = code;
    this.status = problemStatus[code];
    this.faults = faults;
    this.values = values;
    this.headers = headers;
  }
}
