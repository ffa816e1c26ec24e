/**
 * The closed list of faults: what is wrong with one parameter, form field or JSON value, where, and what is expected. The texts are in
 * `src/locales`.
 */

export type FaultCode =
  | 'unknown'
  | 'repeated'
  | 'other-header'
  | 'required'
  | 'conflicting'
  | 'invalid-value'
  | 'invalid-type'
  | 'invalid-encoding'
  | 'too-short'
  | 'too-long'
  | 'invalid-json'
  | 'invalid-csv'
  | 'cell-count'
  | 'unnamed-column'
  | 'other-delimiter'
  | 'other-database'
  | 'duplicate-member'
  | 'number-not-exact'
  | 'nul-character'
  | 'lone-surrogate'
  | 'too-deep'
  | 'too-many-values'
  | 'too-costly'
  | 'type-too-costly'
  | 'type-not-supported'
  | 'member-name-too-long'
  | 'member-name-reserved'
  | 'invalid-cursor'
  | 'unknown-field'
  | 'unknown-operator'
  | 'unknown-variable'
  | 'not-writable'
  | 'value-forbidden'
  | 'not-filterable'
  | 'not-addressable'
  | 'not-a-reference'
  | 'needs-index'
  | 'time-limit'
  | 'too-many-tests'
  | 'duplicate-value'
  | 'reference-not-found'
  | 'referenced'
  | 'too-many-referrers'
  | 'partly-done'
  | 'too-common'
  | 'too-predictable'
  | 'contains-context'
  | 'breached'
  | 'unchanged'
  | 'not-repeated-exactly'
  | 'not-supported'
  | 'contradictory'
  | 'absent'
  | 'taken'
  | 'used-by'
  | 'disabled'
  | 'refused';

/** The unit of a value in a text, which decides how a locale writes it. */
export type ValueUnit = 'seconds' | 'bytes' | 'number' | 'text';

/** The values in the text of a fault, with the same rules. `allowed` lists the accepted values as in the contract. */
export const faultValues = {
  unknown: { instead: 'text' },
  'other-header': { header: 'text' },
  referenced: { types: 'text', name: 'text', count: 'number' },
  'too-many-referrers': { limit: 'number' },
  'partly-done': { count: 'number', seconds: 'seconds' },
  'invalid-value': { allowed: 'text', minimum: 'number', maximum: 'number' },
  'invalid-type': { allowed: 'text' },
  'too-short': { minimum: 'number' },
  'too-long': { maximum: 'number' },
  'invalid-json': { position: 'number' },
  'other-delimiter': { delimiter: 'text' },
  'other-database': { instead: 'text' },
  'too-deep': { limit: 'number' },
  'too-many-values': { limit: 'number' },
  'member-name-too-long': { limit: 'number' },
  'unknown-field': { name: 'text', instead: 'text' },
  'not-filterable': { allowed: 'text' },
  'not-a-reference': { allowed: 'text' },
  'needs-index': { fields: 'text', entry: 'text', path: 'text', share: 'text' },
  'too-many-tests': { limit: 'number', role: 'text', profile: 'text', rules: 'text' },
  'duplicate-value': { row: 'text', key: 'text', label: 'text', fields: 'text' },
  'not-supported': { statement: 'text', instead: 'text', removed: 'text', surplus: 'text' },
  contradictory: { keyword: 'text' },
  absent: {
    user: 'text',
    role: 'text',
    profile: 'text',
    key: 'text',
    attribute: 'text',
    of: 'text',
    owner: 'text',
    subject: 'text',
    issuer: 'text',
  },
  taken: { user: 'text', role: 'text', profile: 'text', subject: 'text', issuer: 'text', rule: 'text' },
  'used-by': {
    role: 'text',
    profile: 'text',
    profiles: 'text',
    users: 'text',
    keys: 'text',
    more: 'number',
    defaultOf: 'text',
    rules: 'text',
  },
  disabled: { user: 'text' },
} as const satisfies Partial<Record<FaultCode, Record<string, ValueUnit>>>;

/**
 * What the service accepts in place of a refused value, with the values of its text. `value` is the one accepted value, or the name of its
 * type, and has no text. The texts of the others are in `src/locales`.
 */
export const expectedValues = {
  value: { value: 'text' },
  'one-of': { values: 'text' },
  format: { format: 'text', example: 'text', other: 'text' },
  integer: { minimum: 'text', maximum: 'text' },
  characters: { count: 'text', characters: 'text', first: 'text', example: 'text', other: 'text' },
  'no-control-characters': {},
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
} as const satisfies Record<string, Record<string, ValueUnit>>;

export type ExpectedKind = keyof typeof expectedValues;

export type Values<T> = { [N in keyof T]?: T[N] extends 'text' ? string : number };

/** The expected value; a value that is missing is left out of the text. */
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
   * The place may have a name that must not be repeated (rule 75). Then `pointer` leads to the object around it, or `parameter` is empty.
   * This counts the names there, from 1.
   */
  position?: number;
}

/** One entry of a problem's `errors`: the place, the fault and what is expected. `values` fills the placeholders of the fault's text. */
export type Fault = FaultText & FaultPlace & { expected?: Expected };

/**
 * Maximum number of faults in an answer (rule 75): a small request must not cause a large answer. Code that collects faults may stop there.
 */
export const maximumFaults = 20;
