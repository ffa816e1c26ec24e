/**
 * Parses arguments. Each function throws InvalidArgumentError for a text that cannot be meant: wrong usage (exit code 2), detected without the database.
 * A later query checks whether something of that name exists.
 */
import { InvalidArgumentError } from 'commander';
import type { RetentionPeriod } from '../audit/retention.ts';
import { auditEvents } from '../audit/store.ts';
import { type Action, type Scope, allActions } from '../rights/vocabulary.ts';
import { isEntityName } from '../entities/name.ts';
import { isTimeZone } from '../accounts/time-zones.ts';
import { canonicalLocale } from '../locales/negotiate.ts';
import { isRoleOrProfileName } from '../rights/names.ts';
import { normaliseUserName } from '../user-name.ts';

const textLength = 200;

/** The normal form, which all queries need. */
export function userName(text: string): string {
  const name = normaliseUserName(text);
  if (name === undefined)
    throw new InvalidArgumentError('A user name has 1 to 128 characters, none of them invisible, and no space at either end.');
  return name;
}

/** The name as typed, because people will read it. */
export function newUserName(text: string): string {
  return userName(text) && text;
}

/** The name of a role or a profile. */
export function roleOrProfileName(text: string): string {
  if (!isRoleOrProfileName(text)) throw new InvalidArgumentError('Such a name has 1 to 64 ASCII letters, digits, spaces, "_", "." or "-".');
  return text;
}

/** The name of a rule within its role. */
export const ruleName = roleOrProfileName;

/** The names of roles with commas between, without repetitions. */
export function roleNames(text: string): string[] {
  return [...new Set(text.split(',').map((name) => roleOrProfileName(name.trim())))];
}

const entityRule = 'An entity name has 1 to 64 ASCII letters, digits, "_", "." or "-" and begins with a letter';

/** The name of entities. */
export function entityName(text: string): string {
  if (isEntityName(text)) return text;
  throw new InvalidArgumentError(`${entityRule}.`);
}

/** Entity names with commas between, `*` for every one. */
export function entityList(text: string): string[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  if (names.every((name) => name === '*' || isEntityName(name))) return names;
  throw new InvalidArgumentError(`${entityRule}; "*" is every entity. Give one or several, with commas between.`);
}

/** One `--scope` such as `customer:read,update`, after those given before it. */
export function scopeList(text: string, before: readonly Scope[] = []): Scope[] {
  const [, entity, actions] = /^([^:]+):([^:]+)$/.exec(text) ?? [];
  if (entity === undefined || actions === undefined || (entity !== '*' && !isEntityName(entity))) {
    throw new InvalidArgumentError('Give an entity name, or "*", and its actions: customer:read,update.');
  }
  return [...before, { entity, actions: actionList(actions) }];
}

/** The key of an entity, or the id of an API key: what an audit event can name as `key`. */
export function auditedKey(text: string): string {
  if (/^[0-9A-Za-z]{1,19}$/.test(text)) return text;
  throw new InvalidArgumentError('Give the key of an entity, or the id of an API key: the twelve characters after esk_.');
}

/** The name of an entity type. */
export function typeName(text: string): string {
  if (isEntityName(text)) return text;
  throw new InvalidArgumentError(
    'A type has the name of its entities: 1 to 64 ASCII letters, digits, "_", "." or "-", the first of them a letter.',
  );
}

/** One name of an entity type, after those given before it; without repetitions. */
export function typeNames(text: string, before: readonly string[] = []): string[] {
  return [...new Set([...before, typeName(text)])];
}

/** A SHA-256 in hex, as a plan prints it. */
export function digestText(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError('Give the digest that the plan prints, 64 hexadecimal digits.');
}

/** Actions with commas between. Returns them in the order of {@link allActions}, without repetitions. */
export function actionList(text: string): Action[] {
  const wanted = new Set(text.split(',').map((action) => action.trim()));
  const actions = allActions.filter((action) => wanted.has(action));
  if (actions.length !== wanted.size) throw new InvalidArgumentError(`Give some of ${allActions.join(',')}, with commas between.`);
  return actions;
}

/** A text for people: a display name, a label, a description, the name of a key. */
export function shownText(text: string): string {
  const length = Array.from(text).length;
  if (length >= 1 && length <= textLength && text.isWellFormed() && !/\p{Cc}/u.test(text)) return text;
  throw new InvalidArgumentError(`Give 1 to ${textLength} characters, none of them a control character.`);
}

/** A BCP 47 language tag in its canonical form. */
export function localeTag(text: string): string {
  const locale = canonicalLocale(text);
  if (locale === undefined) throw new InvalidArgumentError('A locale is a BCP 47 language tag such as en or de-AT.');
  return locale;
}

/** The name of a time zone; false for "none", since commander replaces null. */
export function timeZone(text: string): string | false {
  if (text === 'none') return false;
  if (isTimeZone(text)) return text;
  throw new InvalidArgumentError('Give the name of a time zone such as Europe/Berlin, or "none".');
}

/** A whole number from `minimum` to `maximum`. */
export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`Give a whole number from ${minimum} to ${maximum}.`);
  };
}

/** How long the audit trail is kept, see {@link RetentionPeriod}. */
export function retentionPeriod(text: string): RetentionPeriod {
  if (text === 'forever') return null;
  const [, number = '0', unit = 'D'] = /^P([1-9][0-9]{0,3})([DWMY])$/.exec(text) ?? [];
  if (Number(number) * { D: 1, W: 7, M: 30, Y: 365 }[unit as 'D' | 'W' | 'M' | 'Y'] >= 30) return text;
  throw new InvalidArgumentError('Give "forever", or at least 30 days as P400D, P60W, P13M or P2Y.');
}

/** The name of an audit event. */
export function eventName(text: string): string {
  if (auditEvents.some((event) => event === text)) return text;
  throw new InvalidArgumentError(`The events are ${auditEvents.join(', ')}.`);
}

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const rfc3339 = /^(\d{4}-\d\d-\d\d)(?:[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d))?$/;

/** A moment: RFC 3339 with its zone, a date (midnight UTC), or a duration before now (`30m`, `24h`, `7d`). */
export function parseTime(text: string): Date {
  const time = timeAgo(text) ?? timeAt(text);
  if (time === undefined || Number.isNaN(time))
    throw new InvalidArgumentError('Give a time such as 2026-11-20T08:00:00Z, a date, or how long ago: 30m, 24h, 7d.');
  return new Date(time);
}

function timeAgo(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return unit === undefined ? undefined : Date.now() - Number(count) * units[unit as keyof typeof units];
}

function timeAt(text: string): number | undefined {
  const day = rfc3339.exec(text)?.[1];
  const midnight = day === undefined ? Number.NaN : Date.parse(day);
  // JavaScript reads the 31st of February as the 3rd of March.
  const exists = !Number.isNaN(midnight) && new Date(midnight).toISOString().slice(0, 10) === day;
  return exists ? Date.parse(text) : undefined;
}
