-- runs beside: 0.1.0
-- Deleted entities of types with `x-soft-delete`, until they are restored or their time is over. The table `entity` has live entities only.
create table entity_trash (
  name       text not null,
  key        bigint not null,
  -- The last one; a restored entity has the next one.
  version    bigint not null,
  fields     jsonb not null,
  created_at timestamptz not null,
  created_by text not null,
  updated_at timestamptz not null,
  updated_by text not null,
  bytes      integer not null generated always as (octet_length(fields::text)) stored,
  deleted_at timestamptz not null default now(),
  deleted_by text not null,
  expires_at timestamptz not null,
  primary key (name, key)
);
-- For the deletion of rows whose time is over.
create index entity_trash_expired on entity_trash (expires_at);

-- A purge takes the fields of all versions away.
-- squawk-ignore ban-drop-not-null
alter table entity_change alter fields drop not null;
alter table entity_change drop constraint entity_change_operation_check;
-- squawk-ignore constraint-missing-not-valid
alter table entity_change add constraint entity_change_operation_check
  check (operation in ('created', 'updated', 'deleted', 'restored', 'purged'));

-- The right to remove what is stored of an entity for good. It follows from no other one.
alter table role_grant drop constraint role_grant_action_check;
-- squawk-ignore constraint-missing-not-valid
alter table role_grant add constraint role_grant_action_check check (action in ('create', 'read', 'update', 'delete', 'type', 'purge'));

-- Takes the fields of up to `most` versions of an entity that is no more. Returns how many had any. It runs as the owner, because the service cannot change
-- the history.
create function purge_entity_history(entity_name text, entity_key bigint, most integer) returns integer language plpgsql security definer as $$
declare
  purged integer;
begin
  update entity_change set fields = null
  where name = entity_name and key = entity_key and not exists (select from entity where name = entity_name and key = entity_key)
    and id = any (array (
      select id from entity_change where name = entity_name and key = entity_key and fields is not null limit most));
  get diagnostics purged = row_count;
  return purged;
end $$;
revoke execute on function purge_entity_history(text, bigint, integer) from public;
do $$ begin
  execute format('alter function purge_entity_history(text, bigint, integer) set search_path = %I, pg_temp', current_schema());
end $$;
