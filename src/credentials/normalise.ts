/** The normal form of passwords for measuring, comparison with lists, hashing and verification. Only the Unicode form changes. */

/** The password in Unicode NFC; undefined if it has a lone surrogate, which no keyboard can type. */
export function normalisePassword(password: string): string | undefined {
  return password.isWellFormed() ? password.normalize('NFC') : undefined;
}
