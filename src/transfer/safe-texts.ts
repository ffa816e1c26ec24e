/**
 * Texts that a spreadsheet does not take for formulas (`csvSafe`, decision 215). An apostrophe in front of them makes them so. Texts that begin with apostrophes and
 * such a character get one more, so that {@link unescapedText} returns each text as it was.
 */

/** How formulas begin in spreadsheets, after apostrophes. */
const formula = /^'*[=+\-@\t\r]/;

/** The text with an apostrophe in front of it if a spreadsheet could take it for a formula. */
export const escapedText = (text: string): string => (formula.test(text) ? `'${text}` : text);

/** The text that {@link escapedText} was called with. */
export const unescapedText = (text: string): string => (text.startsWith("'") && formula.test(text) ? text.slice(1) : text);
