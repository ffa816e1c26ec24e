/** The keyword `multipleOf` on decimal values: in floating point 19.99 / 0.01 is no integer. */

/** The value of the shortest text of a number: `digits` × 10^`exponent`. */
interface ScaledInteger {
  digits: bigint;
  exponent: number;
}

/** Whether the value is a multiple of the divisor, both as the decimals that their shortest texts are. The divisor is more than 0. */
export function isMultipleOf(value: number, divisor: number): boolean {
  // The remainder of two integers is exact, and up to 2^53 an integer is its text.
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  if (value === 0 || Math.abs(value) < divisor) return value === 0;
  const [dividend, unit] = [decimalOf(value), decimalOf(divisor)];
  const shift = dividend.exponent - unit.exponent;
  return shift < 0
    ? dividend.digits % (unit.digits * 10n ** BigInt(-shift)) === 0n
    : (dividend.digits * 10n ** BigInt(Math.min(shift, mostFactors))) % unit.digits === 0n;
}

/** The digits of a number are less than 2^70, so 10^70 has all factors 2 and 5 that they may have. */
const mostFactors = 70;

function decimalOf(value: number): ScaledInteger {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
