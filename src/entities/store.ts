/**
 * Entities, each operation one guarded statement. Every function takes a Permit, so nothing here can be asked without having been
 * allowed; a permit for own rows puts the owner into the WHERE. Fields travel as JSON text and are never parsed.
 */
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { audited, type AuditValues, type Origin } from '../audit/store.ts';
import type { Permit } from '../rights/permit.ts';
import type { WriteGroup } from '../database/driver/write-group.ts';
import { withUnknownOutcome } from '../database/failure.ts';
import { builder, prepare, type Executor, type ValueOf } from '../database/driver/prepared.ts';
import type { Action } from '../database/tables.ts';
import { rowOf } from './grouped-writes.ts';
import { areLight, areLightToRead } from './heavy.ts';
import { columnList, columns, rowColumns, type EntityRow } from './row.ts';

interface Place extends Record<string, unknown> {
  name: string;
  key: string;
  /** The user whose rows alone may be touched, or null for any row. */
  owner: string | null;
}

/** The row at (name, key) that the permit covers. */
const matchesKey = (value: ValueOf<Place>) =>
  sql<boolean>`name = ${value('name')} and key = ${value('key')}::bigint and (${value('owner')}::text is null or created_by = ${value('owner')})`;

interface Claim extends Record<string, unknown> {
  /** The Idempotency-Key, bare. */
  key: string;
  /** SHA-256 of the body. */
  fingerprint: Buffer;
  fields: string;
}

/** Inserts unless the key is taken: the row says so once it is there, the lock as long as another statement is about to write it. */
const insertFirst = prepare<AuditValues & Claim & { name: string }, EntityRow>('entity.insert-keyed', (value) => {
  const [user, name, key] = [value('userName'), value('name'), value('key')];
  const lock = sql`hashtextextended(jsonb_build_array(${user}::text, ${name}::text, ${key}::text)::text, 0)`;
  const statement = sql`
    insert into entity (name, fields, created_by, updated_by)
    select ${name}, ${value('fields')}::jsonb, ${user}, ${user}
    where pg_try_advisory_xact_lock(${lock})
      and not exists (select from idempotency where user_name = ${user} and entity = ${name} and key = ${key})
    returning ${columnList}`;
  const claim = sql`
    insert into idempotency (user_name, entity, key, fingerprint, entity_key)
    select ${user}, name, ${key}, ${value('fingerprint')}, key from written`;
  return audited('entity.created', statement, value, claim);
});

const findOne = prepare<Place, EntityRow>('entity.find-heavy', (value) =>
  builder.selectFrom('entity').where(matchesKey(value)).select(columns).compile(),
);

/** The row of an entity; null in place of fields that are heavy. */
export type LightRow = EntityRow | (Omit<EntityRow, 'fields'> & { fields: null });

const findLightOne = prepare<Place, LightRow>('entity.find', (value) =>
  builder
    .selectFrom('entity')
    .where(matchesKey(value))
    .select([...rowColumns, sql<string | null>`case when ${areLightToRead(sql`fields`)} then fields::text end`.as('fields')])
    .compile(),
);

/** Versions the caller accepts; null accepts any. */
export type Versions = string[] | null;

type GuardedValues = AuditValues & Place & { versions: Versions };

/** The row at the place, if its version is an accepted one. */
const guarded = (value: ValueOf<GuardedValues>) =>
  sql<boolean>`${matchesKey(value)} and (${value('versions')}::bigint[] is null or version = any(${value('versions')}))`;

/** Merges once, and again only where another transaction has changed the row meanwhile. */
const updateOne = prepare<GuardedValues & { patch: string; limit: number }, EntityRow>('entity.update', (value) => {
  const statement = sql`
    with merged as materialized (
      select name as merged_name, key as merged_key, json_merge_patch(fields, ${value('patch')}::jsonb) as result
      from entity where ${guarded(value)} for no key update
    )
    update entity set fields = result, version = version + 1, updated_at = now(), updated_by = ${value('userName')}
    from merged where name = merged_name and key = merged_key and octet_length(result::text) <= ${value('limit')}
    returning ${columnList}`;
  return audited('entity.updated', statement, value);
});

const deleteOne = prepare<GuardedValues, { key: string }>('entity.delete', (value) =>
  audited('entity.deleted', builder.deleteFrom('entity').where(guarded(value)).returning(['name', 'key', 'version']), value),
);

const auditValues = (permit: Permit<Action>, origin: Origin): AuditValues => ({
  userName: permit.userName,
  sessionId: permit.sessionId,
  requestId: origin.requestId,
  address: origin.address,
  userAgent: origin.userAgent ?? null,
});

const placeOf = (permit: Permit<'read' | 'update' | 'delete'>, key: string): Place => ({
  name: permit.entity,
  key,
  owner: permit.ownOnly ? permit.userName : null,
});

/** Stores new fields (JSON text of an object) and returns the row. `insertRow` runs the statement, alone or together with other requests. */
export async function insertEntity(
  insertRow: WriteGroup<EntityRow>['run'],
  permit: Permit<'create'>,
  origin: Origin,
  fields: string,
): Promise<EntityRow> {
  const row = await withUnknownOutcome(insertRow(rowOf({ ...auditValues(permit, origin), name: permit.entity }, 'fields', fields)));
  if (!row) throw new Error('insert returned no row');
  return row;
}

/**
 * Like {@link insertEntity}, and keeps what was created under the claim's key. Undefined when the key is taken already; a unique violation of
 * `idempotency_pkey`, with nothing written, when another statement took it meanwhile.
 */
export async function insertEntityWithKey(
  pool: Pool,
  permit: Permit<'create'>,
  origin: Origin,
  claim: { key: string; fingerprint: Buffer; fields: string },
): Promise<EntityRow | undefined> {
  const [row] = await withUnknownOutcome(insertFirst(pool, { ...auditValues(permit, origin), name: permit.entity, ...claim }));
  return row;
}

/** The entity, or undefined when there is none that the permit covers. */
export async function findEntity(pool: Pool, permit: Permit<'read'>, key: string): Promise<EntityRow | undefined> {
  const [row] = await findOne(pool, placeOf(permit, key));
  return row;
}

/** Like {@link findEntity}, without the fields where these are heavy, so that it costs little on a connection that requests share. */
export async function findLight(reads: Executor, permit: Permit<'read'>, key: string): Promise<LightRow | undefined> {
  const [row] = await findLightOne(reads, placeOf(permit, key));
  return row;
}

export interface Merge {
  /** JSON text of an object. */
  patch: string;
  /** The versions that the caller accepts. */
  versions: Versions;
  /** The most that the merged fields may be, in bytes of JSON. */
  limitBytes: number;
}

/** Like {@link updateStoredEntity}, together with other requests. Undefined also for a heavy entity, and while another request is changing it. */
export async function updateGrouped(
  updates: WriteGroup<EntityRow>,
  permit: Permit<'update'>,
  origin: Origin,
  key: string,
  { patch, versions, limitBytes }: Merge,
): Promise<EntityRow | undefined> {
  const values = { ...auditValues(permit, origin), ...placeOf(permit, key), versions, limit: limitBytes };
  return await withUnknownOutcome(updates.run(rowOf(values, 'patch', patch)));
}

/**
 * Merges `patch` into the fields as RFC 7396 says, if the version is one of `versions` (null: any) and the result is at most
 * `limitBytes` of JSON. Undefined when nothing was changed; {@link previewUpdate} tells why.
 */
export async function updateStoredEntity(
  pool: Pool,
  permit: Permit<'update'>,
  origin: Origin,
  key: string,
  { patch, versions, limitBytes }: Merge,
): Promise<EntityRow | undefined> {
  const [row] = await withUnknownOutcome(
    updateOne(pool, { ...auditValues(permit, origin), ...placeOf(permit, key), patch, versions, limit: limitBytes }),
  );
  return row;
}

/** Deletes the entity if its version is one of `versions` (null: any); false when nothing was deleted. */
export async function deleteEntity(
  pool: Pool,
  permit: Permit<'delete'>,
  origin: Origin,
  key: string,
  versions: Versions,
): Promise<boolean> {
  const rows = await withUnknownOutcome(deleteOne(pool, { ...auditValues(permit, origin), ...placeOf(permit, key), versions }));
  return rows.length > 0;
}

const previewOne = prepare<Place & { patch: string; light: boolean }, { version: string; fields: string | null }>(
  'entity.preview',
  (value) => {
    const isWanted = sql<boolean>`not ${value('light')}::boolean or ${areLight(sql`fields`)}`;
    return builder
      .selectFrom('entity')
      .where(matchesKey(value as unknown as ValueOf<Place>))
      .select([
        'version',
        sql<string | null>`case when ${isWanted} then json_merge_patch(fields, ${value('patch')}::jsonb)::text end`.as('fields'),
      ])
      .compile();
  },
);

/**
 * What {@link updateStoredEntity} would make of a row that the permit covers, and its present version; undefined when there is none. With `light` there are no
 * fields for a heavy row.
 */
export async function previewUpdate(
  pool: Pool,
  permit: Permit<'update'>,
  key: string,
  patch: string,
  light: boolean,
): Promise<{ version: string; fields: string | null } | undefined> {
  const [row] = await previewOne(pool, { ...placeOf(permit, key), patch, light });
  return row;
}

const findVersion = prepare<Place, { version: string }>('entity.version', (value) =>
  builder.selectFrom('entity').where(matchesKey(value)).select('version').compile(),
);

/** The present version of a row that the permit covers; undefined when there is none. */
export async function versionOf(pool: Pool, permit: Permit<'delete'>, key: string): Promise<string | undefined> {
  const [row] = await findVersion(pool, placeOf(permit, key));
  return row?.version;
}
