/** Equality of JSON values for the keywords `const`, `enum` and `uniqueItems`. */

/**
 * Whether two JSON values are equal: members in any order, numbers by value. Ajv's own function calls the members `valueOf` and `toString` of a
 * value.
 */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, n) => isSameJson(item, b[n]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name], b[name]));
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
