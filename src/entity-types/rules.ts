/** The rules of a type's document: the companion table that they need, and how they differ from those of another document. */
import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { Companion, CompanionColumn } from '../entities/companion/layout.ts';
import { companionOf, isTextIndexRule, rulesOf, type RuleKeywords } from '../entities/companion/rules.ts';
import type { Database } from '../database/tables.ts';
import type { FieldTypes } from '../filter/fields.ts';
import { readField } from '../filter/sort.ts';
import { pointerTo } from '../problems/pointer.ts';
import { schemaOf } from './document.ts';
import { fieldTypesOf } from './field-types.ts';
import { listCompanions, listDocuments, type StoredType } from './store.ts';
import { readableDocument } from './stored-document.ts';
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

const typesOf = (document: Schema): FieldTypes => fieldTypesOf(schemaOf(document));

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
  const types = typesOf(document);
  const typed = (name: string, field = name) => {
    const found = readField(field, types);
    return [name, 'type' in found ? found.type : undefined];
  };
  const keywords: RuleKeywords = document;
  const collations = keywords['x-collation'] ?? {};
  const collationOf = (name: string) => (Object.hasOwn(collations, name) ? collations[name] : undefined);
  const { 'x-unique': uniques = [], 'x-index': indexes = [], 'x-references': references = {}, 'x-search': search } = keywords;
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
    // The indexes of the field say what is built.
    ...Object.entries(collations).map(([name, language]) => ({
      pointer: pointerTo(['x-collation', name]),
      meaning: ['x-collation', name],
      rest: language,
    })),
  ];
}

/** The companion table, number `id`, that a document needs; null for none. `previous` is the table until now. */
export function companionOfDocument(document: Schema, id: number, previous: Companion | null, isReferenced: boolean): Companion | null {
  return companionOf(rulesOf(document, typesOf(document)), id, previous, isReferenced);
}

/** Whether an entity type other than `name` refers to entities called `name`. */
export async function isReferenced(db: Kysely<Database>, name: string): Promise<boolean> {
  return (await listCompanions(db)).some((each) => each.name !== name && each.companion.references.some(({ to }) => to === name));
}

/** Whether no build of the type is under way, or was interrupted. */
export function isSettled({ type, revision, companion }: StoredType): boolean {
  return companion?.state !== 'building' && (type !== undefined || revision === '0');
}

/** What the table has in all rows; null if that is nothing. */
export function completePart({ companion }: Pick<StoredType, 'companion'>): Companion | null {
  return companion && (companion.state === 'ready' ? companion : (companion.complete ?? null));
}

/** Whether entities must be read, or indexes and constraints made, to get from what is complete to `wanted`. */
export function needsBuild(complete: Companion | null, wanted: Companion | null): wanted is Companion {
  if (!wanted) return false;
  if (!complete || !isDeepStrictEqual(complete.search, wanted.search ?? complete.search)) return true;
  return (['columns', 'uniques', 'indexes', 'substrings', 'references'] as const).some(
    (kind) => !wanted[kind].every(({ name }) => complete[kind].some((each) => each.name === name)),
  );
}

/**
 * The names whose companion table is not as this version builds it for the type in force, in their order. An earlier version built it, or
 * another process is building it now.
 */
export async function listOutdatedTypes(db: Kysely<Database>): Promise<string[]> {
  const companions = new Map((await listCompanions(db)).map(({ name, companion }) => [name, companion]));
  const targets = new Set([...companions].flatMap(([name, { references }]) => references.flatMap(({ to }) => (to === name ? [] : [to]))));
  const outdated = [...(await listDocuments(db))].filter(([name, document]) => {
    // It must be declared with other rules first.
    if (readableDocument(document) !== document) return false;
    const companion = companions.get(name) ?? null;
    // The number of the table is not compared.
    return needsBuild(completePart({ companion }), companionOfDocument(document, 0, companion, targets.has(name)));
  });
  return outdated.map(([name]) => name).toSorted();
}

/** Whether rows must be filled to get from what is complete to `wanted`. */
export function needsRows(complete: Companion | null, wanted: Companion): boolean {
  if (!complete || !isDeepStrictEqual(complete.search, wanted.search ?? complete.search)) return true;
  // With less room for a text, entities may have longer ones that were written since they were looked at.
  const isComplete = ({ name, maximumLength = Infinity }: CompanionColumn) =>
    complete.columns.some((each) => each.name === name && (each.maximumLength ?? Infinity) <= maximumLength);
  return !wanted.columns.every(isComplete);
}

/** The table while `wanted` is being built: it has all that the old and the new type need. */
export function whileBuilding(complete: Companion | null, wanted: Companion): Companion {
  const both = <T extends { name: string }>(old: readonly T[] = [], now: readonly T[]): T[] => [
    ...now,
    ...old.filter(({ name }) => !now.some((each) => each.name === name)),
  ];
  const search = wanted.search ?? complete?.search;
  const isSearchComplete = isDeepStrictEqual(complete?.search, search);
  const limits = new Map(complete?.columns.map(({ name, maximumLength }) => [name, maximumLength]));
  return {
    ...wanted,
    columns: both(complete?.columns, wanted.columns).map((column) =>
      column.maximumLength === undefined
        ? column
        : Object.assign({}, column, { maximumLength: Math.min(column.maximumLength, limits.get(column.name) ?? Infinity) }),
    ),
    uniques: both(complete?.uniques, wanted.uniques),
    indexes: both(complete?.indexes, wanted.indexes),
    substrings: both(complete?.substrings, wanted.substrings),
    references: both(complete?.references, wanted.references),
    search,
    state: 'building',
    complete: complete && { ...complete, search: isSearchComplete ? search : undefined },
  };
}
