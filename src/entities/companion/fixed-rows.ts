/**
 * The rows of a companion table that a list of some rows may read: those of indexes that begin with a field which the rule of the caller fixes, and of these the
 * covered rows alone. The cost of another index would tell how many entities of others have a value (rule 64).
 */
import { sql, type RawBuilder } from 'kysely';
import type { BoundValue } from './bounds.ts';
import type { Companion, CompanionColumn } from './layout.ts';
import type { IndexRange } from './index-ranges.ts';
import { columnOf, columnRef, pinnedList, pinnedValue } from './fields.ts';
import { all, constantOperand, type Filter } from '../../filter/syntax.ts';
import type { CoverageRule, FixedField } from '../../rights/coverage.ts';

/** The indexes that begin with a fixed field. */
interface FixedIndexes {
  /** The companion table with these indexes alone. */
  companion: Companion;
  /** All fields that the rule fixes. */
  values: readonly { column: CompanionColumn; values: readonly string[] }[];
}

/** Undefined if there is none, or if a field has no column. */
export function fixedIndexesOf(companion: Companion, { fixed }: CoverageRule): FixedIndexes | undefined {
  const values = fixed.flatMap(({ field, type, values: each }) => {
    const column = columnOf(companion, field, type);
    return column ? [{ column, values: each }] : [];
  });
  const indexes = companion.indexes.filter(({ columns: [first] }) => values.some(({ column }) => column.name === first?.name));
  const isUseful = indexes.length > 0 && values.length === fixed.length;
  return isUseful ? { companion: { ...companion, indexes, uniques: [], substrings: [] }, values } : undefined;
}

/** SQL: whether the rule covers the entity of the row `x` of the companion table. An index of {@link fixedIndexesOf} serves it. */
export function isFixedRow({ values }: FixedIndexes): RawBuilder<unknown> {
  return sql.join(
    values.map(({ column, values: [value = '', ...others] }) =>
      others.length === 0
        ? sql`${columnRef(column)} = ${pinnedValue(column, value)}`
        : sql`${columnRef(column)} = any(${pinnedList(column, [value, ...others])})`,
    ),
    sql` and `,
  );
}

/** The filter with the conditions that the rule fixes. */
export function fixedFilter(filter: Filter, { fixed }: CoverageRule): Filter {
  return all([...fixed.map(isFixed), filter]);
}

function isFixed({ field, type, values: [value = '', ...others] }: FixedField): Filter {
  if (others.length > 0) return { kind: 'in', type, field, values: [value, ...others] };
  return { kind: 'compare', operator: '=', type, field, operand: constantOperand(value) };
}

/** Makes the test whether a range has covered rows alone. An alternative of the caller's filter may name another value. */
export const isFixedRange =
  ({ values }: FixedIndexes) =>
  ({ prefix: [first] }: IndexRange): boolean =>
    values.some(({ column, values: fixed }) => first?.column.name === column.name && isWithin(first.values, fixed));

const isWithin = (values: readonly (BoundValue | null)[], fixed: readonly string[]): boolean =>
  values.every((value) => typeof value === 'string' && fixed.includes(value));
