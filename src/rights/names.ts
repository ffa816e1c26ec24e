/** The forms of names in rights: those of roles, profiles, rules and attributes. */

/** Names that variables of rules have for other values, or that answers have beside attributes. */
const reservedNames = ['name', 'attributes', 'constructor', 'prototype'];

/** Whether the text can be the name of an attribute; the table has nearly the same check. */
export function isAttributeName(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(text) && !reservedNames.includes(text);
}

/** Whether the text can be the name of a role, a profile, or a rule of a role; the tables have the same check. */
export function isRoleOrProfileName(text: string): boolean {
  return /^[A-Za-z0-9 _.-]{1,64}$/.test(text);
}
