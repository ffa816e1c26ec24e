-- runs beside: 0.1.0
-- A tick awaits also the transactions whose numbers are above those that its snapshot lists: a snapshot lists none that is newer than the last one that has ended. A
-- change of such a transaction was in no tick until another entity changed.

create or replace function make_feed_tick() returns boolean language plpgsql security definer as $$
declare
  last feed_tick;
  drawn bigint;
  present pg_snapshot;
  loaded bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('feed_tick', 0)) then
    return false;
  end if;
  select * into last from feed_tick order by n desc limit 1;
  if last.at between clock_timestamp() - interval '1 second' and clock_timestamp() then
    return false;
  end if;
  -- The snapshot comes second, so what it sees has drawn no later id.
  select last_value - (not is_called)::integer into drawn from entity_change_id_seq;
  select pg_current_snapshot() into present;
  loaded := coalesce(last.loaded_to, 0);
  if pg_snapshot_xmax(last.snapshot) > pg_snapshot_xmax(present) then
    -- The tables come from another database.
    delete from feed_tick;
    last := null;
    loaded := drawn;
  end if;
  if last.n is null or last.last_id <> drawn then
    -- Each transaction that has drawn an id has a number by then, and this one gets a higher one.
    insert into feed_tick (snapshot, last_id, awaited, loaded_to) values (present, drawn, pg_current_xact_id(), loaded);
    return true;
  end if;
  -- No id was drawn since, but a transaction that had drawn one may have been committed.
  if exists (
    select from pg_snapshot_xip(last.snapshot) as xid where xid < last.awaited and pg_visible_in_snapshot(xid, present)
    union all
    select from generate_series(pg_snapshot_xmax(last.snapshot)::text::bigint, last.awaited::text::bigint - 1) as later
    where pg_visible_in_snapshot(later::text::xid8, present)
  ) then
    insert into feed_tick (snapshot, last_id, awaited, loaded_to) values (present, drawn, last.awaited, loaded);
    return true;
  end if;
  return false;
end $$;
do $$ begin
  execute format('alter function make_feed_tick() set search_path = %I, pg_temp', current_schema());
end $$;
