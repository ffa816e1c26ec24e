/** Decimal numbers in JSON: as text, because a 64-bit float cannot represent 0.1. */

/** Whether the text is a decimal number: up to 31 digits before and 18 after the point, without a plus, an exponent, needless zeros in front or `-0`. */
export function isDecimal(text: string): boolean {
  return /^-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,18})?$/.test(text) && !/^-0(?:\.0+)?$/.test(text);
}
