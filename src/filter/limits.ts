/** The limits of filters. */

export interface FilterLimits {
  /** The most tests: each operator, and each value without one, is a test. */
  tests: number;
  /** The most objects inside each other, the filter itself and nested fields included; an object of operators does not count. */
  depth: number;
  /** The most values of `$in` and `$nin`. */
  inValues: number;
  /** The most references in a row that it looks through, in either direction. */
  references: number;
  /** The most of `$some` and `$none` together, and of these and `$match`. */
  some: number;
  lookUps: number;
}

/** The limits of a filter in the body of a request, and of one in the URL. */
export const bodyLimits: Readonly<FilterLimits> = { tests: 50, depth: 5, inValues: 1_000, references: 2, some: 2, lookUps: 50 };
export const urlLimits: Readonly<FilterLimits> = { ...bodyLimits, inValues: 200 };

/** The limits of the rule of a grant. */
export const ruleLimits: Readonly<FilterLimits> = { ...bodyLimits, tests: 20, depth: 8, references: 3, some: 4, lookUps: 4 };
