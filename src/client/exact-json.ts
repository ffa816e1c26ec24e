/** JSON without the silent changes of JSON.stringify, which writes NaN as null; in an update null removes a member. */

/**
 * The JSON text of a value. Throws a TypeError for values that JSON cannot represent, and for values nested too deeply. Members that are
 * undefined are left out.
 */
export function exactJson(value: unknown): string {
  try {
    return JSON.stringify(value, exactly);
  } catch (cause) {
    // The engine's stack overflowed.
    if (cause instanceof RangeError) throw new TypeError('The value is nested too deeply', { cause });
    throw cause;
  }
}

function exactly(name: string, member: unknown): unknown {
  if (typeof member === 'number' && !Number.isFinite(member)) throw notJson(name, String(member));
  if (typeof member === 'function' || typeof member === 'symbol') throw notJson(name, `a ${typeof member}`);
  if (member instanceof Map || member instanceof Set) throw notJson(name, 'a Map or Set');
  if (Array.isArray(member) && member.includes(undefined)) throw notJson(name, 'an array with undefined in it');
  return member;
}

function notJson(name: string, what: string): TypeError {
  return new TypeError(`JSON has no way to say ${what}${name === '' ? '' : `, the value of "${name}"`}`);
}
