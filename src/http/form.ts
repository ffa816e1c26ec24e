/**
 * Reads `application/x-www-form-urlencoded` text, form bodies and query strings alike, and refuses what lenient parsers guess at: broken
 * escapes and repeated names. Which names are known is not its business.
 */
import { maximumFaults, type Fault, type FaultCode } from '../errors.ts';
import { pointerTo } from './pointer.ts';

/**
 * The pairs of the text (rule 71): split and decoded as the URL standard says, `+` being a space, except that nothing is
 * replaced or kept raw. Undecodable bytes, U+0000 and lone surrogates are a fault and so is a repeated name, each reported once a name, and
 * {@link maximumFaults} in all: the rest of the text is not read.
 * A pair without `=` has the value `''`. The length of the text is the caller's to limit.
 *
 * @param kind whether faults name a query parameter or point to a form field
 * @returns `values` without a prototype, so that a field called `__proto__` is only a field; of no use while there are faults
 */
export function readPairs(text: string, kind: 'parameter' | 'field'): { values: Record<string, string>; faults: Fault[] } {
  const values = Object.create(null) as Record<string, string>;
  const seen = new Set<string>();
  const faults = new Map<string, Fault>();
  const report = (code: FaultCode, name: string): void => {
    faults.set(`${code} ${name}`, kind === 'parameter' ? { code, parameter: name } : { code, pointer: pointerTo([name]) });
  };

  for (const pair of text.split('&')) {
    if (faults.size === maximumFaults) break;
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const rawName = equals === -1 ? pair : pair.slice(0, equals);
    const name = decode(rawName);
    if (name === undefined) {
      report('invalid-encoding', rawName.toWellFormed());
      continue;
    }
    if (seen.has(name)) report('repeated', name);
    seen.add(name);
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1));
    if (value === undefined) report('invalid-encoding', name);
    else values[name] = value;
  }
  return { values, faults: [...faults.values()] };
}

/** The text a name or value stands for, or undefined when it stands for none. U+FFFD is what bytes that are not UTF-8 were read as. */
function decode(raw: string): string | undefined {
  if (raw.includes('\uFFFD') || !raw.isWellFormed()) return undefined;
  try {
    // decodeURIComponent is the strict decoder: it throws at a broken escape and at bytes that are not UTF-8.
    const text = decodeURIComponent(raw.replaceAll('+', ' '));
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
