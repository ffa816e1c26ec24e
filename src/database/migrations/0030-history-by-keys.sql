-- runs beside: 0.1.0
-- Old versions are deleted by their key, and no more by ctid, the place of a row, which other engines with the protocol of PostgreSQL lack (decision 186).

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
        'delete from %1$s as change using (
          select name, key, version, id from %1$s left join entity_history_keep using (name)
          where at < now() - coalesce(keep, ''7 days'') limit $1) as old
        where (change.name, change.key, change.version, change.id) = (old.name, old.key, old.version, old.id)', found.partition)
        using most - deleted;
      get diagnostics count = row_count;
      deleted := deleted + count;
    end if;
  end loop;
  return deleted;
end $$;

do $$
begin
  execute format('alter function maintain_entity_history(integer) set search_path = %I, pg_temp', current_schema());
end $$;
