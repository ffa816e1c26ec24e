-- runs beside: 0.1.0
-- The history of entities: each version that an entity had, written in the transaction of the change.

create table entity_change (
  id         bigint generated always as identity,
  at         timestamptz not null default now(),
  name       text not null,
  key        bigint not null,
  -- That of the entity after the change; after a deletion the last one that it had.
  version    bigint not null,
  operation  text not null check (operation in ('created', 'updated', 'deleted', 'restored')),
  changed_by text not null,
  -- Those of the entity, since its row may be gone.
  created_at timestamptz not null,
  created_by text not null,
  -- After the change; of a deletion the last ones.
  fields     jsonb not null
) partition by range (at);
create index entity_change_version on entity_change (name, key, version, id);

-- What no month takes: the service makes the tables of months ahead, but it may not have run for long.
create table entity_data.change_default partition of entity_change default;

-- How long the versions of a declared name are kept. All other names: 7 days.
create view entity_history_keep as
  select entity_type.name, (document -> 'x-history' ->> 'keep')::interval as keep
  from entity_type join entity_type_revision using (revision)
  where document -> 'x-history' ->> 'keep' is not null;

-- Makes the tables of this month and the next three, drops those of months of which nothing is kept, and deletes up to `most` rows of names that are kept
-- for less than others. Returns how many rows it deleted. It runs as the owner, because the service may not own the tables.
create function maintain_entity_history(most integer) returns integer
language plpgsql security definer set lock_timeout = '1s' set timezone = 'UTC' as $$
declare
  this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  oldest timestamptz := least(now() - interval '7 days', (select min(now() - keep) from entity_history_keep));
  month timestamp;
  partition text;
  found record;
  deleted integer := 0;
  count integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('entity_history', 0)) then
    return 0;
  end if;
  for month in select generate_series(this_month, this_month + interval '3 months', '1 month') loop
    partition := to_char(month, '"change_"YYYY_MM');
    -- Rows of a month that the default partition has stay there.
    continue when to_regclass('entity_data.' || partition) is not null or exists (
      select from entity_data.change_default where at >= month and at < month + interval '1 month');
    execute format('create table entity_data.%I partition of entity_change for values from (%L) to (%L)',
      partition, month, month + interval '1 month');
  end loop;
  for found in
    -- Only the owner of the table can attach partitions to it, while others can make tables of any name.
    select relname::text, case when relname <> 'change_default' then to_timestamp(substr(relname, 8), 'YYYY_MM') + interval '1 month' end as ended
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'entity_change'::regclass
  loop
    if found.ended < oldest then
      execute format('drop table entity_data.%I', found.relname);
    elsif coalesce(found.ended < now() - interval '7 days', true) and deleted < most then
      execute format(
        'delete from entity_data.%1$I where ctid = any (array (
          select change.ctid from entity_data.%1$I as change left join entity_history_keep using (name)
          where change.at < now() - coalesce(keep, ''7 days'') limit $1))', found.relname) using most - deleted;
      get diagnostics count = row_count;
      deleted := deleted + count;
    end if;
  end loop;
  return deleted;
end $$;
-- The owner grants it to the role of the application.
revoke execute on function maintain_entity_history(integer) from public;
-- Temporary tables of the caller last: they must not stand in for those of the owner.
do $$ begin
  execute format('alter function maintain_entity_history(integer) set search_path = %I, pg_temp', current_schema());
end $$;

select maintain_entity_history(0);
