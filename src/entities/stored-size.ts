/** How large PostgreSQL stores a text that `json/json.ts` has accepted: `numeric` has no exponent, so `1e308` becomes 309 digits. */
import { endOfString } from '../json/parse-json.ts';

/** True for each text that has a number with an exponent, and for few others: a number follows these signs, and the texts of most bodies do not look so. */
const mayHaveExponent = /[\s:,[]-?\d+(?:\.\d+)?[eE]/;

/**
 * How many more characters PostgreSQL writes than a JSON text with exponents has: up to 400 for each of these numbers, and a space after each comma and
 * colon. 0 for a text without them, which it writes with twice as many at most.
 */
export function expansionOf(text: string): number {
  if (!mayHaveExponent.test(text)) return 0;
  let expansion = 0;
  const token = /(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?|[",:]/g;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [sent, digits = '', decimals = '', exponent] = found;
    if (sent === '"') token.lastIndex = endOfString(text, found.index);
    else if (exponent !== undefined) expansion += writtenLength(digits, decimals, Number(exponent)) - sent.length;
    else if (digits === '') expansion += 1;
  }
  return Math.max(0, expansion);
}

/** The characters of a number without an exponent and a sign. */
function writtenLength(digits: string, decimals: string, exponent: number): number {
  const isZero = !/[1-9]/.test(digits + decimals);
  const whole = isZero ? 1 : Math.max(1, digits.length + exponent);
  const scale = Math.max(0, decimals.length - exponent);
  return whole + (scale > 0 ? scale + 1 : 0);
}
