-- runs beside: 0.1.0
-- The rows of changes tell by which credential and request they were made, and what an update has changed. A version that knows none of it leaves all four empty.
alter table entity_change
  -- The names of the members at the top of the fields that the update changed, if the version before was made over 12 hours ago.
  add column changed text[],
  -- The former values of these members, without those that the entity had not. Null without `changed`, and if they are over 64 KiB as text.
  add column before jsonb,
  -- `session:<id>`, `key:<id>`, `token:<issuer>:<client id>`, `command`, or `type:<revision>` for a change of the type itself.
  add column credential text,
  add column request uuid;

-- The members among the names of `candidates` whose texts differ: (former - changed) || before are the former fields, if they differ in no other member. `before`
-- is null if it would be over 64 KiB as text, and both are null without `former`. PostgreSQL makes it a part of the statement.
create function json_changed_members(former jsonb, fields jsonb, candidates jsonb) returns table (changed text[], before jsonb)
language sql immutable parallel safe as $$
  select names, case when octet_length(values::text) <= 65536 then values end
  from (
    select case when former is not null then coalesce(array_agg(name order by name), '{}') end as names,
      case when former is not null then coalesce(jsonb_object_agg(name, was) filter (where was is not null), '{}') end as values
    from (
      select name, whole.was -> name as was, whole.becomes -> name as becomes
      -- `|| '{}'` decompresses a stored value once, instead of once for each member that is looked up.
      from (select former || '{}' as was, fields || '{}' as becomes where former is not null offset 0) as whole
      cross join lateral jsonb_object_keys(candidates) as name
      offset 0
    ) as members
    where was::text is distinct from becomes::text
  ) as found
$$;

-- A purge takes the former values too, and the names of their members.
create or replace function purge_entity_history(entity_name text, entity_key bigint, most integer) returns integer language plpgsql security definer as $$
declare
  purged integer;
begin
  update entity_change set fields = null, changed = null, before = null
  where name = entity_name and key = entity_key and not exists (select from entity where name = entity_name and key = entity_key)
    and id = any (array (
      select id from entity_change where name = entity_name and key = entity_key and fields is not null limit most));
  get diagnostics purged = row_count;
  return purged;
end $$;
do $$ begin
  execute format('alter function purge_entity_history(text, bigint, integer) set search_path = %I, pg_temp', current_schema());
end $$;
