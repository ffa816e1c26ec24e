/** The words of texts that are searched, and of a search. */
import { normalText } from '../../filter/fold.ts';

/** A part of a search that a text must have, or must not have. */
export interface SearchTerm {
  /** One word, or several in this order for a phrase, with a space between two. */
  words: string;
  isPhrase: boolean;
  isExcluded: boolean;
}

/**
 * The words of a text in NFKC, with a space in place of all that is no letter or digit: those of up to `length` characters. PostgreSQL takes quadratic time for
 * addresses and hyphenated words: a second for 8,000 characters of `a_a_a`.
 */
export function wordsOf(text: string, length: number): string {
  const normal = normalText(text.slice(0, length)).slice(0, length);
  return normal.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ');
}

/**
 * The alternatives of a search, of each the terms that must all hold; none for a search without a word. Quotes enclose a phrase, `or` between two terms begins an
 * alternative, and `-` in front of a term excludes it. All other signs count as spaces, so any text is a search.
 */
export function readSearch(search: string): SearchTerm[][] {
  const tokens = search
    .normalize('NFKC')
    .matchAll(/(?<![\p{L}\p{M}\p{N}"])(-+)?(?:"([^"]*)"?|([\p{L}\p{M}\p{N}]+))|([\p{L}\p{M}\p{N}]+)|"([^"]*)"?/gu);
  const alternatives: SearchTerm[][] = [[]];
  let isAfterOr = false;
  for (const [, minus, quoted, marked, plain, attached] of tokens) {
    const word = marked ?? plain;
    const words = (word ?? quoted ?? attached ?? '').replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ').trim();
    if (words === '') continue;
    if (minus === undefined && word?.toLowerCase() === 'or' && alternatives.at(-1)?.length !== 0) {
      isAfterOr = true;
      continue;
    }
    if (isAfterOr) alternatives.push([]);
    isAfterOr = false;
    alternatives.at(-1)?.push({ words, isPhrase: word === undefined, isExcluded: minus !== undefined });
  }
  return alternatives.filter((terms) => terms.length > 0);
}
