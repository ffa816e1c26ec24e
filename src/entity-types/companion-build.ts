/** The companion table that a type's document needs, and what has to be built to get there from the present one. */
import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { Companion, CompanionColumn } from '../entities/companion/layout.ts';
import { companionOf, rulesOf } from '../entities/companion/rule-layout.ts';
import type { Database } from '../database/tables.ts';
import { schemaOf } from './document.ts';
import { fieldTypesOf } from './field-types.ts';
import { listCompanions, listDocuments, type StoredType } from './store.ts';
import { readableDocument } from './stored-document.ts';
import type { Schema } from './subschemas.ts';

/** The companion table, number `id`, that a document needs; null for none. `previous` is the table until now. */
export function companionOfDocument(document: Schema, id: number, previous: Companion | null, isReferenced: boolean): Companion | null {
  return companionOf(rulesOf(document, fieldTypesOf(schemaOf(document))), id, previous, isReferenced);
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
