/**
 * SQL that writes rows of a companion table, in the statement that changes the entities. Each function takes `input`, tables of a query that have
 * `key`, the {@link inputColumns} and the {@link envelopeColumns}. {@link writtenWith} makes it.
 */
import { sql, type RawBuilder } from 'kysely';
import { inputType, storedValue } from './columns.ts';
import { isEnvelopeName, isOfEnvelope } from '../../filter/fields.ts';
import { envelopeValue } from '../../filter/source.ts';
import { foldedName, searchColumn, searchInputs, type Companion, type CompanionColumn, type CompanionSearch } from './layout.ts';
import { searchVector } from './search.ts';
import { inSchema } from './table.ts';

/** The values that the process computes for a row as columns of a statement's input, each with its SQL type there. */
export function inputColumns({ columns, search }: Companion): RawBuilder<unknown>[] {
  return [
    ...columns.filter(isComputed).map((column) => sql`${sql.ref(column.name)} ${inputType(column)}`),
    ...(search ? searchInputs(search) : []).map((name) => sql`${sql.ref(name)} text`),
  ];
}

/** The names of the {@link inputColumns}. */
export function inputNames({ columns, search }: Companion): RawBuilder<unknown>[] {
  return [...columns.filter(isComputed).map(({ name }) => name), ...(search ? searchInputs(search) : [])].map((name) => sql.ref(name));
}

const isComputed = ({ field }: CompanionColumn): boolean => !isOfEnvelope(field);

/** The columns with members of the envelope, from the row of `table`, which has the columns of `entity`. */
export function envelopeColumns({ columns }: Companion, table: string): RawBuilder<unknown>[] {
  return columns.flatMap(({ name, field: [member] }) =>
    isEnvelopeName(member) ? [sql`${envelopeValue(member, table)} as ${sql.ref(name)}`] : [],
  );
}

/**
 * SQL: the input that consists of the keys of `written`, its members of the envelope, and the values in `tables`, which have `written` too. `kept` are the names of
 * the columns that stay as they are, for {@link updateRows}; by default none.
 */
export function writtenWith(
  companion: Companion,
  tables: RawBuilder<unknown>,
  kept: RawBuilder<unknown> = sql`null::text[]`,
): RawBuilder<unknown> {
  const columns = [sql`written.key, ${kept} as kept`, ...inputNames(companion), ...envelopeColumns(companion, 'written')];
  return sql`(select ${sql.join(columns)} from ${tables}) as changed`;
}

/** SQL: the same for one row, whose values are the members of `values`, a JSON object. */
export function writtenWithValues(companion: Companion, values: RawBuilder<unknown>): RawBuilder<unknown> {
  const columns = inputColumns(companion);
  if (columns.length === 0) return writtenWith(companion, sql.ref('written'));
  return writtenWith(companion, sql`written cross join jsonb_to_record(${values}::jsonb) as input (${sql.join(columns)})`);
}

/**
 * SQL: inserts the rows of new entities, in the order of the first unique index: so of two statements with several equal values none waits for the other
 * while the other waits for it.
 */
export function insertRows(companion: Companion, input: RawBuilder<unknown>): RawBuilder<unknown> {
  if (companion.state === 'building') return upsertRows(companion, input);
  const [unique] = companion.uniques;
  const order = unique ? sql` order by ${sql.join(unique.columns.map((name) => sql.ref(name)))}` : sql``;
  const stored = storedColumns(companion);
  const names = [sql.ref('key'), ...stored.map(({ name }) => name)];
  const values = [sql.ref('key'), ...stored.map(({ value }) => value)];
  return sql`insert into ${inSchema(companion.table)} (${sql.join(names)}) select ${sql.join(values)} from ${input}${order}`;
}

/**
 * SQL: brings the rows of changed entities up to date, which it finds one by one in the primary key. Undefined for a table of keys only.
 *
 * Without `kept` the statement has locked the entity in a known version, so nothing else changes its row meanwhile. It is written only if a value is another one.
 * With `kept` another transaction may have written the row since the statement began. So it is written in any case, and the kept columns are read from the row itself.
 */
export function updateRows(companion: Companion, input: RawBuilder<unknown>): RawBuilder<unknown> | undefined {
  if (companion.state === 'building') return upsertRows(companion, input);
  const stored = storedColumns(companion);
  if (stored.length === 0) return undefined;
  const table = inSchema(companion.table);
  const names = sql.join(stored.map(({ name }) => name));
  const computed = sql.join(stored.map(({ name }) => sql`computed.${name}`));
  const changed = stored.map(
    ({ column, name }) => sql`${name} = case when ${sql.lit(column)} = any(computed.kept) then companion.${name} else computed.${name} end`,
  );
  return sql`
    update ${table} as companion set ${sql.join(changed)}
    from (select key, kept, ${sql.join(stored.map(({ name, value }) => sql`${value} as ${name}`))} from ${input}) as computed
    cross join lateral (
      select key from ${table}
      where key = computed.key and (computed.kept is not null or ${areDifferent(names, computed)}) offset 0
    ) as present
    where companion.key = present.key`;
}

/**
 * SQL: writes a row for each row of `input`; nothing for one that the table has already. While the table is built, the building process may have committed the
 * row of an entity after the snapshot of the statement.
 */
export function upsertRows(companion: Companion, input: RawBuilder<unknown>): RawBuilder<unknown> {
  const stored = storedColumns(companion);
  const table = inSchema(companion.table);
  if (stored.length === 0) return sql`insert into ${table} (key) select key from ${input} on conflict (key) do nothing`;
  const names = stored.map(({ name }) => name);
  return sql`
    insert into ${table} as present (key, ${sql.join(names)}) select key, ${sql.join(stored.map(({ value }) => value))} from ${input}
    on conflict (key) do update set ${sql.join(names.map((name) => sql`${name} = excluded.${name}`))}
    where ${areDifferent(valuesIn('present', names), valuesIn('excluded', names))}`;
}

/** SQL: the keys of `input` whose row is missing, or has other values. */
export function differentRows(companion: Companion, input: RawBuilder<unknown>): RawBuilder<{ key: string }> {
  const stored = storedColumns(companion);
  const computed = [sql.ref('key'), ...stored.map(({ name, value }) => sql`${value} as ${name}`)];
  const names = stored.map(({ name }) => name);
  const isDifferent = names.length > 0 ? sql`or ${areDifferent(valuesIn('present', names), valuesIn('wanted', names))}` : sql``;
  return sql`
    select wanted.key from (select ${sql.join(computed)} from ${input}) as wanted
    left join ${inSchema(companion.table)} as present on present.key = wanted.key
    where present.key is null ${isDifferent}`;
}

/**
 * SQL: whether two lists of values differ in any byte. For `is distinct from` the decimals 1.5 and 1.50 are the same, but a sum has the digits of its decimals.
 */
function areDifferent(some: RawBuilder<unknown>, others: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`record_image_ne(row(${some}), row(${others}))`;
}

const valuesIn = (table: string, names: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql.join(names.map((name) => sql`${sql.ref(table)}.${name}`));

/** SQL: deletes the row of the entity with this key, also one that was committed after the snapshot of the statement. */
export function deleteRow({ table }: Companion, key: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`entity_companion_delete(${sql.lit(table)}, ${key})`;
}

/** The columns beside the key, each with its name in SQL and the value that it stores of an input row. */
function storedColumns({ columns, search }: Companion): { column: string; name: RawBuilder<unknown>; value: RawBuilder<unknown> }[] {
  const stored = columns.map((column) => {
    const name = sql.ref(column.name);
    return { column: column.name, name, value: isComputed(column) ? storedValue(column, name) : name };
  });
  return search ? [...stored, { column: searchColumn, name: sql.ref(searchColumn), value: vectorOf(search) }] : stored;
}

function vectorOf({ texts, language, isFolded }: CompanionSearch): RawBuilder<unknown> {
  const vectors = texts.map(({ name }, index) => {
    const vector = isFolded
      ? searchVector(language, sql.ref(name), sql.ref(foldedName(name)))
      : sql`to_tsvector(${sql.lit(language)}::regconfig, coalesce(${sql.ref(name)}, ''))`;
    return sql`setweight(${vector}, ${sql.lit('ABCD'.charAt(Math.min(index, 3)))})`;
  });
  return sql`(${sql.join(vectors, sql` || `)})`;
}
