/** Reads all entities of a name, to check them against a type. It is no caller's request, so it needs no permit and is not limited to rows. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '../../database/tables.ts';
import { isEnvelopeName, type EnvelopeName } from '../../filter/fields.ts';
import { envelopeColumns, envelopeValue } from '../../filter/source.ts';

export interface StoredFields {
  key: string;
  version: string;
  /** JSON text. */
  fields: string;
}

const batchRows = 1_000;
/** Bytes of a batch as PostgreSQL stores them. Compressed fields may have many times more. */
const batchBytes = 262_144;

/** The number of entities called `name`, counted up to `most` + 1. Infinity counts all, which can exceed the time limit of the pool. */
export async function countEntities(db: Kysely<Database>, name: string, most = 1_000_000): Promise<number> {
  const limit = most === Infinity ? sql`` : sql`limit ${most + 1}`;
  const { rows } = await sql<{ count: string }>`
    select count(*) as count from (select from entity where name = ${name} ${limit}) as counted`.execute(db);
  return Number(rows[0]?.count);
}

/** The number of entities called `name`, and of those among them that fulfil each of the conditions. It reads all of them. */
export async function countFulfilling(
  db: Kysely<Database>,
  name: string,
  conditions: readonly RawBuilder<boolean>[],
): Promise<{ total: number; counts: number[] }> {
  const counts = conditions.map((condition) => sql`count(*) filter (where ${condition})::int`);
  const { rows } = await sql<{ total: number; counts: number[] }>`
    select count(*)::int as total, array[${sql.join(counts)}]::int[] as counts from entity where name = ${name}`.execute(db);
  return rows[0] ?? { total: 0, counts: [] };
}

/**
 * SQL: the entities called `name` with the members called `names` alone, each different one once with its number as `rows`. The rows have the columns of `entity` that
 * these members come from.
 */
export function rowsByFields(name: string, names: readonly string[]): RawBuilder<unknown> {
  const envelope = names.filter((each): each is EnvelopeName => isEnvelopeName(each));
  const columns = envelope.map((each) => sql`${envelopeValue(each)} as ${sql.ref(envelopeColumns[each])}`);
  const members = names
    .filter((each) => !isEnvelopeName(each))
    .map((each) => sql`case when fields ? ${each} then jsonb_build_object(${each}::text, fields -> ${each}::text) else '{}'::jsonb end`);
  const fields = members.length === 0 ? sql`'{}'::jsonb` : sql.join(members, sql` || `);
  const selected = [...columns, sql`${fields} as fields`];
  const places = selected.map((_, index) => sql.lit(index + 1));
  return sql`
    select counted.*, count(*) as rows from (select ${sql.join(selected)} from entity where name = ${name}) as counted group by ${sql.join(places)}`;
}

/** The names that have entities, in their order, `most` at most. */
export async function listUsedNames(db: Kysely<Database>, most: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with recursive used as (
      (select name, 1 as place from entity order by name limit 1)
      union all
      select (select name from entity where entity.name > used.name order by name limit 1), place + 1 from used
      where used.name is not null and place < ${most}
    ) select name from used where name is not null`.execute(db);
  return rows.map(({ name }) => name);
}

/** Those entities that were changed at `at` or later, by transactions that have this number (xid8) or a later one, if given. */
export interface ChangedSince {
  at: Date;
  transaction?: string | undefined;
}

/** SQL: whether the row was changed since then. A row has the lower half of its transaction's number, and those in use are within 2^31. */
function isChanged({ at, transaction }: ChangedSince): RawBuilder<unknown> {
  if (transaction === undefined) return sql`and updated_at >= ${at}`;
  const later = sql`((xmin::text::bigint - ${transaction}::bigint) & 4294967295)`;
  return sql`and updated_at >= ${at} and ${later} < 2147483648`;
}

/**
 * The entities called `name` by key, in batches of at most 1,000 entities and about 256 KiB. `since` limits them to those that were changed
 * since then.
 */
export async function* scanEntities(db: Kysely<Database>, name: string, since?: ChangedSince): AsyncGenerator<StoredFields[]> {
  for (let after = '0'; ;) {
    const rows = await batchAfter(db, name, after, since ? isChanged(since) : sql``);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.key;
  }
}

/** Those of the entities called `name` that have one of the keys, likewise. */
export async function* scanKeys(db: Kysely<Database>, name: string, keys: readonly string[]): AsyncGenerator<StoredFields[]> {
  for (let start = 0; start < keys.length; start += batchRows) {
    const wanted = keys.slice(start, start + batchRows);
    for (let after = '0'; ;) {
      const rows = await batchAfter(db, name, after, sql`and key = any(${wanted}::bigint[])`);
      const last = rows.at(-1);
      if (!last) break;
      yield rows;
      after = last.key;
    }
  }
}

async function batchAfter(db: Kysely<Database>, name: string, after: string, condition: RawBuilder<unknown>): Promise<StoredFields[]> {
  const { rows } = await sql<StoredFields>`
    select key, version, fields::text as fields
    from (
      select key, version, fields, sum(size) over (order by key) - size as before
      from (
        select key, version, fields, pg_column_size(fields) as size from entity
        where name = ${name} and key > ${after}::bigint ${condition}
        order by key limit ${batchRows}
      ) as batch
    ) as sized
    where before < ${batchBytes} order by key`.execute(db);
  return rows;
}

/** Those of `keys` under which there is an entity called `name`. */
export async function existingKeys(db: Kysely<Database>, name: string, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{
    key: string;
  }>`select key from entity where name = ${name} and key = any(${[...new Set(keys)]}::bigint[])`.execute(db);
  return new Set(rows.map(({ key }) => key));
}
