/**
 * Finds the words of a list inside a text in which digits and signs may replace similar letters (`p@ssw0rd`). It knows nothing of
 * passwords. Both words and texts are case-folded (`foldCase`); a text is an array of its code points.
 */

/** Lower case without accents and compatibility forms, so that simple variants of a word are equal. */
export function foldCase(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** The letters that a digit or sign may replace. */
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
  /** The share of the two words that a guessable password may use; see `guessable.ts`. */
  weight: number;
  context: boolean;
}

export interface FoundWord {
  /** The index after the word's last code point. */
  end: number;
  word: Word;
}

const prefixLength = 3;
/** Shorter words are not searched backwards, because they would be found in too many places. */
const minReversed = 5;

/** Stores words as text only and splits a word into letters when it may match: thousands of arrays of letters would take megabytes. */
export class WordIndex {
  readonly #forwards = new Map<string, Word[]>();
  readonly #backwards = new Map<string, Word[]>();

  /** Ignores words of fewer than three letters. */
  constructor(words: Iterable<Word>) {
    for (const word of words) {
      const letters = Array.from(word.text);
      add(this.#forwards, letters, word);
      if (letters.length >= minReversed) add(this.#backwards, letters.toReversed(), word);
    }
  }

  /** The words that begin at a position, forwards or backwards. */
  findAt(text: readonly string[], start: number): FoundWord[] {
    const found: FoundWord[] = [];
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

/** All readings of the next three signs, as the letters they replace or as themselves. */
function readings(text: readonly string[], start: number): string[] {
  let prefixes = [''];
  for (const sign of text.slice(start, start + prefixLength)) {
    const letters = [sign, ...(resembles.get(sign) ?? [])];
    prefixes = prefixes.flatMap((prefix) => letters.map((letter) => prefix + letter));
  }
  return prefixes;
}

/** At least a third of the letters must be literal, because digits alone could be read as almost any word. */
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
