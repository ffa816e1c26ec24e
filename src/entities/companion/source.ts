/** The columns of a companion table as filters and sorts name them, and as a source of values. */
import { isDeepStrictEqual } from 'node:util';
import { sql, type RawBuilder } from 'kysely';
import type { Companion, CompanionColumn } from './layout.ts';
import { isKey, type Field, type ScalarType } from '../../filter/fields.ts';
import { indexedLength } from './rules.ts';
import { searchMatches } from './search.ts';
import { inSchema } from './table.ts';
import { entitySource, sqlTypes, type Source } from '../../filter/source.ts';
import { testsOf, type Filter, type Test } from '../../filter/syntax.ts';
import type { SortTerm } from '../../filter/sort.ts';

/** A column of a companion table, which statements call `x`. */
export interface Column {
  name: string;
  type: ScalarType;
}

export const keyColumn: Readonly<Column> = { name: 'key', type: 'int64' };

/** The column that has the values of the field as they are, compared by `type`, in the order of the language `collation`; undefined if there is none. */
export function columnOf({ columns }: Companion, field: Field, type: ScalarType | 'any', collation?: string): Column | undefined {
  if (isKey(field)) return type === 'int64' ? keyColumn : undefined;
  return columns.find(
    (column) => !column.fold && column.type === type && column.collation === collation && isDeepStrictEqual(column.field, field),
  );
}

/** The columns that have the texts of the field compared by `type`, each in the order of a language. Equal values are equal in each. */
export function collatedColumnsOf({ columns }: Companion, field: Field, type: ScalarType): Column[] {
  return columns.filter((column) => column.collation !== undefined && column.type === type && isDeepStrictEqual(column.field, field));
}

/** A field as a sort compares it: by its type and its collation. */
type Sorted = Pick<SortTerm, 'field' | 'type' | 'collation'>;

/**
 * Whether the texts of a sort are compared as a whole: those of one index, which are at most 600 characters together. The values of a row have to fit in a
 * cursor.
 */
export function areSortedWhole(companion: Companion, sort: readonly Sorted[]): boolean {
  const lengths = sort.map(({ field, type, collation }) => {
    const column = columnOf(companion, field, type, collation);
    return companion.columns.find(({ name }) => name === column?.name)?.maximumLength ?? 0;
  });
  return lengths.reduce((total, length) => total + length, 0) <= indexedLength;
}

/** The column that has the texts of the field in NFKC and in lower case, for a unique rule; undefined if there is none. */
export function foldedColumnOf({ columns }: Companion, field: Field, type: ScalarType): CompanionColumn | undefined {
  return columns.find((column) => column.fold && column.type === type && isDeepStrictEqual(column.field, field));
}

/** Whether a column has all that the test compares. */
export function isOfColumn(companion: Companion, test: Test): boolean {
  switch (test.kind) {
    case 'compare':
    case 'in':
    case 'prefix':
    case 'substring':
      return columnOf(companion, test.field, test.type) !== undefined;
    default:
      return false;
  }
}

/** The columns that tests of the filter and terms of the sort use, each once, without the key. */
export function columnsUsed(companion: Companion, filter: Filter, sort: readonly Sorted[]): Column[] {
  const used = [...testsOf(filter), ...sort].flatMap((one) => {
    const column = columnOf(companion, one.field, 'type' in one ? one.type : 'string', 'collation' in one ? one.collation : undefined);
    return column ? [column] : [];
  });
  const named = new Map(used.map((column) => [column.name, column]));
  named.delete(keyColumn.name);
  return [...named.values()];
}

/** The table `entity`, with the texts that the type searches, and its folded texts. A look at the primary key finds them for each row, whatever they are (rule 64). */
export function searchedSource(companion: Companion): Source {
  return {
    ...entitySource,
    typed(field, type, collation) {
      const column = type === 'folded' ? columnOf(companion, field, type) : undefined;
      if (!column) return entitySource.typed(field, type, collation);
      return sql`(select ${sql.ref(`texts.${column.name}`)} from ${inSchema(companion.table)} as texts where texts.key = entity.key)`;
    },
    matches: (words) => searchMatches(companion, words),
  };
}

/** The companion table, as `x`, beside the table `entity`. */
export function companionSource(companion: Companion): Source {
  return {
    ...searchedSource(companion),
    typed(field, type, collation) {
      const column = columnOf(companion, field, type, collation);
      return column ? columnRef(column) : entitySource.typed(field, type, collation);
    },
  };
}

export const columnRef = ({ name }: Pick<Column, 'name'>): RawBuilder<unknown> => sql.ref(`x.${name}`);

/**
 * SQL: the value for a condition on the column that an index serves. The function makes the condition cheap for the index, which needs the
 * value once, and expensive for a plan that tests each row.
 */
export function pinnedValue({ type }: Pick<Column, 'type'>, value: string): RawBuilder<unknown> {
  return sql`pinned(${value}::${sql.raw(sqlTypes[type])})`;
}

/** The same for a list of values. */
export function pinnedList({ type }: Pick<Column, 'type'>, values: readonly string[]): RawBuilder<unknown> {
  return sql`pinned(${[...values]}::${sql.raw(sqlTypes[type])}[])`;
}
