/** Filters of rules as documents: with the values of a caller, without the fields that it never sees, and joined. */
import { isDeepStrictEqual } from 'node:util';
import { isEnvelopeName } from '../filter/fields.ts';
import type { Variables } from '../filter/variables.ts';
import type { RuleDocument } from './rule.ts';

export type FilterDocument = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is FilterDocument => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The texts of all members called `name`, however deep. */
function textsOf(value: unknown, name: '$var' | '$field'): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([each, member]) =>
    each === name && typeof member === 'string' ? [member] : textsOf(member, name),
  );
}

const clock = ['now', 'today'];

/** The variables that the rule names. */
export function variablesIn({ filter, check, set }: RuleDocument): string[] {
  return [...new Set([filter, check, set].flatMap((part) => textsOf(part, '$var')))];
}

/** The variables of the rule that the caller lacks. A test of one holds for no row, whatever is around it. */
export function missingVariables(document: RuleDocument, variables: Pick<Variables, 'valueOf'>): string[] {
  return variablesIn(document).filter((name) => !clock.includes(name) && variables.valueOf(name) === undefined);
}

/** The filter with values in place of the variables that the caller has. */
export function filledFilter(filter: FilterDocument, variables: Pick<Variables, 'valueOf'>): FilterDocument {
  return filled(filter, variables) as FilterDocument;
}

function filled(value: unknown, variables: Pick<Variables, 'valueOf'>): unknown {
  if (Array.isArray(value)) return value.map((each) => filled(each, variables));
  if (!isObject(value)) return value;
  const { $var: name } = value;
  if (typeof name === 'string') return variables.valueOf(name) ?? value;
  return Object.fromEntries(Object.entries(value).map(([each, member]) => [each, filled(member, variables)]));
}

/** Returns whether the caller may know of a field. */
export type IsVisible = (name: string) => boolean;

/**
 * The filter with `"$hidden": true` in place of the tests of fields that are not shown, and of those that look at other entities: the caller may not know their
 * fields.
 */
export function withoutHidden(filter: FilterDocument, isShown: IsVisible): FilterDocument {
  return Object.fromEntries(Object.entries(filter).map(([name, value]) => shownTest(name, value, isShown)));
}

function shownTest(name: string, value: unknown, isShown: IsVisible): [string, unknown] {
  if ((name === '$and' || name === '$or') && Array.isArray(value))
    return [name, value.map((each) => (isObject(each) ? withoutHidden(each, isShown) : each))];
  if (name === '$not' && isObject(value)) return [name, withoutHidden(value, isShown)];
  if (name === '$some' || name === '$none' || looksElsewhere(value)) return ['$hidden', true];
  return [name, ...textsOf(value, '$field')].every((each) => isKnown(each, isShown)) ? [name, value] : ['$hidden', true];
}

/** Whether a member of the value leads to other entities, however deep. */
function looksElsewhere(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => (name === '$match' && !Array.isArray(value)) || looksElsewhere(member));
}

function isKnown(path: string, isShown: IsVisible): boolean {
  const [name = ''] = path.split('.');
  return isEnvelopeName(name) || isShown(name);
}

/** The rule without tests of fields that are not shown. */
export function shownRule<R extends RuleDocument>(rule: R, isShown: IsVisible): R {
  const parts = (['filter', 'check', 'set'] as const).flatMap((member) => {
    const value = rule[member];
    return value === undefined ? [] : [[member, withoutHidden(value as FilterDocument, isShown)] as const];
  });
  return { ...rule, ...Object.fromEntries(parts) };
}

/** The filter of what fulfils both. */
export function bothFilters(one: FilterDocument, other: FilterDocument): FilterDocument {
  if (isWithin(one, other)) return one;
  if (isWithin(other, one)) return other;
  return Object.keys(one).some((name) => Object.hasOwn(other, name)) ? { $and: [one, other] } : { ...one, ...other };
}

/** The filter of what fulfils any of at least one: without those that are another one with more tests. */
export function anyOf(filters: readonly FilterDocument[]): FilterDocument {
  const isAbsorbed = (filter: FilterDocument, index: number) =>
    filters.some((other, at) => at !== index && isWithin(filter, other) && (at < index || !isWithin(other, filter)));
  const wide = filters.filter((filter, index) => !isAbsorbed(filter, index));
  const [first = {}] = wide;
  return wide.length <= 1 ? first : { $or: wide };
}

/** Whether the filter has all tests of the other one. */
const isWithin = (filter: FilterDocument, other: FilterDocument): boolean =>
  Object.entries(other).every(([name, value]) => Object.hasOwn(filter, name) && isDeepStrictEqual(filter[name], value));
