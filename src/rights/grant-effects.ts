/** The effects of a changed grant on its holders, judged by the documents alone. A change counts as one that widens unless the documents exclude that. */
import type { SingleGrant } from './documents.ts';
import { hasField, readFieldSet, type FieldSet } from './field-set.ts';
import { canonicalText } from './rule-document.ts';
import type { RuleDocument } from './rule.ts';
import type { Action } from './vocabulary.ts';

/** `lock`: no user is left who may do something, or a key loses all its rights. */
export type Effect = 'none' | 'narrow' | 'widen' | 'lock';

const effects = ['none', 'narrow', 'widen', 'lock'] as const satisfies readonly Effect[];

/** The strongest of the effects, of which `none` is the weakest. */
export const strongestEffect = (some: readonly Effect[]): Effect => effects.findLast((effect) => some.includes(effect)) ?? 'none';

export interface GrantEffect {
  /** Of the grant. */
  path: string;
  effect: Effect;
  /** The grant as a whole, the rows that it covers, the values that it allows, fields that it shows or lets be written, or an attribute of the profile. */
  kind: 'grant' | 'rows' | 'values' | 'fields' | 'write' | 'attribute';
  /** For people; empty if the kind says it all. */
  text: string;
}

/** All grants of a holder. */
interface Holder {
  before: readonly SingleGrant[];
  after: readonly SingleGrant[];
}

interface ChangedGrant {
  path: string;
  /** Undefined for a new grant. */
  before: SingleGrant | undefined;
  /** Undefined for one that ends. */
  after: SingleGrant | undefined;
}

/** The effects of a grant; none if it stays as it is. `sensitive` are the fields that the type of its entities calls so. */
export function effectsOfGrant({ path, before, after }: ChangedGrant, holder: Holder, sensitive: ReadonlySet<string>): GrantEffect[] {
  if (before && after)
    return before.condition === after.condition
      ? []
      : effectsOfRule(before.action, before.rule ?? {}, after.rule ?? {}, sensitive).map((each) => Object.assign({ path }, each));
  const [grant, others] = after ? [after, holder.before] : [before, holder.after];
  if (!grant) return [];
  const text = after ? 'is new' : 'ends';
  if (others.some((other) => covers(other, grant)))
    return [{ path, effect: 'none', kind: 'grant', text: `${text}; another grant has all of it` }];
  return [{ path, effect: after ? 'widen' : 'narrow', kind: 'grant', text }];
}

/** Whether the grant allows all that the other one does. A list of names may have sensitive fields, which a grant without a rule leaves out. */
function covers(wide: SingleGrant, grant: SingleGrant): boolean {
  if (wide.action !== grant.action || (wide.entity !== grant.entity && wide.entity !== '*')) return false;
  if (wide.condition === grant.condition) return true;
  const names = [...(grant.rule?.read ?? []), ...(grant.rule?.write ?? [])];
  return wide.condition === 'any' && names.every((name) => name === '*' || name.startsWith('-'));
}

type RuleEffect = Omit<GrantEffect, 'path'>;

function effectsOfRule(action: Action, before: RuleDocument, after: RuleDocument, sensitive: ReadonlySet<string>): RuleEffect[] {
  const isChange = action === 'create' || action === 'update';
  const fieldsOf = ({ read }: RuleDocument) => readFieldSet(read ?? (action === 'read' ? ['*'] : []));
  const writtenOf = ({ write }: RuleDocument) => readFieldSet(write ?? ['*']);
  return [
    ...(action === 'create' ? [] : effectsOfTests('rows', testsOf(before.filter), testsOf(after.filter))),
    ...(isChange ? effectsOfTests('values', allowedValues(before), allowedValues(after)) : []),
    ...effectsOfFields('fields', fieldsOf(before), fieldsOf(after), sensitive),
    ...(isChange ? effectsOfFields('write', writtenOf(before), writtenOf(after), sensitive) : []),
  ];
}

/** The tests that all have to hold, each as a text. */
function testsOf(filter: object | undefined): Set<string> {
  return new Set(
    Object.entries(filter ?? {}).flatMap(([name, value]) =>
      name === '$and' && Array.isArray(value) ? value.flatMap((each: object) => [...testsOf(each)]) : [canonicalText({ [name]: value })],
    ),
  );
}

/** The tests of a row behind a change. A value of `set` is the only one that the grant allows. */
const allowedValues = ({ filter, check, set }: RuleDocument): Set<string> => new Set([...testsOf(check ?? filter), ...testsOf(set)]);

const isWithin = (some: ReadonlySet<string>, others: ReadonlySet<string>): boolean => [...some].every((test) => others.has(test));

/** More tests cover less. Tests that are other ones may cover anything. */
function effectsOfTests(kind: 'rows' | 'values', before: ReadonlySet<string>, after: ReadonlySet<string>): RuleEffect[] {
  const what = kind === 'rows' ? 'rows' : 'values';
  const [isWider, isNarrower] = [!isWithin(before, after), !isWithin(after, before)];
  return [
    ...(isWider ? [{ effect: 'widen', kind, text: isNarrower ? `other ${what}` : `more ${what}` } as const] : []),
    ...(isNarrower && !isWider ? [{ effect: 'narrow', kind, text: `fewer ${what}` } as const] : []),
  ];
}

const ranks = ['none', 'plain', 'all'] as const;

function effectsOfFields(kind: 'fields' | 'write', before: FieldSet, after: FieldSet, sensitive: ReadonlySet<string>): RuleEffect[] {
  const names = [...new Set([...before.named.keys(), ...after.named.keys(), ...sensitive])].toSorted();
  const gained = names.filter((name) => hasField(after, name, sensitive) && !hasField(before, name, sensitive));
  const lost = names.filter((name) => hasField(before, name, sensitive) && !hasField(after, name, sensitive));
  const step = ranks.indexOf(after.others) - ranks.indexOf(before.others);
  if (step > 0) gained.push('other fields');
  if (step < 0) lost.push('other fields');
  const [more, less] = kind === 'fields' ? ['shown', 'hidden'] : ['writable', 'not writable any more'];
  return [
    ...(gained.length > 0 ? [{ effect: 'widen', kind, text: `${more}: ${gained.join(', ')}` } as const] : []),
    ...(lost.length > 0 ? [{ effect: 'narrow', kind, text: `${less}: ${lost.join(', ')}` } as const] : []),
  ];
}
