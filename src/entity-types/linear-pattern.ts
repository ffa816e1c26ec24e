/**
 * Regular expressions of callers. V8 can take exponential time for a pattern; RE2JS takes time in proportion to the text and to the size of its
 * program (decision 120). It has neither look-around nor back-references.
 */
import { RE2JS } from 're2js';

/** The largest program of a pattern: at this size a text of 1 MB takes up to a second. */
const maximumProgram = 300;

/** The pattern, which RE2JS tests, and the size of its program; undefined if it is none of RE2's, or too large. */
export function linearPattern(pattern: string): (Pick<RegExp, 'test'> & { programSize(): number }) | undefined {
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return compiled.programSize() <= maximumProgram ? compiled : undefined;
  } catch {
    return undefined;
  }
}
