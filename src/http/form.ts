/**
 * Reads `application/x-www-form-urlencoded` text of form bodies and query strings. It refuses what lenient parsers guess: broken escapes
 * and repeated names. It does not know which names are allowed.
 */
import { maximumFaults, type Fault, type FaultCode } from '../problems/faults.ts';
import { parameterPlace, placeOf } from '../problems/pointer.ts';

export interface Pairs {
  values: Record<string, string>;
  names: ReadonlySet<string>;
  faults: Fault[];
}

/**
 * The pairs of the text (rule 71), split and decoded as in the URL standard, with `+` as a space. Unlike there, invalid input is neither
 * replaced nor passed on. Undecodable bytes, U+0000, lone surrogates and repeated names are faults. Each is reported once a name, up to
 * {@link maximumFaults} in all; then reading stops. A pair without `=` has the value `''`. The caller must limit the length of the text.
 *
 * @param kind whether faults name a query parameter or point to a form field
 * @returns `values` without a prototype, so that a field called `__proto__` is only a field; unusable if there are faults. `names` has each
 *   name once, in order, undecodable ones as sent.
 */
export function readPairs(text: string, kind: 'parameter' | 'field'): Pairs {
  const values = Object.create(null) as Record<string, string>;
  const names = new Set<string>();
  const faults = new Map<string, Fault>();
  const report = (code: FaultCode, name: string): void => {
    // One pair may have two faults.
    if (faults.size === maximumFaults) return;
    const position = [...names].indexOf(name) + 1;
    const place = kind === 'parameter' ? parameterPlace(name, position) : placeOf([name], () => position);
    faults.set(`${code} ${name}`, { code, ...place });
  };

  for (const pair of text.split('&')) {
    if (faults.size === maximumFaults) break;
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const rawName = equals === -1 ? pair : pair.slice(0, equals);
    const name = decode(rawName);
    if (name === undefined) {
      names.add(rawName);
      report('invalid-encoding', rawName);
      continue;
    }
    if (names.has(name)) report('repeated', name);
    names.add(name);
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1));
    if (value === undefined) report('invalid-encoding', name);
    else values[name] = value;
  }
  return { values, names, faults: [...faults.values()] };
}

/** The decoded name or value; undefined if it cannot be decoded. U+FFFD stands for bytes that are not UTF-8. */
function decode(raw: string): string | undefined {
  if (raw.includes('\uFFFD') || !raw.isWellFormed()) return undefined;
  try {
    // decodeURIComponent is strict: it throws at a broken escape and at bytes that are not UTF-8.
    const text = decodeURIComponent(raw.replaceAll('+', ' '));
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
