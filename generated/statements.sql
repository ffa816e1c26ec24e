-- Made by `npm test -- test/database/statements.test.ts --update`. Do not edit.
-- Each statement has its name, and the room of its source.

-- Prepared statements

-- entity.delete
-- src/entities/writing
with written as (
  delete from entity
  where entity.name = $1
    and ($2::text is null or entity.created_by = $3)
    and entity.key = $4::bigint
    and ($5::bigint[] is null or entity.version = any($6))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $7), 0) = $8::bigint
    and not exists (select from entity_type where false for key share)
  returning entity.*
),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.deleted', 'ok', $9, $10::uuid, $11, $12, $13,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request)
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'deleted', $14, written.created_at,
      written.created_by, written.fields, $15, $16::uuid
    from "written"
  )
select "key"
from written;

-- entity.find
-- src/entities
select "name", "key", "version", created_at::text as "createdAt", "created_by" as "createdBy", updated_at::text as "updatedAt",
  "updated_by" as "updatedBy", case
  when case
  when pg_column_size(fields) > 32768 then false
  else pg_column_size(fields || '{}') <= 65536 end then fields::text end as "fields"
from "entity"
where entity.name = $1 and ($2::text is null or entity.created_by = $3) and entity.key = $4::bigint;

-- entity.find-heavy
-- src/entities
select "name", "key", "version", created_at::text as "createdAt", "created_by" as "createdBy", updated_at::text as "updatedAt",
  "updated_by" as "updatedBy", fields::text as "fields"
from "entity"
where entity.name = $1 and ($2::text is null or entity.created_by = $3) and entity.key = $4::bigint;

-- entity.insert-bulk
-- src/entities/writing
with input as materialized (
  select nextval('entity_key_seq') as key, * from jsonb_to_recordset($1::jsonb) as input (fields jsonb)
),
  written as (
    insert into entity (name, key, fields, created_by, updated_by) overriding system value
    select $2, key, fields, $3, $4
    from input
    where coalesce((select entity_type.revision from entity_type where entity_type.name = $5), 0) = $6::bigint
      and not exists (select from entity_type where false for key share)
    returning entity.*
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.created', 'ok', $7, $8::uuid, $9, $10, $11,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request)
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'created', $12, written.created_at,
      written.created_by, written.fields, $13, $14::uuid
    from "written"
  )
select key, version
from written;

-- entity.insert-keyed
-- src/entities/writing
with written as (
  insert into entity (name, fields, created_by, updated_by)
  select $1, $2::jsonb, $3, $4
  where pg_try_advisory_xact_lock(hashtextextended(jsonb_build_array($5::text, $6::text, $7::text, $8::text)::text, 0))
    and not exists (select from idempotency where user_name = $9 and entity = $10 and operation = $11 and key = $12)
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $13), 0) = $14::bigint
    and not exists (select from entity_type where false for key share)
  returning entity.*
),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.created', 'ok', $15, $16::uuid, $17, $18, $19,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request)
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'created', $20, written.created_at,
      written.created_by, written.fields, $21, $22::uuid
    from "written"
  ),
  also as (
    insert into idempotency (user_name, entity, operation, key, fingerprint, entity_key)
    select $23, name, $24, $25, $26, key from written
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written;

-- entity.insert-many
-- src/entities/writing
with input as materialized (
  select coalesce(given, nextval('entity_key_seq')) as key, *
  from rows from (
    jsonb_to_recordset(
      (
        case when set_config('lock_timeout', coalesce($1::text, current_setting('lock_timeout')), true) is not null then $2 end
      )::jsonb
    ) as (
      name text, given bigint, fields jsonb, "userName" text, "sessionId" uuid, "credential" text, "requestId" text,
        "address" text, "userAgent" text, "typeRevision" bigint
    )
  )
  with ordinality as input (
    name, given, fields, "userName", "sessionId", "credential", "requestId", "address", "userAgent", "typeRevision", n
  )
),
  inserted as (
    insert into entity (name, key, fields, created_by, updated_by) overriding system value
    select name, key, fields, "userName", "userName"
    from input
    where coalesce(
      (select entity_type.revision from entity_type where entity_type.name = "input"."name"), 0
    ) = "input"."typeRevision"::bigint
      and not exists (select from entity_type where false for key share)
    returning entity.*
  ),
  written as (select n, inserted.* from inserted join input using (key)),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.created', 'ok', "userName", "sessionId"::uuid, "requestId", "address", "userAgent",
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from written
    join input
    using (n)
  ),
  history as (
    insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request)
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'created', "userName",
      written.created_at, written.created_by, written.fields, "credential", "requestId"::uuid
    from written
    join input
    using (n)
  )
select n, name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written;

-- entity.lock
-- src/entities/writing
select "key"
from "entity"
where entity.name = $1
  and ($2::text is null or entity.created_by = $3)
  and entity.key = $4::bigint
  and ($5::bigint[] is null or entity.version = any($6))
  and coalesce((select entity_type.revision from entity_type where entity_type.name = $7), 0) = $8::bigint
  and not exists (select from entity_type where false for key share)
for update;

-- entity.merge-texts
-- src/entities/writing
select json_merge_patch($1::jsonb, $2::jsonb)::text as "fields";

-- entity.owned
-- src/entities/writing
select entity.name, entity.key from jsonb_to_recordset($1::jsonb) as input (name text, key bigint, owner text)
cross join lateral (
  select entity.name, entity.key from entity
  where entity.name = "input"."name"
    and ("input"."owner"::text is null or entity.created_by = "input"."owner")
    and entity.key = input.key offset 0
) as entity;

-- entity.preview
-- src/entities/writing
select "version", coalesce((select entity_type.revision from entity_type where entity_type.name = $1), 0) as "typeRevision", case
  when not $2::boolean
  or case
  when pg_column_size(fields) > 8192 then false
  else pg_column_size(fields || '{}') <= 16384 end then json_merge_patch(fields, $3::jsonb)::text end as "fields", case
  when not $4::boolean
  or case
  when pg_column_size(fields) > 8192 then false
  else pg_column_size(fields || '{}') <= 16384 end then array(
    select (fields #> array(select jsonb_array_elements_text(each.path)))::text
    from jsonb_array_elements($5::jsonb)
    with ordinality as each (path, n)
    order by n
  ) end as "present"
from "entity"
where entity.name = $6 and ($7::text is null or entity.created_by = $8) and entity.key = $9::bigint;

-- entity.replace-many
-- src/entities/writing
with input as materialized (
  select *
  from rows from (
    jsonb_to_recordset(
      (
        case when set_config('lock_timeout', coalesce($1::text, current_setting('lock_timeout')), true) is not null then $2 end
      )::jsonb
    ) as (
      name text, key bigint, owner text, version bigint, fields jsonb, "limit" int, "userName" text, "sessionId" uuid,
        "credential" text, "requestId" text, "address" text, "userAgent" text, "typeRevision" bigint
    )
  )
  with ordinality as input (
    name, key, owner, version, fields, "limit", "userName", "sessionId", "credential", "requestId", "address", "userAgent",
      "typeRevision", n
  )
),
  merged as materialized (
    select n, found.*, "limit", "userName"
    from input
    cross join lateral (
      select entity.name, entity.key, input.fields, case
        when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
      from entity
      where entity.name = "input"."name"
        and ("input"."owner"::text is null or entity.created_by = "input"."owner")
        and entity.key = input.key and entity.version = input.version
      for no key update
    ) as found
    where coalesce(
      (select entity_type.revision from entity_type where entity_type.name = "input"."name"), 0
    ) = "input"."typeRevision"::bigint
      and not exists (select from entity_type where false for key share)
  ),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at),
      updated_by = "merged"."userName"
    from merged
    where entity.name = merged.name
      and entity.key = merged.key and octet_length(merged.fields::text) <= "merged"."limit"
      and merged.n between 1 and 1000
    returning n, entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.updated', 'ok', "userName", "sessionId"::uuid, "requestId", "address", "userAgent",
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from written
    join input
    using (n)
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'updated', "userName",
      written.created_at, written.created_by, written.fields, "credential", "requestId"::uuid , change.changed, change.before
    from written
    join input
    using (n)
    cross join lateral json_changed_members("former", written.fields, (former || written.fields)) as change
  )
select n
from written;

-- entity.restore
-- src/entities/writing
with merged as materialized (
  select name, key, $1::jsonb as fields, case
    when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
  from entity
  where entity.name = $2
    and ($3::text is null or entity.created_by = $4)
    and entity.key = $5::bigint
    and ($6::bigint[] is null or entity.version = any($7))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $8), 0) = $9::bigint
    and not exists (select from entity_type where false for key share)
    and not (entity.fields = $10::jsonb and entity.fields::text = $11::jsonb::text)
  for no key update
),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at), updated_by = $12
    from merged
    where entity.name = merged.name and entity.key = merged.key and octet_length(merged.fields::text) <= $13
    returning entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.restored', 'ok', $14, $15::uuid, $16, $17, $18,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'restored', $19, written.created_at,
      written.created_by, written.fields, $20, $21::uuid , change.changed, change.before
    from "written"
    cross join lateral json_changed_members("former", written.fields, (former || $22::jsonb)) as change
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written
union all
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from (
  select entity.*
  from entity
  where entity.name = $23
    and ($24::text is null or entity.created_by = $25)
    and entity.key = $26::bigint
    and ($27::bigint[] is null or entity.version = any($28))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $29), 0) = $30::bigint
    and not exists (select from entity_type where false for key share)
    and not exists (select from merged)
    and (entity.fields = $31::jsonb and entity.fields::text = $32::jsonb::text)
    and octet_length(entity.fields::text) <= $33
) as unchanged;

-- entity.restore-always
-- src/entities/writing
with merged as materialized (
  select name, key, $1::jsonb as fields, case
    when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
  from entity
  where entity.name = $2
    and ($3::text is null or entity.created_by = $4)
    and entity.key = $5::bigint
    and ($6::bigint[] is null or entity.version = any($7))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $8), 0) = $9::bigint
    and not exists (select from entity_type where false for key share)
    and not false
  for no key update
),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at), updated_by = $10
    from merged
    where entity.name = merged.name and entity.key = merged.key and octet_length(merged.fields::text) <= $11
    returning entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.restored', 'ok', $12, $13::uuid, $14, $15, $16,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'restored', $17, written.created_at,
      written.created_by, written.fields, $18, $19::uuid , change.changed, change.before
    from "written"
    cross join lateral json_changed_members("former", written.fields, (former || $20::jsonb)) as change
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written
union all
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from (
  select entity.*
  from entity
  where entity.name = $21
    and ($22::text is null or entity.created_by = $23)
    and entity.key = $24::bigint
    and ($25::bigint[] is null or entity.version = any($26))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $27), 0) = $28::bigint
    and not exists (select from entity_type where false for key share)
    and not exists (select from merged)
    and false
    and octet_length(entity.fields::text) <= $29
) as unchanged;

-- entity.state
-- src/entities
select "version", coalesce((select entity_type.revision from entity_type where entity_type.name = $1), 0) as "typeRevision"
from "entity"
where entity.name = $2 and ($3::text is null or entity.created_by = $4) and entity.key = $5::bigint;

-- entity.trash
-- src/entities/writing
with written as (
  delete from entity
  where entity.name = $1
    and ($2::text is null or entity.created_by = $3)
    and entity.key = $4::bigint
    and ($5::bigint[] is null or entity.version = any($6))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $7), 0) = $8::bigint
    and not exists (select from entity_type where false for key share)
  returning entity.*
),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.deleted', 'ok', $9, $10::uuid, $11, $12, $13,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request)
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'deleted', $14, written.created_at,
      written.created_by, written.fields, $15, $16::uuid
    from "written"
  ),
  also as (
    insert into entity_trash (name, key, version, fields, created_at, created_by, updated_at, updated_by, deleted_by, expires_at)
    select name, key, version, fields, created_at, created_by, updated_at, updated_by, $17, now() + $18::interval
    from written
  )
select "key"
from written;

-- entity.type-revision
-- src/entities
select coalesce((select entity_type.revision from entity_type where entity_type.name = $1), 0) as "typeRevision";

-- entity.undelete
-- src/entities/writing
with trashed as (
  delete from entity_trash
  where entity_trash.name = $1
    and ($2::text is null or entity_trash.created_by = $3)
    and entity_trash.key = $4::bigint
    and entity_trash.expires_at > now()
    and entity_trash.version = any($5::bigint[])
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $6), 0) = $7::bigint
    and not exists (select from entity_type where false for key share)
  returning *, case when "entity_trash".updated_at < now() - interval '12 hours' then "entity_trash".fields end as former
),
  written as (
    insert into entity (name, key, version, fields, created_at, created_by, updated_at, updated_by) overriding system value
    select name, key, version + 1, $8::jsonb, created_at, created_by, greatest(now(), greatest(updated_at, deleted_at)), $9
    from trashed
    returning entity.*
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.restored', 'ok', $10, $11::uuid, $12, $13, $14,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'restored', $15, written.created_at,
      written.created_by, written.fields, $16, $17::uuid , change.changed, change.before
    from "written"
    cross join lateral json_changed_members(
      (select former from trashed), written.fields, ((select former from trashed) || written.fields)
    ) as change
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written;

-- entity.update
-- src/entities/writing
with merged as materialized (
  select name, key, json_merge_patch(fields, $1::jsonb) as fields, case
    when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
  from entity
  where entity.name = $2
    and ($3::text is null or entity.created_by = $4)
    and entity.key = $5::bigint
    and ($6::bigint[] is null or entity.version = any($7))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $8), 0) = $9::bigint
    and not exists (select from entity_type where false for key share)
    and not case
    when entity.fields @> jsonb_strip_nulls($10::jsonb) then (
      entity.fields = json_merge_patch(entity.fields, $11::jsonb)
        and entity.fields::text = json_merge_patch(entity.fields, $12::jsonb)::text
    )
    else false end
  for no key update
),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at), updated_by = $13
    from merged
    where entity.name = merged.name and entity.key = merged.key and octet_length(merged.fields::text) <= $14
    returning entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.updated', 'ok', $15, $16::uuid, $17, $18, $19,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'updated', $20, written.created_at,
      written.created_by, written.fields, $21, $22::uuid , change.changed, change.before
    from "written"
    cross join lateral json_changed_members("former", written.fields, $23::jsonb) as change
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written
union all
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from (
  select entity.*
  from entity
  where entity.name = $24
    and ($25::text is null or entity.created_by = $26)
    and entity.key = $27::bigint
    and ($28::bigint[] is null or entity.version = any($29))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $30), 0) = $31::bigint
    and not exists (select from entity_type where false for key share)
    and not exists (select from merged)
    and case
    when entity.fields @> jsonb_strip_nulls($32::jsonb) then (
      entity.fields = json_merge_patch(entity.fields, $33::jsonb)
        and entity.fields::text = json_merge_patch(entity.fields, $34::jsonb)::text
    )
    else false end
    and octet_length(entity.fields::text) <= $35
) as unchanged;

-- entity.update-always
-- src/entities/writing
with merged as materialized (
  select name, key, json_merge_patch(fields, $1::jsonb) as fields, case
    when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
  from entity
  where entity.name = $2
    and ($3::text is null or entity.created_by = $4)
    and entity.key = $5::bigint
    and ($6::bigint[] is null or entity.version = any($7))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $8), 0) = $9::bigint
    and not exists (select from entity_type where false for key share)
    and not false
  for no key update
),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at), updated_by = $10
    from merged
    where entity.name = merged.name and entity.key = merged.key and octet_length(merged.fields::text) <= $11
    returning entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.updated', 'ok', $12, $13::uuid, $14, $15, $16,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'updated', $17, written.created_at,
      written.created_by, written.fields, $18, $19::uuid , change.changed, change.before
    from "written"
    cross join lateral json_changed_members("former", written.fields, $20::jsonb) as change
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written
union all
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from (
  select entity.*
  from entity
  where entity.name = $21
    and ($22::text is null or entity.created_by = $23)
    and entity.key = $24::bigint
    and ($25::bigint[] is null or entity.version = any($26))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $27), 0) = $28::bigint
    and not exists (select from entity_type where false for key share)
    and not exists (select from merged)
    and false
    and octet_length(entity.fields::text) <= $29
) as unchanged;

-- entity.update-many
-- src/entities/writing
with input as materialized (
  select *
  from rows from (
    jsonb_to_recordset(
      (
        case when set_config('lock_timeout', coalesce($1::text, current_setting('lock_timeout')), true) is not null then $2 end
      )::jsonb
    ) as (
      name text, key bigint, owner text, versions bigint[], patch jsonb, merged jsonb, "limit" int, "userName" text,
        "sessionId" uuid, "credential" text, "requestId" text, "address" text, "userAgent" text, "typeRevision" bigint
    )
  )
  with ordinality as input (
    name, key, owner, versions, patch, merged, "limit", "userName", "sessionId", "credential", "requestId", "address",
      "userAgent", "typeRevision", n
  )
),
  merged as materialized (
    select n, found.*, "limit", "userName"
    from input
    cross join lateral (
      select entity.name, entity.key, coalesce(input.merged, json_merge_patch(entity.fields, patch)) as fields, case
        when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
      from entity
      where entity.name = "input"."name"
        and ("input"."owner"::text is null or entity.created_by = "input"."owner")
        and entity.key = input.key and (input.versions is null or entity.version = any(input.versions))
        and case
        when pg_column_size(entity.fields) > 8192 then false
        else pg_column_size(entity.fields || '{}') <= 16384 end
        and not (
          case
            when input.merged is null then case
            when entity.fields @> jsonb_strip_nulls(input.patch) then (
              entity.fields = json_merge_patch(entity.fields, input.patch)
                and entity.fields::text = json_merge_patch(entity.fields, input.patch)::text
            )
            else false end
            else (entity.fields = input.merged and entity.fields::text = input.merged::text) end
        )
      for no key update skip locked
    ) as found
    where coalesce(
      (select entity_type.revision from entity_type where entity_type.name = "input"."name"), 0
    ) = "input"."typeRevision"::bigint
      and not exists (select from entity_type where false for key share)
  ),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at),
      updated_by = "merged"."userName"
    from merged
    where entity.name = merged.name
      and entity.key = merged.key and octet_length(merged.fields::text) <= "merged"."limit"
      and merged.n between 1 and 1000
    returning n, entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.updated', 'ok', "userName", "sessionId"::uuid, "requestId", "address", "userAgent",
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from written
    join input
    using (n)
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'updated', "userName",
      written.created_at, written.created_by, written.fields, "credential", "requestId"::uuid , change.changed, change.before
    from written
    join input
    using (n)
    cross join lateral json_changed_members("former", written.fields, coalesce(patch, former || input.merged)) as change
  )
select n, name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written
union all
select n, name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from (
  select n, found.*
  from (
    select *
    from input
    where n not in (select n from merged)
      and coalesce(
        (select entity_type.revision from entity_type where entity_type.name = "input"."name"), 0
      ) = "input"."typeRevision"::bigint
      and not exists (select from entity_type where false for key share)
    offset 0
  ) as input
  cross join lateral (
    select entity.*
    from entity
    where entity.name = "input"."name"
      and ("input"."owner"::text is null or entity.created_by = "input"."owner")
      and entity.key = input.key and (input.versions is null or entity.version = any(input.versions))
      and case
      when pg_column_size(entity.fields) > 8192 then false
      else pg_column_size(entity.fields || '{}') <= 16384 end
      and (
        case
          when input.merged is null then case
          when entity.fields @> jsonb_strip_nulls(input.patch) then (
            entity.fields = json_merge_patch(entity.fields, input.patch)
              and entity.fields::text = json_merge_patch(entity.fields, input.patch)::text
          )
          else false end
          else (entity.fields = input.merged and entity.fields::text = input.merged::text) end
      )
      and octet_length(entity.fields::text) <= "input"."limit"
    offset 0
  ) as found
) as unchanged;

-- history.as-of
-- src/entities/history
select "id", "name", "key", "version", "operation", created_at::text as "createdAt", "created_by" as "createdBy",
  at::text as "updatedAt", "changed_by" as "updatedBy", fields::text as "fields"
from "entity_change"
where entity_change.name = $1
  and ($2::text is null or entity_change.created_by = $3)
  and entity_change.key = $4::bigint
  and entity_change.at > now() - $5::interval
  and "at" <= $6::timestamptz
  and (id <= $7::bigint or pg_visible_in_snapshot(xid, $8::pg_snapshot))
order by "version" desc, "id" desc
limit $9;

-- history.find
-- src/entities/history
select "id", "name", "key", "version", "operation", created_at::text as "createdAt", "created_by" as "createdBy",
  at::text as "updatedAt", "changed_by" as "updatedBy", fields::text as "fields"
from "entity_change"
where entity_change.name = $1
  and ($2::text is null or entity_change.created_by = $3)
  and entity_change.key = $4::bigint
  and entity_change.at > now() - $5::interval
  and "version" = $6::bigint
  and "operation" <> $7
  and "fields" is not null
order by "id" desc
limit $8;

-- history.first
-- src/entities/history
select "operation"
from "entity_change"
where entity_change.name = $1
  and ($2::text is null or entity_change.created_by = $3)
  and entity_change.key = $4::bigint
  and entity_change.at > now() - $5::interval
order by "version", "id"
limit $6;

-- history.list
-- src/entities/history
select "id", "name", "key", "version", "operation", "createdAt", "createdBy", "updatedAt", "updatedBy",
  coalesce(
    stored, case
      when earlier is not null
      and n <= $1 then array(
        select key from jsonb_each(fields) as now full
        join jsonb_each(earlier) as before
        using (key)
        where case
          when record_image_ne(row(now.value), row(before.value)) then now.value::text is distinct from before.value::text end
        order by key
      ) end
  ) as "changed",
  case
  when n = 1
  or (bytes <= 7864320 and n <= $2) then fields::text end as "fields"
from (
  select "id", "name", "key", "version", "operation", created_at::text as "createdAt", "created_by" as "createdBy",
    at::text as "updatedAt", "changed_by" as "updatedBy", "fields", "changed" as "stored",
    sum(octet_length(fields::text)) over (order by version desc, id desc) as "bytes",
    row_number() over (order by version desc, id desc) as "n", lead(fields) over (order by version desc, id desc) as "earlier"
  from "entity_change"
  where entity_change.name = $3
    and ($4::text is null or entity_change.created_by = $5)
    and entity_change.key = $6::bigint
    and entity_change.at > now() - $7::interval
    and "fields" is not null
    and ($8::bigint is null or id < $9::bigint)
  order by "version" desc, "id" desc
  limit $10 + 1
) as "found"
order by "n";

-- idempotency.expire
-- src/entities/idempotency
delete from "idempotency"
where user_name = $1 and entity = $2 and operation = $3 and key = $4 and not created_at > now() - make_interval(hours => 24);

-- idempotency.find
-- src/entities/idempotency
select fingerprint = $1 as "same", created_at > now() - make_interval(hours => 24) as "live", entity_key as "entityKey",
  created_at::text as "createdAt", $2::jsonb::text as "fields"
from "idempotency"
where user_name = $3 and entity = $4 and operation = $5 and key = $6;

-- idempotency.insert
-- src/entities/idempotency
insert into idempotency (user_name, entity, operation, key, fingerprint, results)
values ($1, $2, $3, $4, $5, $6::jsonb)
on conflict (user_name, entity, operation, key) do update set fingerprint = excluded.fingerprint, results = excluded.results,
  created_at = excluded.created_at
where not idempotency.created_at > now() - make_interval(hours => 24)
returning true as inserted;

-- idempotency.lock
-- src/entities/idempotency
select "isLocked", "same", "live", "results"
from (
  select pg_try_advisory_xact_lock(
    hashtextextended(jsonb_build_array($1::text, $2::text, $3::text, $4::text)::text, 0)
  ) as "isLocked"
) as "lock"
left join (
  select fingerprint = $5 as "same", created_at > now() - make_interval(hours => 24) as "live", results as "results"
  from "idempotency"
  where user_name = $6 and entity = $7 and operation = $8 and key = $9
) as "found" on true;

-- identity.find-caller
-- src/accounts
select "user_account"."id" as "userId", "user_account"."name" as "userName", "user_account"."display_name" as "displayName",
  "user_account"."attributes" as "userAttributes", "user_account"."time_zone" as "timeZone", "acting"."id" as "profileId",
  "acting"."name" as "profileName", "acting"."label", "acting"."is_default" as "isDefault",
  "acting"."attributes" as "profileAttributes",
  (
    select coalesce(
      jsonb_agg(jsonb_build_object('entity', role_grant.entity, 'action', role_grant.action, 'condition', role_grant.condition)),
        '[]'
    )
    from profile_role
    join role_grant on role_grant.role_id = profile_role.role_id
    where profile_role.profile_id = "acting"."id"
  ) as "grants",
  coalesce(acting.locale, user_account.locale, 'en') as "locale", "user_account"."active", "identity"."claims"
from "identity" inner
join "user_account" on "user_account"."id" = "identity"."user_id"
left join lateral (
  select "profile"."id", "profile"."name", "profile"."label", "profile"."locale", "profile"."attributes",
    "user_profile"."is_default"
  from "user_profile" inner
  join "profile" on "profile"."id" = "user_profile"."profile_id"
  where "user_profile"."user_id" = "identity"."user_id" and user_profile.is_default
) as "acting" on true
where "identity"."issuer" = $1 and "identity"."subject" = $2;

-- key.find
-- src/api-keys
select "user_account"."id" as "userId", "user_account"."name" as "userName", "user_account"."display_name" as "displayName",
  "user_account"."attributes" as "userAttributes", "user_account"."time_zone" as "timeZone", "acting"."id" as "profileId",
  "acting"."name" as "profileName", "acting"."label", "acting"."is_default" as "isDefault",
  "acting"."attributes" as "profileAttributes",
  (
    select coalesce(
      jsonb_agg(jsonb_build_object('entity', role_grant.entity, 'action', role_grant.action, 'condition', role_grant.condition)),
        '[]'
    )
    from profile_role
    join role_grant on role_grant.role_id = profile_role.role_id
    where profile_role.profile_id = "acting"."id"
  ) as "grants",
  "api_key"."key_hash" as "keyHash", "api_key"."scopes", coalesce(acting.locale, user_account.locale, 'en') as "locale",
  now() as "now", case
  when api_key.last_used_at is null then 'never'
  when api_key.last_used_at < now() - make_interval(secs => $1) then 'a while ago'
  else 'lately' end as "lastUsed", (extract(epoch from api_key.expires_at - now()) * 1000)::float8 as "lifeMs"
from "api_key" inner
join "user_account" on "user_account"."id" = "api_key"."user_id"
left join lateral (
  select "profile"."id", "profile"."name", "profile"."label", "profile"."locale", "profile"."attributes",
    "user_profile"."is_default"
  from "user_profile" inner
  join "profile" on "profile"."id" = "user_profile"."profile_id"
  where "user_profile"."user_id" = "api_key"."user_id"
    and case
    when api_key.profile_id is null then user_profile.is_default
    else user_profile.profile_id = api_key.profile_id end
) as "acting" on true
where "api_key"."revoked_at" is null and "api_key"."expires_at" > now() and "user_account"."active" = $2 and "api_key"."id" = $3;

-- log.primary
-- src/database/standby
select ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer as "timeline",
  (pg_current_wal_insert_lsn() - '0/0')::text as "lsn";

-- login-attempt.begin
-- src/credentials
select verdict, retry_seconds, account.*
from begin_login_attempt($1, $2)
cross join set_config('synchronous_commit', 'off', true)
left join (
  (
    select "user_account"."id", "user_account"."name", "user_account"."display_name" as "displayName", "user_account"."locale",
      "user_account"."password_hash" as "passwordHash", "user_account"."credential_version" as "credentialVersion",
      "user_account"."active"
    from "user_account"
  )
) as account on account.name = $3;

-- read.settings
-- src/database
select set_config('statement_timeout', $1, true), set_config('jit', 'off', true), set_config('enable_seqscan', $2, true),
  set_config('enable_bitmapscan', $3, true);

-- session.end-predecessor
-- src/sessions
with "used" as (
  select "id", "predecessor_hash"
  from "session"
  where "token_hash" = $1 and "unused_token_hash" = $2 and "revoked_at" is null
  for update
),
  "ended" as (
    update "session" set "unused_token_hash" = $3, "predecessor_hash" = $4 from "used" where "session"."id" = "used"."id"
  )
update "superseded_token"
set "superseded_at" = now()
where "session_id" = (select "used"."id" from "used")
  and superseded_at between now() - interval '1 minute'
  and now() - interval '1 second'
  and "superseded_at" >= (
    select "replaced"."superseded_at"
    from "superseded_token" as "replaced"
    where "replaced"."token_hash" = (select "used"."predecessor_hash" from "used")
  );

-- session.find
-- src/sessions
select "user_account"."id" as "userId", "user_account"."name" as "userName", "user_account"."display_name" as "displayName",
  "user_account"."attributes" as "userAttributes", "user_account"."time_zone" as "timeZone", "acting"."id" as "profileId",
  "acting"."name" as "profileName", "acting"."label", "acting"."is_default" as "isDefault",
  "acting"."attributes" as "profileAttributes",
  (
    select coalesce(
      jsonb_agg(jsonb_build_object('entity', role_grant.entity, 'action', role_grant.action, 'condition', role_grant.condition)),
        '[]'
    )
    from profile_role
    join role_grant on role_grant.role_id = profile_role.role_id
    where profile_role.profile_id = "acting"."id"
  ) as "grants",
  "session"."id", "session"."token_hash" as "tokenHash", "session"."method", "session"."issuer", "session"."subject",
  "session"."scopes", "session"."locale", "session"."authenticated_at" as "authenticatedAt",
  "session"."created_at" as "createdAt", "session"."last_seen_at" as "lastSeenAt", "session"."idle_expires_at" as "idleExpiresAt",
  "session"."expires_at" as "expiresAt", "session"."credential_version" as "credentialVersion",
  "session"."end_session_url" as "endSessionUrl", case
  when session.subject is not null then (
    select identity.claims
    from identity
    where identity.issuer = session.issuer and identity.subject = session.subject and identity.user_id = session.user_id
  ) end as "claims",
    coalesce(session.unused_token_hash = session.token_hash, false) as "isUnused",
    coalesce(session.signed_in_at > now() - make_interval(mins => $1), false) as "fresh",
    session.last_seen_at < now() - make_interval(secs => $2) as "lastSeenIsDue",
    (extract(epoch from least(session.idle_expires_at, session.expires_at) - now()) * 1000)::float8 as "lifeMs"
from "session" as "session" inner
join "user_account" on "user_account"."id" = "session"."user_id"
left join lateral (
  select "profile"."id", "profile"."name", "profile"."label", "profile"."locale", "profile"."attributes",
    "user_profile"."is_default"
  from "user_profile" inner
  join "profile" on "profile"."id" = "user_profile"."profile_id"
  where "user_profile"."user_id" = "session"."user_id" and user_profile.profile_id = session.profile_id
) as "acting" on true
where (
  "session"."revoked_at" is null
    and "session"."idle_expires_at" > now()
    and "session"."expires_at" > now()
    and "user_account"."active" = $3
    and "session"."credential_version" = "user_account"."credential_version"
)
  and "session"."token_hash" = $4;

-- session.find-by-id
-- src/sessions
select "user_account"."id" as "userId", "user_account"."name" as "userName", "user_account"."display_name" as "displayName",
  "user_account"."attributes" as "userAttributes", "user_account"."time_zone" as "timeZone", "acting"."id" as "profileId",
  "acting"."name" as "profileName", "acting"."label", "acting"."is_default" as "isDefault",
  "acting"."attributes" as "profileAttributes",
  (
    select coalesce(
      jsonb_agg(jsonb_build_object('entity', role_grant.entity, 'action', role_grant.action, 'condition', role_grant.condition)),
        '[]'
    )
    from profile_role
    join role_grant on role_grant.role_id = profile_role.role_id
    where profile_role.profile_id = "acting"."id"
  ) as "grants",
  "session"."id", "session"."token_hash" as "tokenHash", "session"."method", "session"."issuer", "session"."subject",
  "session"."scopes", "session"."locale", "session"."authenticated_at" as "authenticatedAt",
  "session"."created_at" as "createdAt", "session"."last_seen_at" as "lastSeenAt", "session"."idle_expires_at" as "idleExpiresAt",
  "session"."expires_at" as "expiresAt", "session"."credential_version" as "credentialVersion",
  "session"."end_session_url" as "endSessionUrl", case
  when session.subject is not null then (
    select identity.claims
    from identity
    where identity.issuer = session.issuer and identity.subject = session.subject and identity.user_id = session.user_id
  ) end as "claims",
    coalesce(session.unused_token_hash = session.token_hash, false) as "isUnused",
    coalesce(session.signed_in_at > now() - make_interval(mins => $1), false) as "fresh",
    session.last_seen_at < now() - make_interval(secs => $2) as "lastSeenIsDue",
    (extract(epoch from least(session.idle_expires_at, session.expires_at) - now()) * 1000)::float8 as "lifeMs"
from "session" as "session" inner
join "user_account" on "user_account"."id" = "session"."user_id"
left join lateral (
  select "profile"."id", "profile"."name", "profile"."label", "profile"."locale", "profile"."attributes",
    "user_profile"."is_default"
  from "user_profile" inner
  join "profile" on "profile"."id" = "user_profile"."profile_id"
  where "user_profile"."user_id" = "session"."user_id" and user_profile.profile_id = session.profile_id
) as "acting" on true
where (
  "session"."revoked_at" is null
    and "session"."idle_expires_at" > now()
    and "session"."expires_at" > now()
    and "user_account"."active" = $3
    and "session"."credential_version" = "user_account"."credential_version"
)
  and "session"."id" = $4;

-- session.find-superseded
-- src/sessions
select "user_account"."id" as "userId", "user_account"."name" as "userName", "user_account"."display_name" as "displayName",
  "user_account"."attributes" as "userAttributes", "user_account"."time_zone" as "timeZone", "acting"."id" as "profileId",
  "acting"."name" as "profileName", "acting"."label", "acting"."is_default" as "isDefault",
  "acting"."attributes" as "profileAttributes",
  (
    select coalesce(
      jsonb_agg(jsonb_build_object('entity', role_grant.entity, 'action', role_grant.action, 'condition', role_grant.condition)),
        '[]'
    )
    from profile_role
    join role_grant on role_grant.role_id = profile_role.role_id
    where profile_role.profile_id = "acting"."id"
  ) as "grants",
  "session"."id", "session"."token_hash" as "tokenHash", "session"."method", "session"."issuer", "session"."subject",
  "session"."scopes", "session"."locale", "session"."authenticated_at" as "authenticatedAt",
  "session"."created_at" as "createdAt", "session"."last_seen_at" as "lastSeenAt", "session"."idle_expires_at" as "idleExpiresAt",
  "session"."expires_at" as "expiresAt", "session"."credential_version" as "credentialVersion",
  "session"."end_session_url" as "endSessionUrl", case
  when session.subject is not null then (
    select identity.claims
    from identity
    where identity.issuer = session.issuer and identity.subject = session.subject and identity.user_id = session.user_id
  ) end as "claims",
    coalesce(session.unused_token_hash = session.token_hash, false) as "isUnused",
    coalesce(session.signed_in_at > now() - make_interval(mins => $1), false) as "fresh",
    session.last_seen_at < now() - make_interval(secs => $2) as "lastSeenIsDue",
    (extract(epoch from least(session.idle_expires_at, session.expires_at) - now()) * 1000)::float8 as "lifeMs"
from "session" as "session" inner
join "user_account" on "user_account"."id" = "session"."user_id"
left join lateral (
  select "profile"."id", "profile"."name", "profile"."label", "profile"."locale", "profile"."attributes",
    "user_profile"."is_default"
  from "user_profile" inner
  join "profile" on "profile"."id" = "user_profile"."profile_id"
  where "user_profile"."user_id" = "session"."user_id" and user_profile.profile_id = session.profile_id
) as "acting" on true inner
join "superseded_token" on "superseded_token"."session_id" = "session"."id"
where (
  "session"."revoked_at" is null
    and "session"."idle_expires_at" > now()
    and "session"."expires_at" > now()
    and "user_account"."active" = $3
    and "session"."credential_version" = "user_account"."credential_version"
)
  and "superseded_token"."token_hash" = $4
  and (
    (
      session.unused_token_hash = session.token_hash
        and superseded_token.superseded_at >= (
          select replaced.superseded_at from superseded_token as replaced where replaced.token_hash = session.predecessor_hash
        )
    )
      or (
        "superseded_token"."superseded_at" > now() - make_interval(secs => $5)
          and not exists (
            select "since"."token_hash"
            from "superseded_token" as "since"
            where "since"."session_id" = "superseded_token"."session_id"
              and "since"."superseded_at" >= "superseded_token"."superseded_at"
              and "since"."refreshed" = $6
          )
      )
  );

-- session.open
-- src/sessions
with new_session as materialized (
  select (opened).*, evicted, case when $1::bytea is not null then end_login_attempt($2, $3, 'succeeded') end
  from open_session($4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, 50, $19)
),
  happened as (
    select event, id as session_id, detail
    from new_session, jsonb_to_recordset($20) as events (event text, detail jsonb)
    union all
    select 'session.evicted', unnest(evicted), '{}'
    from new_session
  ),
  noted as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select "event", 'ok', $21, "session_id", $22, $23, $24, "detail"
    from "happened"
  ) (
    select "user_account"."id" as "userId", "user_account"."name" as "userName", "user_account"."display_name" as "displayName",
      "user_account"."attributes" as "userAttributes", "user_account"."time_zone" as "timeZone", "acting"."id" as "profileId",
      "acting"."name" as "profileName", "acting"."label", "acting"."is_default" as "isDefault",
      "acting"."attributes" as "profileAttributes",
      (
        select coalesce(
          jsonb_agg(
            jsonb_build_object('entity', role_grant.entity, 'action', role_grant.action, 'condition', role_grant.condition)
          ),
            '[]'
        )
        from profile_role
        join role_grant on role_grant.role_id = profile_role.role_id
        where profile_role.profile_id = "acting"."id"
      ) as "grants",
      "session"."id", "session"."token_hash" as "tokenHash", "session"."method", "session"."issuer", "session"."subject",
      "session"."scopes", "session"."locale", "session"."authenticated_at" as "authenticatedAt",
      "session"."created_at" as "createdAt", "session"."last_seen_at" as "lastSeenAt",
      "session"."idle_expires_at" as "idleExpiresAt", "session"."expires_at" as "expiresAt",
      "session"."credential_version" as "credentialVersion", "session"."end_session_url" as "endSessionUrl", case
      when session.subject is not null then (
        select identity.claims
        from identity
        where identity.issuer = session.issuer and identity.subject = session.subject and identity.user_id = session.user_id
      ) end as "claims",
        coalesce(session.unused_token_hash = session.token_hash, false) as "isUnused",
        coalesce(session.signed_in_at > now() - make_interval(mins => $25), false) as "fresh",
        session.last_seen_at < now() - make_interval(secs => $26) as "lastSeenIsDue",
        (extract(epoch from least(session.idle_expires_at, session.expires_at) - now()) * 1000)::float8 as "lifeMs",
        "session"."profile_id" as "openedUnder", session.evicted as "evicted"
    from "new_session" as "session" inner
    join "user_account" on "user_account"."id" = "session"."user_id"
    left join lateral (
      select "profile"."id", "profile"."name", "profile"."label", "profile"."locale", "profile"."attributes",
        "user_profile"."is_default"
      from "user_profile" inner
      join "profile" on "profile"."id" = "user_profile"."profile_id"
      where "user_profile"."user_id" = "session"."user_id" and user_profile.profile_id = session.profile_id
    ) as "acting" on true
  );

-- session.touch
-- src/sessions
update "session"
set "last_seen_at" = now()
where "id" = $1 and "revoked_at" is null and "last_seen_at" < now() - make_interval(secs => $2);

-- standby.state
-- src/database/standby
select pg_is_in_recovery() as "isStandby",
  greatest(
    (select received_tli from pg_stat_wal_receiver),
      (select greatest(timeline_id, min_recovery_end_timeline) from pg_control_checkpoint(), pg_control_recovery())
  ) as "timeline",
  (pg_last_wal_replay_lsn() - '0/0')::text as "lsn",
  coalesce((select revision from entity_type where name = $1), 0)::text as "typeRevision";

-- tick.at
-- src/entities/history
select "n" as "position", "at", snapshot::text as "snapshot", "loaded_to" as "loadedTo", at > now() - $1::interval as "isKept"
from "feed_tick"
where "at" <= $2::timestamptz
order by "at" desc, "n" desc
limit $3;

-- tick.find
-- src/entities/history
select "n" as "position", "at", snapshot::text as "snapshot", "loaded_to" as "loadedTo", at > now() - $1::interval as "isKept"
from "feed_tick"
where "n" = $2::bigint;

-- tick.newest
-- src/entities/history
select "n" as "position" from "feed_tick" order by "n" desc limit $1;

-- trash.find
-- src/entities
select "name", "key", "version", created_at::text as "createdAt", "created_by" as "createdBy", updated_at::text as "updatedAt",
  "updated_by" as "updatedBy", fields::text as "fields", "deleted_at" as "deletedAt", "deleted_by" as "deletedBy",
  "expires_at" as "expiresAt"
from "entity_trash"
where entity_trash.name = $1
  and ($2::text is null or entity_trash.created_by = $3)
  and entity_trash.key = $4::bigint
  and entity_trash.expires_at > now();

-- trash.state
-- src/entities
select "version", coalesce((select entity_type.revision from entity_type where entity_type.name = $1), 0) as "typeRevision",
  fields::text as "fields"
from "entity_trash"
where entity_trash.name = $2
  and ($3::text is null or entity_trash.created_by = $4)
  and entity_trash.key = $5::bigint
  and entity_trash.expires_at > now();

-- Writes of a type with rules

-- entity.delete, with the table of a type
-- src/entities/writing
with written as (
  delete from entity
  where entity.name = $1
    and ($2::text is null or entity.created_by = $3)
    and entity.key = $4::bigint
    and ($5::bigint[] is null or entity.version = any($6))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $7), 0) = $8::bigint
    and not exists (select from entity_type where false for key share)
  returning entity.*
),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.deleted', 'ok', $9, $10::uuid, $11, $12, $13,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request)
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'deleted', $14, written.created_at,
      written.created_by, written.fields, $15, $16::uuid
    from "written"
  )
select key, entity_companion_delete('x3', "key")
from written;

-- entity.insert-bulk, with the table of a type
-- src/entities/writing
with input as materialized (
  select nextval('entity_key_seq') as key, *
  from jsonb_to_recordset($1::jsonb) as input (fields jsonb, "c1" text, "c3" bigint, "c4" text, "c5" text)
),
  written as (
    insert into entity (name, key, fields, created_by, updated_by) overriding system value
    select $2, key, fields, $3, $4
    from input
    where coalesce((select entity_type.revision from entity_type where entity_type.name = $5), 0) = $6::bigint
      and not exists (select from entity_type where false for key share)
    returning entity.*
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.created', 'ok', $7, $8::uuid, $9, $10, $11,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request)
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'created', $12, written.created_at,
      written.created_by, written.fields, $13, $14::uuid
    from "written"
  ),
  companion as (
    insert into "entity_data"."x3" ("key", "c1", "c3", "c4", "c5")
    select "key", "c1", "c3", "c4", entity_instant("c5")
    from (select written.key, null::text[] as kept, "c1", "c3", "c4", "c5" from written join input using (key)) as changed
    order by "c1"
  )
select key, version
from written;

-- entity.insert-keyed, with the table of a type
-- src/entities/writing
with written as (
  insert into entity (name, fields, created_by, updated_by)
  select $1, $2::jsonb, $3, $4
  where pg_try_advisory_xact_lock(hashtextextended(jsonb_build_array($5::text, $6::text, $7::text, $8::text)::text, 0))
    and not exists (select from idempotency where user_name = $9 and entity = $10 and operation = $11 and key = $12)
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $13), 0) = $14::bigint
    and not exists (select from entity_type where false for key share)
  returning entity.*
),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.created', 'ok', $15, $16::uuid, $17, $18, $19,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request)
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'created', $20, written.created_at,
      written.created_by, written.fields, $21, $22::uuid
    from "written"
  ),
  companion as (
    insert into "entity_data"."x3" ("key", "c1", "c3", "c4", "c5")
    select "key", "c1", "c3", "c4", entity_instant("c5")
    from (
      select written.key, null::text[] as kept, "c1", "c3", "c4", "c5"
      from written
      cross join jsonb_to_record($23::jsonb) as input ("c1" text, "c3" bigint, "c4" text, "c5" text)
    ) as changed
    order by "c1"
  ),
  also as (
    insert into idempotency (user_name, entity, operation, key, fingerprint, entity_key)
    select $24, name, $25, $26, $27, key from written
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written;

-- entity.insert-many, with the table of a type
-- src/entities/writing
with input as materialized (
  select coalesce(given, nextval('entity_key_seq')) as key, *
  from rows from (
    jsonb_to_recordset(
      (
        case when set_config('lock_timeout', coalesce($1::text, current_setting('lock_timeout')), true) is not null then $2 end
      )::jsonb
    ) as (
      name text, given bigint, fields jsonb, "userName" text, "sessionId" uuid, "credential" text, "requestId" text,
        "address" text, "userAgent" text, "typeRevision" bigint, "c1" text, "c3" bigint, "c4" text, "c5" text
    )
  )
  with ordinality as input (
    name, given, fields, "userName", "sessionId", "credential", "requestId", "address", "userAgent", "typeRevision", "c1", "c3",
      "c4", "c5", n
  )
),
  inserted as (
    insert into entity (name, key, fields, created_by, updated_by) overriding system value
    select name, key, fields, "userName", "userName"
    from input
    where coalesce(
      (select entity_type.revision from entity_type where entity_type.name = "input"."name"), 0
    ) = "input"."typeRevision"::bigint
      and not exists (select from entity_type where false for key share)
    returning entity.*
  ),
  written as (select n, inserted.* from inserted join input using (key)),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.created', 'ok', "userName", "sessionId"::uuid, "requestId", "address", "userAgent",
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from written
    join input
    using (n)
  ),
  history as (
    insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request)
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'created', "userName",
      written.created_at, written.created_by, written.fields, "credential", "requestId"::uuid
    from written
    join input
    using (n)
  ),
  companion as (
    insert into "entity_data"."x3" ("key", "c1", "c3", "c4", "c5")
    select "key", "c1", "c3", "c4", entity_instant("c5")
    from (select written.key, null::text[] as kept, "c1", "c3", "c4", "c5" from written join input using (n)) as changed
    order by "c1"
  )
select n, name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written;

-- entity.replace-many, with the table of a type
-- src/entities/writing
with input as materialized (
  select *
  from rows from (
    jsonb_to_recordset(
      (
        case when set_config('lock_timeout', coalesce($1::text, current_setting('lock_timeout')), true) is not null then $2 end
      )::jsonb
    ) as (
      name text, key bigint, owner text, version bigint, fields jsonb, "limit" int, "userName" text, "sessionId" uuid,
        "credential" text, "requestId" text, "address" text, "userAgent" text, "typeRevision" bigint, "c1" text, "c3" bigint,
        "c4" text, "c5" text
    )
  )
  with ordinality as input (
    name, key, owner, version, fields, "limit", "userName", "sessionId", "credential", "requestId", "address", "userAgent",
      "typeRevision", "c1", "c3", "c4", "c5", n
  )
),
  merged as materialized (
    select n, found.*, "limit", "userName"
    from input
    cross join lateral (
      select entity.name, entity.key, input.fields, case
        when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
      from entity
      where entity.name = "input"."name"
        and ("input"."owner"::text is null or entity.created_by = "input"."owner")
        and entity.key = input.key and entity.version = input.version
      for no key update
    ) as found
    where coalesce(
      (select entity_type.revision from entity_type where entity_type.name = "input"."name"), 0
    ) = "input"."typeRevision"::bigint
      and not exists (select from entity_type where false for key share)
  ),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at),
      updated_by = "merged"."userName"
    from merged
    where entity.name = merged.name
      and entity.key = merged.key and octet_length(merged.fields::text) <= "merged"."limit"
      and merged.n between 1 and 1000
    returning n, entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.updated', 'ok', "userName", "sessionId"::uuid, "requestId", "address", "userAgent",
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from written
    join input
    using (n)
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'updated', "userName",
      written.created_at, written.created_by, written.fields, "credential", "requestId"::uuid , change.changed, change.before
    from written
    join input
    using (n)
    cross join lateral json_changed_members("former", written.fields, (former || written.fields)) as change
  ),
  companion as (
    update "entity_data"."x3" as companion
    set "c1" = case
      when 'c1' = any(computed.kept) then companion."c1"
      else computed."c1" end, "c3" = case
      when 'c3' = any(computed.kept) then companion."c3"
      else computed."c3" end, "c4" = case
      when 'c4' = any(computed.kept) then companion."c4"
      else computed."c4" end, "c5" = case
      when 'c5' = any(computed.kept) then companion."c5"
      else computed."c5" end
    from (
      select key, kept, "c1" as "c1", "c3" as "c3", "c4" as "c4", entity_instant("c5") as "c5"
      from (select written.key, null::text[] as kept, "c1", "c3", "c4", "c5" from written join input using (n)) as changed
    ) as computed
    cross join lateral (
      select key from "entity_data"."x3"
      where key = computed.key and (
        computed.kept is not null
          or record_image_ne(row("c1", "c3", "c4", "c5"), row(computed."c1", computed."c3", computed."c4", computed."c5"))
      )
      offset 0
    ) as present
    where companion.key = present.key
  )
select n
from written;

-- entity.restore, with the table of a type
-- src/entities/writing
with merged as materialized (
  select name, key, $1::jsonb as fields, case
    when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
  from entity
  where entity.name = $2
    and ($3::text is null or entity.created_by = $4)
    and entity.key = $5::bigint
    and ($6::bigint[] is null or entity.version = any($7))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $8), 0) = $9::bigint
    and not exists (select from entity_type where false for key share)
    and not (entity.fields = $10::jsonb and entity.fields::text = $11::jsonb::text)
  for no key update
),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at), updated_by = $12
    from merged
    where entity.name = merged.name and entity.key = merged.key and octet_length(merged.fields::text) <= $13
    returning entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.restored', 'ok', $14, $15::uuid, $16, $17, $18,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'restored', $19, written.created_at,
      written.created_by, written.fields, $20, $21::uuid , change.changed, change.before
    from "written"
    cross join lateral json_changed_members("former", written.fields, (former || $22::jsonb)) as change
  ),
  companion as (
    update "entity_data"."x3" as companion
    set "c1" = case
      when 'c1' = any(computed.kept) then companion."c1"
      else computed."c1" end, "c3" = case
      when 'c3' = any(computed.kept) then companion."c3"
      else computed."c3" end, "c4" = case
      when 'c4' = any(computed.kept) then companion."c4"
      else computed."c4" end, "c5" = case
      when 'c5' = any(computed.kept) then companion."c5"
      else computed."c5" end
    from (
      select key, kept, "c1" as "c1", "c3" as "c3", "c4" as "c4", entity_instant("c5") as "c5"
      from (
        select written.key, null::text[] as kept, "c1", "c3", "c4", "c5"
        from written
        cross join jsonb_to_record($23::jsonb) as input ("c1" text, "c3" bigint, "c4" text, "c5" text)
      ) as changed
    ) as computed
    cross join lateral (
      select key from "entity_data"."x3"
      where key = computed.key and (
        computed.kept is not null
          or record_image_ne(row("c1", "c3", "c4", "c5"), row(computed."c1", computed."c3", computed."c4", computed."c5"))
      )
      offset 0
    ) as present
    where companion.key = present.key
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written
union all
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from (
  select entity.*
  from entity
  where entity.name = $24
    and ($25::text is null or entity.created_by = $26)
    and entity.key = $27::bigint
    and ($28::bigint[] is null or entity.version = any($29))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $30), 0) = $31::bigint
    and not exists (select from entity_type where false for key share)
    and not exists (select from merged)
    and (entity.fields = $32::jsonb and entity.fields::text = $33::jsonb::text)
    and octet_length(entity.fields::text) <= $34
) as unchanged;

-- entity.restore-always, with the table of a type
-- src/entities/writing
with merged as materialized (
  select name, key, $1::jsonb as fields, case
    when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
  from entity
  where entity.name = $2
    and ($3::text is null or entity.created_by = $4)
    and entity.key = $5::bigint
    and ($6::bigint[] is null or entity.version = any($7))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $8), 0) = $9::bigint
    and not exists (select from entity_type where false for key share)
    and not false
  for no key update
),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at), updated_by = $10
    from merged
    where entity.name = merged.name and entity.key = merged.key and octet_length(merged.fields::text) <= $11
    returning entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.restored', 'ok', $12, $13::uuid, $14, $15, $16,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'restored', $17, written.created_at,
      written.created_by, written.fields, $18, $19::uuid , change.changed, change.before
    from "written"
    cross join lateral json_changed_members("former", written.fields, (former || $20::jsonb)) as change
  ),
  companion as (
    update "entity_data"."x3" as companion
    set "c1" = case
      when 'c1' = any(computed.kept) then companion."c1"
      else computed."c1" end, "c3" = case
      when 'c3' = any(computed.kept) then companion."c3"
      else computed."c3" end, "c4" = case
      when 'c4' = any(computed.kept) then companion."c4"
      else computed."c4" end, "c5" = case
      when 'c5' = any(computed.kept) then companion."c5"
      else computed."c5" end
    from (
      select key, kept, "c1" as "c1", "c3" as "c3", "c4" as "c4", entity_instant("c5") as "c5"
      from (
        select written.key, null::text[] as kept, "c1", "c3", "c4", "c5"
        from written
        cross join jsonb_to_record($21::jsonb) as input ("c1" text, "c3" bigint, "c4" text, "c5" text)
      ) as changed
    ) as computed
    cross join lateral (
      select key from "entity_data"."x3"
      where key = computed.key and (
        computed.kept is not null
          or record_image_ne(row("c1", "c3", "c4", "c5"), row(computed."c1", computed."c3", computed."c4", computed."c5"))
      )
      offset 0
    ) as present
    where companion.key = present.key
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written
union all
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from (
  select entity.*
  from entity
  where entity.name = $22
    and ($23::text is null or entity.created_by = $24)
    and entity.key = $25::bigint
    and ($26::bigint[] is null or entity.version = any($27))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $28), 0) = $29::bigint
    and not exists (select from entity_type where false for key share)
    and not exists (select from merged)
    and false
    and octet_length(entity.fields::text) <= $30
) as unchanged;

-- entity.trash, with the table of a type
-- src/entities/writing
with written as (
  delete from entity
  where entity.name = $1
    and ($2::text is null or entity.created_by = $3)
    and entity.key = $4::bigint
    and ($5::bigint[] is null or entity.version = any($6))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $7), 0) = $8::bigint
    and not exists (select from entity_type where false for key share)
  returning entity.*
),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.deleted', 'ok', $9, $10::uuid, $11, $12, $13,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request)
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'deleted', $14, written.created_at,
      written.created_by, written.fields, $15, $16::uuid
    from "written"
  ),
  also as (
    insert into entity_trash (name, key, version, fields, created_at, created_by, updated_at, updated_by, deleted_by, expires_at)
    select name, key, version, fields, created_at, created_by, updated_at, updated_by, $17, now() + $18::interval
    from written
  )
select key, entity_companion_delete('x3', "key")
from written;

-- entity.undelete, with the table of a type
-- src/entities/writing
with trashed as (
  delete from entity_trash
  where entity_trash.name = $1
    and ($2::text is null or entity_trash.created_by = $3)
    and entity_trash.key = $4::bigint
    and entity_trash.expires_at > now()
    and entity_trash.version = any($5::bigint[])
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $6), 0) = $7::bigint
    and not exists (select from entity_type where false for key share)
  returning *, case when "entity_trash".updated_at < now() - interval '12 hours' then "entity_trash".fields end as former
),
  written as (
    insert into entity (name, key, version, fields, created_at, created_by, updated_at, updated_by) overriding system value
    select name, key, version + 1, $8::jsonb, created_at, created_by, greatest(now(), greatest(updated_at, deleted_at)), $9
    from trashed
    returning entity.*
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.restored', 'ok', $10, $11::uuid, $12, $13, $14,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'restored', $15, written.created_at,
      written.created_by, written.fields, $16, $17::uuid , change.changed, change.before
    from "written"
    cross join lateral json_changed_members(
      (select former from trashed), written.fields, ((select former from trashed) || written.fields)
    ) as change
  ),
  companion as (
    insert into "entity_data"."x3" ("key", "c1", "c3", "c4", "c5")
    select "key", "c1", "c3", "c4", entity_instant("c5")
    from (
      select written.key, null::text[] as kept, "c1", "c3", "c4", "c5"
      from written
      cross join jsonb_to_record($18::jsonb) as input ("c1" text, "c3" bigint, "c4" text, "c5" text)
    ) as changed
    order by "c1"
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written;

-- entity.update, with the table of a type
-- src/entities/writing
with merged as materialized (
  select name, key, json_merge_patch(fields, $1::jsonb) as fields, case
    when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
  from entity
  where entity.name = $2
    and ($3::text is null or entity.created_by = $4)
    and entity.key = $5::bigint
    and ($6::bigint[] is null or entity.version = any($7))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $8), 0) = $9::bigint
    and not exists (select from entity_type where false for key share)
    and not case
    when entity.fields @> jsonb_strip_nulls($10::jsonb) then (
      entity.fields = json_merge_patch(entity.fields, $11::jsonb)
        and entity.fields::text = json_merge_patch(entity.fields, $12::jsonb)::text
    )
    else false end
  for no key update
),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at), updated_by = $13
    from merged
    where entity.name = merged.name and entity.key = merged.key and octet_length(merged.fields::text) <= $14
    returning entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.updated', 'ok', $15, $16::uuid, $17, $18, $19,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'updated', $20, written.created_at,
      written.created_by, written.fields, $21, $22::uuid , change.changed, change.before
    from "written"
    cross join lateral json_changed_members("former", written.fields, $23::jsonb) as change
  ),
  companion as (
    update "entity_data"."x3" as companion
    set "c1" = case
      when 'c1' = any(computed.kept) then companion."c1"
      else computed."c1" end, "c3" = case
      when 'c3' = any(computed.kept) then companion."c3"
      else computed."c3" end, "c4" = case
      when 'c4' = any(computed.kept) then companion."c4"
      else computed."c4" end, "c5" = case
      when 'c5' = any(computed.kept) then companion."c5"
      else computed."c5" end
    from (
      select key, kept, "c1" as "c1", "c3" as "c3", "c4" as "c4", entity_instant("c5") as "c5"
      from (
        select written.key, null::text[] as kept, "c1", "c3", "c4", "c5"
        from written
        cross join jsonb_to_record($24::jsonb) as input ("c1" text, "c3" bigint, "c4" text, "c5" text)
      ) as changed
    ) as computed
    cross join lateral (
      select key from "entity_data"."x3"
      where key = computed.key and (
        computed.kept is not null
          or record_image_ne(row("c1", "c3", "c4", "c5"), row(computed."c1", computed."c3", computed."c4", computed."c5"))
      )
      offset 0
    ) as present
    where companion.key = present.key
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written
union all
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from (
  select entity.*
  from entity
  where entity.name = $25
    and ($26::text is null or entity.created_by = $27)
    and entity.key = $28::bigint
    and ($29::bigint[] is null or entity.version = any($30))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $31), 0) = $32::bigint
    and not exists (select from entity_type where false for key share)
    and not exists (select from merged)
    and case
    when entity.fields @> jsonb_strip_nulls($33::jsonb) then (
      entity.fields = json_merge_patch(entity.fields, $34::jsonb)
        and entity.fields::text = json_merge_patch(entity.fields, $35::jsonb)::text
    )
    else false end
    and octet_length(entity.fields::text) <= $36
) as unchanged;

-- entity.update-always, with the table of a type
-- src/entities/writing
with merged as materialized (
  select name, key, json_merge_patch(fields, $1::jsonb) as fields, case
    when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
  from entity
  where entity.name = $2
    and ($3::text is null or entity.created_by = $4)
    and entity.key = $5::bigint
    and ($6::bigint[] is null or entity.version = any($7))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $8), 0) = $9::bigint
    and not exists (select from entity_type where false for key share)
    and not false
  for no key update
),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at), updated_by = $10
    from merged
    where entity.name = merged.name and entity.key = merged.key and octet_length(merged.fields::text) <= $11
    returning entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.updated', 'ok', $12, $13::uuid, $14, $15, $16,
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from "written"
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'updated', $17, written.created_at,
      written.created_by, written.fields, $18, $19::uuid , change.changed, change.before
    from "written"
    cross join lateral json_changed_members("former", written.fields, $20::jsonb) as change
  ),
  companion as (
    update "entity_data"."x3" as companion
    set "c1" = case
      when 'c1' = any(computed.kept) then companion."c1"
      else computed."c1" end, "c3" = case
      when 'c3' = any(computed.kept) then companion."c3"
      else computed."c3" end, "c4" = case
      when 'c4' = any(computed.kept) then companion."c4"
      else computed."c4" end, "c5" = case
      when 'c5' = any(computed.kept) then companion."c5"
      else computed."c5" end
    from (
      select key, kept, "c1" as "c1", "c3" as "c3", "c4" as "c4", entity_instant("c5") as "c5"
      from (
        select written.key, null::text[] as kept, "c1", "c3", "c4", "c5"
        from written
        cross join jsonb_to_record($21::jsonb) as input ("c1" text, "c3" bigint, "c4" text, "c5" text)
      ) as changed
    ) as computed
    cross join lateral (
      select key from "entity_data"."x3"
      where key = computed.key and (
        computed.kept is not null
          or record_image_ne(row("c1", "c3", "c4", "c5"), row(computed."c1", computed."c3", computed."c4", computed."c5"))
      )
      offset 0
    ) as present
    where companion.key = present.key
  )
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written
union all
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from (
  select entity.*
  from entity
  where entity.name = $22
    and ($23::text is null or entity.created_by = $24)
    and entity.key = $25::bigint
    and ($26::bigint[] is null or entity.version = any($27))
    and coalesce((select entity_type.revision from entity_type where entity_type.name = $28), 0) = $29::bigint
    and not exists (select from entity_type where false for key share)
    and not exists (select from merged)
    and false
    and octet_length(entity.fields::text) <= $30
) as unchanged;

-- entity.update-many, with the table of a type
-- src/entities/writing
with input as materialized (
  select *
  from rows from (
    jsonb_to_recordset(
      (
        case when set_config('lock_timeout', coalesce($1::text, current_setting('lock_timeout')), true) is not null then $2 end
      )::jsonb
    ) as (
      name text, key bigint, owner text, versions bigint[], patch jsonb, merged jsonb, "limit" int, kept text[],
        "userName" text, "sessionId" uuid, "credential" text, "requestId" text, "address" text, "userAgent" text,
        "typeRevision" bigint, "c1" text, "c3" bigint, "c4" text, "c5" text
    )
  )
  with ordinality as input (
    name, key, owner, versions, patch, merged, "limit", kept, "userName", "sessionId", "credential", "requestId", "address",
      "userAgent", "typeRevision", "c1", "c3", "c4", "c5", n
  )
),
  merged as materialized (
    select n, found.*, "limit", "userName"
    from input
    cross join lateral (
      select entity.name, entity.key, coalesce(input.merged, json_merge_patch(entity.fields, patch)) as fields, case
        when "entity".updated_at < now() - interval '12 hours' then "entity".fields end as former
      from entity
      where entity.name = "input"."name"
        and ("input"."owner"::text is null or entity.created_by = "input"."owner")
        and entity.key = input.key and (input.versions is null or entity.version = any(input.versions))
        and case
        when pg_column_size(entity.fields) > 8192 then false
        else pg_column_size(entity.fields || '{}') <= 16384 end
        and not (
          case
            when input.merged is null then case
            when entity.fields @> jsonb_strip_nulls(input.patch) then (
              entity.fields = json_merge_patch(entity.fields, input.patch)
                and entity.fields::text = json_merge_patch(entity.fields, input.patch)::text
            )
            else false end
            else (entity.fields = input.merged and entity.fields::text = input.merged::text) end
        )
      for no key update skip locked
    ) as found
    where coalesce(
      (select entity_type.revision from entity_type where entity_type.name = "input"."name"), 0
    ) = "input"."typeRevision"::bigint
      and not exists (select from entity_type where false for key share)
  ),
  written as (
    update entity
    set fields = merged.fields, version = version + 1, updated_at = greatest(now(), entity.updated_at),
      updated_by = "merged"."userName"
    from merged
    where entity.name = merged.name
      and entity.key = merged.key and octet_length(merged.fields::text) <= "merged"."limit"
      and merged.n between 1 and 1000
    returning n, entity.*, merged.former
  ),
  events as (
    insert into audit_event (event, outcome, user_name, session_id, request_id, address, user_agent, detail)
    select 'entity.updated', 'ok', "userName", "sessionId"::uuid, "requestId", "address", "userAgent",
      jsonb_build_object('entity', written.name, 'key', written.key::text, 'version', written.version)
    from written
    join input
    using (n)
  ),
  history as (
    insert into entity_change (
      at, name, key, version, operation, changed_by, created_at, created_by, fields, credential, request , changed, before
    )
    select greatest(now(), written.updated_at), written.name, written.key, written.version, 'updated', "userName",
      written.created_at, written.created_by, written.fields, "credential", "requestId"::uuid , change.changed, change.before
    from written
    join input
    using (n)
    cross join lateral json_changed_members("former", written.fields, coalesce(patch, former || input.merged)) as change
  ),
  companion as (
    update "entity_data"."x3" as companion
    set "c1" = case
      when 'c1' = any(computed.kept) then companion."c1"
      else computed."c1" end, "c3" = case
      when 'c3' = any(computed.kept) then companion."c3"
      else computed."c3" end, "c4" = case
      when 'c4' = any(computed.kept) then companion."c4"
      else computed."c4" end, "c5" = case
      when 'c5' = any(computed.kept) then companion."c5"
      else computed."c5" end
    from (
      select key, kept, "c1" as "c1", "c3" as "c3", "c4" as "c4", entity_instant("c5") as "c5"
      from (select written.key, "kept" as kept, "c1", "c3", "c4", "c5" from written join input using (n)) as changed
    ) as computed
    cross join lateral (
      select key from "entity_data"."x3"
      where key = computed.key and (
        computed.kept is not null
          or record_image_ne(row("c1", "c3", "c4", "c5"), row(computed."c1", computed."c3", computed."c4", computed."c5"))
      )
      offset 0
    ) as present
    where companion.key = present.key
  )
select n, name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from written
union all
select n, name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", fields::text as fields
from (
  select n, found.*
  from (
    select *
    from input
    where n not in (select n from merged)
      and coalesce(
        (select entity_type.revision from entity_type where entity_type.name = "input"."name"), 0
      ) = "input"."typeRevision"::bigint
      and not exists (select from entity_type where false for key share)
    offset 0
  ) as input
  cross join lateral (
    select entity.*
    from entity
    where entity.name = "input"."name"
      and ("input"."owner"::text is null or entity.created_by = "input"."owner")
      and entity.key = input.key and (input.versions is null or entity.version = any(input.versions))
      and case
      when pg_column_size(entity.fields) > 8192 then false
      else pg_column_size(entity.fields || '{}') <= 16384 end
      and (
        case
          when input.merged is null then case
          when entity.fields @> jsonb_strip_nulls(input.patch) then (
            entity.fields = json_merge_patch(entity.fields, input.patch)
              and entity.fields::text = json_merge_patch(entity.fields, input.patch)::text
          )
          else false end
          else (entity.fields = input.merged and entity.fields::text = input.merged::text) end
      )
      and octet_length(entity.fields::text) <= "input"."limit"
    offset 0
  ) as found
) as unchanged;

-- Lists

-- GET /rest/entity/note?limit=2: by key
-- src/entities/querying
-- runs session.find

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*
    from entity
    where entity.name = pinned($3::text) and ($4::text is null or entity.created_by = $5) and true and true
  ) as entity
  where true
  order by key asc
  limit 3
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

-- GET /rest/entity/note?filter={"a":{"$gte":1},"$createdBy":"ada"}: a filter without an index
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*
    from (select entity.* from entity where entity.name = pinned($3::text) and true order by entity.key asc limit 5000) as entity
    where entity.name = $4
      and ($5::text is null or entity.created_by = $6)
      and (
        (
          case when jsonb_typeof(entity.fields -> $7::text) = 'number' then (entity.fields -> $8::text)::numeric end
        ) >= $9::numeric
          and "entity"."created_by" collate "C" = $10::text
      )
    limit 51
  ) as entity
  where true
  order by key asc
  limit 51
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

-- runs read.settings

select entity.key, '{}'::text[] as position
from entity
where entity.name = pinned($1::text) and true
order by entity.key asc
offset 4999
limit 1;

commit;

-- GET /rest/entity/note?sort=-a,$key: a sort without an index
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select count(*)::int as count from (select from entity where entity.name = $1 and true limit 10001) as candidates;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array["s0"::text, "s1"::text, "s2"::text]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*,
      (case jsonb_typeof(entity.fields -> $3::text) when 'number' then 1 when 'string' then 2 when 'boolean' then 3 end) as "s0",
      coalesce(
        (case when jsonb_typeof(entity.fields -> $4::text) = 'number' then (entity.fields -> $5::text)::numeric end),
          (case when jsonb_typeof(entity.fields -> $6::text) = 'boolean' then (entity.fields -> $7::text)::boolean end)::int
      ) as "s1",
      left(
        (case when jsonb_typeof(entity.fields -> $8::text) = 'string' then (entity.fields -> $9::text #>> '{}') end collate "C"),
          128
      ) as "s2"
    from entity
    where entity.name = pinned($10::text) and ($11::text is null or entity.created_by = $12) and true and true
    offset 0
  ) as entity
  where true
  order by "s0" desc, "s1" desc, "s2" desc, key asc
  limit 51
) as entity window page as (order by "s0" desc, "s1" desc, "s2" desc, key asc rows unbounded preceding)
order by "s0" desc, "s1" desc, "s2" desc, key asc;

commit;

-- GET /rest/entity/note?filter={"a":1}&count=exact: a count
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*
    from (select entity.* from entity where entity.name = pinned($3::text) and true order by entity.key asc limit 5000) as entity
    where entity.name = $4
      and ($5::text is null or entity.created_by = $6)
      and (
        case when jsonb_typeof(entity.fields -> $7::text) = 'number' then (entity.fields -> $8::text)::numeric end
      ) = $9::numeric
    limit 51
  ) as entity
  where true
  order by key asc
  limit 51
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

-- runs read.settings

select entity.key, '{}'::text[] as position
from entity
where entity.name = pinned($1::text) and true
order by entity.key asc
offset 4999
limit 1;

-- runs read.settings

select count(*) as count
from (
  select
  from entity
  where entity.name = $1
    and ($2::text is null or entity.created_by = $3)
    and true
    and (case when jsonb_typeof(entity.fields -> $4::text) = 'number' then (entity.fields -> $5::text)::numeric end) = $6::numeric
) as counted;

commit;

-- GET /rest/entity/note?filter={"a":1}&count=estimated: an estimate
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*
    from (select entity.* from entity where entity.name = pinned($3::text) and true order by entity.key asc limit 5000) as entity
    where entity.name = $4
      and ($5::text is null or entity.created_by = $6)
      and (
        case when jsonb_typeof(entity.fields -> $7::text) = 'number' then (entity.fields -> $8::text)::numeric end
      ) = $9::numeric
    limit 51
  ) as entity
  where true
  order by key asc
  limit 51
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

-- runs read.settings

select entity.key, '{}'::text[] as position
from entity
where entity.name = pinned($1::text) and true
order by entity.key asc
offset 4999
limit 1;

-- runs read.settings

select count(*) as count
from (
  select
  from entity
  where entity.name = $1
    and ($2::text is null or entity.created_by = $3)
    and true
    and (case when jsonb_typeof(entity.fields -> $4::text) = 'number' then (entity.fields -> $5::text)::numeric end) = $6::numeric
  limit $7
) as counted;

commit;

-- GET /rest/entity/note?fields=a: named fields
-- src/entities/querying
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then json_project(fields, $3::jsonb)::text end as fields
from (
  select *
  from (
    select entity.*
    from entity
    where entity.name = pinned($4::text) and ($5::text is null or entity.created_by = $6) and true and true
  ) as entity
  where true
  order by key asc
  limit 51
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

-- GET /rest/entity/order?filter={"state":"open"}&sort=-placedAt: an index with the order of the sort
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select (
  select count(*)::int
  from (
    select 1 from ((select 1 from "entity_data"."x2" as x where "x"."c4" = pinned($1::text) limit 10001)) as part limit 10001
  ) as counted
) as count;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array["s0"::text]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*, "x"."c5" as "s0"
    from (
      select *
      from (
        select * from (select "x"."key", "x"."c4", "x"."c5" from "entity_data"."x2" as x where "x"."c4" = pinned($3::text)) as x
      ) as x
      where "x"."c4" = $4::text and true
      order by "x"."c5" desc, "x"."key" desc
      limit 51
    ) as x
    cross join lateral (
      select entity.*
      from entity
      where entity.name = $5 and ($6::text is null or entity.created_by = $7) and entity.key = "x"."key"
      offset 0
    ) as entity
    where true
    offset 0
  ) as entity
  where true
  order by "s0" desc, key desc
  limit 51
) as entity window page as (order by "s0" desc, key desc rows unbounded preceding)
order by "s0" desc, key desc;

commit;

-- GET /rest/entity/order?filter={"customer":"1","state":{"$in":["open","paid"]}}: an index of a filter
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select (
  select count(*)::int
  from (
    select 1
    from (
      (
        select 1
        from "entity_data"."x2" as x
        where "x"."c3" = pinned($1::bigint) and "x"."c4" = any(pinned($2::text[]))
        limit 10001
      )
    ) as part
    limit 10001
  ) as counted
) as count;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*
    from (
      select *
      from (
        select *
        from (
          select "x"."key", "x"."c3", "x"."c4"
          from "entity_data"."x2" as x
          where "x"."c3" = pinned($3::bigint) and "x"."c4" = any(pinned($4::text[]))
        ) as x
      ) as x
      where ("x"."c3" = $5::bigint and "x"."c4" = any($6::text[])) and true
      order by "x"."key" asc
      limit 51
    ) as x
    cross join lateral (
      select entity.*
      from entity
      where entity.name = $7 and ($8::text is null or entity.created_by = $9) and entity.key = "x"."key"
      offset 0
    ) as entity
    where true
  ) as entity
  where true
  order by key asc
  limit 51
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

commit;

-- GET /rest/entity/order?filter={"placedAt":{"$gte":"2026-01-01T00:00:00Z","$lt":"2026-02-01T00:00:00Z"}}: a range of an index
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select (
  select count(*)::int
  from (
    select 1
    from (
      (
        select 1
        from "entity_data"."x2" as x
        where "x"."c5" >= pinned($1::timestamptz) and "x"."c5" < pinned($2::timestamptz)
        limit 10001
      )
    ) as part
    limit 10001
  ) as counted
) as count;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*
    from (
      select *
      from (
        select *
        from (
          select "x"."key", "x"."c5"
          from "entity_data"."x2" as x
          where "x"."c5" >= pinned($3::timestamptz) and "x"."c5" < pinned($4::timestamptz)
        ) as x
      ) as x
      where ("x"."c5" >= $5::timestamptz and "x"."c5" < $6::timestamptz) and true
      order by "x"."key" asc
      limit 51
    ) as x
    cross join lateral (
      select entity.*
      from entity
      where entity.name = $7 and ($8::text is null or entity.created_by = $9) and entity.key = "x"."key"
      offset 0
    ) as entity
    where true
  ) as entity
  where true
  order by key asc
  limit 51
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

commit;

-- GET /rest/entity/order?filter={"$or":[{"state":"open"},{"number":"A-1"}]}: alternatives by indexes
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select (
  select count(*)::int
  from (
    select 1
    from (
      (select 1 from "entity_data"."x2" as x where "x"."c4" = pinned($1::text) limit 10001)
      union all (select 1 from "entity_data"."x2" as x where "x"."c1" = pinned($2::text) limit 10001)
    ) as part
    limit 10001
  ) as counted
) as count;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*
    from (
      select *
      from (
        select *
        from (
          select "x"."key", "x"."c4", "x"."c1"
          from "entity_data"."x2" as x
          where "x"."c4" = pinned($3::text)
          union
          select "x"."key", "x"."c4", "x"."c1"
          from "entity_data"."x2" as x
          where "x"."c1" = pinned($4::text)
        ) as x
      ) as x
      where ("x"."c4" = $5::text or "x"."c1" = $6::text) and true
      order by "x"."key" asc
      limit 51
    ) as x
    cross join lateral (
      select entity.*
      from entity
      where entity.name = $7 and ($8::text is null or entity.created_by = $9) and entity.key = "x"."key"
      offset 0
    ) as entity
    where true
  ) as entity
  where true
  order by key asc
  limit 51
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

commit;

-- GET /rest/entity/order?filter={"number":"A-1"}: a unique rule
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select (
  select count(*)::int
  from (
    select 1 from ((select 1 from "entity_data"."x2" as x where "x"."c1" = pinned($1::text) limit 10001)) as part limit 10001
  ) as counted
) as count;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*
    from (
      select *
      from (select * from (select "x"."key", "x"."c1" from "entity_data"."x2" as x where "x"."c1" = pinned($3::text)) as x) as x
      where "x"."c1" = $4::text and true
      order by "x"."key" asc
      limit 51
    ) as x
    cross join lateral (
      select entity.*
      from entity
      where entity.name = $5 and ($6::text is null or entity.created_by = $7) and entity.key = "x"."key"
      offset 0
    ) as entity
    where true
  ) as entity
  where true
  order by key asc
  limit 51
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

commit;

-- GET /rest/entity/order?filter={"customer":{"$match":{"city":"London"}}}: a filter through a reference
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select entity.key::text as key from (
  select *
  from (
    select *
    from (
      (
        select "x"."key"
        from "entity_data"."x1" as x
        where "x"."c3" = pinned($1::text)
        order by "x"."c3" asc, "x"."key" asc
        limit 1001
      )
    ) as x
    limit 1001
  ) as x
  where true
  limit 1001
) as x
cross join lateral (
  select entity.*
  from entity
  where entity.name = $2 and ($3::text is null or entity.created_by = $4) and entity.key = "x"."key"
  offset 0
) as entity
where true
limit 1001;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*
    from (
      select *
      from (
        select *
        from (
          (
            select "x"."key"
            from "entity_data"."x2" as x
            where "x"."c3" = pinned($3::bigint)
            order by "x"."c3" asc, "x"."key" asc
            limit 51
          )
        ) as x
        limit 51
      ) as x
      where true
      limit 51
    ) as x
    cross join lateral (
      select entity.*
      from entity
      where entity.name = $4 and ($5::text is null or entity.created_by = $6) and entity.key = "x"."key"
      offset 0
    ) as entity
    where true
    limit 51
  ) as entity
  where true
  order by key asc
  limit 51
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

commit;

-- GET /rest/entity/order?include=customer: included entities
-- src/entities/querying
select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields , case
  when row_number() over page = 1
  or (
    sum(bytes) over page <= $3 and row_number() over page <= $4
  ) then array[(
    case
      when jsonb_typeof(entity.fields -> $5::text) = 'string'
      and (entity.fields -> $6::text #>> '{}') ~ '^(0|-?[1-9][0-9]{0,18})$' then case
      when (
        entity.fields -> $7::text #>> '{}'
      )::numeric between -9223372036854775808 and 9223372036854775807 then (entity.fields -> $8::text #>> '{}')::bigint end end
  )::text]::text[] end as references
from (
  select *
  from (
    select entity.*
    from entity
    where entity.name = pinned($9::text) and ($10::text is null or entity.created_by = $11) and true and true
  ) as entity
  where true
  order by key asc
  limit 51
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

-- GET /rest/entity/customer?search=wool london: a search
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select (
  select count(*)::int
  from (
    select 1
    from (
      (
        select 1
        from "entity_data"."x1" as x
        where x.search @@ ((to_tsquery('simple', $1) && to_tsquery('simple', $2)))
        limit 10001
      )
    ) as part
    limit 10001
  ) as counted
) as count;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array["s0"::text]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*,
      (
        select ts_rank(texts.search, ((to_tsquery('simple', $3) && to_tsquery('simple', $4))))
        from "entity_data"."x1" as texts
        where texts.key = entity.key
      ) as "s0"
    from (
      select *
      from (
        select *
        from (
          select "x"."key" from "entity_data"."x1" as x where x.search @@ ((to_tsquery('simple', $5) && to_tsquery('simple', $6)))
        ) as x
      ) as x
      where true
    ) as x
    cross join lateral (
      select entity.*
      from entity
      where entity.name = $7 and ($8::text is null or entity.created_by = $9) and entity.key = "x"."key"
      offset 0
    ) as entity
    where true
    offset 0
  ) as entity
  where true
  order by "s0" desc, key asc
  limit 51
) as entity window page as (order by "s0" desc, key asc rows unbounded preceding)
order by "s0" desc, key asc;

commit;

-- GET /rest/entity/customer?filter={"name":{"$fold":{"$prefix":"wo"}}}: texts without case
-- src/entities/querying
begin isolation level repeatable read read only;

-- runs read.settings

select (
  select count(*)::int
  from (
    select 1
    from (
      (select 1 from "entity_data"."x1" as x where "x"."c4" >= pinned($1::text) and "x"."c4" < pinned($2::text) limit 10001)
    ) as part
    limit 10001
  ) as counted
) as count;

-- runs read.settings

select name, key, version, created_at::text as "createdAt", created_by as "createdBy", updated_at::text as "updatedAt",
  updated_by as "updatedBy", array[]::text[] as position, case
  when row_number() over page = 1
  or (sum(bytes) over page <= $1 and row_number() over page <= $2) then fields::text end as fields
from (
  select *
  from (
    select entity.*
    from (
      select *
      from (
        select *
        from (
          select "x"."key", "x"."c4"
          from "entity_data"."x1" as x
          where "x"."c4" >= pinned($3::text) and "x"."c4" < pinned($4::text)
        ) as x
      ) as x
      where starts_with("x"."c4", $5::text) and true
      order by "x"."key" asc
      limit 51
    ) as x
    cross join lateral (
      select entity.*
      from entity
      where entity.name = $6 and ($7::text is null or entity.created_by = $8) and entity.key = "x"."key"
      offset 0
    ) as entity
    where true
  ) as entity
  where true
  order by key asc
  limit 51
) as entity window page as (order by key asc rows unbounded preceding)
order by key asc;

commit;
