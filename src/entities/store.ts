/**
 * Entities, each operation one guarded statement. Every function takes a Permit, so nothing here can be asked without having been
 * allowed; a permit for own rows puts the owner into the WHERE. Fields travel as JSON text and are never parsed.
 */
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Permit } from '../authn/principal.ts';
import { writing } from '../database/failure.ts';
import { prepare, type ValueOf } from '../database/statement.ts';
import type { Database } from '../database/tables.ts';

export interface EntityRow {
  name: string;
  key: string;
  version: string;
  createdAt: Date;
  createdBy: string;
  updatedAt: Date;
  updatedBy: string;
  /** JSON text, digit for digit. */
  fields: string;
}

/** Builds statements and runs none: these are prepared before there is a database. */
const builder = new Kysely<Database>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

const columns = [
  'name',
  'key',
  'version',
  'created_at as createdAt',
  'created_by as createdBy',
  'updated_at as updatedAt',
  'updated_by as updatedBy',
  sql<string>`fields::text`.as('fields'),
] as const;

interface Place extends Record<string, unknown> {
  name: string;
  key: string;
  /** The user whose rows alone may be touched, or null for any row. */
  owner: string | null;
}

/** The row at (name, key) that the permit covers. */
const there = (value: ValueOf<Place>) =>
  sql<boolean>`name = ${value('name')} and key = ${value('key')}::bigint and (${value('owner')}::text is null or created_by = ${value('owner')})`;

const insertOne = prepare<{ name: string; fields: string; user: string }, EntityRow>('entity.insert', (value) =>
  builder
    .insertInto('entity')
    .values({ name: value('name'), fields: sql`${value('fields')}::jsonb`, created_by: value('user'), updated_by: value('user') })
    .returning(columns),
);

const findOne = prepare<Place, EntityRow>('entity.find', (value) => builder.selectFrom('entity').where(there(value)).select(columns));

/** Versions the caller accepts, as an array; null accepts any. */
type Versions = string[] | null;

const updateOne = prepare<Place & { patch: string; user: string; versions: Versions; limit: number }, EntityRow>('entity.update', (value) =>
  builder
    .updateTable('entity')
    .where(there(value as ValueOf<Place>))
    .where(sql<boolean>`(${value('versions')}::bigint[] is null or version = any(${value('versions')}))`)
    .where(sql<boolean>`octet_length(json_merge_patch(fields, ${value('patch')}::jsonb)::text) <= ${value('limit')}`)
    .set({
      fields: sql`json_merge_patch(fields, ${value('patch')}::jsonb)`,
      version: sql`version + 1`,
      updated_at: sql`now()`,
      updated_by: value('user'),
    })
    .returning(columns),
);

const deleteOne = prepare<Place & { versions: Versions }, { key: string }>('entity.delete', (value) =>
  builder
    .deleteFrom('entity')
    .where(there(value as ValueOf<Place>))
    .where(sql<boolean>`(${value('versions')}::bigint[] is null or version = any(${value('versions')}))`)
    .returning('key'),
);

const placeOf = (permit: Permit<'read' | 'update' | 'delete'>, key: string): Place => ({
  name: permit.entity,
  key,
  owner: permit.ownOnly ? permit.userName : null,
});

/** Stores new fields (JSON text of an object) and returns the row. */
export async function insert(pool: Pool, permit: Permit<'create'>, fields: string): Promise<EntityRow> {
  const [row] = await writing(insertOne(pool, { name: permit.entity, fields, user: permit.userName }));
  if (!row) throw new Error('insert returned no row');
  return row;
}

/** The entity, or undefined when there is none that the permit covers. */
export async function find(pool: Pool, permit: Permit<'read'>, key: string): Promise<EntityRow | undefined> {
  const [row] = await findOne(pool, placeOf(permit, key));
  return row;
}

/**
 * Merges `patch` (JSON text) into the fields as RFC 7396 says, if the version is one of `versions` (null: any) and the result is at most
 * `limitBytes` of JSON. Undefined when nothing was changed; {@link versionOf} tells why.
 */
export async function update(
  pool: Pool,
  permit: Permit<'update'>,
  key: string,
  change: { patch: string; versions: Versions; limitBytes: number },
): Promise<EntityRow | undefined> {
  const { patch, versions, limitBytes } = change;
  const [row] = await writing(updateOne(pool, { ...placeOf(permit, key), patch, versions, limit: limitBytes, user: permit.userName }));
  return row;
}

/** Deletes the entity if its version is one of `versions` (null: any); false when nothing was deleted. */
export async function remove(pool: Pool, permit: Permit<'delete'>, key: string, versions: Versions): Promise<boolean> {
  const rows = await writing(deleteOne(pool, { ...placeOf(permit, key), versions }));
  return rows.length > 0;
}

const findVersion = prepare<Place, { version: string }>('entity.version', (value) =>
  builder.selectFrom('entity').where(there(value)).select('version'),
);

/** The present version of a row that the permit covers; undefined when there is none. */
export async function versionOf(pool: Pool, permit: Permit<'update' | 'delete'>, key: string): Promise<string | undefined> {
  const [row] = await findVersion(pool, placeOf(permit, key));
  return row?.version;
}
