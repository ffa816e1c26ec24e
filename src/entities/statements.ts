/**
 * The statements on the table `entity` that serve one request. Those that serve several are in `grouped-writes.ts`. Fields travel as JSON
 * text and are never parsed.
 */
import { sql } from 'kysely';
import { audited, type AuditValues } from '../audit/store.ts';
import { builder, prepare, type ValueOf } from '../database/driver/prepared.ts';
import { areLight, areLightToRead } from './heavy.ts';
import { columnList, columns, rowColumns, type EntityRow } from './row.ts';

export interface Place extends Record<string, unknown> {
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
export const insertFirst = prepare<AuditValues & Claim & { name: string }, EntityRow>('entity.insert-keyed', (value) => {
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

export const findOne = prepare<Place, EntityRow>('entity.find-heavy', (value) =>
  builder.selectFrom('entity').where(matchesKey(value)).select(columns).compile(),
);

/** The row of an entity; null in place of fields that are heavy. */
export type LightRow = EntityRow | (Omit<EntityRow, 'fields'> & { fields: null });

export const findLightOne = prepare<Place, LightRow>('entity.find', (value) =>
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
export const updateOne = prepare<GuardedValues & { patch: string; limit: number }, EntityRow>('entity.update', (value) => {
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

export const deleteOne = prepare<GuardedValues, { key: string }>('entity.delete', (value) =>
  audited('entity.deleted', builder.deleteFrom('entity').where(guarded(value)).returning(['name', 'key', 'version']), value),
);

export const previewOne = prepare<Place & { patch: string; light: boolean }, { version: string; fields: string | null }>(
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

export const findVersion = prepare<Place, { version: string }>('entity.version', (value) =>
  builder.selectFrom('entity').where(matchesKey(value)).select('version').compile(),
);
