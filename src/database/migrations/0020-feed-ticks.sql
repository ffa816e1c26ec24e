-- runs beside: 0.1.0
-- Ticks: moments in which the whole history can be read as it was. A tick stores which transactions were committed then.

-- The transaction of the change.
alter table entity_change add column xid xid8 not null default pg_current_xact_id();

create table feed_tick (
  n         bigint generated always as identity primary key,
  at        timestamptz not null default clock_timestamp(),
  snapshot  pg_snapshot not null,
  -- The last id of a change that had been drawn.
  last_id   bigint not null,
  -- Transactions before this one may have drawn ids up to last_id, and be committed later.
  awaited   xid8 not null,
  -- Changes up to this id were loaded from another database, whose numbers of transactions mean nothing here.
  loaded_to bigint not null
);
create index feed_tick_at on feed_tick (at, n);

-- Makes a tick if changes have been committed since the last one, at most one a second. Returns whether it did. One session at a time does so. It reads
-- no change: ids are drawn one after the other, and a transaction that has drawn one has its number already.
create function make_feed_tick() returns boolean language plpgsql security definer as $$
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
  -- The snapshot comes second, so it knows each transaction that has drawn one of these ids.
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
    insert into feed_tick (snapshot, last_id, awaited, loaded_to) values (present, drawn, pg_snapshot_xmax(present), loaded);
    return true;
  end if;
  -- No id was drawn since, but a transaction that had drawn one may have been committed.
  if pg_snapshot_xmin(last.snapshot) < last.awaited and exists (
    select from pg_snapshot_xip(last.snapshot) as xid where xid < last.awaited and pg_visible_in_snapshot(xid, present)
  ) then
    insert into feed_tick (snapshot, last_id, awaited, loaded_to) values (present, drawn, last.awaited, loaded);
    return true;
  end if;
  return false;
end $$;

-- Deletes up to `most` ticks that are older than all versions that are kept, except for the last of them, in which these versions begin. Returns how many.
create function delete_old_feed_ticks(most integer) returns integer language plpgsql security definer as $$
declare
  oldest timestamptz := least(now() - interval '7 days', (select min(now() - keep) from entity_history_keep));
  deleted integer;
begin
  delete from feed_tick where n = any (array (
    select n from feed_tick
    where at < oldest and n < (select n from feed_tick where at < oldest order by at desc, n desc limit 1) limit most));
  get diagnostics deleted = row_count;
  return deleted;
end $$;

revoke execute on function make_feed_tick(), delete_old_feed_ticks(integer) from public;
do $$ begin
  execute format('alter function make_feed_tick() set search_path = %I, pg_temp', current_schema());
  execute format('alter function delete_old_feed_ticks(integer) set search_path = %I, pg_temp', current_schema());
end $$;
