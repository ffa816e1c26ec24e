/**
 * Creates and updates of several requests in one statement each, audited in the same transaction. A row goes in as JSON, its fields or its
 * patch spliced in as they came.
 */
import { sql } from 'kysely';
import type { Origin } from '../audit/store.ts';
import type { Permit } from '../authn/principal.ts';
import { prepareBatch } from '../database/batch.ts';
import type { Action } from '../database/tables.ts';
import type { EntityRow } from './store.ts';

const columns = sql.raw(`written.name, written.key, version, created_at as "createdAt", created_by as "createdBy",
  updated_at as "updatedAt", updated_by as "updatedBy", written.fields::text as fields`);

/** The audit event of each written row, with what came in for it under the same number. */
const noted = (event: 'entity.created' | 'entity.updated') => sql`
  insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
  select ${sql.lit(event)}, 'ok', user_name, session_id, request_id, address, user_agent,
    jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', version)
  from written join input using (n)`;

/** The key is drawn before the row is written, because it tells afterwards which row came of which request. */
export const insertMany = prepareBatch<EntityRow>(
  'entity.insert',
  (rows) => sql`
    with input as materialized (
      select nextval('entity_key_seq') as key, *
      from rows from (jsonb_to_recordset(${rows}::jsonb)
        as (name text, fields jsonb, user_name text, session_id uuid, request_id text, address text, user_agent text))
        with ordinality as input (name, fields, user_name, session_id, request_id, address, user_agent, n)
    ), inserted as (
      insert into entity (name, key, fields, created_by, updated_by) overriding system value
      select name, key, fields, user_name, user_name from input
      returning *
    ), written as (
      select n, inserted.* from inserted join input using (key)
    ), noted as (${noted('entity.created')})
    select n, ${columns} from written`,
);

/** Rows that somebody else is changing are left alone, and so is all but one of the requests that change the same row. */
export const updateMany = prepareBatch<EntityRow>(
  'entity.update-together',
  (rows) => sql`
    with input as materialized (
      select * from rows from (jsonb_to_recordset(${rows}::jsonb)
        as (name text, key bigint, owner text, versions bigint[], patch jsonb, bytes int,
          user_name text, session_id uuid, request_id text, address text, user_agent text))
        with ordinality as input (name, key, owner, versions, patch, bytes, user_name, session_id, request_id, address, user_agent, n)
    ), merged as materialized (
      -- One by one, by the index: the planner has no idea that there are few.
      select n, found.*, bytes, user_name from input cross join lateral (
        select entity.name, entity.key, json_merge_patch(entity.fields, patch) as fields from entity
        where entity.name = input.name and entity.key = input.key
          and (owner is null or created_by = owner) and (versions is null or version = any(versions))
        for no key update skip locked
      ) as found
    ), written as (
      update entity set fields = merged.fields, version = version + 1, updated_at = now(), updated_by = user_name
      from merged
      where entity.name = merged.name and entity.key = merged.key and octet_length(merged.fields::text) <= bytes
      returning n, entity.*
    ), noted as (${noted('entity.updated')})
    select n, ${columns} from written`,
);

/** The row that a statement gets for a request: who asks, the `members` that are its own, and JSON text as its fields or its patch. */
export function rowOf(permit: Permit<Action>, origin: Origin, members: object, spliced: 'fields' | 'patch', text: string): string {
  const row = {
    name: permit.entity,
    user_name: permit.userName,
    session_id: permit.sessionId,
    request_id: origin.requestId,
    address: origin.address,
    user_agent: origin.userAgent,
    ...members,
  };
  return `${JSON.stringify(row).slice(0, -1)},"${spliced}":${text}}`;
}
