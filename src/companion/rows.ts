/** SQL that writes rows of a companion table. */
import { sql, type RawBuilder } from 'kysely';
import { inputType, storedValue } from './columns.ts';
import type { Companion, CompanionSearch } from './layout.ts';
import { inSchema } from './table.ts';

/** The values of a row as columns of a statement's input, each with its SQL type there. */
export function inputColumns({ columns, search }: Companion): RawBuilder<unknown>[] {
  return [
    ...columns.map((column) => sql`${sql.ref(column.name)} ${inputType(column)}`),
    ...(search?.texts ?? []).map(({ name }) => sql`${sql.ref(name)} text`),
  ];
}

/** SQL: writes a row for each row of `input`, which has `key` and the {@link inputColumns}; nothing for one that the table has already. */
export function upsertRows(companion: Companion, input: RawBuilder<unknown>): RawBuilder<unknown> {
  const stored = companion.columns.map((column) => ({ name: sql.ref(column.name), value: storedValue(column, sql.ref(column.name)) }));
  if (companion.search) stored.push({ name: sql.ref('search'), value: searchVector(companion.search) });
  const table = inSchema(companion.table);
  if (stored.length === 0) return sql`insert into ${table} (key) select key from ${input} on conflict (key) do nothing`;
  const names = stored.map(({ name }) => name);
  const row = (of: RawBuilder<unknown>) => sql`row(${sql.join(names.map((name) => sql`${of}.${name}`))})`;
  return sql`
    insert into ${table} as present (key, ${sql.join(names)}) select key, ${sql.join(stored.map(({ value }) => value))} from ${input}
    on conflict (key) do update set ${sql.join(names.map((name) => sql`${name} = excluded.${name}`))}
    where ${row(sql`present`)} is distinct from ${row(sql`excluded`)}`;
}

function searchVector({ texts, language }: CompanionSearch): RawBuilder<unknown> {
  const vectors = texts.map(
    ({ name }, index) =>
      sql`setweight(to_tsvector(${sql.lit(language)}::regconfig, coalesce(${sql.ref(name)}, '')), ${sql.lit('ABCD'.charAt(Math.min(index, 3)))})`,
  );
  return sql`(${sql.join(vectors, sql` || `)})`;
}
