/** What an entity name looks like, for the places that no contract checks, such as the administration command. */

/** Whether the text can name an entity; whether such an entity exists is another question (rule 69). */
export function isEntityName(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(text);
}
