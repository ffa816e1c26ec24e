/** Texts without regard to case, accents and forms of letters. */

/** Letters that a search spells otherwise, beside those with a mark that Unicode can take off. */
const spelledOut: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ł: 'l', ı: 'i', ς: 'σ', ё: 'е' };

/**
 * The text in NFKC, with at most 30 marks after a letter, as in the Stream-Safe Text Format of Unicode (UAX 15). Marks are sorted in quadratic time: 99,000
 * of them took 5 seconds. The halfwidth voiced sound marks of Katakana are letters, and marks in NFKC.
 */
export function normalText(text: string): string {
  return text.replaceAll(/([\p{M}\uFF9E\uFF9F]{30})[\p{M}\uFF9E\uFF9F]+/gu, '$1').normalize('NFKC');
}

/** The text as {@link foldWords} has its words, and as a column of the type `folded` has it. */
export function foldedText(text: string): string {
  return foldWords(normalText(text));
}

/**
 * The words as a search compares them: in lower case, Latin and Greek letters without their marks. Marks of other scripts are vowels or letters of their own.
 */
export function foldWords(words: string): string {
  const bare = words
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/([\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036F]+/gu, '$1')
    .normalize('NFC');
  return bare.replaceAll(/[ßæœøđłıςё]/g, (letter) => spelledOut[letter] ?? letter);
}
