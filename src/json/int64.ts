/** Signed 64-bit integers as decimal text, which a 64-bit float cannot represent exactly. */

const smallest = -(2n ** 63n);
const largest = 2n ** 63n - 1n;

/** Whether the text is the canonical decimal form of a signed 64-bit integer: no `+`, no leading zero, no `-0`, no spaces (rule 68). */
export function isInt64(text: string): boolean {
  if (!/^(0|-?[1-9][0-9]{0,18})$/.test(text)) return false;
  // Eighteen digits and a sign always fit.
  if (text.length <= 18) return true;
  const number = BigInt(text);
  return number >= smallest && number <= largest;
}
