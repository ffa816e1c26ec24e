/**
 * Finds the words of a list inside a text in which letters may be replaced by the digits and signs that resemble them (`p@ssw0rd`).
 * It knows nothing of passwords; both words and texts come folded (`fold`), a text as its code points.
 */

/** Lower case without accents and compatibility forms: what remains when somebody varies a word without changing it. */
export function foldCase(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** The letters that a digit or sign is used for. */
const resembles: ReadonlyMap<string, readonly string[]> = new Map([
  ['0', ['o']],
  ['1', ['i', 'l']],
  ['2', ['z']],
  ['3', ['e']],
  ['4', ['a']],
  ['5', ['s']],
  ['6', ['g']],
  ['7', ['t']],
  ['8', ['b']],
  ['9', ['g']],
  ['@', ['a']],
  ['$', ['s']],
  ['!', ['i', 'l']],
  ['|', ['i', 'l']],
  ['+', ['t']],
  ['(', ['c']],
]);

export interface Word {
  text: string;
  /** How much of the two words a guessable password may be made of; see `guessable.ts`. */
  weight: number;
  context: boolean;
}

export interface Found {
  /** Where the word ends: the index after its last code point. */
  end: number;
  word: Word;
}

const prefixLength = 3;
/** Shorter words backwards are found in too many places. */
const minReversed = 5;

/** Keeps the words alone, and takes one apart when it may have been found: thousands of words as arrays of letters are megabytes. */
export class WordIndex {
  readonly #forwards = new Map<string, Word[]>();
  readonly #backwards = new Map<string, Word[]>();

  /** Words of fewer than three letters are left out. */
  constructor(words: Iterable<Word>) {
    for (const word of words) {
      const letters = Array.from(word.text);
      add(this.#forwards, letters, word);
      if (letters.length >= minReversed) add(this.#backwards, letters.toReversed(), word);
    }
  }

  /** The words that begin at a position, forwards or backwards. */
  findAt(text: readonly string[], start: number): Found[] {
    const found: Found[] = [];
    const offer = (letters: readonly string[], word: Word) => {
      if (matches(text, start, letters)) found.push({ end: start + letters.length, word });
    };
    for (const prefix of readings(text, start)) {
      for (const word of this.#forwards.get(prefix) ?? []) offer(Array.from(word.text), word);
      for (const word of this.#backwards.get(prefix) ?? []) offer(Array.from(word.text).toReversed(), word);
    }
    return found;
  }
}

function add(byPrefix: Map<string, Word[]>, letters: readonly string[], word: Word): void {
  if (letters.length < prefixLength) return;
  const prefix = letters.slice(0, prefixLength).join('');
  const others = byPrefix.get(prefix);
  if (others) others.push(word);
  else byPrefix.set(prefix, [word]);
}

/** Every way to read the next three signs as letters or as themselves. */
function readings(text: readonly string[], start: number): string[] {
  let prefixes = [''];
  for (const sign of text.slice(start, start + prefixLength)) {
    const letters = [sign, ...(resembles.get(sign) ?? [])];
    prefixes = prefixes.flatMap((prefix) => letters.map((letter) => prefix + letter));
  }
  return prefixes;
}

/** At least a third of the letters must be there as such: digits alone can be read as almost anything. */
function matches(text: readonly string[], start: number, letters: readonly string[]): boolean {
  if (start + letters.length > text.length) return false;
  let literal = 0;
  for (const [index, letter] of letters.entries()) {
    const sign = text[start + index] ?? '';
    if (sign === letter) literal += 1;
    else if (!resembles.get(sign)?.includes(letter)) return false;
  }
  return literal >= letters.length / 3;
}
