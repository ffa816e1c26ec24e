/**
 * What a list of own rows may read of a companion table: indexes that begin with the creator, and of these the part of the caller alone. How much it read of
 * another index would tell how many entities of others have a value (rule 64).
 */
import { isDeepStrictEqual } from 'node:util';
import { sql, type RawBuilder } from 'kysely';
import type { Companion } from './layout.ts';
import type { Range } from './roads.ts';
import { columnOf, columnRef, pinnedValue } from './source.ts';
import { all, type Filter } from '../../filter/syntax.ts';

const creator = ['$createdBy'];

/** The companion table with these indexes alone; undefined if it has none. */
export function ownPart(companion: Companion): Companion | undefined {
  const column = columnOf(companion, creator, 'string');
  const indexes = companion.indexes.filter(({ columns: [first] }) => column !== undefined && first?.name === column.name);
  return indexes.length > 0 ? { ...companion, indexes, uniques: [], substrings: [] } : undefined;
}

/** SQL: whether the row `x` of the companion table is in the part of `owner` of an index of {@link ownPart}; undefined without one. */
export function isOwnRow(companion: Companion, owner: string): RawBuilder<boolean> | undefined {
  const column = ownPart(companion) && columnOf(companion, creator, 'string');
  return column && sql<boolean>`${columnRef(column)} = ${pinnedValue(column, owner)}`;
}

/** The filter with the condition that `owner` has created the entity. */
export function ownFilter(filter: Filter, owner: string): Filter {
  return all([{ kind: 'compare', field: creator, operator: '=', type: 'string', value: owner }, filter]);
}

/** Whether the range is the part of `owner` of an index of {@link ownPart}. An alternative of the caller's filter may name another creator. */
export function isOwnRange(companion: Companion, owner: string): (range: Range) => boolean {
  const column = columnOf(companion, creator, 'string');
  return ({ fixed: [first] }) => column !== undefined && first?.column.name === column.name && isDeepStrictEqual(first.values, [owner]);
}
