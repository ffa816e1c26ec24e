/** Writes the places of faults: RFC 6901 JSON pointers, and positions in place of names that must not be repeated. */
import type { FaultPlace } from './faults.ts';

/** The pointer of a place inside a JSON document: member names and array indices from the root down. An empty path gives `''`, the root. */
export function pointerTo(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The path of a pointer, as texts. */
export function pathOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * Whether an answer may repeat a name that the caller chose: 1 to 64 letters, digits, `_`, `.` and `-`, after a `$` as operators have it (rule 75).
 * Anything else may be a secret that was sent in the wrong place, such as a whole JSON body in a form.
 */
export function looksLikeName(name: string): boolean {
  return /^\$?[\p{L}\p{M}\p{N}_.-]{1,64}$/u.test(name);
}

/**
 * The place of a path in a body. At the first name that must not be repeated the pointer ends, and `positionOf` gives that name's position
 * among the members of its object, from 1; undefined if there is none. It gets the number of steps before the name.
 */
export function placeOf(path: readonly (string | number)[], positionOf: (depth: number) => number | undefined): FaultPlace {
  const depth = path.findIndex((step) => typeof step === 'string' && !looksLikeName(step));
  if (depth === -1) return { pointer: pointerTo(path) };
  const position = positionOf(depth);
  return { pointer: pointerTo(path.slice(0, depth)), ...(position !== undefined && { position }) };
}

/**
 * A function that gives the position of a member of `value`, at the end of a path, in the order of `Object.keys`; undefined without such a
 * member. It lists the members of each object once, as an object may have 10,000.
 */
export function positionsIn(value: unknown): (path: readonly string[]) => number | undefined {
  const namesOf = new Map<unknown, string[]>();
  return (path) => {
    let container = value;
    for (const step of path.slice(0, -1)) container = memberOf(container, step);
    const names = namesOf.get(container) ?? (typeof container === 'object' && container !== null ? Object.keys(container) : []);
    namesOf.set(container, names);
    const index = names.indexOf(path.at(-1) ?? '');
    return index === -1 ? undefined : index + 1;
  };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** The place of a parameter: its name, or its position among the parameters of the query. */
export function parameterPlace(name: string, position: number | undefined): FaultPlace {
  return looksLikeName(name) ? { parameter: name } : { parameter: '', ...(position !== undefined && { position }) };
}
