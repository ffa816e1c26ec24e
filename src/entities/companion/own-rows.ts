/**
 * What a list of own rows may read of a companion table: indexes that begin with the creator, and of these the rows of the caller alone. How much it read of
 * another index would tell how many entities of others have a value (rule 64).
 */
import { isDeepStrictEqual } from 'node:util';
import { sql, type RawBuilder } from 'kysely';
import type { Companion, CompanionColumn } from './layout.ts';
import type { IndexRange } from './index-ranges.ts';
import { columnOf, columnRef, pinnedValue } from './fields.ts';
import { all, type Filter } from '../../filter/syntax.ts';

const creatorField = ['$createdBy'];

/** The indexes that begin with the creator. */
interface OwnIndexes {
  /** The companion table with these indexes alone. */
  companion: Companion;
  creator: CompanionColumn;
}

/** Undefined if there is none. */
export function ownIndexesOf(companion: Companion): OwnIndexes | undefined {
  const creator = columnOf(companion, creatorField, 'string');
  const indexes = companion.indexes.filter(({ columns: [first] }) => creator !== undefined && first?.name === creator.name);
  return creator && indexes.length > 0 ? { companion: { ...companion, indexes, uniques: [], substrings: [] }, creator } : undefined;
}

/** SQL: whether `owner` has created the entity of the row `x` of the companion table. An index of {@link ownIndexesOf} serves it. */
export function isOwnRow(creator: CompanionColumn, owner: string): RawBuilder<boolean> {
  return sql<boolean>`${columnRef(creator)} = ${pinnedValue(creator, owner)}`;
}

/** The filter with the condition that `owner` has created the entity. */
export function ownFilter(filter: Filter, owner: string): Filter {
  return all([{ kind: 'compare', field: creatorField, operator: '=', type: 'string', value: owner }, filter]);
}

/** Whether the range has rows of `owner` alone. An alternative of the caller's filter may name another creator. */
export function isOwnRange(creator: CompanionColumn, owner: string): (range: IndexRange) => boolean {
  return ({ prefix: [first] }) => first?.column.name === creator.name && isDeepStrictEqual(first.values, [owner]);
}
