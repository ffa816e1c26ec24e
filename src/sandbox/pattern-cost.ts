/** Counts what a regular expression costs from its text alone, before it is compiled (decision 200). */

/** A class of Unicode costs as much as this number of letters. */
const unicodeClass = 100;
/** A class of the spaces of ECMA 262, or of all else, has this number of ranges. */
const spaceClass = 12;
/** The cost of a range beyond ASCII whose case is ignored: RE2JS looks at each of its letters. */
const foldedRange = 2_500;
/** A bracket class with more letters between its brackets is counted as a class of many ranges. */
const narrowClassLength = 64;

const tokens = /\\.|\[(?:\\.|[^\]\\])*\]?|\{(\d+)(,?)(\d*)\}|./gsu;

export interface PatternCost {
  /** The cost of compiling, in units of about 5 µs. It adds the letters, the classes of Unicode, the ranges, and the instructions. */
  compiling: number;
  /** The number of classes of Unicode, such as `\p{L}`. */
  unicodeClasses: number;
  /** Whether a class has so many ranges that testing a character takes several times as long. */
  hasWideClass: boolean;
}

/** The costs of a pattern. The instructions are an upper bound: repetitions inside each other are multiplied. */
export function patternCostOf(pattern: string): PatternCost {
  const unicodeClasses = pattern.match(/\\p/gi)?.length ?? 0;
  const spaceClasses = pattern.match(/\\s/gi)?.length ?? 0;
  const hasLongClass = () => pattern.match(tokens)?.some((token) => token.startsWith('[') && token.length > narrowClassLength) ?? false;
  return {
    compiling:
      pattern.length +
      unicodeClasses * unicodeClass +
      spaceClasses * spaceClass +
      foldedRangesOf(pattern) * foldedRange +
      instructionsOf(pattern),
    unicodeClasses,
    hasWideClass: unicodeClasses > 0 || hasLongClass(),
  };
}

function foldedRangesOf(pattern: string): number {
  const ignoresCase = /\(\?[a-z]*i/i.test(pattern);
  const isBeyondAscii = /[^\0-\x7f]|\\[xu]/.test(pattern);
  return ignoresCase && isBeyondAscii ? pattern.split('-').length - 1 : 0;
}

function instructionsOf(pattern: string): number {
  const around: number[] = [];
  let size = 0;
  /** The size of what a repetition repeats. */
  let last = 0;
  const add = (instructions: number) => {
    last = instructions;
    size += instructions;
  };
  for (const [token, least, comma, most] of pattern.matchAll(tokens)) {
    if (token === '(') {
      around.push(size);
      size = 0;
    } else if (token === ')') {
      const inside = size;
      size = around.pop() ?? 0;
      add(inside + 2);
    } else if (least !== undefined) {
      const times = Math.max(Number(least), Number(most), 1) + Number(comma !== '');
      size -= last;
      add((last + 1) * times);
    } else if (token === '*' || token === '+' || token === '?') {
      size -= last;
      add(last + 1);
    } else add(1);
  }
  return around.reduce((sum, each) => sum + each, size);
}
