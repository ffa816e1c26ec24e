/**
 * Creates and updates of several requests in one statement each, audited in the same transaction. A row goes in as JSON, its fields or its
 * patch spliced in as they came.
 */
import { sql } from 'kysely';
import { eventsOfWritten } from '../audit/store.ts';
import { prepareGrouped } from '../database/driver/write-group.ts';
import { areLight } from './heavy.ts';
import { columnList, type EntityRow } from './row.ts';

const auditColumns = sql`"userName" text, "sessionId" uuid, "requestId" text, address text, "userAgent" text`;
const auditNames = sql`"userName", "sessionId", "requestId", address, "userAgent"`;

/** The event of each written row, with what came in for it under the same number. */
const noted = (event: 'entity.created' | 'entity.updated') =>
  eventsOfWritten(event, (name) => sql.ref(name), sql`written join input using (n)`);

/** The key is drawn before the row is written, because it tells afterwards which row came of which request. */
export const insertMany = prepareGrouped<EntityRow>(
  'entity.insert-many',
  (rows) => sql`
    with input as materialized (
      select nextval('entity_key_seq') as key, *
      from rows from (jsonb_to_recordset(${rows}::jsonb) as (name text, fields jsonb, ${auditColumns}))
        with ordinality as input (name, fields, ${auditNames}, n)
    ), inserted as (
      insert into entity (name, key, fields, created_by, updated_by) overriding system value
      select name, key, fields, "userName", "userName" from input
      returning *
    ), written as (
      select n, inserted.* from inserted join input using (key)
    ), noted as (${noted('entity.created')})
    select n, ${columnList} from written`,
);

/**
 * Leaves out rows that another transaction is changing, rows that are heavy, and all but one of the requests that change the same row.
 */
export const updateMany = prepareGrouped<EntityRow>(
  'entity.update-many',
  (rows) => sql`
    with input as materialized (
      select *
      from rows from (jsonb_to_recordset(${rows}::jsonb)
        as (name text, key bigint, owner text, versions bigint[], patch jsonb, "limit" int, ${auditColumns}))
        with ordinality as input (name, key, owner, versions, patch, "limit", ${auditNames}, n)
    ), merged as materialized (
      -- One by one, by the index: the planner has no idea that there are few.
      select n, found.*, "limit", "userName" from input cross join lateral (
        select entity.name, entity.key, json_merge_patch(entity.fields, patch) as fields from entity
        where entity.name = input.name and entity.key = input.key
          and (owner is null or created_by = owner) and (versions is null or version = any(versions))
          and ${areLight(sql`entity.fields`)}
        for no key update skip locked
      ) as found
    ), written as (
      update entity set fields = merged.fields, version = version + 1, updated_at = now(), updated_by = "userName"
      from merged
      where entity.name = merged.name and entity.key = merged.key and octet_length(merged.fields::text) <= "limit"
      returning n, entity.*
    ), noted as (${noted('entity.updated')})
    select n, ${columnList} from written`,
);

/** What a batch takes for one request: the values by name, and JSON text under `member`. There must be at least one value. */
export function rowOf(values: object, member: 'fields' | 'patch', text: string): string {
  return `${JSON.stringify(values).slice(0, -1)},"${member}":${text}}`;
}
