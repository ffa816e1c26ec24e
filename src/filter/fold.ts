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

/** Code units of a text that is folded at once. */
const pieceLength = 64;

/**
 * The text as `fold` has it, {@link foldedText} for example. Of a text that has more than `maximum` characters in that form only a beginning is folded, which has
 * more too: a character can be 18 in NFKC, and a text can have a megabyte. The length of `text` says nothing, since letters and marks are composed.
 */
export function boundedFold(text: string, maximum: number, fold: (text: string) => string): string {
  if (text.length <= pieceLength) return fold(text);
  let start = '';
  // A piece ends where no letter or mark is composed with one before: vowels and final consonants of Hangul are, and a vowel of Kirat Rai.
  for (const [piece] of text.matchAll(/[^]{1,64}[\p{M}\u1160-\u11FF\u3130-\u318F\uFF9E-\uFFDC\u{16D67}\u{16D68}]*/gu)) {
    start += fold(piece);
    if (start.length > 2 * maximum) return start;
  }
  // Pieces are folded as the whole is, but for a sigma, whose small form depends on the letters around it.
  return /[σς]/.test(start) ? fold(text) : start;
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
