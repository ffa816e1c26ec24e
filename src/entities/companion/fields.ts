/** The fields of queries, each bound once: to a column of a companion table, or to an expression over the row of `entity`. */
import { isDeepStrictEqual } from 'node:util';
import { sql, type RawBuilder } from 'kysely';
import type { BoundValue } from './bounds.ts';
import type { Companion, CompanionColumn } from './layout.ts';
import { clockValue } from '../../filter/clock.ts';
import { isKey, isLabel, type Field, type ScalarType } from '../../filter/fields.ts';
import { indexedLength } from './rule-layout.ts';
import { searchMatches } from './search.ts';
import { inSchema } from './table.ts';
import { entitySource, sqlTypes, type Source } from '../../filter/source.ts';
import { all, comparedFields, conjuncts, testsOf, type Filter, type Test } from '../../filter/syntax.ts';
import type { SortTerm } from '../../filter/sort.ts';

/** The key of each row of a companion table, which statements call `x`. */
export const keyColumn: Readonly<CompanionColumn> = { name: 'key', field: ['$key'], type: 'int64', fold: false };

/** The column that has the values of the field as they are, compared by `type`, in the order of the language `collation`; undefined if there is none. */
export function columnOf({ columns }: Companion, field: Field, type: ScalarType | 'any', collation?: string): CompanionColumn | undefined {
  if (isKey(field)) return type === 'int64' ? keyColumn : undefined;
  return columns.find(
    (column) => !column.fold && column.type === type && column.collation === collation && isDeepStrictEqual(column.field, field),
  );
}

/** A field of a query, as a test or a term of the sort compares it. */
interface BoundField {
  /** SQL: the value. */
  expression: RawBuilder<unknown>;
  /** The column of the companion table that has the values; undefined if none has. */
  column: CompanionColumn | undefined;
  /** The index of the trigrams of the column; undefined if there is none. */
  index: string | undefined;
}

/** The fields of one query. `C` is undefined if the type of the entities has no companion table. */
export interface BoundFields<C = Companion | undefined> extends Source {
  /** The field, the same object whenever the query names it. */
  of(field: Field, type: ScalarType | 'any', collation?: string): BoundField;
  companion: C;
}

/** The fields over the rows of `entity`. The companion table has the texts that the type searches, and its folded texts; a look at its primary key finds them (rule 64). */
export function bindToEntities(companion: Companion | undefined): BoundFields {
  return boundFields(companion, (field, type, collation, column) =>
    companion && column && (type === 'folded' || isLabel(field))
      ? sql`(select ${sql.ref(`texts.${column.name}`)} from ${inSchema(companion.table)} as texts where texts.key = entity.key)`
      : entitySource.typed(field, type, collation),
  );
}

/** The fields over the rows `x` of the companion table, beside those of `entity`. */
export function bindToColumns<C extends Companion | undefined>(companion: C): BoundFields<C> {
  return boundFields(companion, (field, type, collation, column) =>
    column ? columnRef(column) : entitySource.typed(field, type, collation),
  );
}

type ExpressionOf = (
  field: Field,
  type: ScalarType,
  collation: string | undefined,
  column: CompanionColumn | undefined,
) => RawBuilder<unknown>;

function boundFields<C extends Companion | undefined>(companion: C, expressionOf: ExpressionOf): BoundFields<C> {
  const bound = new Map<string, BoundField>();
  const of: BoundFields['of'] = (field, type, collation) => {
    const id = JSON.stringify([type, collation, field]);
    const known = bound.get(id);
    if (known) return known;
    const column = companion && columnOf(companion, field, type, collation);
    const made: BoundField = {
      expression: type === 'any' ? entitySource.json(field) : expressionOf(field, type, collation, column),
      column,
      index: companion?.substrings.find((index) => index.column === column?.name)?.name,
    };
    bound.set(id, made);
    return made;
  };
  return {
    companion,
    of,
    typed: (field, type, collation) => of(field, type, collation).expression,
    json: (field) => (isLabel(field) ? sql`to_jsonb(${of(field, 'string').expression})` : entitySource.json(field)),
    matches: (words) => (companion ? searchMatches(companion, words) : entitySource.matches(words)),
  };
}

/**
 * Whether the texts of a sort are compared as a whole: those of one index, which are at most 600 characters together. The values of a row have to fit in a
 * cursor.
 */
export function areSortedWhole(fields: BoundFields, terms: readonly SortTerm[]): boolean {
  const lengths = terms.map(({ field, type, collation }) => fields.of(field, type, collation).column?.maximumLength ?? 0);
  return lengths.reduce((total, length) => total + length, 0) <= indexedLength;
}

/** Whether a column has all that the test compares. */
export function isOfColumn(fields: BoundFields, test: Test): boolean {
  if (!('type' in test) || test.kind === 'lookup') return false;
  return comparedFields(test).every(({ field, type }) => type !== undefined && fields.of(field, type).column !== undefined);
}

/** The conditions of a filter that columns alone decide, and the others. */
export interface SplitFilter {
  ofColumns: Filter;
  ofFields: Filter;
}

/** A condition with alternatives is one of columns only if all its tests are. */
export function splitFilter(
  filter: Filter,
  fields: BoundFields,
  isOfColumns: (test: Test) => boolean = (test) => isOfColumn(fields, test),
): SplitFilter {
  const { columns = [], others = [] } = Object.groupBy(conjuncts(filter), (condition) =>
    testsOf(condition).every(isOfColumns) ? 'columns' : 'others',
  );
  return { ofColumns: all(columns), ofFields: all(others) };
}

/** The columns that tests of the filter and terms of the sort use, each once, without the key. */
export function columnsUsed(fields: BoundFields, filter: Filter, sort: readonly SortTerm[]): CompanionColumn[] {
  const used = [
    ...testsOf(filter)
      .flatMap(comparedFields)
      .map(({ field, type = 'string' }) => fields.of(field, type)),
    ...sort.map(({ field, type, collation }) => fields.of(field, type, collation)),
  ].flatMap(({ column }) => (column && column !== keyColumn ? [column] : []));
  return [...new Set(used)];
}

export const columnRef = ({ name }: Pick<CompanionColumn, 'name'>): RawBuilder<unknown> => sql.ref(`x.${name}`);

/**
 * SQL: the value for a condition on the column that an index serves. The function makes the condition cheap for the index, which needs the
 * value once, and expensive for a plan that tests each row.
 */
export function pinnedValue({ type }: Pick<CompanionColumn, 'type'>, value: BoundValue): RawBuilder<unknown> {
  if (typeof value !== 'string') return sql`pinned(${clockValue(value, type, undefined)})`;
  return sql`pinned(${value}::${sql.raw(sqlTypes[type])})`;
}

/** The same for a list of values. */
export function pinnedList({ type }: Pick<CompanionColumn, 'type'>, values: readonly string[]): RawBuilder<unknown> {
  return sql`pinned(${[...values]}::${sql.raw(sqlTypes[type])}[])`;
}
