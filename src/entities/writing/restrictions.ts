/** Finds what restricts a deletion, before a first portion of what is deleted along with it goes. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { inSchema } from '../companion/table.ts';
import type { Database } from '../../database/tables.ts';
import { referrersAlong, type Referrer } from './referrers.ts';
import { keysByName, maximumVictims } from './still-referenced.ts';

/**
 * By name, the entities that restrict the deletion of the entity, or of one that is deleted along with it, unless they are deleted along themselves: at most
 * 1,001 of each reference. It is one statement, in proportion to all of these entities.
 */
export async function findRestrictions(db: Kysely<Database>, name: string, key: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const referrers = await referrersAlong(db, name);
  const names = [...referrers.keys()];
  const table = (of: string) => sql.id(`deleted${names.indexOf(of)}`);
  const referring = ({ companion }: Referrer, column: string, to: string): RawBuilder<unknown> =>
    sql`select key from ${inSchema(companion.table)} where ${sql.ref(column)} in (select key from ${table(to)})`;
  const all = [...referrers].flatMap(([to, each]) =>
    each.flatMap((referrer) => referrer.references.map((reference) => ({ to, referrer, reference }))),
  );
  const tables = names.map((of) => {
    const ways = all.filter(({ referrer, reference }) => referrer.name === of && reference.onDelete === 'cascade');
    const keys =
      of === name
        ? [sql`select ${key}::bigint as key`]
        : ways.map(({ referrer, reference, to }) => referring(referrer, reference.column, to));
    return sql`${table(of)} as materialized (${sql.join(keys, sql` union `)})`;
  });
  const restrictions = all.filter(({ reference }) => reference.onDelete === 'restrict');
  if (restrictions.length === 0) return new Map();
  const found = restrictions.map(({ referrer, reference, to }) => {
    const isOther = names.includes(referrer.name)
      ? sql`and not exists (select from ${table(referrer.name)} as gone where gone.key = other.key)`
      : sql``;
    return sql`select name, key from (
      select ${referrer.name}::text as name, key from (${referring(referrer, reference.column, to)}) as other where true ${isOther} limit ${maximumVictims + 1}
    ) as bounded`;
  });
  const { rows } = await sql<{ name: string; key: string }>`
    with recursive ${sql.join(tables)} ${sql.join(found, sql` union all `)}`.execute(db);
  return keysByName(rows.map((row) => ({ name: row.name, keys: [row.key] })));
}
