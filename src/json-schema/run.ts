/** One validation: the place in the value, the errors that are collected, and the work that it has taken. */
import type { Evaluated } from './evaluated.ts';
import { pointerOf, type Format, type JsonSchema, type SchemaError } from './types.ts';

/** Tests a value. `seen` collects what is evaluated, where a keyword `unevaluated…` needs it. */
export type SchemaCheck = (value: unknown, run: ValidationRun, seen: Evaluated | undefined) => boolean;

/** At this number of errors no loop goes on. One value may have many: those of each alternative of `anyOf`. */
const maximumErrors = 1_000;
/**
 * After this number the search for further errors is given up. It counts those of alternatives that were dropped since another one fits.
 */
const maximumErrorsMade = 5_000;
/** Schemas that are applied before the search for further errors is given up. */
const maximumWork = 1_000_000;

/** Ends the search for all errors, which takes too long. */
export class ErrorSearchTimeout extends Error {
  override readonly name = 'ErrorSearchTimeout';
}

/** How much is reported: the verdict alone, the first error, or all of them. */
export type Detail = 'verdict' | 'first' | 'all';

export class ValidationRun {
  /** Member names and array indices from the root down to the value that is tested. */
  readonly path: (string | number)[] = [];
  /** Whether a keyword returns at its first fault, since more of them are not wanted. */
  stops: boolean;
  /** The schemas that were applied. */
  work = 0;
  errors: SchemaError[] = [];
  #detail: Detail;
  /** The errors that have not been dropped, those of alternatives included. */
  held = 0;
  #made = 0;
  readonly #formatted = new Map<Format, { text: string; fits: boolean }>();
  readonly #names = new Map<object, readonly string[]>();

  constructor(detail: Detail) {
    this.#detail = detail;
    this.stops = detail !== 'all';
  }

  /** The names of the members. They are collected once: a large object takes a millisecond, and a hundred schemas may apply to it. */
  namesOf(value: object): readonly string[] {
    const known = this.#names.get(value);
    if (known) return known;
    const names = Object.keys(value);
    this.#names.set(value, names);
    return names;
  }

  /** Whether the text fits the format. The verdict on the last text is stored: many schemas may apply to it. */
  fitsFormat(format: Format, text: string): boolean {
    const last = this.#formatted.get(format);
    if (last?.text === text) return last.fits;
    const fits = (format.fits as (text: string) => boolean)(text);
    this.#formatted.set(format, { text, fits });
    return fits;
  }

  /** Counts a schema that is applied. Throws {@link ErrorSearchTimeout}. */
  countSchema(): void {
    this.work += 1;
    if (this.work > maximumWork && this.#detail === 'all') throw new ErrorSearchTimeout();
  }

  /** Reports an error of the keyword at the current place; always false. Throws {@link ErrorSearchTimeout}. */
  refuse(keyword: string, params: Record<string, unknown>, parentSchema: JsonSchema, alternatives?: SchemaError[][]): false {
    if (this.#detail === 'verdict') return false;
    this.errors.push({ keyword, instancePath: pointerOf(this.path), params, parentSchema, ...(alternatives && { alternatives }) });
    if (this.#detail === 'first') return false;
    this.#made += 1;
    this.held += 1;
    if (this.#made > maximumErrorsMade) throw new ErrorSearchTimeout();
    if (this.held >= maximumErrors) this.stops = true;
    return false;
  }

  /** Whether all of them fit. Each is tested, so that each error is found; a run that stops returns at the first fault. */
  all<T>(tested: readonly T[], fits: (each: T, index: number) => boolean): boolean {
    let allFit = true;
    for (let index = 0; index < tested.length; index += 1) {
      if (fits(tested[index] as T, index)) continue;
      allFit = false;
      if (this.stops) return false;
    }
    return allFit;
  }

  /** Tests the member `step` of the value. */
  checkMember(check: SchemaCheck, step: string | number, member: unknown): boolean {
    this.path.push(step);
    const fits = check(member, this, undefined);
    this.path.pop();
    return fits;
  }

  /** The verdict alone: errors of the check are no errors of the value, as those of `not` and `if`. */
  verdictOf(check: SchemaCheck, value: unknown, seen: Evaluated | undefined): boolean {
    const [detail, stops] = [this.#detail, this.stops];
    this.#detail = 'verdict';
    this.stops = true;
    const fits = check(value, this, seen);
    this.#detail = detail;
    this.stops = stops;
    return fits;
  }

  /** The errors of an alternative; undefined if the value fits. The list is empty where only the verdict or the first error is wanted. */
  errorsOfAlternative(check: SchemaCheck, value: unknown, seen: Evaluated | undefined): SchemaError[] | undefined {
    if (this.#detail !== 'all') return this.verdictOf(check, value, seen) ? undefined : [];
    const outer = this.errors;
    this.errors = [];
    const fits = check(value, this, seen);
    const own = this.errors;
    this.errors = outer;
    return fits ? undefined : own;
  }

  /** Drops the errors of alternatives that were made since `held` was the number, because another alternative fits. */
  release(held: number): void {
    if (this.#detail !== 'all') return;
    this.held = held;
    this.stops = held >= maximumErrors;
  }
}
