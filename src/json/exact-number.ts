/**
 * Checks whether a JSON number comes back unchanged from a double and from PostgreSQL's numeric. JavaScript callers read it into a double;
 * jsonb stores it as numeric. It checks digits only: the grammar was checked before.
 */

/** No double needs a longer exponent, and numeric would write it out: `0e-16000`, eight bytes, comes back as 16,002. */
const largestExponent = 400;
/** The number of digits after the point that PostgreSQL's numeric can store. */
const largestScale = 16_383;
/** The number of digits that identify any double: a number with more digits is never the text of a double. */
const digitsOfDouble = 17;
/** The length of `-2.2250738585072014e-308`, the longest text of a double. */
const longestPrinted = 24;

/** A number as its significant digits (without a zero at either end; empty for zero) and the power of ten of the last digit. */
interface Decimal {
  digits: string;
  exponent: number;
}

const zero = 48;

/**
 * Whether the number keeps its decimal value (rule 70): it is finite as a double, and that double prints as the same value. The notation
 * does not matter: `1.0`, `1e2` and `0.10` are exact. So is `-0`, whose value is 0: numeric stores 0, and 0 comes back. The time is linear in
 * the length of the token and does not depend on the size of the exponent.
 *
 * @param token a number of RFC 8259's grammar
 */
export function isExactNumber(token: string): boolean {
  // The usual notation of doubles, for which a comparison is much faster than parsing.
  if (token.length <= longestPrinted && String(Number(token)) === token) return true;
  const written = readDecimal(token);
  if (written === undefined || written.digits.length > digitsOfDouble) return false;
  if (written.digits === '') return true;
  // A double that overflowed or became zero prints as other digits, too.
  const printed = readDecimal(String(Number(`${written.digits}e${written.exponent}`)));
  return printed?.digits === written.digits && printed.exponent === written.exponent;
}

/** The value of a token without its sign; undefined if numeric cannot store the notation. */
function readDecimal(token: string): Decimal | undefined {
  const mark = Math.max(token.indexOf('e'), token.indexOf('E'));
  const exponent = mark === -1 ? 0 : Number(token.slice(mark + 1));
  if (Math.abs(exponent) > largestExponent) return undefined;
  const mantissa = token.slice(token.startsWith('-') ? 1 : 0, mark === -1 ? undefined : mark);
  const point = mantissa.indexOf('.');
  const scale = (point === -1 ? 0 : mantissa.length - point - 1) - exponent;
  if (scale > largestScale) return undefined;
  const all = point === -1 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  // Loops, because /0+$/ takes quadratic time on a long run of zeros inside the number.
  let start = 0;
  while (all.charCodeAt(start) === zero) start++;
  let end = all.length;
  while (end > start && all.charCodeAt(end - 1) === zero) end--;
  return { digits: all.slice(start, end), exponent: all.length - end - scale };
}
