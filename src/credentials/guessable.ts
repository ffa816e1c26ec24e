/**
 * Detects passwords that an attacker guesses early: at most about two common words or words related to the user, combined with runs, dates
 * and repetitions. It does not measure strength: it accepts every password that it cannot explain.
 */
import { readFileSync } from 'node:fs';
import { findRuns } from './character-sequences.ts';
import { foldCase, WordIndex, type Word } from './word-index.ts';

/** Why a password is guessable; these are the fault codes. */
export type Guessable = 'contains-context' | 'too-common' | 'too-predictable';

/**
 * Maximum unexplained part of a guessable password, in letters; beside letters a digit counts as half. That is three letters or six digits,
 * anywhere: 10 to 20 bits, which attackers routinely add to each entry of a list.
 */
const maximumUnexplained = 3;
/** Maximum number of different common words. A third one adds 10 bits, which makes guessing online hopeless. */
const maximumWords = 2;
/** Repeating a unit of at most this length does not make a password long, even if the unit is random. */
const maximumRepeatedUnit = 8;
/**
 * Costs of a word. With the low cost the explanation leaves the least unexplained. With the high cost it takes a phrase as one word instead
 * of several. One explanation is enough.
 */
const wordCosts = [1, 3];
/** A run must cost less than the characters it explains, and several runs more than one longer run. */
const runCost = 0.02;
const minimumDifferentSigns = 4;
/**
 * NFKD can expand one character to eighteen. A longer result is not used: the password is judged as typed, because the work grows with the
 * length.
 */
const maximumFoldedLength = 512;
const minimumContextLetters = 4;

const common = new WordIndex(readLists());

/**
 * Undefined if the password is none of these. `context` are names that an attacker knows: of the service, its host and the user. The names
 * and their parts of four letters or more count as words.
 */
export function findGuessable(password: string, context: readonly string[]): Guessable | undefined {
  const indices = [common, new WordIndex(contextWords(context))];
  const folded = signsOf(password);
  if (new Set(folded).size < minimumDifferentSigns) return 'too-predictable';
  for (const text of [folded, withoutSeparators(folded)]) {
    const reason = weaknessOf(text, indices) ?? weaknessOfRepetition(text, indices);
    if (reason) return reason;
  }
  return undefined;
}

function signsOf(password: string): string[] {
  const folded = Array.from(foldCase(password));
  return folded.length > maximumFoldedLength ? Array.from(password) : folded;
}

/** One way to explain a text: the words that it uses, and the rest. */
interface Explanation {
  unexplained: number;
  words: Word[];
}

function weaknessOf(text: readonly string[], indices: readonly WordIndex[]): Guessable | undefined {
  for (const wordCost of wordCosts) {
    const { unexplained, words } = explain(text, indices, wordCost);
    const context = words.filter((word) => word.context);
    const contextLength = context.reduce((sum, word) => sum + word.text.length, 0);
    if (contextLength > text.length / 2) return 'contains-context';
    const weight = [...new Set(words)].reduce((sum, word) => sum + word.weight, 0);
    if (unexplained > maximumUnexplained || weight > maximumWords) continue;
    if (context.length > 0) return 'contains-context';
    return words.length > 0 ? 'too-common' : 'too-predictable';
  }
  return undefined;
}

/** A text that repeats one unit, perhaps between other signs, is as guessable as the unit. */
function weaknessOfRepetition(text: readonly string[], indices: readonly WordIndex[]): Guessable | undefined {
  for (const repeated of [text, withoutEnds(text)]) {
    const length = period(repeated);
    if (repeated.length >= 2 * length && length > 0) {
      return weaknessOf(repeated.slice(0, length), indices) ?? (length <= maximumRepeatedUnit ? 'too-predictable' : undefined);
    }
  }
  return undefined;
}

/** Finds the explanation of least cost: 1 for each unexplained letter, `wordCost` for a word. */
function explain(text: readonly string[], indices: readonly WordIndex[], wordCost: number): Explanation {
  interface Step {
    cost: number;
    unexplained: number;
    from: number;
    word?: Word | undefined;
  }
  // Beside letters a digit counts as half.
  const beside = text.some((sign) => /\p{L}/u.test(sign));
  const best: (Step | undefined)[] = [{ cost: 0, unexplained: 0, from: -1 }];
  for (let start = 0; start < text.length; start += 1) {
    const here = best[start];
    if (!here) continue;
    const offer = (end: number, step: Step) => {
      if (step.cost < (best[end]?.cost ?? Infinity)) best[end] = step;
    };
    const sign = beside && /\d/.test(text[start] ?? '') ? 0.5 : 1;
    offer(start + 1, { cost: here.cost + sign, unexplained: here.unexplained + sign, from: start });
    for (const end of findRuns(text, start)) offer(end, { ...here, cost: here.cost + runCost, from: start, word: undefined });
    for (const index of indices) {
      for (const { end, word } of index.findAt(text, start))
        offer(end, { ...here, cost: here.cost + wordCost * word.weight, from: start, word });
    }
  }
  const words: Word[] = [];
  for (let step = best[text.length]; step && step.from >= 0; step = best[step.from]) if (step.word) words.push(step.word);
  return { unexplained: best[text.length]?.unexplained ?? 0, words };
}

/**
 * Removes the separators between words: those of a sentence, or one or two kinds of unusual signs. More kinds of signs are part of the
 * secret.
 */
function withoutSeparators(text: readonly string[]): string[] {
  const isSeparator = (sign: string) => !/[\p{L}\p{N}@$!]/u.test(sign);
  const unusual = new Set(text.filter((sign) => isSeparator(sign) && !/[\s.,:;?'’_-]/.test(sign)));
  return unusual.size <= 2 ? text.filter((sign) => !isSeparator(sign)) : [...text];
}

function withoutEnds(text: readonly string[]): string[] {
  const isLetter = (sign: string) => /\p{L}/u.test(sign);
  return text.slice(Math.max(0, text.findIndex(isLetter)), text.findLastIndex(isLetter) + 1);
}

/** The length of the shortest unit that the text repeats (its own length if there is none), from the failure function of its prefixes. */
function period(text: readonly string[]): number {
  const borders = [0];
  for (let index = 1; index < text.length; index += 1) {
    let border = borders[index - 1] ?? 0;
    while (border > 0 && text[index] !== text[border]) border = borders[border - 1] ?? 0;
    borders.push(text[index] === text[border] ? border + 1 : 0);
  }
  return text.length - (borders.at(-1) ?? 0);
}

function* contextWords(names: readonly string[]): Iterable<Word> {
  for (const name of names) {
    const parts = name.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u);
    const whole = parts.join('');
    for (const part of new Set([whole, ...parts].map(foldCase))) {
      if (Array.from(part.replaceAll(/\P{L}/gu, '')).length >= minimumContextLetters) yield { text: part, weight: 0.4, context: true };
    }
  }
}

function* readLists(): Iterable<Word> {
  const read = (name: string) => readFileSync(new URL(`lists/${name}`, import.meta.url), 'utf8').replaceAll(/^#.*\n/gm, '');
  const [commonest = '', ...others] = read('common-words.txt').trim().split('\n\n');
  for (const text of commonest.split(/\s+/)) yield { text, weight: 0.5, context: false };
  for (const text of others.join(' ').split(/\s+/)) yield { text, weight: 1, context: false };
  for (const line of read('common-passwords.txt').trim().split(/\n+/)) {
    yield { text: foldCase(line).replaceAll(/[^\p{L}\p{N}]/gu, ''), weight: 1, context: false };
  }
}
