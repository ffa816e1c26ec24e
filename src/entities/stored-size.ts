/** How large PostgreSQL stores a text that `http/json.ts` has accepted: `numeric` has no exponent, so `1e308` becomes 309 digits. */
import { Problem } from '../errors.ts';
import { endOfString } from '../parse-json.ts';

/**
 * How many more characters PostgreSQL writes for the numbers of a JSON text than it has: up to 400 for one with an exponent. Zero with an exponent counts as if
 * it was one.
 */
export function expansionOf(text: string): number {
  if (!/\d[eE]/.test(text)) return 0;
  let expansion = 0;
  for (const { sent, digits, decimals, exponent } of numbersWithExponent(text)) {
    const whole = Math.max(1, digits + exponent);
    const scale = Math.max(0, decimals - exponent);
    expansion += whole + (scale > 0 ? scale + 1 : 0) - sent;
  }
  return Math.max(0, expansion);
}

/** Throws 413 if PostgreSQL would write a text of more bytes. */
export function requireStoredSize(text: string, limitBytes: number): void {
  if (Buffer.byteLength(text) + expansionOf(text) > limitBytes) throw new Problem('content-too-large', { values: { limit: limitBytes } });
}

/** The numbers outside of texts: their length without a sign, their digits before and after the point, and their exponent. */
function* numbersWithExponent(text: string): Generator<{ sent: number; digits: number; decimals: number; exponent: number }> {
  const number = /(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?|"/g;
  for (let found = number.exec(text); found; found = number.exec(text)) {
    const [sent, digits = '', decimals = '', exponent] = found;
    if (sent === '"') number.lastIndex = endOfString(text, found.index);
    else if (exponent !== undefined)
      yield { sent: sent.length, digits: digits.length, decimals: decimals.length, exponent: Number(exponent) };
  }
}
