/** Patterns that are regular expressions without the flag `u` only. The service reads all of them with it, as JSON Schema 2020-12 recommends. */

/** An escape, with what belongs to it. */
const escape = /\\(?:[pPu]\{[^{}]*\}|k<[^<>]*>|.)/suy;
const quantifier = /\{\d+(?:,\d*)?\}/y;

/**
 * A pattern that matches with the flag `u` what this one matches without it. It has no escapes of characters that need none, and escapes of brackets that
 * are no syntax. Undefined if that is not enough.
 */
export function unicodePatternOf(pattern: string): string | undefined {
  if (compiles(pattern, 'u')) return pattern;
  const rewritten = rewrite(pattern);
  return compiles(pattern, '') && compiles(rewritten, 'u') ? rewritten : undefined;
}

function rewrite(pattern: string): string {
  let text = '';
  let isInClass = false;
  for (let at = 0; at < pattern.length;) {
    const character = pattern[at] ?? '';
    const escaped = matchAt(escape, pattern, at);
    const found = escaped ?? (isInClass ? undefined : matchAt(quantifier, pattern, at)) ?? character;
    at += found.length;
    if (escaped !== undefined) text += needsEscape(escaped, isInClass) ? escaped : escaped.slice(1);
    else if (isInClass) {
      isInClass = character !== ']';
      // In `[\w-.]` the hyphen is no range.
      const isAfterClass = character === '-' && /\\[dDsSwW]$/.test(text) && pattern[at] !== ']';
      text += isAfterClass ? '\\-' : character;
    } else {
      isInClass = character === '[';
      text += found.length === 1 && /[\]{}]/.test(found) ? `\\${found}` : found;
    }
  }
  return text;
}

/** Letters and digits have meanings of their own, and `-` is syntax inside of a class. */
function needsEscape(escaped: string, isInClass: boolean): boolean {
  return escaped.length > 2 || /[\^$\\.*+?()[\]{}|/0-9A-Za-z]/.test(escaped[1] ?? '') || (isInClass && escaped === '\\-');
}

function matchAt(expression: RegExp, text: string, at: number): string | undefined {
  expression.lastIndex = at;
  return expression.exec(text)?.[0];
}

function compiles(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}
