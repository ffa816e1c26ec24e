/** The values of a filter: which ones a type accepts, and as which type they are compared. They are refused or taken, never converted. */
import { listValues } from '../problems/expected.ts';
import { isDecimal } from '../json/decimal.ts';
import { isInt64 } from '../json/int64.ts';
import type { FieldType, ScalarType } from './fields.ts';
import { boundedFold, foldedText } from './fold.ts';

/** The most code points of a text. */
const maximumTextLength = 1_000;

/** A value that is not null, and how it is compared. */
export interface TypedValue {
  type: ScalarType;
  value: string | number | boolean;
}

/** Why a value is refused; `allowed` names the JSON types or forms that are accepted. */
export type ValueRefusal =
  { code: 'invalid-type' | 'invalid-value'; values: { allowed: string } } | { code: 'too-long'; values: { maximum: number } };

const jsonTypes: Readonly<Record<ScalarType | 'any', string>> = {
  string: 'string',
  folded: 'string',
  number: 'number',
  int64: 'string',
  decimal: 'string',
  'date-time': 'string',
  instant: 'string',
  date: 'string',
  boolean: 'boolean',
  enum: 'string',
  any: 'string, number, boolean',
};

/** The known facts of the texts of a field. */
export interface ComparedTexts {
  /** Those of an `enum`. */
  texts?: readonly string[] | undefined;
  /** The most characters of a folded text of the field. The folded text of a longer value is cut, and stays longer. */
  maximumFolded?: number | undefined;
}

/** The forms of texts, each with a description for the caller. */
const forms: Readonly<Partial<Record<ScalarType, { fits: (text: string) => boolean; allowed: string }>>> = {
  int64: { fits: isInt64, allowed: 'int64' },
  decimal: { fits: isDecimal, allowed: 'decimal' },
  'date-time': { fits: isInstant, allowed: 'date-time' },
  instant: { fits: isInstant, allowed: 'date-time' },
  date: { fits: isDay, allowed: 'date' },
};

/** The value as the field's type compares it, or why the type refuses it. Null is no value of any type. */
export function readValue(
  type: ScalarType | 'any',
  value: unknown,
  { texts, maximumFolded = Infinity }: ComparedTexts = {},
): TypedValue | ValueRefusal {
  const allowed = jsonTypes[type];
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    return { code: 'invalid-type', values: { allowed } };
  if (!allowed.split(', ').includes(typeof value)) return { code: 'invalid-type', values: { allowed } };
  if (typeof value === 'string' && isLongerThan(value, maximumTextLength))
    return { code: 'too-long', values: { maximum: maximumTextLength } };
  if (type === 'enum' && texts && !texts.includes(String(value))) return { code: 'invalid-value', values: { allowed: listValues(texts) } };
  const form = type === 'any' ? undefined : forms[type];
  if (form && !form.fits(String(value))) return { code: 'invalid-value', values: { allowed: form.allowed } };
  if (type === 'instant') return { type, value: secondsOf(String(value)) };
  if (type === 'folded') return { type, value: boundedFold(String(value), maximumFolded, foldedText) };
  return { type: type === 'any' ? (typeof value as 'string' | 'number' | 'boolean') : type, value };
}

/** The instant in seconds since 1970 with all its digits, as the function `entity_exact_instant` of the database has it. The text must be an instant. */
function secondsOf(text: string): string {
  const [, before = '', second = '', fraction = '', zone = ''] = /^(.{17})(\d\d)(?:\.(\d+))?(.*)$/.exec(text) ?? [];
  const isLeap = second === '60';
  const whole = BigInt(Date.parse(`${before}${isLeap ? '59' : second}${zone}`.toUpperCase()) / 1_000);
  const digits = BigInt(fraction.padEnd(9, '0'));
  // In units of 10^-19 seconds, half a unit of the ninth digit of a leap second.
  const total = whole * unitsOfSecond + (isLeap ? 9_999_999_995n * 10n ** 9n + digits * 5n : digits * 10n ** 10n);
  const [sign, size] = total < 0n ? ['-', -total] : ['', total];
  return `${sign}${size / unitsOfSecond}.${String(size % unitsOfSecond).padStart(19, '0')}`;
}

const unitsOfSecond = 10n ** 19n;

/** The instant before or at `text` that PostgreSQL can store, in microseconds; `isCut` says that it is not the same. A leap second is after the second before it. */
export function wholeMicroseconds(text: string): { text: string; isCut: boolean } {
  const [, before = '', second, fraction = '', zone = ''] = /^(.{17})(\d\d)(?:\.(\d+))?(.*)$/.exec(text) ?? [];
  if (second === '60') return { text: `${before}59.999999${zone}`, isCut: true };
  if (!/[1-9]/.test(fraction.slice(6))) return { text, isCut: false };
  return { text: `${before}${second}.${fraction.slice(0, 6)}${zone}`, isCut: true };
}

/** Whether a text is a value of the type. */
export function fitsType(type: ScalarType, text: string): boolean {
  return jsonTypes[type] === 'string' && (forms[type]?.fits(text) ?? true);
}

/** Whether values of the type have an order besides being equal or not. */
export function isOrdered(type: FieldType): boolean {
  return typeof type === 'string' && !['boolean', 'enum', 'folded', 'object'].includes(type);
}

/** Whether the text has more than `length` code points. */
export function isLongerThan(text: string, length: number): boolean {
  return text.length > length && (text.length > 2 * length || Array.from(text).length > length);
}

/** Whether the text is a day of the Gregorian calendar, as RFC 3339 writes `full-date`, from year 1. */
export function isDay(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year === undefined || year === '0000') return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

/** PostgreSQL accepts offsets below 16 hours; the largest in use is 14. */
const largestOffset = '15:59';
const minutesOfDay = 1_440;

/** Whether the text is an instant as RFC 3339 writes `date-time`, from year 1, with an offset below 16 hours. A leap second counts as the second after it. */
export function isInstant(text: string): boolean {
  return /^.{10}[Tt]/.test(text) && isDay(text.slice(0, 10)) && isTime(text.slice(11)) && !(offsetOf(text) > largestOffset);
}

/**
 * Whether the text is a time as RFC 3339 writes `full-time`, with at most nine digits of a second; without an offset only if it `mayBeLocal`. A leap second
 * is 23:59:60 of UTC (RFC 3339, section 5.7), and of any place if the time is local.
 */
export function isTime(text: string, mayBeLocal = false): boolean {
  const [, hour, minute, second, zone, sign, ahead, aheadMinute] =
    /^(\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?([Zz]|([+-])(\d\d):(\d\d))?$/.exec(text) ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return false;
  if (zone === undefined && !mayBeLocal) return false;
  if (Number(ahead ?? 0) > 23 || Number(aheadMinute ?? 0) > 59) return false;
  const offset = Number(ahead ?? 0) * 60 + Number(aheadMinute ?? 0);
  const minuteOfDay = Number(hour) * 60 + Number(minute) - (sign === '-' ? -offset : offset);
  return second !== '60' || (minuteOfDay + minutesOfDay) % minutesOfDay === minutesOfDay - 1;
}

/** Hours and minutes of the offset at the end, without its sign; empty for UTC. */
function offsetOf(text: string): string {
  return /[+-](\d\d:\d\d)$/.exec(text)?.[1] ?? '';
}
