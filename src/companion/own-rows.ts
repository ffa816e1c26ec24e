/**
 * What a list of own rows may read of a companion table: indexes that begin with the creator, and of these the part of the caller alone. How much it read of
 * another index would tell how many entities of others have a value (rule 64).
 */
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

/** Whether the range is a part of an index of {@link ownPart} for a filter of {@link ownFilter}. */
export function isOwnRange(companion: Companion): (range: Range) => boolean {
  const column = columnOf(companion, creator, 'string');
  return ({ fixed: [first] }) => column !== undefined && first?.column.name === column.name;
}
