/** The rule of a grant as roles store it, and its binding to the fields of the entities that it is about. */
import { isEnvelopeName, type FieldTypes } from '../filter/fields.ts';
import { parseRule } from '../filter/parse.ts';
import { all, everyEntity, noEntity, type Filter } from '../filter/syntax.ts';
import type { VariableTypes } from '../filter/variables.ts';
import type { Fault } from '../problems/faults.ts';
import { pointerTo } from '../problems/pointer.ts';
import { allFields, readFieldSet } from './field-set.ts';
import { shownByChange, type Grant } from './grant.ts';
import type { Action } from './vocabulary.ts';

/** The members of a grant that make it a rule. Filters are documents as docs/filters.md describes them. */
export interface RuleDocument {
  filter?: object;
  check?: object;
  /** Lists as {@link readFieldSet} takes them. */
  read?: readonly string[];
  write?: readonly string[];
  /** Values by the names of fields, for `create` alone. */
  set?: Readonly<Record<string, unknown>>;
}

/** The fields and variables to which a rule is bound. */
export interface RuleScope {
  fields: FieldTypes;
  /** Puts looks at other entities in the place of references. Without this member the fields have no references. */
  followed?: (filter: Filter) => Filter;
  variables: VariableTypes;
}

/** The fields of a grant on all names: those of the envelope. */
export const envelopeFields: FieldTypes = { typeOf: () => undefined };

/** The grant for `action` whose rule is `document`, or the faults of the rule by their pointers in it. */
export function bindRule(document: RuleDocument, action: Action, scope: RuleScope): { grant: Grant } | { faults: Fault[] } {
  const { fields, variables, followed = (filter: Filter) => filter } = scope;
  // A version of the history and a new entity have no folded texts.
  const compared: FieldTypes = { ...fields, foldingOf: () => undefined };
  const faults: Fault[] = [];
  const read = (member: 'filter' | 'check' | 'set', value: object | undefined): Filter => {
    if (value === undefined) return everyEntity;
    const parsed = parseRule(value, compared, variables);
    if ('filter' in parsed) return followed(parsed.filter);
    for (const fault of parsed.faults) faults.push({ ...fault, pointer: pointerTo([member]) + (fault.pointer ?? '') });
    return noEntity;
  };
  const filter = read('filter', document.filter);
  const check = document.check === undefined ? filter : read('check', document.check);
  const preset = read('set', document.set);
  if (faults.length > 0) return { faults };
  const shown = action === 'read' ? allFields : shownByChange;
  return {
    grant: {
      kind: 'rule',
      filter: action === 'create' ? everyEntity : filter,
      check: all([check, preset]),
      read: document.read === undefined ? shown : readFieldSet(document.read),
      write: document.write === undefined ? allFields : readFieldSet(document.write),
      set: new Map(Object.entries(document.set ?? {})),
    },
  };
}

/** The grant of a rule that the present type or the present variables do not fit: it allows nothing. */
export const unboundGrant: Grant = {
  kind: 'rule',
  filter: noEntity,
  check: noEntity,
  read: readFieldSet([]),
  write: readFieldSet([]),
  set: new Map(),
};

/** Whether a list of fields may be in a grant on all names. */
export const isOfAllNames = (list: readonly string[]): boolean =>
  list.every((name) => name === '*' || name === '**' || isEnvelopeName(name));
