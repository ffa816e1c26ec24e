/** Collects the faults of one value that comes from a file, each by its pointer. */
import { expectedOneOf } from '../problems/expected.ts';
import { maximumFaults, type Fault } from '../problems/faults.ts';
import type { Unplaced } from '../filter/parse.ts';
import { placeOf, pointerTo, positionsIn } from '../problems/pointer.ts';

export type DocumentRead<T> = { document: T } | { faults: readonly Fault[] };

/** Names and indices from the root of the value down. */
export type FilePath = readonly (string | number)[];
export type Members = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Characters of a label or a description. */
const maximumLength = 200;

export class FileFaults {
  readonly #faults: Fault[] = [];
  readonly #positionOf: ReturnType<typeof positionsIn>;

  constructor(value: unknown) {
    this.#positionOf = positionsIn(value);
  }

  refuse(path: FilePath, fault: Unplaced): void {
    const names = path.map(String);
    this.#faults.push({ ...fault, ...placeOf(path, (depth) => this.#positionOf(names.slice(0, depth + 1))) });
  }

  /** Adds faults of a part of the value, whose pointers begin there. */
  add(path: FilePath, faults: readonly Fault[]): void {
    this.#faults.push(...faults.map((fault) => ({ ...fault, pointer: pointerTo(path) + (fault.pointer ?? '') })));
  }

  /** The value as an object with the members `needed`, and besides them with `others` alone; undefined for another value. */
  object(value: unknown, path: FilePath, needed: readonly string[], others: readonly string[] = []): Members | undefined {
    if (!isObject(value)) {
      this.refuse(path, { code: 'invalid-type', values: { allowed: 'object' } });
      return undefined;
    }
    const known = [...needed, ...others];
    for (const name of needed) if (value[name] === undefined) this.refuse([...path, name], { code: 'required' });
    for (const name of Object.keys(value))
      if (!known.includes(name)) this.refuse([...path, name], { code: 'unknown', ...expectedOneOf(known) });
    return value;
  }

  /** The items of an array with at least `minimum` of them; none for another value. */
  items(value: unknown, path: FilePath, minimum = 0): readonly unknown[] {
    if (value === undefined) return [];
    if (!Array.isArray(value)) this.refuse(path, { code: 'invalid-type', values: { allowed: 'array' } });
    else if (value.length < minimum) this.refuse(path, { code: 'too-short', values: { minimum } });
    return Array.isArray(value) ? value : [];
  }

  /** A text that people read; empty for no value. */
  shownText(value: unknown, path: FilePath): string {
    if (value === undefined) return '';
    if (typeof value !== 'string') this.refuse(path, { code: 'invalid-type', values: { allowed: 'string' } });
    else if (Array.from(value).length > maximumLength) this.refuse(path, { code: 'too-long', values: { maximum: maximumLength } });
    else if (!value.isWellFormed() || /\p{Cc}/u.test(value)) this.refuse(path, { code: 'invalid-value' });
    return typeof value === 'string' ? value : '';
  }

  /** An array of at least one text, none of them twice; those that are `isValid`. `allowed` are the valid ones, if there are few. */
  texts(value: unknown, path: FilePath, isValid: (text: string) => boolean, allowed: readonly string[] = []): string[] {
    return this.items(value, path, 1).flatMap((item, index, items) => {
      const at = [...path, index];
      if (typeof item !== 'string') this.refuse(at, { code: 'invalid-type', values: { allowed: 'string' } });
      else if (!isValid(item)) this.refuse(at, { code: 'invalid-value', ...expectedOneOf(allowed) });
      else if (items.indexOf(item) < index) this.refuse(at, { code: 'repeated' });
      else return [item];
      return [];
    });
  }

  /** The document, if there is no fault. */
  result<T>(document: T): DocumentRead<T> {
    return this.#faults.length > 0 ? { faults: this.#faults.slice(0, maximumFaults) } : { document };
  }
}
