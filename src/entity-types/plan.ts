/** The consequences of a change of a type, before it is made. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { historyRetention } from '../entities/retention.ts';
import { pointerTo } from '../problems/pointer.ts';
import { differencesOf } from './compare.ts';
import { sensitiveFields } from './document.ts';
import { fieldChanges } from './field-access.ts';
import { withoutRules } from './rule-keywords.ts';
import { ruleDifferences } from './rule-differences.ts';
import type { TypeSource, TypeRow } from './store.ts';
import { readableDocument, unreadablePlaces } from './stored-document.ts';
import { isSchemaObject, type Schema } from './subschemas.ts';

/** A change of a type; without a document its deletion. */
export interface TypeChange {
  name: string;
  document: Schema | null;
  source: TypeSource;
}

/**
 * `none`: nothing but what later writes must fit. `check`: stored entities may not fit, so all are checked. `build`: all are read, and
 * must fit a rule or are indexed. `narrow`: a field becomes hidden from callers who see it by `*`. `widen`: one that is hidden becomes shown to them. `loss`: something
 * ends that applying the old document again would not bring back.
 */
export type PlanEffect = 'none' | 'check' | 'build' | 'narrow' | 'widen' | 'loss';
const effects = ['none', 'check', 'build', 'narrow', 'widen', 'loss'] as const;
/** The effects of a change that needs the digest of its plan. */
const confirmed: ReadonlySet<PlanEffect> = new Set(['narrow', 'widen', 'loss']);

export interface PlanStep {
  kind: 'declare' | 'narrower' | 'wider' | 'note' | 'rule' | 'no-rule' | 'shorter' | 'sensitive' | 'not-sensitive' | 'delete';
  /** Into the document. */
  pointer: string;
  effect: PlanEffect;
}

export interface TypePlan {
  name: string;
  /** The revision that the change starts from; 0 for a name without a type. */
  revision: string;
  /** None if the document is in force already. */
  steps: PlanStep[];
  /** The strongest effect of the steps. */
  effect: PlanEffect;
  /** SHA-256 (hex) of what the change starts from, its steps and its document. */
  digest: string;
}

/** The plan of the change from the type in force, if there is one. */
export function planOf(current: TypeRow | undefined, { name, document }: TypeChange): TypePlan {
  const steps = stepsOf(current?.document, document);
  const revision = current?.revision ?? '0';
  const effect = effects.findLast((each) => steps.some((step) => step.effect === each)) ?? 'none';
  const digest = createHash('sha256')
    .update(JSON.stringify([name, sorted(current?.document), steps, sorted(document)]))
    .digest('hex');
  return { name, revision, steps, effect, digest };
}

function stepsOf(current: Schema | undefined, document: Schema | null): PlanStep[] {
  if (document === null) return current ? [{ kind: 'delete', pointer: '', effect: 'loss' }] : [];
  const readable = readableDocument(current ?? {});
  const rules = ruleDifferences(readable, document).map(({ kind, pointer }): PlanStep => ({
    kind,
    pointer,
    effect: kind === 'rule' ? 'build' : 'none',
  }));
  if (!current) return [{ kind: 'declare', pointer: '', effect: 'check' }, ...rules, ...visibilitySteps(undefined, document)];
  const visibility = visibilitySteps(current, document);
  const differences = differencesOf(withoutRules(current), withoutRules(document)).filter(
    ({ pointer }) => !visibility.some((step) => step.pointer === pointer),
  );
  // Entities need not fit what this version does not read.
  const unread: PlanStep[] = unreadablePlaces(current).length > 0 ? [{ kind: 'narrower', pointer: '', effect: 'check' }] : [];
  const steps = differences.map(({ kind, pointer }): PlanStep => {
    if (pointer === '/x-history' && isShorter(historyRetention(readable), historyRetention(document)))
      return { kind: 'shorter', pointer, effect: 'loss' };
    return { kind, pointer, effect: kind === 'narrower' ? 'check' : 'none' };
  });
  if (steps.length + rules.length + visibility.length > 0 || isDeepStrictEqual(current, document))
    return [...unread, ...steps, ...rules, ...visibility];
  // The rules are in another order.
  return [{ kind: 'note', pointer: '', effect: 'none' }];
}

/** The fields that `*` in the lists of grants loses or gains. A new field of a closed type, and one of a name without a type, was shown to no caller before. */
function visibilitySteps(current: Schema | undefined, document: Schema): PlanStep[] {
  const isNew = (field: string) =>
    current === undefined ||
    (current['additionalProperties'] === false && !('patternProperties' in current) && !propertyNames(current).includes(field));
  return fieldChanges(current, document).flatMap(({ field, kind }): PlanStep[] => {
    const pointer = pointerTo(['properties', field, 'x-sensitive']);
    if (kind === 'added') return [];
    return [{ kind, pointer, effect: kind === 'not-sensitive' ? 'widen' : isNew(field) ? 'none' : 'narrow' }];
  });
}

const propertyNames = ({ properties }: Schema): string[] => (isSchemaObject(properties) ? Object.keys(properties) : []);

/** The least and the most days of each unit of a duration. */
const daysOf: Readonly<Record<string, readonly [number, number]>> = { D: [1, 1], W: [7, 7], M: [28, 31], Y: [365, 366] };

/** Whether the second duration can be shorter than the first one. Each is a number of one unit, such as `P30D`. */
function isShorter(before: string, after: string): boolean {
  if (before.at(-1) === after.at(-1)) return Number(after.slice(1, -1)) < Number(before.slice(1, -1));
  const days = (keep: string, most: 0 | 1) => Number(keep.slice(1, -1)) * (daysOf[keep.at(-1) ?? '']?.[most] ?? 0);
  return days(after, 0) < days(before, 1);
}

/** Whether all entities are read for the rules of the new document. */
export function needsRules({ steps, effect }: TypePlan): boolean {
  return effect === 'build' || steps.some((step) => step.effect === 'build');
}

/** Whether the change needs the digest of the plan. */
export const needsConfirmation = ({ steps }: TypePlan): boolean => steps.some(({ effect }) => confirmed.has(effect));

/** Whether a field that is hidden becomes shown. The deletion of a type with sensitive fields shows them too. */
export const showsHidden = ({ steps }: TypePlan, current: Schema | undefined): boolean =>
  steps.some(({ kind }) => kind === 'not-sensitive' || (kind === 'delete' && sensitiveFields(current ?? {}).size > 0));

/** Whether stored entities must fit the schema of the new document. */
export function needsCheck({ steps }: TypePlan): boolean {
  return steps.some(({ effect }) => effect === 'check');
}

/** The value with the members of all objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
