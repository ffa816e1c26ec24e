/** The one form in which passwords are measured, compared with lists, hashed and verified. It alters nothing else about them. */

/** The password in Unicode NFC; undefined when it is not Unicode at all (a lone surrogate), which nobody can type. */
export function normalisePassword(password: string): string | undefined {
  return password.isWellFormed() ? password.normalize('NFC') : undefined;
}
