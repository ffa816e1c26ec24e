/** The formats of texts and numbers that the contract and declared entity types use. Testing a text takes time in proportion to its length (rule 70). */
import ajvFormats, { type FormatName } from 'ajv-formats';
import type { Ajv2020, FormatDefinition } from 'ajv/dist/2020.js';
import { isDay, isInstant, isTime } from '../filter/values.ts';
import { isDecimal } from '../http/decimal.ts';
import { isInt64 } from '../http/int64.ts';

/** The formats as ajv-formats has them, each read and found to take linear time. */
const taken: readonly FormatName[] = [
  ...(['date', 'time', 'date-time', 'iso-time', 'iso-date-time', 'duration', 'uri', 'uri-reference', 'uri-template', 'email'] as const),
  ...(['hostname', 'ipv4', 'ipv6', 'regex', 'uuid', 'json-pointer', 'json-pointer-uri-fragment', 'relative-json-pointer'] as const),
  ...(['byte', 'int32', 'float', 'double', 'password', 'binary'] as const),
];

/** The formats that replace those of ajv-formats, or are not among them. */
const own = {
  date: isDay,
  time: (text: string) => isTime(text),
  'date-time': isInstant,
  'iso-time': (text: string) => isTime(text, true),
  'iso-date-time': (text: string) => /^.{10}[Tt ]/.test(text) && isDay(text.slice(0, 10)) && isTime(text.slice(11), true),
  byte: isBase64,
  url: isUrl,
  int64: isInt64,
  decimal: isDecimal,
};

/** The names of all formats. */
export const formatNames: readonly string[] = [...new Set([...taken, ...Object.keys(own)])];

/** Adds the formats, and the keywords such as `formatMinimum`, which compare days, times and instants. */
export function addFormats(ajv: Ajv2020): void {
  // ajv-formats is a CommonJS module, but its types describe the default export as a namespace.
  const addTaken = ajvFormats as unknown as (ajv: Ajv2020, options: { formats: readonly FormatName[]; keywords: boolean }) => void;
  addTaken(ajv, { formats: taken, keywords: true });
  for (const [name, validate] of Object.entries(own)) {
    const { compare } = (ajv.formats[name] ?? {}) as FormatDefinition<string>;
    ajv.addFormat(name, { type: 'string', validate, ...(compare && { compare }) });
  }
}

const publicHost =
  /^(?:https?|ftp):\/\/(?:\S+@)?(?:(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})(?!172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5])){2}\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4])|(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+(?:\.(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+)*\.[a-z\u{a1}-\u{ffff}]{2,})(?::\d{2,5})?(?:\/|$)/iu;

/**
 * Whether the text is a URL with `http`, `https` or `ftp` and a public host, as the format `url` of ajv-formats. That one takes quadratic time: it
 * has two loops for the text before `@`, and for each `@` it looks for a space in all that follows.
 */
function isUrl(text: string): boolean {
  return !/\s/.test(text) && publicHost.test(text);
}

/**
 * Whether the text is base64 with padding (RFC 4648, section 4), whose unused bits are 0 (RFC 4648, section 3.5). The format `byte` of ajv-formats
 * accepts a text of several lines if one of them fits.
 */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?$/.test(text);
}
