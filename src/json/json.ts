/**
 * Reads a JSON body and refuses content that could not be returned unchanged later (rule 70). It reads the text in one pass with its own
 * stack, so a deep body cannot exhaust the call stack. It knows nothing of schemas, entities or HTTP.
 */
import { isUtf8 } from 'node:buffer';
import type { Fault, FaultCode } from '../problems/faults.ts';
import { isExactNumber } from './exact-number.ts';
import { placeOf } from '../problems/pointer.ts';
import { parseJson, skipSpace } from './parse-json.ts';

export interface JsonLimits {
  /** Maximum nesting of arrays and objects. */
  depth: number;
  /** Maximum number of values of every kind, including the document and its arrays and objects. */
  values: number;
  /** Maximum number of code points of a member's name. */
  nameLength: number;
}

export const jsonLimits: Readonly<JsonLimits> = { depth: 32, values: 10_000, nameLength: 128 };
/** For the bodies of operations on many entities. Reading one takes 40 ms. */
export const largeJsonLimits: Readonly<JsonLimits> = { ...jsonLimits, values: 50_000 };

/** The fault code of a refused token and, for `invalid-json`, its UTF-16 offset. */
interface JsonRefusal {
  code: FaultCode;
  at: number;
}

const [quote, comma, minus, point, colon, backslash] = [34, 44, 45, 46, 58, 92];
const [openArray, closeArray, openObject, closeObject] = [91, 93, 123, 125];

/**
 * The document of a body: `text` exactly as sent, which jsonb can store, and its parsed `value`. Otherwise the first fault. Its pointer is
 * that of the value or member. For a name that must not be repeated ({@link placeOf}) it is that of the object around it, with the member's
 * position. `invalid-json` has the pointer `''` and the `position` in code points, from 0.
 */
export function readJson(bytes: Buffer, limits: Readonly<JsonLimits> = jsonLimits): { text: string; value: unknown } | Fault {
  if (!isUtf8(bytes) || (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)) return { code: 'invalid-encoding', pointer: '' };
  const text = bytes.toString('utf8');
  return findFault(text, limits) ?? { text, value: parseJson(text) };
}

/** The first fault of a JSON text, as {@link readJson} tells it. */
export function findFault(text: string, limits: Readonly<JsonLimits>): Fault | undefined {
  /** The index or name being read in each open array and object, and the names so far in each open object. */
  const path: (string | number)[] = [];
  const names: (Set<string> | undefined)[] = [];
  let values = 0;
  let at = 0;

  const syntax = (at: number): Fault => ({ code: 'invalid-json', pointer: '', values: { position: codePoints(text, at) } });
  /** The place of `path`, whose last name is member number `last` of its object; by default the newest one. */
  const place = (last?: number) => placeOf(path, (depth) => (depth === path.length - 1 ? last : undefined) ?? names[depth]?.size);
  const refuse = ({ code, at }: JsonRefusal, last?: number): Fault => (code === 'invalid-json' ? syntax(at) : { code, ...place(last) });
  const exceed = (code: 'too-deep' | 'too-many-values' | 'member-name-too-long', limit: number, last?: number): Fault => {
    return { code, ...place(last), values: { limit } };
  };

  for (;;) {
    const siblings = names.at(-1);
    if (siblings) {
      at = skipSpace(text, at);
      if (text.charCodeAt(at) !== quote) return syntax(at);
      const end = endOfString(text, at);
      // Stands for the name until it has been read.
      path[path.length - 1] = '';
      const number = siblings.size + 1;
      if (typeof end !== 'number') return refuse(end, number);
      const raw = text.slice(at + 1, end - 1);
      const name = raw.includes('\\') ? (JSON.parse(text.slice(at, end)) as string) : raw;
      if (name.length > limits.nameLength && codePoints(name) > limits.nameLength)
        return exceed('member-name-too-long', limits.nameLength, number);
      path[path.length - 1] = name;
      if (isReserved(name)) return refuse({ code: 'member-name-reserved', at });
      if (siblings.add(name).size < number) return refuse({ code: 'duplicate-member', at }, number);
      at = skipSpace(text, end);
      if (text.charCodeAt(at) !== colon) return syntax(at);
      at++;
    }

    at = skipSpace(text, at);
    if (++values > limits.values) return exceed('too-many-values', limits.values);
    const first = text.charCodeAt(at);
    if (first === openObject || first === openArray) {
      if (path.length === limits.depth) return exceed('too-deep', limits.depth);
      at = skipSpace(text, at + 1);
      if (text.charCodeAt(at) !== (first === openObject ? closeObject : closeArray)) {
        path.push(first === openObject ? '' : 0);
        names.push(first === openObject ? new Set() : undefined);
        continue;
      }
      at++;
    } else {
      const end = first === quote ? endOfString(text, at) : first === minus || isDigit(first) ? endOfNumber(text, at) : endOfWord(text, at);
      if (typeof end !== 'number') return refuse(end);
      at = end;
    }

    for (;;) {
      at = skipSpace(text, at);
      const index = path.at(-1);
      if (index === undefined) return at === text.length ? undefined : syntax(at);
      const next = text.charCodeAt(at);
      if (next === comma) {
        if (typeof index === 'number') path[path.length - 1] = index + 1;
        at++;
        break;
      }
      if (next !== (typeof index === 'number' ? closeArray : closeObject)) return syntax(at);
      path.pop();
      names.pop();
      at++;
    }
  }
}

/** Names through which careless code could reach, or replace, the prototype of every object (prototype pollution). */
function isReserved(name: string): boolean {
  return name === '__proto__' || name === 'constructor' || name === 'prototype';
}

/** The offset after the string that opens at `at`. */
function endOfString(text: string, at: number): number | JsonRefusal {
  for (at++; ; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    // Written so that NaN, which stands for the end of the text, is refused as well.
    if (!(code >= 32)) return { code: 'invalid-json', at };
    if (code !== backslash) continue;
    at++;
    if (text.charAt(at) !== 'u') {
      if (at === text.length || !'"\\/bfnrt'.includes(text.charAt(at))) return { code: 'invalid-json', at };
      continue;
    }
    const unit = hexUnit(text, at + 1);
    if (unit === undefined) return { code: 'invalid-json', at };
    if (unit === 0) return { code: 'nul-character', at };
    at += 4;
    if (!isSurrogate(unit)) continue;
    // Unescaped surrogates come in pairs, because the text was UTF-8. An escaped surrogate is valid only with an escaped partner.
    const partner = text.startsWith('\\u', at + 1) ? hexUnit(text, at + 3) : undefined;
    if (isLowSurrogate(unit) || partner === undefined || !isLowSurrogate(partner)) return { code: 'lone-surrogate', at };
    at += 6;
  }
}

/** The UTF-16 unit of four hexadecimal digits. */
function hexUnit(text: string, at: number): number | undefined {
  let unit = 0;
  for (let end = at + 4; at < end; at++) {
    const digit = hexDigit(text.charCodeAt(at));
    if (digit === undefined) return undefined;
    unit = 16 * unit + digit;
  }
  return unit;
}

function hexDigit(code: number): number | undefined {
  if (isDigit(code)) return code - 48;
  const letter = (code | 32) - 97;
  return letter >= 0 && letter < 6 ? letter + 10 : undefined;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** The offset after the number that begins at `at`. Any number of up to 15 digits without an exponent fits into a double. */
function endOfNumber(text: string, at: number): number | JsonRefusal {
  const start = at;
  const negative = text.charCodeAt(at) === minus;
  if (negative) at++;
  let end = text.charCodeAt(at) === 48 ? at + 1 : skipDigits(text, at);
  if (end === at) return { code: 'invalid-json', at };
  let plain = end - at <= 15 && !(negative && text.charCodeAt(at) === 48);
  if (text.charCodeAt(end) === point) {
    at = end + 1;
    end = skipDigits(text, at);
    if (end === at) return { code: 'invalid-json', at };
    plain &&= end - start <= 16;
  }
  if ((text.charCodeAt(end) | 32) === 101) {
    at = end + 1;
    if (text.charCodeAt(at) === minus || text.charCodeAt(at) === 43) at++;
    end = skipDigits(text, at);
    if (end === at) return { code: 'invalid-json', at };
    plain = false;
  }
  return plain || isExactNumber(text.slice(start, end)) ? end : { code: 'number-not-exact', at: start };
}

function skipDigits(text: string, at: number): number {
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

function endOfWord(text: string, at: number): number | JsonRefusal {
  const word = ['true', 'false', 'null'].find((word) => text.startsWith(word, at));
  return word === undefined ? { code: 'invalid-json', at } : at + word.length;
}

/** The number of code points before `end`. */
function codePoints(text: string, end: number = text.length): number {
  let count = 0;
  for (let at = 0; at < end; at++) if (!isLowSurrogate(text.charCodeAt(at))) count++;
  return count;
}
