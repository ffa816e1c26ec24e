/** The formats of texts and numbers that the contract and declared entity types use. Testing a text takes time in proportion to its length (rule 70). */
import * as library from '@hyperjump/json-schema-formats';
import idn from 'idn-hostname';
import { isDay, isInstant, isTime } from '../filter/values.ts';
import { isDecimal } from '../json/decimal.ts';
import { isInt64 } from '../json/int64.ts';
import type { Format } from '../json-schema/types.ts';
import { isRegularExpression } from './regular-expression.ts';
import { compareDays, compareInstants, compareTimes } from './compare-formats.ts';

const text = (fits: (value: string) => boolean, compare?: Format['compare']): Format => ({
  kind: 'string',
  fits: (value: unknown) => typeof value === 'string' && fits(value),
  ...(compare && { compare }),
});
const number = (fits: (value: number) => boolean): Format => ({ kind: 'number', fits });
const any = () => true;

/** By name. The library's functions were tried with long texts of each form that could make them slow. */
export const formats: ReadonlyMap<string, Format> = new Map([
  ['date', text(isDay, compareDays)],
  ['time', text((value) => isTime(value), compareTimes)],
  ['date-time', text(isInstant, compareInstants)],
  ['iso-time', text((value) => isTime(value, true), compareTimes)],
  ['iso-date-time', text(isIsoDateTime, compareInstants)],
  ['duration', text(library.isDuration)],
  ['uri', text(library.isUri)],
  ['uri-reference', text(library.isUriReference)],
  ['uri-template', text(library.isUriTemplate)],
  ['url', text(isUrl)],
  ['email', text(isEmail)],
  ['hostname', text(isHostname)],
  ['ipv4', text(library.isIPv4)],
  ['ipv6', text(library.isIPv6)],
  ['uuid', text(library.isUuid)],
  ['regex', text(isRegularExpression)],
  ['json-pointer', text(library.isJsonPointer)],
  ['json-pointer-uri-fragment', text((value) => /^#(?:\/(?:[a-z0-9_\-.!$&'()*+,;:=@]|%[0-9a-f]{2}|~0|~1)*)*$/i.test(value))],
  ['relative-json-pointer', text(library.isRelativeJsonPointer)],
  ['byte', text(isBase64)],
  ['int64', text(isInt64)],
  ['decimal', text(isDecimal)],
  ['password', text(any)],
  ['binary', text(any)],
  ['int32', number((value) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31)],
  ['float', number(any)],
  ['double', number(any)],
]);

/** The names of all formats. */
export const formatNames: readonly string[] = [...formats.keys()];

function isIsoDateTime(value: string): boolean {
  const text = value.replace(/^(.{10}) /, '$1T');
  return isInstant(text) || isInstant(`${text}Z`);
}

/** RFC 5321, section 4.1.2. The library throws for an address literal with a tag that it does not know. */
function isEmail(value: string): boolean {
  return !throws(() => library.isEmail(value)) && library.isEmail(value);
}

/** RFC 1123, section 2.1, with A-labels of RFC 5890. The library's own function for both writes to standard output. */
function isHostname(value: string): boolean {
  return library.isHostname(value) && !throws(() => idn.isIdnHostname(value));
}

function throws(call: () => unknown): boolean {
  try {
    call();
    return false;
  } catch {
    return true;
  }
}

const publicHost =
  /^(?:https?|ftp):\/\/(?:\S+@)?(?:(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})(?!172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5])){2}\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4])|(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+(?:\.(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+)*\.[a-z\u{a1}-\u{ffff}]{2,})(?::\d{2,5})?(?:\/|$)/iu;

/**
 * Whether the text is a URL with `http`, `https` or `ftp` and a public host. The pattern of the gist that many validators use takes quadratic time: it has two loops
 * for the text before `@`, and for each `@` it searches all that follows for a space.
 */
function isUrl(text: string): boolean {
  return !/\s/.test(text) && publicHost.test(text);
}

/**
 * Whether the text is base64 with padding (RFC 4648, section 4), whose unused bits are 0 (RFC 4648, section 3.5).
 */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?$/.test(text);
}
