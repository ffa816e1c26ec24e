/**
 * SQL that writes companion rows beside the rows of `entity`, in the same statement. The values are those of `values.ts`; a statement gets them as members
 * of its input.
 */
import { sql, type RawBuilder } from 'kysely';
import { inputType, storedValue } from './columns.ts';
import type { Companion, CompanionSearch } from './layout.ts';

/** SQL: the companion table. */
export const companionTable = ({ table }: Pick<Companion, 'table'>): RawBuilder<unknown> => sql.table(`entity_data.${table}`);

/** The values of a row as columns of a statement's input, each with its SQL type there; empty for a table of keys only. */
export function inputColumns({ columns, search }: Companion): { name: RawBuilder<unknown>; type: RawBuilder<unknown> }[] {
  const texts = search?.texts ?? [];
  return [
    ...columns.map((column) => ({ name: sql.ref(column.name), type: inputType(column) })),
    ...texts.map(({ name }) => ({ name: sql.ref(name), type: sql`text` })),
  ];
}

/** SQL: the table `written` with the values of its one row, which are the members of `values`, a JSON object. */
export function writtenWith(companion: Companion, values: RawBuilder<unknown>): RawBuilder<unknown> {
  const columns = inputColumns(companion);
  if (columns.length === 0) return sql.ref('written');
  return sql`written cross join jsonb_to_record(${values}::jsonb) as input (${sql.join(columns.map(({ name, type }) => sql`${name} ${type}`))})`;
}

interface StoredColumn {
  name: RawBuilder<unknown>;
  value: RawBuilder<unknown>;
}

/** The columns beside the key, each with the value that it stores of an input row. */
function storedColumns({ columns, search }: Companion): StoredColumn[] {
  const stored = columns.map((column) => ({ name: sql.ref(column.name), value: storedValue(column, sql.ref(column.name)) }));
  return search ? [...stored, { name: sql.ref('search'), value: searchVector(search) }] : stored;
}

function searchVector({ texts, language }: CompanionSearch): RawBuilder<unknown> {
  const vectors = texts.map(({ name }, index) => {
    const weight = sql.lit('ABCD'.charAt(Math.min(index, 3)));
    return sql`setweight(to_tsvector(${sql.lit(language)}::regconfig, coalesce(${sql.ref(name)}, '')), ${weight})`;
  });
  return sql`(${sql.join(vectors, sql` || `)})`;
}

/**
 * SQL: inserts the companion rows of new entities. `rows` are the tables `written`, which has the keys, and the input. The rows are in the order of the
 * first unique index, so that statements which conflict with each other in several rows do not wait in a circle.
 */
export function insertRows(companion: Companion, rows: RawBuilder<unknown>): RawBuilder<unknown> {
  if (companion.state === 'building') return upsertRows(companion, rows);
  const [unique] = companion.uniques;
  const order = unique ? sql` order by ${sql.join(unique.columns.map((name) => sql.ref(name)))}` : sql``;
  return sql`${insertion(companion, rows)}${order}`;
}

/**
 * SQL: brings the companion rows of changed entities up to date. It writes only the rows with another value than before, which it finds one by one in the
 * primary key. Undefined for a table of keys only.
 *
 * The caller has locked the entities and knows their versions, so nothing else changes their companion rows meanwhile.
 */
export function updateRows(companion: Companion, rows: RawBuilder<unknown>): RawBuilder<unknown> | undefined {
  if (companion.state === 'building') return upsertRows(companion, rows);
  const stored = storedColumns(companion);
  if (stored.length === 0) return undefined;
  const table = companionTable(companion);
  const names = sql.join(stored.map(({ name }) => name));
  const computed = sql.join(stored.map(({ name }) => sql`computed.${name}`));
  return sql`
    update ${table} as companion set ${sql.join(stored.map(({ name }) => sql`${name} = computed.${name}`))}
    from (select written.key, ${sql.join(stored.map(({ name, value }) => sql`${value} as ${name}`))} from ${rows}) as computed
    cross join lateral (
      select ctid from ${table} where key = computed.key and row(${names}) is distinct from row(${computed}) offset 0
    ) as present
    where companion.ctid = present.ctid`;
}

/** While the table is built, the building process may have committed the row of an entity after the snapshot of this statement. */
function upsertRows(companion: Companion, rows: RawBuilder<unknown>): RawBuilder<unknown> {
  const names = storedColumns(companion).map(({ name }) => name);
  if (names.length === 0) return sql`${insertion(companion, rows)} on conflict (key) do nothing`;
  const [present, excluded] = ['present', 'excluded'].map((table) => sql.join(names.map((name) => sql`${sql.ref(table)}.${name}`)));
  const isDifferent = sql`row(${present}) is distinct from row(${excluded})`;
  return sql`${insertion(companion, rows, sql` as present`)} on conflict (key) do update
    set ${sql.join(names.map((name) => sql`${name} = excluded.${name}`))} where ${isDifferent}`;
}

function insertion(companion: Companion, rows: RawBuilder<unknown>, alias: RawBuilder<unknown> = sql``): RawBuilder<unknown> {
  const stored = storedColumns(companion);
  const names = [sql.ref('key'), ...stored.map(({ name }) => name)];
  const values = [sql`written.key`, ...stored.map(({ value }) => value)];
  return sql`insert into ${companionTable(companion)}${alias} (${sql.join(names)}) select ${sql.join(values)} from ${rows}`;
}

/** SQL: deletes the companion row of the entity with this key, also one that was committed after the snapshot of the statement. */
export function deleteRow({ table }: Companion, key: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`entity_companion_delete(${sql.lit(table)}, ${key})`;
}
