/** Equality of JSON values for the keywords `const`, `enum` and `uniqueItems`: members in any order, numbers by value. */

/**
 * Whether two JSON values are equal. Ajv's own function calls the members `valueOf` and `toString` of a
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

/**
 * Whether no two items are equal. It takes time in proportion to the items, unlike Ajv's comparison of each with every other one: 10,000
 * objects took 5 s.
 */
export function areDifferent(items: readonly unknown[]): boolean {
  return new Set(items.map(sortedText)).size === items.length;
}

/** The same text for equal values. */
function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${sortedText(value[name])}`).join()}}`;
}
