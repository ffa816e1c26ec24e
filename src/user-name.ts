/** The normal form of user names for storage, comparison and queries. It does not know which names exist. */

const maximumLength = 128;
/**
 * Control, format, private, unassigned and invisible characters, and all spaces except the ordinary one: a name with them looks like
 * another.
 */
const forbidden = /[\p{C}\p{Default_Ignorable_Code_Point}]|(?! )\p{Z}/u;

/**
 * The normal form (rule 35). Undefined if the text cannot be a user name: empty, over 128 code points in that form, with control or
 * invisible characters, or with white space at either end. All names are stored and searched in this form; normalising twice changes
 * nothing.
 *
 * NOTE: JavaScript has no case folding of its own. Upper case and back gives Unicode's full folding: ß, ẞ and ss are equal, and so are ς
 * and σ. In addition the dotless ı equals i, which only makes more names equal. Lower case comes first because ẞ has no upper case.
 */
export function normaliseUserName(name: string): string | undefined {
  if (!name.isWellFormed()) return undefined;
  const folded = fold(name);
  const length = Array.from(folded).length;
  return length < 1 || length > maximumLength || forbidden.test(folded) || folded !== folded.trim() ? undefined : folded;
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}
