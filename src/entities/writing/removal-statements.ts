/**
 * Statements on the entities that refer to a deleted one. The type of the referring entities decides what happens to them, and not the rights of
 * the caller (decision 130). So these statements have no condition of a permit, and this folder alone runs them.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Companion, CompanionReference, CompanionValues } from '../companion/layout.ts';
import { deleteRow, inputColumns, updateRows, writtenWith } from '../companion/rows.ts';
import { inSchema } from '../companion/table.ts';
import { entityChanged, formerFields, type ChangeValues } from './changed.ts';
import { noEarlierThan } from './statements.ts';
import { moveToTrash } from '../trash.ts';

/** Of which entities are deleted. */
export interface Deleted {
  name: string;
  companion: Companion;
  /** How long they stay in the trash, as an interval; null if they do not. */
  trashKeep: string | null;
}

/** Keeps the types as they are until the end of the transaction, as statements that write entities do for themselves. */
export const holdTypes = sql`select from entity_type where false for key share`;

/** A row of the companion table of referring entities. */
export interface ReferringRow {
  key: string;
  /** The key of the entity that it refers to. */
  target: string;
}

export interface ReferringRowsRequest {
  targets: readonly string[];
  /** Keys of rows that are returned all. */
  known: readonly string[];
  /** Keys of rows that are not returned. */
  except: readonly string[];
  /** The most other rows that are returned, the newest or the oldest of them. */
  limit: number;
  order: 'newest' | 'oldest';
}

/** SQL: the rows whose reference is one of `targets`. */
export function referringRows(
  companion: Companion,
  { column }: CompanionReference,
  { targets, known, except, limit, order }: ReferringRowsRequest,
): RawBuilder<ReferringRow> {
  const rows = sql`select key, ${sql.ref(column)} as target from ${inSchema(companion.table)} where ${sql.ref(column)} = any(${targets}::bigint[])`;
  return sql<ReferringRow>`
    (${rows} and key = any(${known}::bigint[])) union all
    (${rows} and key <> all(${[...known, ...except]}::bigint[]) order by key ${order === 'newest' ? sql`desc` : sql`asc`} limit ${limit})`;
}

/** SQL: what the rows with these `keys` refer to. */
export const referredRows = (companion: Companion, { column }: CompanionReference, keys: readonly string[]) => sql<ReferringRow>`
  select key, ${sql.ref(column)} as target from ${inSchema(companion.table)}
  where key = any(${keys}::bigint[]) and ${sql.ref(column)} is not null`;

/** SQL: locks entities against all changes. */
export const lockEntities = (name: string, keys: readonly string[]) => sql<{ key: string; bytes: number }>`
  select key, bytes from entity where name = ${name} and key = any(${keys}::bigint[]) order by key for update`;

/** SQL: locks companion rows, so that no transaction can commit a reference to them. */
export const lockRows = (companion: Companion, keys: readonly string[]) => sql`
  select from ${inSchema(companion.table)} where key = any(${keys}::bigint[]) order by key for update`;

/** SQL: the fields of entities as they will be without the reference in the field `path`: null in its place. */
export const fieldsWithout = (name: string, path: readonly string[], keys: readonly string[]) => sql<{ key: string; fields: string }>`
  select key, jsonb_set(fields, ${path}::text[], 'null')::text as fields
  from entity where name = ${name} and key = any(${keys}::bigint[])`;

const valueOf = (change: ChangeValues) => (name: keyof ChangeValues) => sql`${change[name]}`;

/** SQL: puts null in place of the reference in the field `path`. `rows` has the companion row of each entity. */
export function clearReferences(
  name: string,
  companion: Companion,
  path: readonly string[],
  rows: readonly { key: string; values: CompanionValues }[],
  change: ChangeValues,
): RawBuilder<unknown> {
  const columns = sql.join([sql`key bigint`, ...inputColumns(companion)]);
  const input = JSON.stringify(rows.map(({ key, values }) => ({ key, ...values })));
  return entityChanged({
    event: 'entity.updated',
    former: { fields: sql.ref('former'), candidates: sql`jsonb_build_object(${path[0] ?? ''}::text, null)` },
    steps: sql`former as materialized (
      select key, ${formerFields('entity')} as former from entity where name = ${name} and key = any(${rows.map(({ key }) => key)}::bigint[])
    ), input as materialized (select * from jsonb_to_recordset(${input}::jsonb) as input (${columns}))`,
    written: sql`
      update entity set fields = jsonb_set(fields, ${path}::text[], 'null'), version = version + 1, updated_at = ${noEarlierThan(sql`entity.updated_at`)}, updated_by = ${change.userName}
      from input join former using (key) where entity.name = ${name} and entity.key = input.key returning entity.*, former.former`,
    value: valueOf(change),
    companion: updateRows(companion, writtenWith(companion, sql`written join input using (key)`)),
    returning: sql.ref('key'),
  });
}

/** SQL: deletes entities and their companion rows, and stores them in the trash unless `trashKeep` is null. */
export function deleteEntities(
  { name, companion, trashKeep }: Deleted,
  keys: readonly string[],
  change: ChangeValues,
): RawBuilder<unknown> {
  return entityChanged({
    event: 'entity.deleted',
    written: sql`delete from entity where name = ${name} and key = any(${keys}::bigint[]) returning entity.*`,
    value: valueOf(change),
    also: trashKeep === null ? undefined : moveToTrash(sql`${change.userName}`, sql`${trashKeep}`),
    returning: sql`key, ${deleteRow(companion, sql.ref('key'))}`,
  });
}
