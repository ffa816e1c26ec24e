/** Compares the companion rows of a name, and the trash, with the entities. It is no caller's request, so it needs no permit. */
import { sql, type Kysely } from 'kysely';
import { differentRows, envelopeColumns, inputColumns } from './rows.ts';
import type { Companion } from './layout.ts';
import { inSchema } from './table.ts';
import { companionValues } from './values.ts';
import type { Database } from '../../database/tables.ts';
import { scanEntities, scanKeys, type StoredFields } from './scan.ts';
import { parseJson } from '../../json/parse-json.ts';

export interface EntityVerification {
  entities: number;
  /** Rows of the companion table. */
  rows: number;
  /** The number of entities whose rows were compared. */
  compared: number;
  /** The keys of entities without a row, or with other values in it. */
  different: string[];
}

/** Compares the numbers of rows, and the values of about `sample` entities; without it those of all. */
export async function verifyCompanion(
  db: Kysely<Database>,
  name: string,
  companion: Companion,
  sample: number | undefined,
): Promise<EntityVerification> {
  const { rows: counts } = await sql<{ entities: string; rows: string }>`
    select (select count(*) from entity where name = ${name}) as entities, (select count(*) from ${inSchema(companion.table)}) as rows`.execute(
    db,
  );
  const found = { entities: Number(counts[0]?.entities), rows: Number(counts[0]?.rows), compared: 0, different: [] as string[] };
  const keys = sample === undefined || found.rows <= sample ? undefined : await someKeys(db, companion, sample / found.rows);
  for await (const batch of keys ? scanKeys(db, name, keys) : scanEntities(db, name)) {
    found.compared += batch.length;
    found.different.push(...(await differentKeys(db, name, companion, batch)));
  }
  return found;
}

async function someKeys(db: Kysely<Database>, { table }: Companion, share: number): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`select key from ${inSchema(table)} tablesample bernoulli (${100 * share})`.execute(db);
  return rows.map(({ key }) => key);
}

/** An entity that has changed since it was read is left out. */
async function differentKeys(db: Kysely<Database>, name: string, companion: Companion, batch: readonly StoredFields[]): Promise<string[]> {
  const rows = batch.map(({ key, version, fields }) => ({ key, version, ...companionValues(companion, parseJson(fields)) }));
  const columns = sql.join([sql`key bigint`, sql`version bigint`, ...inputColumns(companion)]);
  const { rows: different } = await sql<{ key: string }>`
    with unchanged as materialized (
      select ${sql.join([sql`input.*`, ...envelopeColumns(companion, 'entity')])} from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as input (${columns})
      join entity on entity.name = ${name} and entity.key = input.key and entity.version = input.version
    )
    ${differentRows(companion, sql`unchanged`)}`.execute(db);
  return different.map(({ key }) => key);
}

export interface TrashState {
  entities: number;
  /** The number of those whose time has been over for an hour. */
  late: number;
  /** The keys of up to ten that are live too. */
  live: string[];
}

/** Reads the whole trash, for `doctor`. `late` tells that housekeeping does not delete; `live` that a backup was restored in part. */
export async function verifyTrash(db: Kysely<Database>): Promise<TrashState> {
  const { rows } = await sql<{ entities: string; late: string; live: string[] }>`
    select count(*) as entities, count(*) filter (where expires_at < now() - interval '1 hour') as late,
      array(select key::text from entity_trash join entity using (name, key) order by key limit 10) as live
    from entity_trash`.execute(db);
  const [{ entities, late, live } = { entities: 0, late: 0, live: [] }] = rows;
  return { entities: Number(entities), late: Number(late), live };
}
