/**
 * Regular expressions of callers. V8 can take exponential time for a pattern; RE2JS takes time in proportion to the text and to the size of its
 * program (decision 120). It has neither look-around nor back-references.
 */
import { LRUCache } from 'lru-cache';
import { RE2JS, RE2Set } from 're2js';
import { re2PatternOf } from './ecma-pattern.ts';
import { patternCostOf } from './pattern-cost.ts';
import type { PatternMeter } from './pattern-meter.ts';

/** The largest program of a pattern, in instructions. */
const maximumProgram = 300;
/** Bytes that the automaton of one pattern may take. Beyond them RE2JS simulates the program, which takes time in proportion to its size. */
const automatonBytes = 65_536;
/** Bytes that the automatons of all patterns in a process may take. The patterns of one type fit ({@link patternCostOf}). */
const allAutomatonBytes = 33_554_432;
const instructionBytes = 128;
const unicodeClassBytes = 12_288;
/** By how much a class of many ranges makes the test of a character slower. */
const wideClassFactor = 8;

interface CompiledPattern {
  program: RE2Set;
  /** Instructions. */
  size: number;
  /** The cost of each character of a text, in instructions. */
  weight: number;
  bytes: number;
}

/** By source. A pattern is compiled when a text needs it, so a type whose patterns are not used costs nothing. */
const compiledPatterns = new LRUCache<string, CompiledPattern>({
  maxSize: allAutomatonBytes,
  sizeCalculation: ({ bytes }) => bytes,
});

/** The pattern, compiled when the first text needs it. Its tests count as work of the `meter`. */
export function linearPattern(pattern: string, meter: PatternMeter): Pick<RegExp, 'test'> {
  return {
    test(text) {
      const { program, weight } = compiledPattern(pattern);
      return meter.verdictOf(pattern, text, weight, () => program.match(text).length > 0);
    },
  };
}

/** The size and the weight of a pattern in instructions; undefined if it is none of RE2's, or too large. Compiles it. */
export function linearPatternSize(pattern: string): Pick<CompiledPattern, 'size' | 'weight'> | undefined {
  try {
    const compiled = compiledPattern(pattern);
    return compiled.size <= maximumProgram ? compiled : undefined;
  } catch {
    return undefined;
  }
}

function compiledPattern(pattern: string): CompiledPattern {
  const known = compiledPatterns.get(pattern);
  if (known) return known;
  // A set, because it alone takes a limit for the memory of its automaton. Its compilation is linear too.
  const program = new RE2Set(RE2Set.UNANCHORED, 0, automatonBytes);
  const translated = re2PatternOf(pattern);
  if (translated === undefined) throw new SyntaxError('RE2 would read the pattern otherwise than ECMA 262');
  program.add(RE2JS.translateRegExp(translated));
  program.compile();
  const size = program.prog.numInst();
  const { unicodeClasses, hasWideClass } = patternCostOf(pattern);
  const bytes = automatonBytes + pattern.length * 2 + size * instructionBytes + unicodeClasses * unicodeClassBytes;
  const compiled = { program, size, weight: hasWideClass ? size * wideClassFactor : size, bytes };
  compiledPatterns.set(pattern, compiled);
  return compiled;
}
