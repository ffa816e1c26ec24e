/** Refuses values for which the patterns of a type would take too long (rule 102). */
import { Problem } from '../problems/errors.ts';
import { placeOf, positionsIn } from '../problems/pointer.ts';
import { PatternWorkError, type PatternMeter } from '../sandbox/pattern-meter.ts';

/**
 * Runs the tests of one value. Throws 422 `validation-failed` with the place of the text, in what the caller sent, that would be too much.
 */
export function withinPatternWork<T>(meter: PatternMeter, sent: () => unknown, tests: () => T): T {
  try {
    return meter.run(tests);
  } catch (error) {
    if (!(error instanceof PatternWorkError)) throw error;
    const value = sent();
    const positionOf = positionsIn(value);
    const path = pathOfText(value, error.text) ?? [];
    const place = placeOf(path, (depth) => positionOf(path.slice(0, depth + 1)));
    throw new Problem('validation-failed', { faults: [{ ...place, code: 'too-costly' }] });
  }
}

/** The path to the first member that is the text or has it as its name. */
function pathOfText(value: unknown, text: string): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    if (member === text || (name === text && !Array.isArray(value))) return [name];
    const inner = pathOfText(member, text);
    if (inner) return [name, ...inner];
  }
  return undefined;
}
