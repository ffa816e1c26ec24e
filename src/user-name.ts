/** The one form of a user name that is stored, compared and looked up. It does not know which names exist. */

const MAX_LENGTH = 128;
/** Control, format, private, unassigned and invisible characters, and every space but the ordinary one: names that look like others. */
const FORBIDDEN = /[\p{C}\p{Default_Ignorable_Code_Point}]|(?! )\p{Z}/u;

/**
 * The canonical form (rule 35), or undefined when this cannot be a user name: empty, over 128 code points in that form, with control or
 * invisible characters, or with white space at either end. Whatever is looked up under it was stored under it, and applying it twice
 * changes nothing.
 *
 * NOTE: JavaScript has no case folding of its own. Upper case and back again gives Unicode's full folding (ß, ẞ and ss are one, so are
 * ς and σ), except that the dotless ı is one with i, which only makes more names equal. Lower case comes first because ẞ has no upper.
 */
export function normaliseUserName(name: string): string | undefined {
  if (!name.isWellFormed()) return undefined;
  const folded = fold(name);
  const length = Array.from(folded).length;
  if (length < 1 || length > MAX_LENGTH || FORBIDDEN.test(folded) || folded !== folded.trim()) return undefined;
  return folded;
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}
