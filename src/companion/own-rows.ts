/**
 * What a list of own rows may read of a companion table: indexes that begin with the creator, and of these the part of the caller alone. How much it read of
 * another index would tell how many entities of others have a value (rule 64).
 */
import { isDeepStrictEqual } from 'node:util';
import type { Companion } from './layout.ts';
import type { Range } from './roads.ts';
import { columnOf } from './source.ts';
import { all, type Filter } from '../filter/syntax.ts';

const creator = ['$createdBy'];

/** The companion table with these indexes alone; undefined if it has none. */
export function ownPart(companion: Companion): Companion | undefined {
  const column = columnOf(companion, creator, 'string');
  const indexes = companion.indexes.filter(({ columns: [first] }) => column !== undefined && first?.name === column.name);
  return indexes.length > 0 ? { ...companion, indexes, uniques: [], substrings: [] } : undefined;
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
