/** How the rules of two documents of a type differ. */
import { isDeepStrictEqual } from 'node:util';
import { isTextIndexRule, type RuleKeywords } from '../entities/companion/rule-layout.ts';
import { readField } from '../filter/sort.ts';
import { pointerTo } from '../problems/pointer.ts';
import { schemaOf } from './document.ts';
import { fieldTypesOf } from './field-types.ts';
import type { Schema } from './subschemas.ts';

/** A rule, or an index, that one of two documents has. */
export interface RuleDifference {
  /**
   * `rule`: new, or about other values than before. `no-rule`: gone, with a pointer into the old document. `note`: nothing is built for it.
   */
  kind: 'rule' | 'no-rule' | 'note';
  pointer: string;
}

interface RuleEntry {
  pointer: string;
  /** Equal for entries that need the same columns, indexes and constraints. */
  meaning: unknown;
  /** The other members of the entry. */
  rest?: string;
}

/** The differences of the rules, in the order of the keywords. */
export function ruleDifferences(old: Schema, now: Schema): RuleDifference[] {
  const [before, after] = [entriesOf(old), entriesOf(now)];
  const sameIn = (entries: readonly RuleEntry[], { meaning }: RuleEntry) =>
    entries.find((each) => isDeepStrictEqual(each.meaning, meaning));
  return [
    ...after.flatMap((entry): RuleDifference[] => {
      const same = sameIn(before, entry);
      if (!same) return [{ kind: 'rule', pointer: entry.pointer }];
      return same.rest === entry.rest ? [] : [{ kind: 'note', pointer: entry.pointer }];
    }),
    ...before.filter((entry) => !sameIn(after, entry)).map(({ pointer }) => ({ kind: 'no-rule' as const, pointer })),
  ];
}

function entriesOf(document: Schema): RuleEntry[] {
  const types = fieldTypesOf(schemaOf(document));
  const typed = (name: string, field = name) => {
    const found = readField(field, types);
    return [name, 'type' in found ? found.type : undefined];
  };
  const keywords: RuleKeywords = document;
  const collations = keywords['x-collation'] ?? {};
  const collationOf = (name: string) => (Object.hasOwn(collations, name) ? collations[name] : undefined);
  const {
    'x-unique': uniques = [],
    'x-index': indexes = [],
    'x-references': references = {},
    'x-search': search,
    'x-label': label,
  } = keywords;
  return [
    ...uniques.map(({ fields, fold = false }, at) => ({
      pointer: `/x-unique/${at}`,
      meaning: ['x-unique', fields.map((name) => typed(name)), fold],
    })),
    ...indexes.map((rule, at) => ({
      pointer: `/x-index/${at}`,
      meaning: isTextIndexRule(rule)
        ? ['x-index', rule.substring, rule.fold, typed(rule.field)]
        : ['x-index', rule.map((name) => [...typed(name, name.replace(/^-/, '')), collationOf(name.replace(/^-/, ''))])],
    })),
    ...Object.entries(references).map(([name, { to, onDelete = 'restrict' }]) => ({
      pointer: pointerTo(['x-references', name]),
      meaning: ['x-references', typed(name), to],
      rest: onDelete,
    })),
    ...(search
      ? [{ pointer: '/x-search', meaning: ['x-search', search.fields.map((name) => typed(name)), search.language ?? 'simple'] }]
      : []),
    ...(label ? [{ pointer: '/x-label', meaning: ['x-label', label.map((name) => typed(name)), collationOf('$label')] }] : []),
    // The indexes of the field say what is built.
    ...Object.entries(collations).map(([name, language]) => ({
      pointer: pointerTo(['x-collation', name]),
      meaning: ['x-collation', name],
      rest: language,
    })),
  ];
}
