/**
 * The rows of a companion table that a list of some rows may read: those of indexes that begin with a field which the rule of the caller fixes, and of these the
 * covered rows alone. The cost of another index would tell how many entities of others have a value (rule 64).
 */
import { isDeepStrictEqual } from 'node:util';
import { sql, type RawBuilder } from 'kysely';
import type { Companion, CompanionColumn } from './layout.ts';
import type { IndexRange } from './index-ranges.ts';
import { columnOf, columnRef, pinnedValue } from './fields.ts';
import { all, constantOperand, type Filter } from '../../filter/syntax.ts';
import type { CoverageRule } from '../../rights/coverage.ts';

/** The indexes that begin with a fixed field. */
interface FixedIndexes {
  /** The companion table with these indexes alone. */
  companion: Companion;
  /** All fields that the rule fixes. */
  values: readonly { column: CompanionColumn; value: string }[];
}

/** Undefined if there is none, or if a field has no column. */
export function fixedIndexesOf(companion: Companion, { fixed }: CoverageRule): FixedIndexes | undefined {
  const values = fixed.flatMap(({ field, type, value }) => {
    const column = columnOf(companion, field, type);
    return column ? [{ column, value }] : [];
  });
  const indexes = companion.indexes.filter(({ columns: [first] }) => values.some(({ column }) => column.name === first?.name));
  const isUseful = indexes.length > 0 && values.length === fixed.length;
  return isUseful ? { companion: { ...companion, indexes, uniques: [], substrings: [] }, values } : undefined;
}

/** SQL: whether the rule covers the entity of the row `x` of the companion table. An index of {@link fixedIndexesOf} serves it. */
export function isFixedRow({ values }: FixedIndexes): RawBuilder<unknown> {
  return sql.join(
    values.map(({ column, value }) => sql`${columnRef(column)} = ${pinnedValue(column, value)}`),
    sql` and `,
  );
}

/** The filter with the conditions that the rule fixes. */
export function fixedFilter(filter: Filter, { fixed }: CoverageRule): Filter {
  return all([
    ...fixed.map(({ field, type, value }) => ({ kind: 'compare', operator: '=', type, field, operand: constantOperand(value) }) as const),
    filter,
  ]);
}

/** Makes the test whether a range has covered rows alone. An alternative of the caller's filter may name another value. */
export const isFixedRange =
  ({ values }: FixedIndexes) =>
  ({ prefix: [first] }: IndexRange): boolean =>
    values.some(({ column, value }) => first?.column.name === column.name && isDeepStrictEqual(first.values, [value]));
