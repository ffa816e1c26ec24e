/** Reads all entities of a name, to check them against a type. It is no caller's request, so it needs no permit and is not limited to rows. */
import { sql, type Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';

export interface StoredFields {
  key: string;
  /** JSON text. */
  fields: string;
}

const batchRows = 500;
/** Bytes of a batch as PostgreSQL stores them. Compressed fields may have many times more. */
const batchBytes = 262_144;

/** The number of entities called `name`, counted up to `most` + 1. */
export async function countEntities(db: Kysely<Database>, name: string, most = 1_000_000): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) as count from (select from entity where name = ${name} limit ${most + 1}) as counted`.execute(db);
  return Number(rows[0]?.count);
}

/**
 * The entities called `name` by key, in batches of at most 500 entities and about 256 KiB. `since` limits them to those that were changed then or
 * later.
 */
export async function* scanEntities(db: Kysely<Database>, name: string, since?: Date): AsyncGenerator<StoredFields[]> {
  for (let after = '0'; ;) {
    const rows = await batchAfter(db, name, after, since);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.key;
  }
}

async function batchAfter(db: Kysely<Database>, name: string, after: string, since: Date | undefined): Promise<StoredFields[]> {
  const changed = since ? sql`and updated_at >= ${since}` : sql``;
  const { rows } = await sql<StoredFields>`
    select key, fields::text as fields
    from (
      select key, fields, sum(size) over (order by key) - size as before
      from (
        select key, fields, pg_column_size(fields) as size from entity
        where name = ${name} and key > ${after}::bigint ${changed}
        order by key limit ${batchRows}
      ) as batch
    ) as sized
    where before < ${batchBytes} order by key`.execute(db);
  return rows;
}
