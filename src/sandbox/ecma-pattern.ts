/** Patterns of JSON Schema are those of ECMA 262 with the flag u. RE2 writes most of them alike, and reads some escapes and classes otherwise. */

const spaces = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const notSpaces =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
const notLineEnds = '[^\\n\\r\\x{2028}\\x{2029}]';

const surrogates = /^\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})$/i;
const tokens =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u\{[\da-fA-F]+\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\x\{[\da-fA-F]+\}|\\c[A-Za-z]|\\0\d?|\\.|\[\^?\]?|./gsu;
/** What RE2 takes for something else: an octal number, a letter, or a quotation. A class without members RE2 reads as one with a bracket. */
const unlike = /^(?:\\[0-9uxcQE].*|\[\^?\])$/s;
const meantAlike = /^\\(?:u[\da-f]{4}\\u[\da-f]{4}|u\{?[\da-f]+\}?|x(?:[\da-f]{2}|\{[\da-f]+\})|c[a-z]|0)$/i;

/**
 * The pattern as RE2 writes it; undefined if RE2 would read it otherwise. A pattern that sets flags, such as `(?i)`, is RE2's own: there `.` and `\s` have
 * its meaning.
 */
export function re2PatternOf(pattern: string): string | undefined {
  const hasFlags = /\(\?[imsU-]+[:)]/.test(pattern.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/gsu, ''));
  let isClass = false;
  let translated = '';
  for (const [token] of pattern.matchAll(tokens)) {
    const opens = !isClass && token.startsWith('[');
    const isMember = isClass && token.startsWith('[');
    if (!isMember && unlike.test(token) && !meantAlike.test(token)) return undefined;
    translated += hasFlags ? token : translationOf(token, isClass);
    if (opens) isClass = true;
    else if (isClass && token.endsWith(']') && !token.startsWith('\\')) isClass = false;
  }
  return translated;
}

function translationOf(token: string, isClass: boolean): string {
  const [, high, low] = surrogates.exec(token) ?? [];
  if (high !== undefined && low !== undefined) {
    const point = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0);
    return `\\x{${point?.toString(16)}}`;
  }
  if (token === '\\s') return isClass ? spaces : `[${spaces}]`;
  if (token === '\\S') return isClass ? notSpaces : `[^${spaces}]`;
  if (token === '\\b' && isClass) return '\\x{8}';
  return token === '.' && !isClass ? notLineEnds : token;
}
