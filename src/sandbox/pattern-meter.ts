/** Bounds what the patterns of callers cost for one value (decision 201). */

/** Instructions times characters for one value: about 0.1 s, measured with the slowest patterns. */
const maximumPatternWork = 25_000_000;
/** The cost of a test beside its characters, in characters. */
const testCharacters = 16;
/** The verdict on a longer text is stored until the value is done: a refused value is tested several times, to find all its faults. */
const storedLength = 1_000;
/** So are those on short texts behind this number of tests: many schemas may test the names of one large object. */
const unstoredTests = 256;
/** The most verdicts that are stored for one value. */
const maximumStored = 50_000;

/** Thrown by a test that would take too long. */
export class PatternWorkError extends Error {
  override readonly name = 'PatternWorkError';
  /** The text that was not tested. */
  readonly text: string;

  constructor(text: string) {
    super('the patterns of the type would take too long');
    this.text = text;
  }
}

/** The work of the patterns of one type for the value that is being tested. Tests are synchronous, so values do not mix. */
export class PatternMeter {
  #work = 0;
  #tests = 0;
  #stored = 0;
  readonly #verdicts = new Map<string, Map<string, boolean>>();

  /** Runs the tests of one value. Throws {@link PatternWorkError} before a test that would be too much. */
  run<T>(tests: () => T): T {
    this.#work = 0;
    this.#tests = 0;
    this.#stored = 0;
    try {
      return tests();
    } finally {
      this.#verdicts.clear();
    }
  }

  /** The verdict of `test` on the text. Each character costs the `weight` of the pattern, in instructions. */
  verdictOf(pattern: string, text: string, weight: number, test: () => boolean): boolean {
    const stored = this.#verdicts.get(pattern)?.get(text);
    if (stored !== undefined) return stored;
    this.#work += (text.length + testCharacters) * weight;
    if (this.#work > maximumPatternWork) throw new PatternWorkError(text);
    const verdict = test();
    this.#tests += 1;
    if (text.length >= storedLength || this.#tests > unstoredTests) this.#store(pattern, text, verdict);
    return verdict;
  }

  #store(pattern: string, text: string, verdict: boolean): void {
    if (this.#stored === maximumStored) return;
    this.#stored += 1;
    const verdicts = this.#verdicts.get(pattern) ?? new Map<string, boolean>();
    this.#verdicts.set(pattern, verdicts.set(text, verdict));
  }
}

/** The most characters of one text that a pattern of this weight tests. */
export function longestText(weight: number): number {
  return Math.floor(maximumPatternWork / weight) - testCharacters;
}
