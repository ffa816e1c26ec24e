/**
 * Where a statement finds the values of fields. Filters and sorts are compiled over a source, so they do not depend on how entities are stored:
 * today every field is in the column `fields`; an indexed field can come from a column of its own.
 */
import { sql, type RawBuilder } from 'kysely';
import { Problem } from '../problems/errors.ts';
import { envelopeTypes, isEnvelopeName, isLabel, type EnvelopeName, type Field, type ScalarType } from './fields.ts';

export interface Source {
  /** The field as jsonb; SQL null if the entity does not have it. */
  json(field: Field): RawBuilder<unknown>;
  /**
   * The field, comparable with the SQL type of {@link sqlTypes}; SQL null if it is missing, null or not of the type. No value raises an error. Texts have the
   * order of the language `collation`, without it that of code points. Throws 422 `query-too-expensive` for folded texts that have no column, since SQL cannot fold.
   */
  typed(field: Field, type: ScalarType, collation?: string): RawBuilder<unknown>;
  /** SQL: whether the texts that the type searches match the words. Throws if nothing is searched. */
  matches(words: string): RawBuilder<boolean>;
}

/** The SQL type, with its collation, in which values of a type are compared. */
export const sqlTypes: Readonly<Record<ScalarType, string>> = {
  string: 'text',
  folded: 'text',
  enum: 'text',
  date: 'text',
  number: 'numeric',
  decimal: 'numeric',
  int64: 'bigint',
  'date-time': 'timestamptz',
  instant: 'numeric',
  boolean: 'boolean',
};

/** SQL: an instant of either type with all its digits, as the type `instant` compares it. */
export function asInstant(value: RawBuilder<unknown>, type: ScalarType): RawBuilder<unknown> {
  return type === 'instant' ? value : sql`extract(epoch from ${value})`;
}

/** SQL: the collation of a language, as PostgreSQL names those of ICU; without a language that of code points. */
export function collationName(language: string | undefined): RawBuilder<unknown> {
  return language === undefined ? sql`"C"` : sql.id('pg_catalog', `${language}-x-icu`);
}

/** The columns of the table `entity` that have the members of the envelope. */
export const envelopeColumns: Readonly<Record<EnvelopeName, string>> = {
  $key: 'key',
  $version: 'version',
  $createdAt: 'created_at',
  $createdBy: 'created_by',
  $updatedAt: 'updated_at',
  $updatedBy: 'updated_by',
};

/**
 * SQL: the member of the envelope of a row of `table`, which has the columns of `entity`. Times are stored in microseconds and compared in milliseconds, as
 * answers show them.
 */
export function envelopeValue(name: EnvelopeName, table = 'entity', columns = envelopeColumns): RawBuilder<unknown> {
  const column = sql.ref(`${table}.${columns[name]}`);
  return envelopeTypes[name] === 'date-time' ? sql`date_trunc('milliseconds', ${column})` : column;
}

/** The columns of the history that have the members of the envelope. */
export const envelopeOfChange: typeof envelopeColumns = { ...envelopeColumns, $updatedAt: 'at', $updatedBy: 'changed_by' };

/** The rows of a table or a subquery that the statement calls `table`. Its column `column` has the fields. */
export function rowSource(table: string, columns = envelopeColumns, column = 'fields'): Source {
  const fields = sql.raw(`${table}.${column}`);
  return {
    json(field) {
      if (isLabel(field)) throw labelNeedsColumn();
      return isEnvelopeName(field[0]) ? sql`to_jsonb(${envelopeValue(field[0], table, columns)})` : memberAt(fields, field);
    },
    typed(field, type, collation) {
      if (isEnvelopeName(field[0])) {
        const value = envelopeValue(field[0], table, columns);
        return type === 'string' ? sql`${value} collate "C"` : value;
      }
      if (isLabel(field)) throw labelNeedsColumn();
      return asType(memberAt(fields, field), type, collation);
    },
    matches() {
      throw new Error(`the table ${table} has no texts to search`);
    },
  };
}

/** SQL cannot make the name of an entity: only the companion table has it. */
const labelNeedsColumn = () => new Problem('query-too-expensive', { faults: [{ pointer: '', code: 'needs-index' }] });

/** The table `entity`, or a subquery of that name with its columns. */
export const entitySource: Source = rowSource('entity');

/**
 * The member at the path. `->` with a text finds members of objects alone, so a name of digits never finds an item of an array, as `#>` would.
 * The names are parameters.
 */
function memberAt(fields: RawBuilder<unknown>, field: Field): RawBuilder<unknown> {
  return field.reduce((object, name) => sql`${object} -> ${name}::text`, fields);
}

/** PostgreSQL evaluates a `case` in order, so a cast only meets values that it can read. */
function asType(value: RawBuilder<unknown>, type: ScalarType, collation: string | undefined): RawBuilder<unknown> {
  const text = sql`(${value} #>> '{}')`;
  const isString = sql`jsonb_typeof(${value}) = 'string'`;
  switch (type) {
    case 'string':
    case 'enum':
    case 'date':
      return sql`(case when ${isString} then ${text} end collate ${collationName(collation)})`;
    case 'folded':
      throw new Problem('query-too-expensive', { faults: [{ pointer: '', code: 'needs-index' }] });
    case 'number':
      return sql`(case when jsonb_typeof(${value}) = 'number' then (${value})::numeric end)`;
    case 'boolean':
      return sql`(case when jsonb_typeof(${value}) = 'boolean' then (${value})::boolean end)`;
    case 'int64':
      return sql`(case when ${isString} and ${text} ~ '^(0|-?[1-9][0-9]{0,18})$' then
        case when ${text}::numeric between -9223372036854775808 and 9223372036854775807 then ${text}::bigint end end)`;
    case 'decimal':
      return sql`(case when ${isString} and ${text} ~ '^(?!-0([.]0+)?$)-?(0|[1-9][0-9]{0,30})([.][0-9]{1,18})?$' then ${text}::numeric end)`;
    case 'date-time':
      return sql`(case when ${isString} then entity_instant(${text}) end)`;
    case 'instant':
      return sql`(case when ${isString} then entity_exact_instant(${text}) end)`;
  }
}
