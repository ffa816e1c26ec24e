/** How large PostgreSQL stores a text that `http/json.ts` has accepted: `numeric` has no exponent, so `1e308` becomes 309 digits. */
import { Problem } from '../errors.ts';
import { endOfString } from '../parse-json.ts';

/** True for each text that has a number with an exponent, and for few others: a number follows these signs, and the texts of most bodies do not look so. */
const mayHaveExponent = /[\s:,[]-?\d+(?:\.\d+)?[eE]/;

/**
 * How many more characters PostgreSQL writes for the numbers of a JSON text than it has: up to 400 for one with an exponent.
 */
export function expansionOf(text: string): number {
  if (!mayHaveExponent.test(text)) return 0;
  let expansion = 0;
  for (const { sent, isZero, digits, decimals, exponent } of numbersWithExponent(text)) {
    const whole = isZero ? 1 : Math.max(1, digits + exponent);
    const scale = Math.max(0, decimals - exponent);
    expansion += whole + (scale > 0 ? scale + 1 : 0) - sent;
  }
  return Math.max(0, expansion);
}

/** Throws 413 if PostgreSQL would write a text of more bytes. */
export function requireStoredSize(text: string, limitBytes: number): void {
  if (Buffer.byteLength(text) + expansionOf(text) > limitBytes) throw new Problem('content-too-large', { values: { limit: limitBytes } });
}

interface Exponential {
  /** Its length without a sign. */
  sent: number;
  isZero: boolean;
  /** The numbers of digits before and after the point. */
  digits: number;
  decimals: number;
  exponent: number;
}

/** The numbers with an exponent that are outside of texts. */
function* numbersWithExponent(text: string): Generator<Exponential> {
  const number = /(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?|"/g;
  for (let found = number.exec(text); found; found = number.exec(text)) {
    const [sent, digits = '', decimals = '', exponent] = found;
    if (sent === '"') number.lastIndex = endOfString(text, found.index);
    else if (exponent !== undefined)
      yield {
        sent: sent.length,
        isZero: !/[1-9]/.test(digits + decimals),
        digits: digits.length,
        decimals: decimals.length,
        exponent: Number(exponent),
      };
  }
}
