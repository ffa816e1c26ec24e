-- runs beside: 0.1.0
-- The audit trail in partitions of a month, like the history of entities. One function makes and drops the partitions of both.

-- The partitions of a table with their bounds. `starts` is null if there is no lower bound; the default partition has neither.
create function month_partitions(parent regclass) returns table (partition regclass, starts timestamptz, ends timestamptz)
language sql stable set datestyle = 'ISO' as $$
  select inhrelid::regclass, substring(bound from $re$FROM \('([^']+)'\)$re$)::timestamptz, substring(bound from $re$TO \('([^']+)'\)$re$)::timestamptz
  from pg_inherits join pg_class on pg_class.oid = inhrelid, pg_get_expr(relpartbound, inhrelid) as bound
  where inhparent = parent
$$;

-- Makes the partitions of this month and the next three, drops those whose rows are all older than `oldest` (null: none), and returns their names.
-- Only the owner of the table can attach partitions to it, while others can make tables of any name.
create function maintain_months(parent regclass, prefix text, oldest timestamptz) returns setof text
language plpgsql set lock_timeout = '1s' set timezone = 'UTC' as $$
declare
  default_partition text := format('entity_data.%I', prefix || '_default');
  month timestamptz;
  partition text;
  found record;
  ended timestamptz;
  occupied boolean;
begin
  if to_regclass(default_partition) is null then
    execute format('create table %s partition of %s default', default_partition, parent);
  end if;
  for month in select generate_series(date_trunc('month', now()), date_trunc('month', now()) + interval '3 months', '1 month') loop
    partition := format('entity_data.%I', prefix || to_char(month, '"_"YYYY_MM'));
    -- Rows of a month that the default partition has stay there.
    execute format('select exists (select from %s where at >= $1 and at < $1 + interval ''1 month'')', default_partition) into occupied using month;
    continue when occupied or to_regclass(partition) is not null or exists (
      select from month_partitions(parent) where ends > month and coalesce(starts, '-infinity') < month + interval '1 month');
    -- To attach a table, unlike making a partition, does not wait for those that write.
    execute format('create table %s (like %s including defaults including constraints)', partition, parent);
    execute format('alter table %s attach partition %s for values from (%L) to (%L)', parent, partition, month, month + interval '1 month');
  end loop;
  for found in select * from month_partitions(parent) loop
    ended := found.ends;
    if ended is null then
      execute format('select max(at) from %s', found.partition) into ended;
    end if;
    continue when ended is null or oldest is null or ended >= oldest;
    return next found.partition::text;
    execute format('drop table %s', found.partition);
    if found.ends is null then
      execute format('create table %s partition of %s default', default_partition, parent);
    end if;
  end loop;
end $$;
revoke execute on function maintain_months(regclass, text, timestamptz) from public;

create or replace function maintain_entity_history(most integer) returns integer
language plpgsql security definer as $$
declare
  found record;
  deleted integer := 0;
  count integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('entity_history', 0)) then
    return 0;
  end if;
  perform maintain_months('entity_change', 'change', least(now() - interval '7 days', (select min(now() - keep) from entity_history_keep)));
  for found in select * from month_partitions('entity_change') loop
    if coalesce(found.ends < now() - interval '7 days', true) and deleted < most then
      execute format(
        'delete from %1$s where ctid = any (array (
          select change.ctid from %1$s as change left join entity_history_keep using (name)
          where change.at < now() - coalesce(keep, ''7 days'') limit $1))', found.partition) using most - deleted;
      get diagnostics count = row_count;
      deleted := deleted + count;
    end if;
  end loop;
  return deleted;
end $$;

-- How long the audit trail is kept as an ISO 8601 duration, set by the owner. Null: for ever.
create table audit_retention (
  single boolean primary key default true check (single),
  keep   text check (keep::interval >= interval '30 days')
);
insert into audit_retention default values;

-- Makes and drops months of the audit trail as audit_retention says; returns the names of the dropped partitions. It runs as the owner: the role of the
-- application can neither drop events nor say how long they are kept.
create function maintain_audit_trail() returns setof text
language plpgsql security definer as $$
declare
  unguarded regclass;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('audit_event', 0)) then
    return;
  end if;
  return query select * from maintain_months('audit_event', 'audit', now() - (select keep::interval from audit_retention));
  for unguarded in
    select partition from month_partitions('audit_event')
    where not exists (select from pg_trigger where tgrelid = partition and tgname = 'audit_event_append_only')
  loop
    execute format('create trigger audit_event_append_only before update or delete or truncate on %s
      for each statement execute function refuse_audit_change()', unguarded);
  end loop;
end $$;
revoke execute on function maintain_audit_trail() from public;

-- The table that there is becomes the first partition. Writers of events wait meanwhile: PostgreSQL reads its rows once and makes an index of them.
lock table audit_event;
alter table audit_event set schema entity_data;
-- squawk-ignore renaming-table
alter table entity_data.audit_event rename to audit_first;
do $$
declare
  last_id bigint := pg_sequence_last_value(pg_get_serial_sequence('entity_data.audit_first', 'id')::regclass);
  bound timestamptz;
  granted record;
begin
  alter table entity_data.audit_first alter id drop identity, drop constraint audit_event_pkey;
  create table audit_event (
    id         bigint generated always as identity,
    at         timestamptz not null default clock_timestamp(),
    event      text not null,
    outcome    text not null check (outcome in ('ok', 'refused', 'failed')),
    user_name  text,
    request_id text,
    session_id uuid,
    address    text,
    user_agent text,
    detail     jsonb not null default '{}'
  ) partition by range (at);
  create index audit_event_id_idx on audit_event (id);
  create index audit_event_at_idx on audit_event (at);
  create index audit_event_user_name_idx on audit_event (user_name, at);
  create trigger audit_event_append_only before update or delete or truncate on audit_event
    for each statement execute function refuse_audit_change();
  if last_id is not null then
    perform setval(pg_get_serial_sequence('audit_event', 'id'), last_id);
  end if;
  -- An empty table leaves this month to a partition of its own.
  select coalesce(date_trunc('month', max(at) at time zone 'UTC') + interval '1 month', date_trunc('month', now() at time zone 'UTC')) at time zone 'UTC'
    into bound from entity_data.audit_first;
  execute format('alter table audit_event attach partition entity_data.audit_first for values from (minvalue) to (%L)', bound);

  execute format('alter function maintain_months(regclass, text, timestamptz) set search_path = %I, pg_temp', current_schema());
  execute format('alter function maintain_entity_history(integer) set search_path = %I, pg_temp', current_schema());
  execute format('alter function maintain_audit_trail() set search_path = %I, pg_temp', current_schema());
  -- What other roles were allowed stays allowed, so that a running service goes on.
  for granted in
    select grantee::regrole as role, privilege_type as privilege, 'audit_event' as object
    from pg_class, aclexplode(relacl) where pg_class.oid = 'entity_data.audit_first'::regclass and grantee not in (0, relowner)
    union all
    select grantee::regrole, 'select', 'audit_retention'
    from pg_class, aclexplode(relacl) where pg_class.oid = 'entity_data.audit_first'::regclass and grantee not in (0, relowner) and privilege_type = 'INSERT'
    union all
    select grantee::regrole, privilege_type, 'function maintain_audit_trail()'
    from pg_proc, aclexplode(proacl) where pg_proc.oid = 'maintain_entity_history(integer)'::regprocedure and grantee not in (0, proowner)
  loop
    execute format('grant %s on %s to %s', granted.privilege, granted.object, granted.role);
    if granted.object = 'audit_event' then
      execute format('revoke all on entity_data.audit_first from %s', granted.role);
    end if;
  end loop;
end $$;

select maintain_audit_trail();
