/**
 * Tells whether a JSON number comes back unchanged, both from a double (what JavaScript callers read it into) and from PostgreSQL's
 * numeric (what jsonb keeps it in). It knows digits only: the grammar was checked before.
 */

/** No double needs a longer exponent, and numeric would spell it out: `0e-16000`, eight bytes, is read back as 16,002. */
const largestExponent = 400;
/** The digits after the point that PostgreSQL's numeric can keep. */
const largestScale = 16_383;
/** The digits that name any double: a number with more is never what a double prints. */
const digitsOfDouble = 17;
/** The length of `-2.2250738585072014e-308`, than which no double prints longer. */
const longestPrinted = 24;

/** A number as its significant digits (no zero at either end; none at all for zero) and the power of ten of the last of them. */
interface Decimal {
  digits: string;
  exponent: number;
}

const zero = 48;

/**
 * Whether the number keeps its decimal value (rule 70): it is finite as a double and that double prints as the same value.
 * How it is written does not count: `1.0`, `1e2` and `0.10` are exact. A negative zero is not, because numeric has no sign for it.
 * The work is linear in the length of the token and never depends on the size of the exponent.
 *
 * @param token a number of RFC 8259's grammar
 */
export function isExactNumber(token: string): boolean {
  // The way doubles are usually written, and far quicker to see than to take apart.
  if (token.length <= longestPrinted && String(Number(token)) === token) return true;
  const written = readDecimal(token);
  if (written === undefined || written.digits.length > digitsOfDouble) return false;
  if (written.digits === '') return !token.startsWith('-');
  // A double that overflowed or became zero prints as other digits, too.
  const printed = readDecimal(String(Number(`${written.digits}e${written.exponent}`)));
  return printed?.digits === written.digits && printed.exponent === written.exponent;
}

/** The value of a token without its sign, or undefined when it is written in a way that numeric could not keep. */
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
